package rpc

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

type asked struct {
	result protocol.ElicitationRequestResult
	err    error
}

// ask asks a question and returns what comes of it.
func ask(ctx context.Context, f *fake, message string, ids *[]protocol.RequestID) chan asked {
	c := make(chan asked, 1)
	go func() {
		r, err := protocol.ElicitationRequest.Send(ctx, f.editor, &protocol.ElicitationRequestParams{Message: message, Mode: protocol.QuestionForm, RequestedSchema: []byte(`{"z":1.0,"a":"<&>"}`)}, func(id protocol.RequestID) {
			if ids != nil {
				*ids = append(*ids, id)
			}
		})
		a := asked{err: err}
		if r != nil {
			a.result = *r
		}
		c <- a
	}()
	synctest.Wait()
	return c
}

// A question goes out with an id of its own, heard before it is sent, and raw
// members as they are; its answer comes back to it, in any order and next to
// an editor's request with the same id.
func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{call: block}
		p := initialized(t, f, Options{})
		var ids []protocol.RequestID
		first := ask(t.Context(), f, "one", &ids)
		second := ask(t.Context(), f, "two", &ids)
		if fmt.Sprint(ids) != "[s-1 s-2]" {
			t.Errorf("ids %v", ids)
		}
		p.want(`{"jsonrpc":"2.0","id":"s-1","method":"mcpServer/elicitation/request","params":{ … "message":"one" … "requestedSchema":{"z":1.0,"a":"<&>"}`, `"id":"s-2" … "message":"two"`)
		p.send(callLine(`"s-1"`, "{}"), `{"id":"s-2","result":{"action":"accept","content":{"n":12345678901234567890,"x":1.0},"extra":true}}`)
		if a := <-second; a.err != nil || a.result.Action != "accept" || string(a.result.Content) != `{"n":12345678901234567890,"x":1.0}` {
			t.Errorf("got %+v", a)
		}
		p.send(`{"id":"s-1","result":{"action":"whatever"}}`)
		if a := <-first; a.err != nil || a.result.Action != "whatever" {
			t.Errorf("got %+v", a)
		}
		p.send(`{"method":"$/cancelRequest","params":{"id":"s-1"}}`)
		p.want(errorWith(`"s-1"`, protocol.CodeCancelled, protocol.KindCancelled))
	})
}

// What an editor may answer instead of a result.
func TestCallErrors(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		kind         protocol.Kind
		message      string
		notFound     bool
	}{
		{"unknown method", `"error":{"code":-32601,"message":"Method not found"}`, protocol.KindClientUnsupported, "the editor does not know the method: mcpServer/elicitation/request", true},
		{"cancelled", `"error":{"code":-32800,"message":"x"}`, protocol.KindCancelled, "cancelled", false},
		{"other", `"error":{"code":-32603,"message":"dialog\u0007 failed"}`, protocol.KindUpstreamError, "error -32603: dialog? failed", false},
		{"long", `"error":{"code":1,"message":"` + strings.Repeat("é", 10_000) + `"}`, protocol.KindUpstreamError, "éé…", false},
		{"with null result", `"result":null,"error":{"code":1,"message":"no"}`, protocol.KindUpstreamError, "error 1: no", false},
		{"no object", `"error":"broken"`, protocol.KindUpstreamError, "no JSON-RPC error", false},
		{"result of another type", `"result":[1]`, protocol.KindUpstreamError, "must be an object, not an array", false},
		{"member of another type", `"result":{"action":5}`, protocol.KindUpstreamError, "/action: must be a string, not a number", false},
		{"a no and a yes", `"result":{"action":"decline","action":"accept"}`, protocol.KindUpstreamError, "/action: is there twice", false},
		{"null", `"result":null`, "", "", false},
		{"null members", `"result":{"action":null},"error":null`, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{}
				p := initialized(t, f, Options{})
				q := ask(t.Context(), f, "x", nil)
				p.send(`{"id":"s-1",` + c.answer + `}`)
				a := <-q
				if c.kind == "" {
					if a.err != nil || a.result.Action != "" {
						t.Errorf("got %+v", a)
					}
					return
				}
				var e *protocol.Error
				if !errors.As(a.err, &e) || e.Data.Kind != c.kind || !strings.Contains(e.Message, c.message) || len(e.Message) > 400 || errors.Is(e, ErrMethodNotFound) != c.notFound {
					t.Errorf("got %v, want %s: %s", a.err, c.kind, c.message)
				}
			})
		})
	}
}

// An answer over the line limit fails its question and is refused once.
func TestAnswerTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := initialized(t, f, Options{MaxLine: 100_000})
		q := ask(t.Context(), f, "x", nil)
		p.got()
		p.send(`{"id":"s-1","result":{"action":"` + strings.Repeat("a", 200_000) + `"}}`)
		if a := <-q; a.err == nil || !strings.Contains(a.err.Error(), "too long") {
			t.Errorf("got %+v", a)
		}
		p.want(errorWith("null", protocol.CodeInvalidRequest, protocol.KindLineTooLong))
		p.alive()
	})
}

// pending is how many questions jsonrpc2 waits for.
func pending(c protocol.Editor) int {
	return reflect.ValueOf(c.(*editor).conn).Elem().FieldByName("pending").Len()
}

// When the asker's context ends the editor is told once, the cause comes back,
// a late answer is swallowed, and nothing is left over, even if no answer ever
// comes.
func TestCallCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1000
		f := &fake{}
		p := initialized(t, f, Options{})
		pointless := errors.New("pointless")
		ctx, cancel := context.WithCancelCause(t.Context())
		var questions []chan asked
		for range n {
			questions = append(questions, ask(ctx, f, "x", nil))
		}
		if got := len(p.got()); got != n || pending(f.editor) != n {
			t.Fatalf("%d questions came, %d are pending", got, pending(f.editor))
		}
		cancel(pointless)
		for _, q := range questions {
			if a := <-q; a.err != pointless {
				t.Fatalf("got %v", a.err)
			}
		}
		seen := map[string]bool{}
		for _, l := range p.got() {
			if seen[l] || !strings.HasPrefix(l, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"s-`) {
				t.Fatalf("unexpected %s", l)
			}
			seen[l] = true
		}
		if len(seen) != n {
			t.Errorf("%d cancels", len(seen))
		}
		p.send(`{"id":"s-7","error":{"code":-32800,"message":"late"}}`, `{"id":"s-8","result":{"action":"accept"}}`)
		p.alive()
		if n := pending(f.editor); n != 0 {
			t.Errorf("%d questions are pending for ever", n)
		}
		if e := f.editor.(*editor); len(e.open)+len(e.abandoned) != 0 {
			t.Errorf("%d open, %d abandoned", len(e.open), len(e.abandoned))
		}
		if n := p.counters.Ignored.Load(); n != 2 {
			t.Errorf("%d answers ignored", n)
		}
		if err := f.editor.Call(ctx, "x/y", nil, nil, func(protocol.RequestID) { t.Error("an id for nothing") }); err != pointless {
			t.Errorf("a call with a context that has ended: %v", err)
		}
		p.want()
	})
}

// An answer that meets the end of the asker's context is either taken or
// given up, never both and never neither.
func TestCallAnsweredAndCancelled(t *testing.T) {
	// On one processor the reader mostly reaches the answer before the asker
	// hears that its context has ended.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := initialized(t, f, Options{})
		taken := 0
		for i := 1; i <= 200; i++ {
			ctx, cancel := context.WithCancel(t.Context())
			f.list = func(context.Context, *protocol.ThreadListParams) (*protocol.ThreadListResult, error) {
				cancel()
				return nil, nil
			}
			q := ask(ctx, f, "x", nil)
			p.got()
			ignored := p.counters.Ignored.Load()
			p.raw(`{"id":1,"method":"thread/list"}` + "\n" + fmt.Sprintf(`{"id":"s-%d","result":{"action":"accept"}}`+"\n", i))
			a := <-q
			lines := len(p.got()) // the list, and $/cancelRequest
			ignored = p.counters.Ignored.Load() - ignored
			switch {
			case a.err == nil && a.result.Action == "accept" && lines == 1 && ignored == 0:
				taken++
			case a.err == context.Canceled && lines == 2 && ignored == 1:
			default:
				t.Fatalf("question %d ended with %+v, %d lines, %d answers ignored", i, a, lines, ignored)
			}
		}
		t.Logf("%d answers were taken", taken)
	})
}

// After the end of input no answer can come: questions fail at once, open ones
// and new ones, so the drain is as short as the work.
func TestCallAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		f.call = func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			var heard []protocol.RequestID
			for range 3 {
				if _, err := protocol.ElicitationRequest.Send(ctx, f.editor, &protocol.ElicitationRequestParams{}, func(id protocol.RequestID) { heard = append(heard, id) }); !errors.Is(err, ErrEditorGone) {
					return nil, fmt.Errorf("asked: %w", err)
				}
				time.Sleep(time.Second)
			}
			if fmt.Sprint(heard) != "[s-1]" { // the others were never sent
				t.Errorf("heard the ids %v", heard)
			}
			return echo(ctx, p)
		}
		p := initialized(t, f, Options{})
		p.send(callLine("1", `{"a":1}`))
		p.want(`"id":"s-1"`)
		began := time.Now()
		p.in.Close()
		e := p.ending(time.Minute)
		p.want(`"id":1,"result":{"a":1}`)
		if took := time.Since(began); e.How != EndOfInput || e.Unanswered != 0 || took != 3*time.Second {
			t.Errorf("ended with %+v after %v", e, took)
		}
	})
}

// Notifications that can't be encoded are logged, not sent.
func TestNotifyWithoutJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := initialized(t, f, Options{})
		f.editor.Notify("warning", func() {})
		p.want()
		if !strings.Contains(p.log.String(), "could not be encoded") {
			t.Errorf("log: %s", p.log.String())
		}
		if err := f.editor.Call(t.Context(), "x/y", func() {}, nil, nil); err == nil {
			t.Error("params without JSON were sent")
		}
	})
}
