package thread

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// Question implements upstream.Owner: a server asks, and no request of any
// thread can have caused it.
func (t *Thread) Question(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	return t.question(ctx, q, t.judge(q))
}

// judge says what the thread's policy makes of a question.
func (t *Thread) judge(q elicit.Question) elicit.Verdict {
	t.mu.Lock()
	policy := t.settings.Policy
	t.mu.Unlock()
	return elicit.Judge(policy, q, t.editor.Questions())
}

// question answers a question by a verdict: the policy decides, or the person
// does.
func (t *Thread) question(ctx context.Context, q elicit.Question, verdict elicit.Verdict) (elicit.Answer, error) {
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
