package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/rs/zerolog"
)

// A fake is a Sidecar of which a test fills in what it needs. Anything else
// panics, which the fence turns into a reply.
type fake struct {
	protocol.Sidecar
	editor     protocol.Editor
	initialize func(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error)
	start      func(context.Context, *protocol.ThreadStartParams) (*protocol.ThreadStartResult, error)
	list       func(context.Context, *protocol.ThreadListParams) (*protocol.ThreadListResult, error)
	call       func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error)
	toolCall   func(context.Context, *protocol.ThreadToolCallParams) (*protocol.ThreadToolCallResult, error)
	settings   func(context.Context, *protocol.ThreadSettingsUpdateParams) (*protocol.ThreadSettingsUpdateResult, error)
}

func (f *fake) Initialize(ctx context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if f.initialize != nil {
		return f.initialize(ctx, p)
	}
	return &protocol.InitializeResult{UserAgent: "test"}, nil
}

func (f *fake) Shutdown(context.Context, *protocol.ShutdownParams) error { return nil }

func (f *fake) ThreadStart(ctx context.Context, p *protocol.ThreadStartParams) (*protocol.ThreadStartResult, error) {
	return f.start(ctx, p)
}

func (f *fake) ThreadList(ctx context.Context, p *protocol.ThreadListParams) (*protocol.ThreadListResult, error) {
	if f.list != nil {
		return f.list(ctx, p)
	}
	return &protocol.ThreadListResult{Data: []protocol.Thread{}}, nil
}

func (f *fake) ServerToolCall(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
	return f.call(ctx, p)
}

func (f *fake) ThreadToolCall(ctx context.Context, p *protocol.ThreadToolCallParams) (*protocol.ThreadToolCallResult, error) {
	return f.toolCall(ctx, p)
}

func (f *fake) ThreadSettingsUpdate(ctx context.Context, p *protocol.ThreadSettingsUpdateParams) (*protocol.ThreadSettingsUpdateResult, error) {
	return f.settings(ctx, p)
}

const (
	initLine  = `{"id":"init","method":"initialize","params":{"clientInfo":{"name":"t"}}}`
	emptyList = `"result":{"data":[],"nextCursor":null}`
)

// callLine is a request whose handler the test provides.
func callLine(id, arguments string) string {
	return `{"id":` + id + `,"method":"mcpServer/tool/call","params":{"threadId":"t","server":"s","tool":"x","arguments":` + arguments + `}}`
}

// A peer is the editor's end of a connection in a bubble.
type peer struct {
	t        *testing.T
	in       *io.PipeWriter
	out      *io.PipeReader
	ended    chan Ending
	stop     context.CancelCauseFunc
	counters *Counters
	log      *logBuffer

	mu    sync.Mutex // guards lines
	lines []string
}

type logBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// connectMute starts a connection whose editor does not read.
func connectMute(t *testing.T, f *fake, opts Options) *peer {
	t.Helper()
	in, w := io.Pipe()
	r, out := io.Pipe()
	p := &peer{t: t, in: w, out: r, ended: make(chan Ending, 1), counters: new(Counters), log: new(logBuffer)}
	opts.Counters = p.counters
	logger := zerolog.New(p.log)
	ctx, stop := context.WithCancelCause(logger.WithContext(t.Context()))
	p.stop = stop
	done := make(chan struct{})
	go func() {
		e := Serve(ctx, in, out, func(e protocol.Editor) protocol.Sidecar { f.editor = e; return f }, opts)
		out.Close()
		p.ended <- e
		close(done)
	}()
	synctest.Wait() // the fake has its editor
	t.Cleanup(func() {
		stop(ErrEditorGone)
		w.Close()
		r.Close()
		<-done
	})
	return p
}

// connected starts a connection that is not initialized, with an editor that
// reads.
func connected(t *testing.T, f *fake, opts Options) *peer {
	t.Helper()
	p := connectMute(t, f, opts)
	go p.read()
	return p
}

// initialized starts one that is.
func initialized(t *testing.T, f *fake, opts Options) *peer {
	t.Helper()
	p := connected(t, f, opts)
	p.send(initLine)
	if got := p.got(); len(got) != 1 || !strings.Contains(got[0], `"id":"init","result"`) {
		t.Fatalf("initialize was answered with %q", got)
	}
	return p
}

func (p *peer) read() {
	var rest []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := p.out.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			p.mu.Lock()
			p.lines = append(p.lines, string(rest[:i]))
			p.mu.Unlock()
			rest = rest[i+1:]
		}
		if err != nil {
			return
		}
	}
}

// send writes lines.
func (p *peer) send(lines ...string) {
	for _, l := range lines {
		p.raw(l + "\n")
	}
}

func (p *peer) raw(s string) {
	if _, err := io.WriteString(p.in, s); err != nil {
		p.t.Helper()
		p.t.Errorf("writing %.80q: %v", s, err)
	}
}

// got waits until all is quiet and returns the lines that came since the last
// time.
func (p *peer) got() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	for _, l := range lines {
		if !json.Valid([]byte(l)) || !strings.HasPrefix(l, `{"jsonrpc":"2.0",`) {
			p.t.Errorf("not a message: %.200q", l)
		}
	}
	return lines
}

// want checks the next lines, each of which must contain all of the given
// pieces, which are separated by " … ".
func (p *peer) want(pieces ...string) {
	p.t.Helper()
	got := p.got()
	if len(got) != len(pieces) {
		p.t.Errorf("got %d lines, want %d:\n%s", len(got), len(pieces), strings.Join(got, "\n"))
		return
	}
	for i, w := range pieces {
		for _, piece := range strings.Split(w, " … ") {
			if !strings.Contains(got[i], piece) {
				p.t.Errorf("line %d\n got %s\nwant %s", i, got[i], piece)
			}
		}
	}
}

// wantAll is want for replies that may come in any order.
func (p *peer) wantAll(pieces ...string) {
	p.t.Helper()
	got := p.got()
	for _, w := range pieces {
		i := slices.IndexFunc(got, func(l string) bool {
			for _, piece := range strings.Split(w, " … ") {
				if !strings.Contains(l, piece) {
					return false
				}
			}
			return true
		})
		if i < 0 {
			p.t.Errorf("no line has %s in\n%s", w, strings.Join(got, "\n"))
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	if len(got) > 0 {
		p.t.Errorf("unexpected lines\n%s", strings.Join(got, "\n"))
	}
}

// alive checks that the connection still serves.
func (p *peer) alive() {
	p.t.Helper()
	p.send(`{"id":"alive?","method":"thread/list"}`)
	p.want(`"id":"alive?",` + emptyList)
}

// ending waits for the end, at most so long.
func (p *peer) ending(limit time.Duration) Ending {
	p.t.Helper()
	synctest.Wait()
	select {
	case e := <-p.ended:
		return e
	default:
	}
	select {
	case e := <-p.ended:
		return e
	case <-time.After(limit):
		p.t.Fatalf("Serve goes on after %v", limit)
		return Ending{}
	}
}

// running reports that Serve has not returned.
func (p *peer) running() bool {
	synctest.Wait()
	return len(p.ended) == 0
}

func echo(_ context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
	r := protocol.ServerToolCallResult(p.Arguments)
	return &r, nil
}

// block is a handler that waits for its context, and then fails with its
// cause.
func block(ctx context.Context, _ *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("waiting: %w", ctx.Err())
}
