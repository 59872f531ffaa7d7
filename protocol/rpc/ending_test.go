package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// slowly answers after a while, or when cancelled.
func slowly(d time.Duration) func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
	return func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
		select {
		case <-time.After(d):
			return echo(ctx, p)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

const deafness = time.Hour

// deaf never ends in time.
func deaf(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
	time.Sleep(deafness)
	return echo(ctx, p)
}

// Fifty calls in flight when the input ends: fifty replies, then the end.
func TestEndOfInputDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := initialized(t, &fake{call: slowly(10 * time.Second)}, Options{})
		var want []string
		for i := range 50 {
			p.send(callLine(fmt.Sprint(i), `{}`))
			want = append(want, fmt.Sprintf(`"id":%d,"result":{}`, i))
		}
		p.in.Close()
		if !p.running() {
			t.Fatal("Serve did not wait")
		}
		e := p.ending(time.Minute)
		p.wantAll(want...)
		if e != (Ending{How: EndOfInput}) || e.ExitCode() != 0 {
			t.Errorf("ended with %+v", e)
		}
	})
}

// The bounds of every ending: what still runs is cancelled and answered; what
// does not end then is left behind and counted.
func TestEndingBounds(t *testing.T) {
	shuttingDown := errorWith("1", protocol.CodeInvalidRequest, protocol.KindShuttingDown)
	eof := func(p *peer) { p.in.Close() }
	signal := func(p *peer) { p.stop(errors.New("signal")) }
	exit := func(p *peer) { p.send(`{"method":"exit"}`) }
	for _, c := range []struct {
		name  string
		end   func(*peer)
		call  func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error)
		want  string
		took  time.Duration
		how   How
		stuck int
	}{
		{"EOF, in time", eof, slowly(29 * time.Second), `"id":1,"result":{}`, 29 * time.Second, EndOfInput, 0},
		{"EOF, too slow", eof, slowly(31 * time.Second), shuttingDown, 30 * time.Second, EndOfInput, 0},
		{"EOF, deaf", eof, deaf, "", 32 * time.Second, EndOfInput, 1},
		{"signal, in time", signal, slowly(4 * time.Second), `"id":1,"result":{}`, 4 * time.Second, Stopped, 0},
		{"signal, too slow", signal, slowly(6 * time.Second), shuttingDown, 5 * time.Second, Stopped, 0},
		{"signal, deaf", signal, deaf, "", 7 * time.Second, Stopped, 1},
		{"exit", exit, slowly(time.Second), shuttingDown, 0, ExitedEarly, 0},
		{"exit, deaf", exit, deaf, "", 2 * time.Second, ExitedEarly, 1},
		{"signal while draining", func(p *peer) { eof(p); time.Sleep(time.Second); signal(p) }, slowly(20 * time.Second), shuttingDown, 6 * time.Second, EndOfInput, 0},
		{"exit after signal", func(p *peer) { signal(p); time.Sleep(time.Second); exit(p) }, slowly(20 * time.Second), shuttingDown, time.Second, ExitedEarly, 0},
		{"EOF after signal", func(p *peer) { signal(p); time.Sleep(time.Second); eof(p) }, slowly(3 * time.Second), `"id":1,"result":{}`, 3 * time.Second, Stopped, 0},
		{"process gone", func(p *peer) { p.stop(fmt.Errorf("pid 7: %w", ErrEditorGone)) }, slowly(time.Second), "", 0, EditorGone, 0},
		{"process gone while draining", func(p *peer) { eof(p); time.Sleep(time.Second); p.stop(ErrEditorGone) }, slowly(9 * time.Second), "", time.Second, EditorGone, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := initialized(t, &fake{call: c.call}, Options{})
				p.send(callLine("1", "{}"))
				synctest.Wait()
				began := time.Now()
				c.end(p)
				e := p.ending(time.Minute)
				if took := time.Since(began); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if e.How != c.how || e.Unanswered != c.stuck {
					t.Errorf("ended with %+v, want %v and %d unanswered", e, c.how, c.stuck)
				}
				if c.want == "" {
					p.want()
				} else {
					p.want(c.want)
				}
				if c.stuck > 0 {
					time.Sleep(deafness) // its goroutine does end
				}
			})
		})
	}
}

// While a signal's grace lasts new requests are refused; cancels and answers
// still count.
func TestStoppedRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		f.call = func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			if _, err := protocol.ElicitationRequest.Send(ctx, f.editor, &protocol.ElicitationRequestParams{}, nil); err != nil {
				return nil, err
			}
			return echo(ctx, p)
		}
		p := initialized(t, f, Options{})
		p.send(callLine("1", "{}"))
		p.want(`"id":"s-1"`)
		p.send(callLine("2", "{}"))
		p.want(`"id":"s-2"`)
		p.stop(errors.New("signal"))
		synctest.Wait()
		p.send(`{"id":3,"method":"thread/list"}`, callLine("4", "{}"))
		p.want(errorWith("3", protocol.CodeInvalidRequest, protocol.KindShuttingDown), errorWith("4", protocol.CodeInvalidRequest, protocol.KindShuttingDown))
		p.send(`{"method":"$/cancelRequest","params":{"id":2}}`)
		p.wantAll(errorWith("2", protocol.CodeCancelled, protocol.KindCancelled), `"method":"$/cancelRequest","params":{"id":"s-2"}`)
		p.send(`{"id":"s-1","result":{}}`)
		p.want(`"id":1,"result":{}`)
		if e := p.ending(0); e.How != Stopped || e.ExitCode() != 0 {
			t.Errorf("ended with %+v", e)
		}
	})
}

// exit ends with 0 after shutdown, with 1 without, and what comes after it is
// not read.
func TestExit(t *testing.T) {
	for _, c := range []struct {
		lines []string
		how   How
		code  int
		want  int
	}{
		{[]string{`{"id":1,"method":"shutdown"}`, `{"method":"exit"}`}, Exited, 0, 1},
		{[]string{`{"method":"exit"}`}, ExitedEarly, 1, 0},
		{[]string{`{"id":1,"method":"shutdown"}`}, EndOfInput, 0, 1},
		{[]string{`{"id":1,"method":"shutdown"}`, `{"id":2,"method":"thread/list"}`, `{"method":"exit","params":[]}`, `{"id":3,"method":"thread/list"}`}, Exited, 0, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := initialized(t, &fake{}, Options{})
			p.raw(strings.Join(c.lines, "\n") + "\n")
			if c.how == EndOfInput {
				p.in.Close()
			}
			e := p.ending(time.Minute)
			if got := p.got(); len(got) != c.want || e.How != c.how || e.ExitCode() != c.code {
				t.Errorf("%v: ended with %+v after %q", c.lines, e, got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := connected(t, &fake{}, Options{})
		p.send(`{"method":"exit"}`)
		if e := p.ending(0); e.How != ExitedEarly || e.ExitCode() != 1 {
			t.Errorf("before initialize: %+v", e)
		}
	})
}

// A read error ends like the end of input, with its cause.
func TestReadError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := initialized(t, &fake{call: slowly(time.Second)}, Options{})
		p.send(callLine("1", "{}"))
		broken := errors.New("broken")
		p.in.CloseWithError(broken)
		e := p.ending(time.Minute)
		p.want(`"id":1,"result":{}`)
		if e.How != EndOfInput || e.Cause != broken {
			t.Errorf("ended with %+v", e)
		}
	})
}

// A write error means that the editor is gone: everything is cancelled at
// once.
func TestWriteError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		p := initialized(t, &fake{call: func(ctx context.Context, _ *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil, ctx.Err()
		}}, Options{})
		p.send(callLine("1", "{}"))
		p.out.CloseWithError(io.ErrClosedPipe)
		p.send(`{"id":2,"method":"thread/list"}`)
		e := p.ending(time.Second)
		if e.How != EditorGone || !errors.Is(e.Cause, io.ErrClosedPipe) || e.Unanswered != 0 || cause != ErrEditorGone {
			t.Errorf("ended with %+v; the handler heard %v", e, cause)
		}
		if !strings.Contains(p.log.String(), "the editor is gone") {
			t.Errorf("the log says nothing: %s", p.log.String())
		}
	})
}

// Serve's goroutines end with it: the bubble would not close over one that is
// left. A handler's question fails when the editor is gone.
func TestQuestionWhenEditorGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := initialized(t, f, Options{})
		q := ask(context.WithoutCancel(t.Context()), f, "x", nil)
		p.got()
		p.out.Close()
		f.editor.Notify("warning", nil)
		if e := p.ending(time.Second); e.How != EditorGone {
			t.Errorf("ended with %+v", e)
		}
		if a := <-q; !errors.Is(a.err, ErrEditorGone) {
			t.Errorf("the question ended with %v", a.err)
		}
		if a := <-ask(t.Context(), f, "x", nil); !errors.Is(a.err, ErrEditorGone) {
			t.Errorf("a later question ended with %v", a.err)
		}
	})
}
