package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// MaxAnswers is how often an answer to a request that does not fit the form is
// asked for, in all.
const MaxAnswers = 3

// editor is the editor as threads see it, with what it can do. It implements
// thread.Editor.
type editor struct {
	wire  protocol.Editor
	asked events // questions that came as events

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
	if c == nil || c.MCP == nil {
		return
	}
	e.approvals, e.questions = c.MCP.Approvals, protocol.ElicitationCapability{}
	if c.MCP.Elicitation != nil {
		e.questions = *c.MCP.Elicitation
	}
	if slices.Contains(c.OptOutNotificationMethods, protocol.ElicitationRequested.Name) {
		e.questions.Delivery = protocol.DeliveryRequest // it would never hear of them
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
		URL: q.URL, ElicitationID: q.ElicitationID, Meta: protocol.ElicitationMeta(q.Meta), CallID: q.CallID, Certain: q.Certain, Candidates: q.Candidates,
	}
	if turn != "" {
		p.TurnID = &turn
	}
	can := e.Questions()
	fit := func(a elicit.Answer) (elicit.Answer, error) { return q.Fit(a, can.ApplyDefaults) }
	if can.Delivery == protocol.DeliveryEvent {
		return e.askByEvent(ctx, p, fit)
	}
	return e.askByRequest(ctx, p, q, fit)
}

// askByRequest asks until the answer fits, at most MaxAnswers times: a reply
// can't be refused. An answer that never fits is a cancel. An approval is asked
// for once: an answer that is not clear is none.
func (e *editor) askByRequest(ctx context.Context, p *protocol.ElicitationRequestParams, q elicit.Question, fit func(elicit.Answer) (elicit.Answer, error)) (elicit.Answer, error) {
	for last := 1; ; last++ {
		var id protocol.RequestID
		said, err := protocol.ElicitationRequest.Send(ctx, e.wire, p, func(r protocol.RequestID) { id = r })
		if id != "" {
			e.resolved(p.ThreadID, id, resolved(ctx, err))
		}
		if err != nil {
			return elicit.Answer{}, e.unanswered(ctx, p, id, err)
		}
		given := elicit.Answer{Action: said.Action, Content: json.RawMessage(said.Content), Meta: json.RawMessage(said.Meta)}
		if !slices.Contains(protocol.AnswerAction("").Values(), string(given.Action)) {
			e.warn(p, id, "its action is none of accept, decline and cancel, and counts as cancel")
			return given, nil
		}
		answer, misfit := fit(given)
		var wrong *elicit.AnswerError
		errors.As(misfit, &wrong)
		switch {
		case misfit == nil:
			return answer, nil
		case q.Approval && wrong != nil && wrong.Meta:
			e.warn(p, id, misfit.Error()+"; the tool is allowed for this call only")
			return given, nil
		case q.Approval:
			e.warn(p, id, misfit.Error()+"; the tool was not allowed")
			return given, nil
		case last == MaxAnswers:
			e.warn(p, id, misfit.Error()+"; it is not asked again, and counts as cancelled")
			return elicit.Answer{Action: protocol.AnswerCancel}, nil
		}
		e.warn(p, id, misfit.Error()+"; it is asked again")
		p.Problem = misfit.Error()
	}
}

// unanswered is what becomes of a question that has no answer.
func (e *editor) unanswered(ctx context.Context, p *protocol.ElicitationRequestParams, id protocol.RequestID, err error) error {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) || ctx.Err() != nil {
		return err
	}
	if refusal.Data.Kind == protocol.KindClientUnsupported {
		return e.unsupported()
	}
	e.warn(p, id, refusal.Message+"; that is no answer, and counts as cancel")
	return err
}

// warn tells what is wrong with the answer to a question.
func (e *editor) warn(p *protocol.ElicitationRequestParams, id protocol.RequestID, what string) {
	protocol.Warned.Send(e, &protocol.WarningNotification{
		ThreadID: p.ThreadID, Server: p.ServerName, Kind: protocol.KindInvalidParams, CallID: p.CallID, RequestID: id,
		Message: fmt.Sprintf("the answer to question %s (of server %q): %s", id, p.ServerName, what),
	})
}

// askByEvent asks once: an answer that does not fit is refused where it is
// given, see ElicitationResolve.
func (e *editor) askByEvent(ctx context.Context, p *protocol.ElicitationRequestParams, fit func(elicit.Answer) (elicit.Answer, error)) (elicit.Answer, error) {
	if ctx.Err() != nil {
		return elicit.Answer{}, context.Cause(ctx)
	}
	q := e.asked.open(p.ThreadID, fit)
	protocol.ElicitationRequested.Send(e, &protocol.ElicitationRequestedNotification{RequestID: q.id, ElicitationRequestParams: *p})
	var err error
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-e.wire.Done():
		err = errEditorGone
	}
	why := resolved(ctx, err)
	if !e.asked.close(q.id, why) { // it was answered in the same moment
		return <-q.answer, nil
	}
	e.resolved(p.ThreadID, q.id, why)
	return elicit.Answer{}, err
}

// errEditorGone ends a question that nobody can answer any more.
var errEditorGone = errors.New("session: the editor is gone")

// resolved tells that a question is closed.
func (e *editor) resolved(from protocol.ThreadID, id protocol.RequestID, why protocol.ResolvedReason) {
	protocol.RequestResolved.Send(e, &protocol.RequestResolvedNotification{ThreadID: from, RequestID: id, Reason: why})
}

// unsupported marks that the editor does not know the request after all, and
// says so once.
func (e *editor) unsupported() error {
	e.mu.Lock()
	first := e.approvals || e.questions.Form || e.questions.URL
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
	case cause == nil:
		return protocol.ResolvedEditorGone
	}
	return protocol.ResolvedCallCancelled
}
