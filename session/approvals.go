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
	for _, a := range s.opts.Approvals.List() {
		out.Approvals = append(out.Approvals, lasting(a))
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
	for _, a := range s.opts.Approvals.List() {
		described := lasting(a)
		if !match(described) {
			continue
		}
		if err := s.opts.Approvals.Revoke(ctx, a); err != nil {
			return nil, protocol.Errorf(protocol.KindConfigNotWritten, "the approval of tool %q of server %q was not taken back: %w", a.Tool, a.Server, err).
				WithServer(a.Server).WithTool(a.Tool)
		}
		kept = append(kept, described)
		s.each(func(t *thread.Thread) { t.Unkeep(a) })
	}
	for _, t := range threads {
		out.Revoked = append(out.Revoked, t.Revoke(match)...)
	}
	for _, a := range kept {
		// What was written for good was allowed for the session, too.
		for _, t := range threads {
			out.Revoked = append(out.Revoked, t.Revoke(func(b protocol.RememberedApproval) bool { return b.Server == a.Server && b.Tool == a.Tool })...)
		}
	}
	out.Revoked = append(out.Revoked, kept...)
	if len(out.Revoked) == 0 && p.ID != "" {
		return nil, protocol.Errorf(protocol.KindUnknownApproval, "id: no approval %q is remembered", p.ID).WithPointer("/id").
			WithHint("approval/list lists what is remembered")
	}
	return out, nil
}

// each calls f for every open thread.
func (s *Session) each(f func(*thread.Thread)) {
	all, _ := s.chosen("") // of all threads there is no unknown one
	for _, t := range all {
		f(t)
	}
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
		ID: protocol.ApprovalID(a.ID()), Scope: protocol.ApprovalAlways, Server: a.Server, Tool: a.Tool,
		DefinitionHash: a.DefinitionHash, Path: a.File, ApprovedAtMs: a.At.UnixMilli(),
	}
}
