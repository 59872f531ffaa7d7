package thread

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// Question implements upstream.Owner: a server asks, and no request of any
// thread can have caused it.
func (t *Thread) Question(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	t.mu.Lock()
	g := t.current
	t.mu.Unlock()
	return t.question(ctx, q, t.judge(g, q, func(rules *elicit.Rules) elicit.Ruling { return rules.Question(q.Server, "", nil) }))
}

// judge says what the thread's policy, as it is now, and the rules of a
// generation make of a question. ruling asks the rules. Without a generation the
// thread is closed, and declines; so does one that does not have the server.
func (t *Thread) judge(g *generation, q elicit.Question, ruling func(*elicit.Rules) elicit.Ruling) elicit.Verdict {
	t.mu.Lock()
	policy := t.settings.Policy
	t.mu.Unlock()
	if policy.DeclineAll = g == nil; policy.DeclineAll {
		return elicit.Judge(policy, q, t.editor.Questions(), elicit.Ruling{})
	}
	_, known := g.server(q.Server)
	policy.UnknownServer = !known
	return elicit.Judge(policy, q, t.editor.Questions(), ruling(g.reviewer.rules))
}

// question answers a question by a verdict: the policy decides, or the person
// does.
func (t *Thread) question(ctx context.Context, q elicit.Question, verdict elicit.Verdict) (elicit.Answer, error) {
	if verdict.Decision != elicit.Ask {
		if verdict.Reason == protocol.ReasonClientUnsupported && t.firstUnsupported(q.Server) {
			t.Warn(q.Server, protocol.KindClientUnsupported, fmt.Sprintf("a question of server %q was declined: %s", q.Server, verdict.Text))
		}
		zerolog.Ctx(t.ctx).Info().Str("server", string(q.Server)).Str("thread", string(t.id)).Str("call", string(q.CallID)).
			Str("source", string(verdict.Source)).Str("why", verdict.Text).Msg("a question was answered with " + string(verdict.Answer().Action) + ", nobody was asked")
		return verdict.Answer(), nil
	}
	turn := q.TurnID
	q, err := elicit.Prepare(q)
	if err != nil {
		return elicit.Answer{}, err
	}
	done := t.wait(protocol.WaitingOnUserInput)
	defer done()
	ctx, end := t.lived(ctx)
	defer end()
	return answered(t.editor.Ask(ctx, t.id, turn, q)), nil
}

// firstUnsupported is true for the first question of a server that the editor
// can't show: one warning is enough.
func (t *Thread) firstUnsupported(server protocol.ServerName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unsupported[server] {
		return false
	}
	if t.unsupported == nil {
		t.unsupported = map[protocol.ServerName]bool{}
	}
	t.unsupported[server] = true
	return true
}

// answered is what the server hears of an answer: never an acceptance that the
// person did not give.
func answered(a elicit.Answer, err error) elicit.Answer {
	var e *protocol.Error
	switch {
	case errors.As(err, &e) && e.Data.Kind == protocol.KindClientUnsupported:
		return elicit.Answer{Action: protocol.AnswerDecline}
	case err != nil: // the editor is gone, or the question has become pointless
		return elicit.Answer{Action: protocol.AnswerCancel}
	}
	switch a.Action {
	case protocol.AnswerAccept:
		return a
	case protocol.AnswerDecline:
		return elicit.Answer{Action: protocol.AnswerDecline}
	case protocol.AnswerCancel:
	}
	return elicit.Answer{Action: protocol.AnswerCancel}
}

// lived returns ctx, ended with ErrClosed when the thread is closed.
func (t *Thread) lived(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}
