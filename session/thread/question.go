package thread

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/binding/toolcall"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// running is a call of this thread.
type running struct {
	turn     protocol.TurnID
	deadline *toolcall.Deadline // nil until the call was sent
}

// Question implements upstream.Owner: a server asks. Policy decides, or the
// person does; while a question is open, the time limits of the calls that may
// have caused it stand still.
func (t *Thread) Question(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	t.mu.Lock()
	policy := t.settings.Policy
	t.mu.Unlock()
	verdict := elicit.Judge(policy, q, t.editor.Questions())
	if verdict.Decision != elicit.Ask {
		if verdict.Reason == protocol.ReasonClientUnsupported {
			t.Warn(q.Server, protocol.KindClientUnsupported, fmt.Sprintf("a question of server %q was declined: %s", q.Server, verdict.Text))
		}
		return verdict.Answer(), nil
	}
	turn := q.TurnID
	q, form, err := elicit.Prepare(q)
	if err != nil {
		return elicit.Answer{}, err
	}
	resume := t.standStill(q)
	defer resume()
	if turn == "" {
		turn = t.turnOf(q.CallID)
	}
	done := t.wait(protocol.WaitingOnUserInput)
	defer done()
	ctx, end := t.lived(ctx)
	defer end()
	return t.answered(ctx, turn, q, form)
}

// answered asks until the answer fits the form, at most MaxAnswers times. An
// answer that never fits is a cancel.
func (t *Thread) answered(ctx context.Context, turn protocol.TurnID, q elicit.Question, form *elicit.Form) (elicit.Answer, error) {
	for range MaxAnswers {
		answer, err := t.editor.Ask(ctx, t.id, turn, q)
		var e *protocol.Error
		switch {
		case errors.As(err, &e) && e.Data.Kind == protocol.KindClientUnsupported:
			return elicit.Answer{Action: protocol.AnswerDecline}, nil
		case err != nil:
			// The editor is gone or the question has become pointless: never an
			// acceptance.
			return elicit.Answer{Action: protocol.AnswerCancel}, nil
		}
		switch answer.Action {
		case protocol.AnswerDecline:
			return elicit.Answer{Action: protocol.AnswerDecline}, nil
		case protocol.AnswerAccept:
		default:
			return elicit.Answer{Action: protocol.AnswerCancel}, nil
		}
		if form == nil {
			return answer, nil
		}
		answer.Content = form.FillDefaults(answer.Content)
		misfit := form.Validate(answer.Content)
		if misfit == nil {
			return answer, nil
		}
		t.Warn(q.Server, protocol.KindInvalidParams, fmt.Sprintf("the answer to a question of server %q does not fit its form: %v", q.Server, misfit))
	}
	return elicit.Answer{Action: protocol.AnswerCancel}, nil
}

// lived returns ctx, ended with ErrClosed when the thread is closed.
func (t *Thread) lived(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// standStill pauses the time limits of the calls that may have caused a
// question, until the returned function is called.
func (t *Thread) standStill(q elicit.Question) (resume func()) {
	ids := q.Candidates
	if q.Certain {
		ids = []protocol.CallID{q.CallID}
	}
	var paused []*toolcall.Deadline
	t.mu.Lock()
	for _, id := range ids {
		if r := t.calls[id]; r != nil && r.deadline != nil {
			paused = append(paused, r.deadline)
		}
	}
	t.mu.Unlock()
	for _, d := range paused {
		d.Pause()
	}
	return func() {
		for _, d := range paused {
			d.Resume()
		}
	}
}

func (t *Thread) turnOf(id protocol.CallID) protocol.TurnID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.calls[id]; r != nil {
		return r.turn
	}
	return ""
}
