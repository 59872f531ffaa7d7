package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// silent is an owner that listens to nothing.
type silent struct{}

func (silent) ServerChanged(Status) func()                     { return nil }
func (silent) ToolsChanged(protocol.ServerName)                {}
func (silent) Warn(protocol.ServerName, protocol.Kind, string) {}
func (silent) Question(context.Context, elicit.Question) (elicit.Answer, error) {
	return elicit.Answer{}, nil
}

// A fakeServer answers requests with the members of a response: "result" or
// "error" and its value. "" is no answer.
type fakeServer func(method string, params json.RawMessage) string

// answers has what most servers say, after what over says.
func answers(over fakeServer) fakeServer {
	return func(method string, params json.RawMessage) string {
		if s := over(method, params); s != "" {
			return s
		}
		switch method {
		case "initialize":
			var p struct{ ProtocolVersion string }
			_ = json.Unmarshal(params, &p)
			return fmt.Sprintf(`"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`, p.ProtocolVersion)
		case "tools/list":
			return `"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
		}
		return `"error":{"code":-32601,"message":"no such method"}`
	}
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// Spawn implements Spawner: every process is one goroutine that ends, with
// status 0, with its stdin.
func (f fakeServer) Spawn(context.Context, process.Spec) (Child, error) {
	c := &fakeChild{exited: make(chan struct{})}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	c.stdin, c.stdout = stdin, stdout
	go func() {
		defer close(c.exited)
		defer out.Close()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			var m message
			_ = json.Unmarshal(lines.Bytes(), &m)
			if m.ID == nil {
				continue
			}
			if s := f(m.Method, m.Params); s != "" {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, s)
			}
		}
	}()
	return c, nil
}

type fakeChild struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
	exited chan struct{}
}

func (c *fakeChild) Stdin() io.WriteCloser   { return c.stdin }
func (c *fakeChild) Stdout() io.ReadCloser   { return c.stdout }
func (c *fakeChild) PID() int                { return 1 }
func (c *fakeChild) Exited() <-chan struct{} { return c.exited }
func (c *fakeChild) StderrTail(int) []string { return nil }
func (c *fakeChild) Stop(context.Context) (process.Stage, error) {
	c.stdin.Close()
	<-c.exited
	return 0, nil
}
func (c *fakeChild) Exit() (process.Exit, bool) {
	select {
	case <-c.exited:
		return process.Exit{}, true
	default:
		return process.Exit{}, false
	}
}

// RoundTrip implements http.RoundTripper. An answer that begins with a number
// is an HTTP status with a body after it.
func (f fakeServer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: 405, Header: http.Header{}, Body: http.NoBody, Request: r}
	if r.Method != http.MethodPost {
		return resp, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if m.ID == nil {
		resp.StatusCode = 202
		return resp, nil
	}
	s := f(m.Method, m.Params)
	if status, text, ok := strings.Cut(s, " "); ok {
		if n, err := strconv.Atoi(status); err == nil {
			after, text, _ := strings.Cut(text, "|")
			resp.StatusCode, resp.Body = n, io.NopCloser(strings.NewReader(text))
			if after != "" {
				resp.Header.Set("Retry-After", after)
			}
			return resp, nil
		}
	}
	resp.StatusCode = 200
	resp.Header.Set("Content-Type", "application/json")
	resp.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, s)))
	return resp, nil
}

// start runs one start of a server over one transport, to its end.
func start(t *testing.T, f fakeServer, overHTTP bool, change func(*config.Server)) (Status, time.Duration) {
	t.Helper()
	server := &config.Server{Name: "s", StartupTimeout: 30 * time.Second}
	if overHTTP {
		server.HTTP = &config.HTTP{URL: "http://s.test/mcp"}
	} else {
		server.Stdio = &config.Stdio{Command: "s"}
	}
	if change != nil {
		change(server)
	}
	since := time.Now()
	c := Start(t.Context(), NewHost("test", "1", f, f), server, Questions{}, silent{})
	status, err := c.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(since)
	c.Close()
	return status, took
}

// A server that refuses the protocol version is greeted once more, with the
// newest revision that it names, or the oldest there is. One that speaks
// nothing of ours fails for that reason, and not because it ended when it was
// hung up on.
func TestStartOlderVersion(t *testing.T) {
	refuse := func(speaks, refusal string) fakeServer {
		return answers(func(method string, params json.RawMessage) string {
			if method == "initialize" && !strings.Contains(string(params), `"protocolVersion":"`+speaks+`"`) {
				return refusal
			}
			return ""
		})
	}
	for name, tc := range map[string]struct {
		server   fakeServer
		http     bool // over HTTP only
		change   func(*config.Server)
		era      string
		greeted  int
		kind     protocol.Kind
		mentions string
	}{
		"in the data":      {server: refuse("2024-11-05", `"error":{"code":-32602,"message":"unsupported protocol version","data":{"supported":["2024-11-05"]}}`), era: "2024-11-05", greeted: 2},
		"the newest of it": {server: refuse("2025-06-18", `"error":{"code":-32602,"message":"Unsupported protocol version: 2025-11-25","data":{"supported":["2024-11-05","2025-06-18"]}}`), era: "2025-06-18", greeted: 2},
		"in prose":         {server: refuse("2025-03-26", `"error":{"code":-32600,"message":"Protocol version must be 2025-03-26"}`), era: "2025-03-26", greeted: 2},
		"not at all":       {server: refuse("2024-11-05", `"error":{"code":-32602,"message":"bad protocol version"}`), era: "2024-11-05", greeted: 2},
		"by HTTP":          {http: true, server: refuse("2025-06-18", `400 |Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26)`), era: "2025-06-18", greeted: 2},
		"only newer ones":  {server: refuse("-", `"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}`), greeted: 1, kind: protocol.KindVersionUnsupported, mentions: "2027-01-01"},
		"for ever":         {server: refuse("-", `"error":{"code":-32602,"message":"unsupported protocol version"}`), greeted: 2, kind: protocol.KindVersionUnsupported},
		"by another one": {server: answers(func(method string, _ json.RawMessage) string {
			if method == "initialize" {
				return `"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"f","version":"1"}}`
			}
			return ""
		}), greeted: 1, kind: protocol.KindVersionUnsupported, mentions: "2099-01-01"},
		"a pinned one": {server: refuse("2024-11-05", `"error":{"code":-32602,"message":"unsupported protocol version"}`), greeted: 1, kind: protocol.KindVersionUnsupported,
			change: func(s *config.Server) { s.ProtocolVersion = "2025-06-18" }},
		"another error": {server: refuse("2024-11-05", `"error":{"code":-32603,"message":"out of order"}`), greeted: 1, kind: protocol.KindUpstreamError, mentions: "out of order"},
	} {
		for _, overHTTP := range []bool{false, true} {
			if tc.http && !overHTTP {
				continue
			}
			t.Run(fmt.Sprintf("%s, HTTP %v", name, overHTTP), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex
					greeted := 0
					status, _ := start(t, func(method string, params json.RawMessage) string {
						mu.Lock()
						defer mu.Unlock()
						if method == "initialize" {
							greeted++
						}
						return tc.server(method, params)
					}, overHTTP, tc.change)
					if greeted != tc.greeted {
						t.Errorf("greeted %d times, want %d", greeted, tc.greeted)
					}
					if tc.era != "" {
						if status.State != protocol.ServerConnected || status.Era != tc.era {
							t.Errorf("got state %s, era %q, failure %+v", status.State, status.Era, status.Failure)
						}
						return
					}
					if f := status.Failure; f == nil || f.Kind != tc.kind || !strings.Contains(f.Error, tc.mentions) {
						t.Errorf("got %+v, want kind %s that mentions %q", f, tc.kind, tc.mentions)
					}
				})
			})
		}
	}
}

// A start that meets a busy server, or one behind a busy gateway, is tried again
// a few times, after as long as the server asks for; never beyond the limit.
func TestStartBusy(t *testing.T) {
	for name, tc := range map[string]struct {
		method string
		refuse string
		times  int
		ready  bool
		asked  int
		took   time.Duration
	}{
		"twice while listing":     {method: "tools/list", refuse: "429 |slow down", times: 2, ready: true, asked: 3, took: 1250 * time.Millisecond},
		"for as long as it says":  {method: "tools/list", refuse: "429 3|slow down", times: 2, ready: true, asked: 3, took: 6 * time.Second},
		"in the greeting":         {method: "initialize", refuse: "503 |", times: 1, ready: true, asked: 2, took: 250 * time.Millisecond},
		"for too long":            {method: "initialize", refuse: "500 |", times: 9, asked: 3, took: 1250 * time.Millisecond},
		"for longer than allowed": {method: "initialize", refuse: "429 3600|", times: 9, asked: 1},
		"not busy but wrong":      {method: "initialize", refuse: "404 |", times: 9, asked: 1},
		"not busy but unable":     {method: "initialize", refuse: "501 |", times: 9, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				asked := 0
				status, took := start(t, answers(func(method string, _ json.RawMessage) string {
					mu.Lock()
					defer mu.Unlock()
					if method == tc.method {
						if asked++; asked <= tc.times {
							return tc.refuse
						}
					}
					return ""
				}), true, nil)
				if ready := status.State == protocol.ServerConnected; ready != tc.ready || asked != tc.asked || took != tc.took {
					t.Errorf("ready %v (%+v), asked %d times, took %v; want %v, %d, %v", ready, status.Failure, asked, took, tc.ready, tc.asked, tc.took)
				}
				if !tc.ready && status.Failure != nil && status.Failure.Kind != protocol.KindHTTPStatus {
					t.Errorf("kind %s, want httpStatus", status.Failure.Kind)
				}
			})
		})
	}
}

// An HTTP success that is no answer is a breach of the protocol, not an HTTP
// error.
func TestStartNoServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, _ := start(t, func(string, json.RawMessage) string { return "200 |<html>hello" }, true, nil)
		if f := status.Failure; f == nil || f.Kind != protocol.KindProtocolError || f.Hint == "" {
			t.Errorf("got %+v, want kind protocolError with a hint", f)
		}
	})
}

// slowToDie is a server that answers nothing and takes its time to end.
type slowToDie struct {
	fakeServer
	stopped chan struct{} // closed when it has ended
}

func (s slowToDie) Spawn(ctx context.Context, spec process.Spec) (Child, error) {
	c, err := s.fakeServer.Spawn(ctx, spec)
	return slowChild{c, s.stopped}, err
}

type slowChild struct {
	Child
	stopped chan struct{}
}

func (c slowChild) Stop(ctx context.Context) (process.Stage, error) {
	time.Sleep(4 * time.Second)
	defer close(c.stopped)
	return c.Child.Stop(ctx)
}

// A start fails when its limit is reached, however long the process takes to
// end; the client ends after the process.
func TestStartFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan struct{})
		deaf := slowToDie{func(string, json.RawMessage) string { return "" }, stopped}
		server := &config.Server{Name: "s", StartupTimeout: 30 * time.Second, Stdio: &config.Stdio{Command: "s"}}
		since := time.Now()
		c := Start(t.Context(), NewHost("test", "1", deaf, nil), server, Questions{}, silent{})
		status, err := c.Await(t.Context())
		if err != nil || status.Failure == nil || status.Failure.Kind != protocol.KindTimeout {
			t.Errorf("got %+v, %v", status, err)
		}
		if took := time.Since(since); took != 30*time.Second {
			t.Errorf("failed after %v, want the limit of 30s", took)
		}
		c.Close()
		select {
		case <-stopped:
		default:
			t.Error("the client ended before its process")
		}
	})
}
