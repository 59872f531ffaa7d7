package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// bound is how long a test waits for something that must come.
const bound = 20 * time.Second

// A peer is the sidecar's end of a connection that a test plays line by line.
type peer struct {
	t   *testing.T
	in  *bufio.Reader
	out *io.PipeWriter
}

func attach(t *testing.T, o Options) (*Client, *peer) {
	t.Helper()
	toSidecar, w := io.Pipe()
	r, out := io.Pipe()
	c := Attach(r, w, o)
	p := &peer{t, bufio.NewReader(toSidecar), out}
	t.Cleanup(func() {
		_ = out.Close()
		_ = toSidecar.Close()
		wait(t, c.Done())
	})
	return c, p
}

func (p *peer) want(line string) {
	p.t.Helper()
	got, err := p.in.ReadString('\n')
	if err != nil || got != line+"\n" {
		p.t.Fatalf("the client sent %q (%v), want %q", got, err, line)
	}
}

func (p *peer) send(lines string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, lines); err != nil {
		p.t.Fatal(err)
	}
}

func wait(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(bound):
		t.Fatal("it did not end")
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	return ctx
}

func TestRepliesFindTheirCalls(t *testing.T) {
	c, p := attach(t, Options{})
	go func() {
		p.want(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"<b>"}}`)
		p.want(`{"jsonrpc":"2.0","id":2,"method":"b"}`)
		p.want(`{"jsonrpc":"2.0","id":3,"method":"c","params":{"n":1.0}}`)
		p.send(`{"id":3,"result":{"n": 12345678901234567890}}` + "\n" + `{"jsonrpc":"2.0","error":{"code":-32602,"message":"no","data":{"kind":"unknownThread","retryable":false}},"id":2}` + "\n")
		p.send(`{"jsonrpc":"2.0","id":1,"result":{"y":7}}` + "\n")
	}()
	a, err := c.Go("a", map[string]string{"x": "<b>"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Go("b", nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.CallRaw(within(t), "c", json.RawMessage(`{"n":1.0}`))
	if got, want := string(raw), `{"n": 12345678901234567890}`; err != nil || got != want {
		t.Errorf("raw result %s, %v, want %s", got, err, want)
	}
	var e *ReplyError
	if err := b.Wait(within(t), nil); !errors.As(err, &e) || e.Code != -32602 || e.Details().Kind != "unknownThread" {
		t.Errorf("got error %v, want the reply's", err)
	}
	var result struct{ Y int }
	if err := a.Wait(within(t), &result); err != nil || result.Y != 7 {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestNewsComeBeforeTheReplyThatFollows(t *testing.T) {
	var got []string // written by the reader, read after the reply
	c, p := attach(t, Options{Notification: func(method string, params json.RawMessage) {
		got = append(got, method+string(params))
	}})
	go func() {
		p.want(`{"jsonrpc":"2.0","id":1,"method":"a"}`)
		p.send(`{"method":"x","params":{"n":1}}` + "\n" + `{"method":"y"}` + "\n" + `{"id":1,"result":null}` + "\n")
	}()
	if err := c.Call(within(t), "a", nil, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{`x{"n":1}`, `y`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnEndedContextCancelsTheRequest(t *testing.T) {
	stray := make(chan string, 1)
	c, p := attach(t, Options{Stray: func(line []byte) { stray <- string(line) }})
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	told := make(chan struct{})
	go func() {
		defer close(told)
		p.want(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		cancel(why)
		p.want(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
		p.send(`{"id":1,"result":{}}` + "\n")
	}()
	if err := c.Call(ctx, "slow", nil, nil); err != why {
		t.Errorf("got %v, want the context's cause", err)
	}
	wait(t, told)
	select {
	case got := <-stray:
		if got != `{"id":1,"result":{}}` {
			t.Errorf("stray line %s", got)
		}
	case <-time.After(bound):
		t.Error("the late reply is no stray line")
	}
}

func TestRequestsOfTheSidecar(t *testing.T) {
	c, p := attach(t, Options{Request: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		switch method {
		case "give":
			return map[string]json.RawMessage{"got": params}, nil
		case "refuse":
			return nil, &ReplyError{Code: 5, Message: "no"}
		case "fail":
			return nil, errors.New("broken")
		case "ignore":
			return nil, ErrNoAnswer
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	p.send(`{"id":"s-1","method":"give","params":{"a":1.0}}` + "\n")
	p.want(`{"jsonrpc":"2.0","id":"s-1","result":{"got":{"a":1.0}}}`)
	p.send(`{"id":"s-2","method":"refuse"}` + "\n")
	p.want(`{"jsonrpc":"2.0","id":"s-2","error":{"code":5,"message":"no"}}`)
	p.send(`{"id":"s-3","method":"fail"}` + "\n")
	p.want(`{"jsonrpc":"2.0","id":"s-3","error":{"code":-32603,"message":"broken"}}`)
	p.send(`{"id":"s-4","method":"ignore"}` + "\n" + `{"id":"s-5","method":"wait"}` + "\n" +
		`{"method":"$/cancelRequest","params":{"id":"s-5"}}` + "\n")
	p.want(`{"jsonrpc":"2.0","id":"s-5","error":{"code":-32800,"message":"cancelled"}}`)
	_ = c
}

func TestWithoutAHandlerRequestsAreRefused(t *testing.T) {
	_, p := attach(t, Options{})
	p.send(`{"id":7,"method":"mcpServer/elicitation/request","params":{}}` + "\n")
	p.want(`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no method mcpServer/elicitation/request"}}`)
}

func TestTheEndReachesEveryCall(t *testing.T) {
	c, p := attach(t, Options{})
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() {
			var e *EndedError
			if err := c.Call(within(t), "a", nil, nil); !errors.As(err, &e) || !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want an EndedError for io.EOF", err)
			}
		})
	}
	for range 5 {
		if _, err := p.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	_ = p.out.Close()
	calls.Wait()
	wait(t, c.Done())
	if _, err := c.Go("late", nil); err == nil {
		t.Error("a call after the end is accepted")
	}
}

func TestStrayLinesAndTrace(t *testing.T) {
	var stray, lines []string // written by the reader, read after its end
	var mu sync.Mutex
	c, p := attach(t, Options{
		Stray: func(line []byte) { stray = append(stray, string(line)) },
		Trace: func(dir string, line []byte) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, dir+string(line))
		},
	})
	go func() {
		if err := c.Write([]byte("{no json")); err != nil {
			t.Error(err)
		}
	}()
	p.want("{no json")
	p.send("oops\n" + `{"id":null,"error":{"code":-32700,"message":"m"}}` + "\n" + `{"id":9,"result":1}`) // the last line has no end
	_ = p.out.Close()
	wait(t, c.Done())
	want := []string{"oops", `{"id":null,"error":{"code":-32700,"message":"m"}}`, `{"id":9,"result":1}`}
	if !slices.Equal(stray, want) {
		t.Errorf("stray lines %q, want %q", stray, want)
	}
	if want := []string{Out + "{no json", In + want[0], In + want[1], In + want[2]}; !slices.Equal(lines, want) {
		t.Errorf("traced %q, want %q", lines, want)
	}
}

func TestLinesOfAnySize(t *testing.T) {
	var in bytes.Buffer
	var want []string
	for _, n := range []int{0, 1, 100, firstBuffer - 1, firstBuffer, 5 * firstBuffer, 3, 2 * firstBuffer, 1 << 22, 9} {
		want = append(want, strings.Repeat("x", n))
		in.WriteString(want[len(want)-1] + "\n")
	}
	for _, size := range []int{7919, 1 << 20} {
		l := lineReader{r: &slowly{bytes.NewReader(in.Bytes()), size}}
		var got []string
		for {
			line, err := l.next()
			if err != nil {
				break
			}
			got = append(got, string(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("lines read %d bytes at a time differ", size)
		}
	}
}

// slowly reads at most n bytes at once.
type slowly struct {
	io.Reader
	n int
}

func (s *slowly) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.n)]) }

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), 1)
	f.Add([]byte("\n"), 3)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 {
			return
		}
		l := lineReader{r: &slowly{bytes.NewReader(data), size}}
		var got [][]byte
		for {
			line, err := l.next()
			if err != nil {
				break
			}
			got = append(got, line)
		}
		want := bytes.Split(data, []byte("\n"))
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// FuzzTake: whatever line comes, it is news, a request, a reply or stray, and
// nothing breaks.
func FuzzTake(f *testing.F) {
	for _, line := range []string{
		``, `{}`, `[]`, `{"id":1,"result":{}}`, `{"id":1,"error":5}`, `{"id":1,"result":1,"error":1}`, `{"method":5}`,
		`{"id":{},"method":"m"}`, `{"method":"$/cancelRequest","params":{"id":"s-1"}}`, `{"method":"$/cancelRequest","params":7}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var out bytes.Buffer
		seen := 0
		count := func() { seen++ }
		c := newClient(nil, &out, Options{
			Notification: func(string, json.RawMessage) { count() }, Stray: func([]byte) { count() },
		})
		p := &Pending{client: c, id: 1, done: make(chan struct{})}
		c.calls[1] = p
		c.take(line)
		c.serving.Wait()
		select {
		case <-p.done:
			count()
		default:
		}
		if out.Len() > 0 || bytes.Contains(line, []byte("cancelRequest")) {
			count()
		}
		if seen == 0 {
			t.Errorf("%q was lost", line)
		}
	})
}

// asSidecar is the environment variable under which this test is a sidecar.
const asSidecar = "MCP_SIDECAR_TEST_CLIENT_PEER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(asSidecar); mode != "" {
		os.Exit(playSidecar(mode))
	}
	os.Exit(m.Run())
}

// playSidecar answers each request with its method, and says goodbye.
func playSidecar(mode string) int {
	fmt.Fprintln(os.Stderr, "hello from stderr")
	in := bufio.NewScanner(os.Stdin)
	down := false
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		switch err := json.Unmarshal(in.Bytes(), &m); {
		case err != nil:
			return 9
		case mode == "stubborn":
		case m.Method == "exit" && down:
			return 0
		default:
			down = down || m.Method == "shutdown"
			fmt.Printf(`{"id":%s,"result":{"method":%q}}`+"\n", m.ID, m.Method)
		}
	}
	if mode == "stubborn" {
		r, _, _ := os.Pipe()
		_, _ = r.Read(make([]byte, 1)) // until it is killed
	}
	return 4
}

func start(t *testing.T, mode string, stderr io.Writer) *Client {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Start(ctx, Options{Path: self, Env: append(os.Environ(), asSidecar+"="+mode), Stderr: stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		wait(t, c.Done())
	})
	return c
}

func TestAProcessIsClosed(t *testing.T) {
	var stderr bytes.Buffer
	c := start(t, "plain", &stderr)
	var result struct{ Method string }
	if err := c.Call(within(t), "thread/start", nil, &result); err != nil || result.Method != "thread/start" {
		t.Fatalf("got %+v, %v", result, err)
	}
	if c.ExitCode() != -1 || c.PID() == 0 {
		t.Errorf("while it runs: exit code %d, pid %d", c.ExitCode(), c.PID())
	}
	if err := c.Close(within(t)); err != nil {
		t.Error(err)
	}
	if c.ExitCode() != 0 {
		t.Errorf("exit code %d", c.ExitCode())
	}
	if got := stderr.String(); got != "hello from stderr\n" {
		t.Errorf("stderr %q", got)
	}
	if err := c.Close(within(t)); err != nil {
		t.Errorf("closing a second time: %v", err)
	}
}

func TestTheEndOfInputGivesTheExitCode(t *testing.T) {
	c := start(t, "plain", nil)
	if err := c.CloseInput(); err != nil {
		t.Fatal(err)
	}
	wait(t, c.Done())
	if c.ExitCode() != 4 {
		t.Errorf("exit code %d, want 4", c.ExitCode())
	}
}

func TestAStubbornProcessIsKilled(t *testing.T) {
	c := start(t, "stubborn", nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's cause", err)
	}
	wait(t, c.Done())
	if code := c.ExitCode(); code == 0 {
		t.Errorf("exit code %d of a killed process", code)
	}
}

func TestWhatIsNotThereIsNotStarted(t *testing.T) {
	if _, err := Start(within(t), Options{Path: "no-such-sidecar"}); err == nil || !strings.Contains(err.Error(), "no-such-sidecar") {
		t.Errorf("got %v, want an error that names the program", err)
	}
}

func BenchmarkCall(b *testing.B) {
	toPeer, w := io.Pipe()
	r, out := io.Pipe()
	c := Attach(r, w, Options{})
	go func() {
		in := bufio.NewScanner(toPeer)
		for id := 1; in.Scan(); id++ {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", id)
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.CallRaw(context.Background(), "m", json.RawMessage(`{}`)); err != nil {
			b.Fatal(err)
		}
	}
	_ = w.Close()
	_ = out.Close()
	<-c.Done()
}
