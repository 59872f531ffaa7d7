package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	era25 = "2025-11-25"
	era26 = "2026-07-28"
)

// bound is how long a test waits for what must happen.
const bound = 20 * time.Second

// memory is a RoundTripper that serves with a handler in the same process, on
// pipes: a test in a synctest bubble may use it.
type memory struct{ handler http.Handler }

func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	pr, pw := io.Pipe()
	w := &memoryWriter{header: http.Header{}, pipe: pw, ready: make(chan struct{})}
	r := req.Clone(ctx)
	r.RequestURI = req.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(context.Canceled); pr.CloseWithError(context.Canceled) })
	go func() {
		defer cancel()
		defer stop()
		defer pw.Close()
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				w.once.Do(func() { w.err = errors.New("connection reset"); close(w.ready) })
				pw.CloseWithError(errors.New("connection reset"))
			}
		}()
		m.handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
	}()
	select {
	case <-w.ready:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{StatusCode: w.status, Header: w.snapshot, ContentLength: -1, Request: req,
		Body: memoryBody{pr, cancel}}, nil
}

type memoryBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b memoryBody) Close() error { b.cancel(); return b.PipeReader.Close() }

type memoryWriter struct {
	header, snapshot http.Header
	pipe             *io.PipeWriter
	once             sync.Once
	ready            chan struct{}
	status           int
	err              error
}

func (w *memoryWriter) Header() http.Header { return w.header }
func (w *memoryWriter) Flush()              { w.WriteHeader(http.StatusOK) }
func (w *memoryWriter) WriteHeader(status int) {
	w.once.Do(func() { w.status, w.snapshot = status, w.header.Clone(); close(w.ready) })
}
func (w *memoryWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if len(b) == 0 {
		return 0, nil
	}
	return w.pipe.Write(b)
}

// A seen is a request as a fake server got it.
type seen struct {
	verb, method string
	id           string
	params       string
	body         string
	header       http.Header
}

// A fake is a scripted server. on answers a request whose method it names; what
// it does not name is answered with {}.
type fake struct {
	t       testing.TB
	session string // given out with initialize
	sse     bool   // answer in streams
	era     string
	// discover is the capabilities object of server/discover and initialize.
	capabilities string

	mu  sync.Mutex
	log []seen
	on  map[string]func(w http.ResponseWriter, r *http.Request, s seen)
	get http.HandlerFunc
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	_ = json.Unmarshal(body, &m)
	s := seen{verb: r.Method, method: m.Method, id: string(m.ID), params: string(m.Params), body: string(body), header: r.Header.Clone()}
	f.mu.Lock()
	f.log = append(f.log, s)
	on := f.on[m.Method]
	if m.Method == "" {
		on = f.on[r.Method]
	}
	get := f.get
	f.mu.Unlock()
	caps := f.capabilities
	if caps == "" {
		caps = `{"tools":{},"resources":{},"prompts":{}}`
	}
	switch {
	case on != nil:
		on(w, r, s)
	case r.Method == http.MethodGet && get != nil:
		get(w, r)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "server/discover" && f.era == era26:
		f.result(w, s, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+caps+`}`)
	case m.Method == "server/discover":
		f.write(w, http.StatusOK, s, `"error":{"code":-32601,"message":"no"}`)
	case m.Method == "initialize":
		if f.session != "" {
			w.Header().Set("Mcp-Session-Id", f.session)
		}
		f.result(w, s, `{"protocolVersion":"2025-11-25","capabilities":`+caps+`,"serverInfo":{"name":"fake","version":"1"}}`)
	case len(m.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		f.result(w, s, `{}`)
	}
}

func (f *fake) result(w http.ResponseWriter, s seen, result string) {
	f.write(w, http.StatusOK, s, `"result":`+result)
}

func (f *fake) write(w http.ResponseWriter, status int, s seen, member string) {
	m := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, s.id, member)
	if f.sse && status == http.StatusOK {
		emit(w, "event: message\ndata: "+m+"\n\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, m)
}

// handle sets what answers a method, or a verb without message.
func (f *fake) handle(method string, h func(w http.ResponseWriter, r *http.Request, s seen)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.on == nil {
		f.on = map[string]func(http.ResponseWriter, *http.Request, seen){}
	}
	f.on[method] = h
}

// got returns the requests of a method, or of a verb.
func (f *fake) got(method string) []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []seen
	for _, s := range f.log {
		if s.method == method && method != "" || s.verb == method {
			out = append(out, s)
		}
	}
	return out
}

// emit writes text as part of an event stream and flushes it.
func emit(w http.ResponseWriter, text string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// sseEvent renders one event with an id ("" for none).
func sseEvent(id, data string) string {
	s := ""
	if id != "" {
		s = "id: " + id + "\n"
	}
	return s + "data: " + data + "\n\n"
}

// connect connects an SDK session through this package to a handler, in memory.
func connect(t testing.TB, h http.Handler, o Options, era string, co *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	o.Base = memory{h}
	return connectURL(t, "http://fake.test/mcp", o, era, co)
}

// connectServer does the same over a socket.
func connectServer(t testing.TB, h http.Handler, o Options, era string, co *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(func() { ts.CloseClientConnections(); ts.Close() })
	return connectURL(t, ts.URL+"/mcp", o, era, co)
}

func connectURL(t testing.TB, url string, o Options, era string, co *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s, err := tryConnect(t, url, o, era, co)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	return s
}

func tryConnect(t testing.TB, url string, o Options, era string, co *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	client := NewClient(o)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, co)
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	t.Cleanup(func() {
		if s != nil {
			_ = s.Close()
		}
		client.CloseIdleConnections()
	})
	return s, err
}

// call is Do for tools/call with a time limit.
func callTool(t testing.TB, s *mcp.ClientSession, params string, x *Exchange) (json.RawMessage, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return Do(ctx, s, "tools/call", json.RawMessage(params), x)
}

// alive fails the test unless the session still answers.
func alive(t testing.TB, s *mcp.ClientSession) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if _, err := Do(ctx, s, "prompts/list", nil, nil); err != nil {
		t.Errorf("the session died: %v", err)
	}
}

// receive returns what comes from c within the bound.
func receive[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(bound):
		t.Fatalf("%s did not happen", what)
	}
	panic("unreachable")
}

func contains(s, part string) bool { return strings.Contains(s, part) }
