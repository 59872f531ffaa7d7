package thread

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/binding/toolcall"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/keep"
)

// maxGrantText bounds the text of a definition that is kept for the session, in
// bytes.
const maxGrantText = 16 << 10

// keepTime bounds how long a call waits until its approval is written.
const keepTime = 5 * time.Second

// A grant is a tool that the person allowed for the life of the thread.
type grant struct {
	id       protocol.ApprovalID
	server   protocol.ServerName
	tool     protocol.ToolName
	identity string          // of the server's connection
	hash     string          // of the definition
	text     json.RawMessage // of the definition; nil if it is too large to keep
	at       time.Time
}

// person is the one behind the editor, asked for one call. It implements
// toolcall.Person.
type person struct {
	t      *Thread
	turn   protocol.TurnID
	target *target
}

// Ask implements toolcall.Person.
func (p person) Ask(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	done := p.t.wait(protocol.WaitingOnApproval)
	defer done()
	return p.t.editor.Ask(ctx, p.t.id, p.turn, q)
}

// Recall implements toolcall.Person.
func (p person) Recall(tool toolcall.Tool) toolcall.Memory {
	x := p.target
	entry, ok := x.g.server(x.name)
	if !ok {
		return toolcall.Memory{}
	}
	m := p.t.keptFor(x.g.config, entry, x.tool, tool.Mode, func() string { return tool.Definition.Hash })
	_, m.Lasting = x.g.config.ApprovalPlace(entry.Name, string(x.tool))
	m.Lasting = m.Lasting && p.t.approvals.Keeps()
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	i := p.t.grantLocked(x.name, x.tool)
	if i < 0 || p.t.grants[i].identity != entry.Identity() {
		return m
	}
	switch g := p.t.grants[i]; {
	case g.hash == tool.Definition.Hash:
		m.Standing = elicit.MemoryHolds
	case m.Standing == elicit.MemoryNone:
		m.Standing, m.Allowed = elicit.MemoryOutdated, allowed(g.hash, g.text)
	}
	return m
}

// keptFor says whether mode approve of a tool counts, if a person's answer wrote
// it into the configuration: not when the tool or the server is another one
// since, not when they took it back, and not when that can't be told. hash is
// the tool's definition now.
func (t *Thread) keptFor(cfg *config.Config, entry *config.Server, tool protocol.ToolName, mode elicit.ApprovalMode, hash func() string) toolcall.Memory {
	if mode != elicit.ModeApprove {
		return toolcall.Memory{}
	}
	file := cfg.ApprovedIn(entry.Name, string(tool))
	if file == "" {
		return toolcall.Memory{}
	}
	kept, standing := t.approvals.Recall(file, protocol.ServerName(entry.Name), tool, t.configRead)
	switch standing {
	case keep.ByHand:
		return toolcall.Memory{}
	case keep.Revoked:
		return toolcall.Memory{ModeVoid: true}
	case keep.Unknown:
		return toolcall.Memory{ModeVoid: true, Standing: elicit.MemoryOutdated, Unreadable: true}
	case keep.Kept:
	}
	m := toolcall.Memory{
		ServerChanged: kept.Declared != entry.Declared,
		Allowed:       allowed(kept.DefinitionHash, kept.Definition),
	}
	if m.ServerChanged || kept.DefinitionHash != hash() {
		m.Standing, m.ModeVoid = elicit.MemoryOutdated, true
	}
	return m
}

// allowed is a definition that a person allowed, as it was kept.
func allowed(hash string, text json.RawMessage) toolcall.Definition {
	return toolcall.Definition{Hash: hash, Read: func() json.RawMessage { return text }}
}

// Remember implements toolcall.Person.
func (p person) Remember(ctx context.Context, tool toolcall.Tool, scope protocol.ApprovalScope) {
	x := p.target
	entry, ok := x.g.server(x.name)
	if !ok {
		return
	}
	now := time.Now()
	text := tool.Definition.Read()
	g := grant{server: x.name, tool: x.tool, identity: entry.Identity(), hash: tool.Definition.Hash, at: now}
	if len(text) <= maxGrantText {
		g.text = text
	}
	p.t.grant(g)
	if scope != protocol.ApprovalAlways {
		return
	}
	place, ok := x.g.config.ApprovalPlace(entry.Name, string(x.tool))
	if !ok { // it was not offered then
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	err := p.t.approvals.Keep(ctx, keep.Approval{
		File: place.File, Path: place.Path, Server: x.name, Tool: x.tool, Declared: entry.Declared,
		DefinitionHash: tool.Definition.Hash, Definition: text, At: now,
	})
	if err != nil {
		p.t.Warn(x.name, protocol.KindConfigNotWritten, fmt.Sprintf(
			"tool %q of server %q is allowed for this session only, since it could not be kept for good: %v", x.tool, x.name, err))
	}
}

// grant remembers g in place of what was remembered of its tool.
func (t *Thread) grant(g grant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastGrant++
	g.id = protocol.ApprovalID(string(t.id) + "-a-" + strconv.FormatInt(t.lastGrant, 10))
	if i := t.grantLocked(g.server, g.tool); i >= 0 {
		t.grants = slices.Delete(t.grants, i, i+1)
	}
	t.grants = append(t.grants, g)
}

func (t *Thread) grantLocked(server protocol.ServerName, tool protocol.ToolName) int {
	return slices.IndexFunc(t.grants, func(g grant) bool { return g.server == server && g.tool == tool })
}

// Approvals lists what is remembered for the life of the thread, in the order
// in which it was allowed.
func (t *Thread) Approvals() []protocol.RememberedApproval {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]protocol.RememberedApproval, len(t.grants))
	for i, g := range t.grants {
		out[i] = t.describe(g)
	}
	return out
}

func (t *Thread) describe(g grant) protocol.RememberedApproval {
	return protocol.RememberedApproval{
		ID: g.id, Scope: protocol.ApprovalSession, ThreadID: t.id, Server: g.server, Tool: g.tool,
		DefinitionHash: g.hash, ApprovedAtMs: g.at.UnixMilli(),
	}
}

// Revoke forgets the approvals that match says, and returns them.
func (t *Thread) Revoke(match func(protocol.RememberedApproval) bool) []protocol.RememberedApproval {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []protocol.RememberedApproval
	t.grants = slices.DeleteFunc(t.grants, func(g grant) bool {
		described := t.describe(g)
		if !match(described) {
			return false
		}
		out = append(out, described)
		return true
	})
	return out
}
