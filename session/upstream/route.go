package upstream

import (
	"context"
	"errors"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// route puts a question to whom it belongs and returns the answer. from are the
// requests that it may come from, as candidates has them:
//
//	certain     the one that it comes from: its caller answers, and its clock
//	            alone stands still
//	else        any of them may have caused it. The caller of the first is
//	            asked, by the strictest verdict of all callers, and the clocks
//	            of all stand still
//	none        the owner answers
//
// The question ends when all of them have; if they have already, nobody is
// asked.
func (c *Client) route(ctx context.Context, q elicit.Question, from []*inflight, certain bool) (elicit.Answer, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if len(from) > 0 {
		still, closed := c.calls.asked(end, from)
		defer closed()
		if from = still; len(from) == 0 {
			return elicit.Answer{Action: protocol.AnswerCancel}, nil
		}
	}
	defer c.untilLost(end)()
	if ctx.Err() != nil {
		return elicit.Answer{Action: protocol.AnswerCancel}, nil
	}
	if q.Mode != protocol.QuestionURL {
		return c.put(ctx, q, from, certain)
	}
	if q.ElicitationID == "" {
		q.ElicitationID = c.visits.name()
	}
	c.visits.open(q.ElicitationID)
	answer, err := c.put(ctx, q, from, certain)
	if err != nil || answer.Action != protocol.AnswerAccept {
		c.visits.forget(q.ElicitationID)
	}
	return answer, err
}

// put asks the callers of the requests that a question may come from, the first
// of them unless it has ended, or without any the owner.
func (c *Client) put(ctx context.Context, q elicit.Question, from []*inflight, certain bool) (elicit.Answer, error) {
	if len(from) == 0 {
		return c.owner.Question(ctx, q)
	}
	var verdicts []elicit.Verdict
	q.Certain = certain && from[0].ID != ""
	for _, f := range from {
		verdicts = append(verdicts, f.Caller.Judge(q))
		if !certain && f.ID != "" {
			q.Candidates = append(q.Candidates, f.ID)
		}
	}
	verdict := elicit.Strictest(verdicts...)
	if verdict.Decision == elicit.Ask {
		for _, f := range from {
			defer f.Caller.Hold()()
		}
	}
	for _, f := range from {
		q.CallID = f.ID
		answer, err := f.Caller.Question(ctx, q, verdict)
		if !errors.Is(err, ErrCallerGone) {
			return answer, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return elicit.Answer{Action: protocol.AnswerCancel}, nil
}

// untilLost ends a question with the client and with its connection: the SDK's
// context outlives both. A connection that is replaced goes on as the new one.
func (c *Client) untilLost(end context.CancelCauseFunc) (stop func()) {
	closing := context.AfterFunc(c.ctx, func() { end(ErrServerGone) })
	conn, fault := c.live()
	if fault != nil {
		if c.Status().State != protocol.ServerStarting {
			end(ErrServerGone)
		}
		return func() { closing() }
	}
	stopped := make(chan struct{})
	go func() { // ends with the question
		for {
			select {
			case <-conn.lost():
			case <-stopped:
				return
			}
			next, fault := c.live()
			if fault != nil || next == conn {
				end(ErrServerGone)
				return
			}
			conn = next
		}
	}()
	return func() { closing(); close(stopped) }
}

// ownersOwn is the caller of requests that are the owner's.
type ownersOwn struct{ owner Owner }

// Judge implements Caller: the owner judges when it is asked.
func (ownersOwn) Judge(elicit.Question) elicit.Verdict {
	return elicit.Verdict{Decision: elicit.Ask, Source: protocol.SourcePerson}
}

// Question implements Caller.
func (o ownersOwn) Question(ctx context.Context, q elicit.Question, _ elicit.Verdict) (elicit.Answer, error) {
	return o.owner.Question(ctx, q)
}

// Hold implements Caller.
func (ownersOwn) Hold() (resume func()) { return func() {} }
