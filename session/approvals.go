package session

import (
	"context"
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/keep"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
)

// ApprovalList implements protocol.Sidecar.
func (s *Session) ApprovalList(ctx context.Context, p *protocol.ApprovalListParams) (*protocol.ApprovalListResult, error) {
	threads, err := s.chosen(p.ThreadID)
	if err != nil {
		return nil, err
	}
	out := &protocol.ApprovalListResult{Approvals: []protocol.RememberedApproval{}}
	for _, t := range threads {
		out.Approvals = append(out.Approvals, t.Approvals()...)
	}
	for _, a := range s.kept() {
		described := lasting(a)
		// What was allowed for good was allowed for its session, too: that is one.
		out.Approvals = slices.DeleteFunc(out.Approvals, func(b protocol.RememberedApproval) bool { return twins(described, b) })
		out.Approvals = append(out.Approvals, described)
	}
	if p.Server != "" {
		out.Approvals = slices.DeleteFunc(out.Approvals, func(a protocol.RememberedApproval) bool { return a.Server != p.Server })
	}
	return out, nil
}

// ApprovalRevoke implements protocol.Sidecar. Approvals for good go first: if
// one of them can't be taken back, those of sessions are left as they are.
func (s *Session) ApprovalRevoke(ctx context.Context, p *protocol.ApprovalRevokeParams) (*protocol.ApprovalRevokeResult, error) {
	if *p == (protocol.ApprovalRevokeParams{}) {
		return nil, protocol.Errorf(protocol.KindInvalidParams, "say what to take back: id, or some of threadId, server and tool").
			WithHint("approval/list lists what is remembered")
	}
	if p.ID != "" && *p != (protocol.ApprovalRevokeParams{ID: p.ID}) {
		return nil, protocol.Errorf(protocol.KindInvalidParams, "id: goes alone, without threadId, server and tool").WithPointer("/id")
	}
	threads, err := s.chosen(p.ThreadID)
	if err != nil {
		return nil, err
	}
	match := func(a protocol.RememberedApproval) bool {
		return (p.ID == "" || a.ID == p.ID) && (p.ThreadID == "" || a.ThreadID == p.ThreadID) &&
			(p.Server == "" || a.Server == p.Server) && (p.Tool == "" || a.Tool == p.Tool)
	}
	out := &protocol.ApprovalRevokeResult{Revoked: []protocol.RememberedApproval{}}
	var kept []protocol.RememberedApproval
	for _, a := range s.kept() {
		described := lasting(a)
		if !match(described) {
			continue
		}
		if err := s.opts.Approvals.Revoke(ctx, a); err != nil {
			return nil, protocol.Errorf(protocol.KindConfigNotWritten, "the approval of tool %q of server %q was not taken back: %w", a.Tool, a.Server, err).
				WithServer(a.Server).WithTool(a.Tool)
		}
		kept = append(kept, described)
		// What was allowed for good was allowed for its session, too.
		for _, t := range threads {
			t.Revoke(func(b protocol.RememberedApproval) bool { return twins(described, b) })
		}
	}
	for _, t := range threads {
		out.Revoked = append(out.Revoked, t.Revoke(match)...)
	}
	out.Revoked = append(out.Revoked, kept...)
	if len(out.Revoked) == 0 && p.ID != "" {
		return nil, protocol.Errorf(protocol.KindUnknownApproval, "id: no approval %q is remembered", p.ID).WithPointer("/id").
			WithHint("approval/list lists what is remembered")
	}
	return out, nil
}

// kept returns the approvals for good, as they are now.
func (s *Session) kept() []keep.Approval {
	_ = s.opts.Approvals.Reload() // what can't be read stays as it was known
	return s.opts.Approvals.List()
}

// twins reports whether b is what a session was told together with a, which is
// for good.
func twins(a, b protocol.RememberedApproval) bool {
	return b.Scope == protocol.ApprovalSession && b.Server == a.Server && b.Tool == a.Tool && b.DefinitionHash == a.DefinitionHash
}

// chosen returns the thread with an id, or all open ones for "", oldest first.
func (s *Session) chosen(id protocol.ThreadID) ([]*thread.Thread, error) {
	if id != "" {
		t, err := s.thread(id)
		return []*thread.Thread{t}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*thread.Thread
	for _, id := range s.order {
		all = append(all, s.threads[id])
	}
	return all, nil
}

// lasting is an approval for good as an editor is shown it.
func lasting(a keep.Approval) protocol.RememberedApproval {
	return protocol.RememberedApproval{
		ID: a.ID(), Scope: protocol.ApprovalAlways, Server: a.Server, Tool: a.Tool,
		DefinitionHash: a.DefinitionHash, Path: a.File, ApprovedAtMs: a.At.UnixMilli(),
	}
}
