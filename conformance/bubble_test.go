package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rpc"
	"github.com/mcp-sidecar/mcp-sidecar/session"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/keep"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// stopTime is what main gives the servers to end.
const stopTime = 5 * time.Second

// A bubble is the stage of a script in synctest: the packages of the sidecar as
// main wires them, with pipes for stdio, scripted servers for processes and
// addresses, and fake time.
type bubble struct {
	in   *io.PipeWriter
	stop context.CancelCauseFunc

	mu    sync.Mutex // guards the fields below
	lines []string
	code  int
	ended bool
	log   bytes.Buffer
}

// writeLog is the log of the sidecar.
type writeLog struct{ b *bubble }

func (w writeLog) Write(p []byte) (int, error) {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	return w.b.log.Write(p)
}

// folders are the paths that a script knows as $config, $cwd and $home.
func folders(t *testing.T) map[string]string {
	t.Helper()
	root := t.TempDir()
	f := map[string]string{"config": filepath.Join(root, "config.toml"), "cwd": filepath.Join(root, "work"), "home": filepath.Join(root, "home")}
	for _, name := range []string{"cwd", "home"} {
		if err := os.Mkdir(f[name], 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// playInBubble plays a script in a bubble of its own. prepare may change the
// player before.
func playInBubble(t *testing.T, s *Script, prepare func(*player)) {
	paths := folders(t)
	if err := os.WriteFile(paths["config"], []byte(fillGiven(s.config, paths, true)), 0o666); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(s, paths)
		b := newBubble(t, p, paths)
		p.stage = b
		var trace strings.Builder
		p.trace = func(format string, args ...any) { traceTo(&trace, format, args...) }
		prepare(p)
		if err := p.play(); err != nil {
			t.Errorf("%v\n\nthe promise: %s\n\nthe conversation:\n%s\nthe log:\n%s", err, s.Promise, trace.String(), b.logged())
		}
	})
}

func newBubble(t *testing.T, p *player, paths map[string]string) *bubble {
	in, w := io.Pipe()
	r, out := io.Pipe()
	b := &bubble{in: w}
	logger := zerolog.New(writeLog{b}).Level(zerolog.DebugLevel)
	ctx, stop := context.WithCancelCause(logger.WithContext(t.Context()))
	b.stop = stop
	life, end := context.WithCancel(context.Background())

	l := p.script.limits
	src := config.Sources{UserFile: paths["config"], Cwd: paths["cwd"], UserHome: paths["home"], Env: environment(p.script, paths)}
	host := upstream.NewHost("mcp-sidecar", "0.1.0-test", spawner{p, life}, newNetwork(p, life))
	served := make(chan struct{})
	go func() { // as main does it
		defer close(served)
		var s *session.Session
		ending := rpc.Serve(ctx, in, out, func(e protocol.Editor) protocol.Sidecar {
			kept := keep.Open(paths["home"])
			s = session.New(ctx, session.Options{
				Version: "0.1.0-test", Home: paths["home"], Sources: src, Host: host, Approvals: kept, Limits: map[string]int64{}}, e)
			return s
		}, rpc.Options{MaxLine: l.maxLine, MaxInFlight: l.maxInFlight, QueueBytes: l.queueBytes, Drain: l.drain, StopGrace: stopTime})
		closing, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		s.Close(closing)
		out.Close()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.code, b.ended = ending.ExitCode(), true
	}()
	go b.read(r)
	t.Cleanup(func() { // in the bubble: what does not end here is a leak, and fails the test
		w.Close()
		<-served
		end()
		r.Close()
		stop(nil)
	})
	return b
}

// read collects the output. It ends with the sidecar.
func (b *bubble) read(r io.Reader) {
	var split splitLines
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		lines := split.add(buf[:n])
		b.mu.Lock()
		b.lines = append(b.lines, lines...)
		b.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (b *bubble) write(data []byte) error {
	_, err := b.in.Write(data)
	return err
}

func (b *bubble) closeInput() { b.in.Close() }
func (b *bubble) signal() error {
	b.stop(errors.New("signal: terminated"))
	return nil
}

func (b *bubble) sleep(d time.Duration) {
	time.Sleep(d)
}

func (b *bubble) settle(int) []string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

func (b *bubble) until(cond func() bool) bool {
	synctest.Wait()
	return cond()
}

func (b *bubble) exit() (int, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.code, b.ended
}

func (b *bubble) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// environment is the sidecar's environment in a script.
func environment(s *Script, paths map[string]string) map[string]string {
	return config.Environ(parentEnv(s, paths, ""))
}

// A spawner starts scripted servers in place of processes.
type spawner struct {
	p    *player
	life context.Context
}

// Spawn implements upstream.Spawner. Commands other than "scripted" are looked
// up on the real disk and not run.
func (s spawner) Spawn(_ context.Context, spec process.Spec) (upstream.Child, error) {
	_, err := process.LookPath(spec.Command, spec.Dir, spec.Env)
	var folder *process.CwdMissingError
	if errors.As(err, &folder) {
		return nil, err
	}
	if spec.Command != scriptedCommand {
		if err == nil {
			err = errors.New("a script does not run real programs")
		}
		return nil, err
	}
	server, err := s.p.serverFor(spec.Args)
	if err != nil {
		return nil, err
	}
	stdin, w := newPipe()
	r, stdout := newPipe()
	c := &child{stdin: w, stdout: r, exited: make(chan struct{}), redact: spec.Redact}
	c.run = server.run(s.life, stdin, func(line []byte) {
		if line == nil {
			stdout.Close()
			return
		}
		stdout.Write(append(line, '\n'))
	}, func(line []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stderr = append(c.stderr, c.redact(string(line)))
	}, func(code int) {
		c.mu.Lock()
		c.code = code
		c.mu.Unlock()
		stdout.Close()
		stdin.Close()
		close(c.exited)
	})
	return c, nil
}

// A child is a scripted server as a process. It implements upstream.Child.
type child struct {
	run    *run
	stdin  *pipeWriter
	stdout *pipeReader
	redact func(string) string
	exited chan struct{}

	mu     sync.Mutex // guards the fields below
	code   int
	stderr []string
}

func (c *child) Stdin() io.WriteCloser   { return c.stdin }
func (c *child) Stdout() io.ReadCloser   { return c.stdout }
func (c *child) PID() int                { return 4711 }
func (c *child) Exited() <-chan struct{} { return c.exited }

func (c *child) Exit() (process.Exit, bool) {
	select {
	case <-c.exited:
	default:
		return process.Exit{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return process.Exit{Code: c.code}, true
}

func (c *child) StderrTail(n int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.stderr[max(0, len(c.stderr)-n):]...)
}

// Stop takes the child down as process.Process does, without its patience: a
// server that does not end with its stdin is killed.
func (c *child) Stop(context.Context) (process.Stage, error) {
	select {
	case <-c.exited:
		return process.StageNone, nil
	default:
	}
	c.stdin.Close()
	c.stdout.Close()
	select {
	case <-c.exited:
		return process.StageEOF, nil
	case <-time.After(time.Second):
	}
	c.run.exit(-1)
	return process.StageKill, nil
}

// A network answers HTTP requests to NAME.test with scripted servers, in
// memory. It implements http.RoundTripper.
type network struct{ hosts map[string]http.Handler }

func newNetwork(p *player, life context.Context) network {
	n := network{map[string]http.Handler{}}
	for name, s := range p.servers {
		n.hosts[name+testDomain] = newEndpoint(life, s)
	}
	return n
}

// RoundTrip implements http.RoundTripper.
func (n network) RoundTrip(req *http.Request) (*http.Response, error) {
	h := n.hosts[req.URL.Host]
	if h == nil {
		return nil, errors.New("no such host in the script: " + req.URL.Host)
	}
	ctx, cancel := context.WithCancel(req.Context())
	body, pipe := io.Pipe()
	w := &responseWriter{header: http.Header{}, pipe: pipe, ready: make(chan struct{})}
	in := req.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	stop := context.AfterFunc(ctx, func() { pipe.CloseWithError(context.Canceled) })
	go func() { // ends with the handler, which sees ctx
		defer cancel()
		defer stop()
		defer func() {
			if recover() != nil {
				w.once.Do(func() { w.broken = true; close(w.ready) })
				pipe.CloseWithError(errReset)
				return
			}
			w.WriteHeader(http.StatusOK)
			pipe.Close()
		}()
		h.ServeHTTP(w, in)
	}()
	select {
	case <-w.ready:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if w.broken {
		return nil, errReset
	}
	return &http.Response{StatusCode: w.status, Status: http.StatusText(w.status), Header: w.sent, ContentLength: -1, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: responseBody{body, cancel}}, nil
}

var errReset = errors.New("connection reset by peer")

type responseBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b responseBody) Close() error { b.cancel(); return b.PipeReader.Close() }

// A responseWriter writes a response into a pipe. It implements
// http.ResponseWriter and http.Flusher.
type responseWriter struct {
	header, sent http.Header
	pipe         *io.PipeWriter
	once         sync.Once
	ready        chan struct{}
	status       int
	broken       bool
}

func (w *responseWriter) Header() http.Header { return w.header }
func (w *responseWriter) Flush()              { w.WriteHeader(http.StatusOK) }
func (w *responseWriter) WriteHeader(status int) {
	w.once.Do(func() { w.status, w.sent = status, w.header.Clone(); close(w.ready) })
}
func (w *responseWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if len(b) == 0 {
		return 0, nil
	}
	return w.pipe.Write(b)
}
