package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// person is an owner whose questions stay open until they become pointless.
type person struct {
	asked chan elicit.Question
	ended chan error // why
}

func (*person) ServerChanged(Status) func()                     { return nil }
func (*person) ToolsChanged(protocol.ServerName)                {}
func (*person) Warn(protocol.ServerName, protocol.Kind, string) {}

func (p *person) Question(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	p.asked <- q
	<-ctx.Done()
	p.ended <- context.Cause(ctx)
	return elicit.Answer{Action: protocol.AnswerCancel}, nil
}

// held is a wire that answers as soon as it is let go.
type held struct {
	wire
	answer, end chan struct{}
}

func (w *held) request(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	select {
	case <-w.answer:
		return json.RawMessage(`{}`), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
func (w *held) modern() bool          { return false }
func (w *held) lost() <-chan struct{} { return w.end }

func asking(t *testing.T, state protocol.ServerState) (*Client, *person, *held) {
	t.Helper()
	p := &person{asked: make(chan elicit.Question, 1), ended: make(chan error, 1)}
	c := &Client{owner: p, offer: Questions{Form: true}, server: &config.Server{Name: "s"}, status: Status{Name: "s", State: state}}
	c.ctx, c.cancel = context.WithCancelCause(t.Context())
	t.Cleanup(func() { c.cancel(nil) })
	w := &held{answer: make(chan struct{}), end: make(chan struct{})}
	c.wire = w
	return c, p, w
}

var aQuestion = json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)

// A question ends with the call that it came from, whether the transport knows
// that or it is guessed, and before the call does. Why, it has from the call.
func TestQuestionEndsWithItsCall(t *testing.T) {
	stop := errors.New("stop")
	for name, certain := range map[string]bool{"certain": true, "guessed": false} {
		for _, why := range []error{ErrCallEnded, stop} {
			t.Run(name+"/"+why.Error(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, p, w := asking(t, protocol.ServerConnected)
					ctx, cancel := context.WithCancelCause(t.Context())
					called := make(chan struct{})
					go func() {
						defer close(called)
						_, _ = c.CallTool(ctx, Call{ID: "1", Token: "a"})
						if len(p.ended) != 1 {
							t.Error("the call ended before its question")
						}
					}()
					synctest.Wait()
					from := c.calls.candidates()
					answered := make(chan struct{})
					go func() {
						defer close(answered)
						if raw, err := c.question(t.Context(), aQuestion, from, certain); string(raw) != `{"action":"cancel"}` || err != nil {
							t.Errorf("the server hears %s, %v", raw, err)
						}
					}()
					if q := <-p.asked; q.CallID != "1" || q.Certain != certain {
						t.Errorf("asked %+v", q)
					}
					if why == stop {
						cancel(stop)
					} else {
						close(w.answer)
					}
					<-called
					<-answered
					if got := <-p.ended; got != why {
						t.Errorf("the question ended with %v, want %v", got, why)
					}
					// One that comes later has nobody who could wait for it.
					if raw, err := c.question(t.Context(), aQuestion, from, certain); string(raw) != `{"action":"cancel"}` || err != nil || len(p.asked) != 0 {
						t.Errorf("a late question is answered with %s, %v", raw, err)
					}
					cancel(nil)
				})
			})
		}
	}
}

// A question of a request that is no tool call is no tool call's, whatever runs
// beside it.
func TestQuestionOfNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p, w := asking(t, protocol.ServerConnected)
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = c.CallTool(t.Context(), Call{ID: "1", Token: "a"})
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_, _ = c.question(ctx, aQuestion, nil, true)
		}()
		if q := <-p.asked; q.CallID != "" || len(q.Candidates) != 0 {
			t.Errorf("asked %+v", q)
		}
		close(w.answer)
		<-called
		synctest.Wait()
		if len(p.ended) != 0 {
			t.Error("the question ended with a call that is not its own")
		}
		cancel()
		<-answered
	})
}

// Between the end of a connection and the moment when it is known how it ended,
// there is no connection: requests are not run, and nobody is asked.
func TestConnectionJustEnded(t *testing.T) {
	c, p, _ := asking(t, protocol.ServerConnected)
	c.wire = nil
	if _, err := c.CallTool(t.Context(), Call{ID: "1", Token: "a"}); !errors.Is(err, ErrNotRun) {
		t.Errorf("a call ends with %v", err)
	}
	if _, _, err := c.Inventory(t.Context()); !errors.Is(err, ErrNotRun) {
		t.Errorf("a list ends with %v", err)
	}
	if raw, err := c.question(t.Context(), aQuestion, nil, false); string(raw) != `{"action":"cancel"}` || err != nil || len(p.asked) != 0 {
		t.Errorf("a question is answered with %s, %v", raw, err)
	}
}
