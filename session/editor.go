package session

import (
	"context"
	"errors"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// editor is the editor as threads see it, with what it can do. It implements
// thread.Editor.
type editor struct {
	wire protocol.Editor

	mu        sync.Mutex
	approvals bool
	questions protocol.ElicitationCapability
}

func newEditor(wire protocol.Editor) *editor {
	e := &editor{wire: wire}
	e.learn(nil)
	return e
}

// learn takes in what the editor said of itself. Without an mcp member it is
// treated like a Codex client: approvals and forms.
func (e *editor) learn(c *protocol.ClientCapabilities) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.approvals, e.questions = true, protocol.ElicitationCapability{Form: true}
	if c == nil {
		return
	}
	if m := c.MCP; m != nil {
		e.approvals, e.questions = m.Approvals, protocol.ElicitationCapability{}
		if m.Elicitation != nil {
			e.questions = protocol.ElicitationCapability{Form: m.Elicitation.Form, URL: m.Elicitation.URL}
		}
	}
}

// Notify implements protocol.Notifier.
func (e *editor) Notify(method string, params any) { e.wire.Notify(method, params) }

// Approvals implements thread.Editor.
func (e *editor) Approvals() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.approvals
}

// Questions implements thread.Editor.
func (e *editor) Questions() protocol.ElicitationCapability {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.questions
}

// Ask implements thread.Editor. Whatever becomes of the question, the editor
// is told that it is closed.
func (e *editor) Ask(ctx context.Context, from protocol.ThreadID, turn protocol.TurnID, q elicit.Question) (elicit.Answer, error) {
	p := &protocol.ElicitationRequestParams{
		ThreadID: from, ServerName: q.Server, Mode: q.Mode, Message: q.Message, RequestedSchema: q.Schema,
		URL: q.URL, ElicitationID: q.ElicitationID, Meta: q.Meta, CallID: q.CallID, Certain: q.Certain, Candidates: q.Candidates,
	}
	if turn != "" {
		p.TurnID = &turn
	}
	var id protocol.RequestID
	answer, err := protocol.ElicitationRequest.Send(ctx, e.wire, p, func(r protocol.RequestID) { id = r })
	if id != "" {
		protocol.RequestResolved.Send(e, &protocol.RequestResolvedNotification{ThreadID: from, RequestID: id, Reason: resolved(ctx, err)})
	}
	if err == nil {
		return elicit.Answer{Action: answer.Action, Content: answer.Content, Meta: answer.Meta}, nil
	}
	var e2 *protocol.Error
	if errors.As(err, &e2) && e2.Data.Kind == protocol.KindClientUnsupported {
		return elicit.Answer{}, e.unsupported(q)
	}
	return elicit.Answer{}, err
}

// unsupported marks that the editor does not know the request after all, and
// says so once.
func (e *editor) unsupported(elicit.Question) error {
	e.mu.Lock()
	first := e.approvals || e.questions.Form
	e.approvals, e.questions = false, protocol.ElicitationCapability{}
	e.mu.Unlock()
	method := protocol.ElicitationRequest.Name
	if first {
		protocol.Warned.Send(e, &protocol.WarningNotification{Kind: protocol.KindClientUnsupported,
			Message: "the editor does not know the request " + method + ": approvals and questions of servers are declined from now on"})
	}
	return protocol.Errorf(protocol.KindClientUnsupported, "the editor does not know %s", method)
}

// resolved says why a question is closed.
func resolved(ctx context.Context, err error) protocol.ResolvedReason {
	var answer *protocol.Error
	switch cause := context.Cause(ctx); {
	case err == nil:
		return protocol.ResolvedAnswered
	case cause == nil && errors.As(err, &answer): // with an error
		return protocol.ResolvedAnswered
	case errors.Is(cause, thread.ErrClosed):
		return protocol.ResolvedThreadClosed
	case errors.Is(cause, upstream.ErrServerGone):
		return protocol.ResolvedServerGone
	case errors.Is(cause, upstream.ErrCallEnded), errors.Is(cause, upstream.ErrWithdrawn):
		return protocol.ResolvedCallEnded
	}
	return protocol.ResolvedCallCancelled
}
