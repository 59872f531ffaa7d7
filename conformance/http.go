package conformance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// An endpoint is a scripted server over Streamable HTTP.
type endpoint struct {
	server *server
	ctx    context.Context // ends with the script

	mu       sync.Mutex // guards the fields below
	sessions map[string]*peer
	last     int
	era      int
}

func newEndpoint(ctx context.Context, s *server) *endpoint {
	return &endpoint{server: s, ctx: ctx, sessions: map[string]*peer{}}
}

const sessionHeader = "Mcp-Session-Id"

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	for name, value := range e.server.spec.Start.Headers {
		w.Header().Set(name, value)
	}
	if status := e.refusal(); status != 0 {
		w.WriteHeader(status)
		return
	}
	m, bad := parseEnvelope(body)
	p, ok := e.peer(w, r, m)
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		p.leave()
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodGet:
		e.stream(w, r, p)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case bad != nil:
		w.WriteHeader(http.StatusBadRequest)
	case m.id == nil || m.method == nil:
		p.receive(body, nil, func() {})
		w.WriteHeader(http.StatusAccepted)
	default:
		e.exchange(w, r, p, m, body)
	}
}

// refusal returns the status that stands for all answers, 0 for none.
func (e *endpoint) refusal() int {
	s := e.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != 0 {
		return s.status
	}
	return s.spec.Start.Status
}

// peer returns the connection that a request belongs to: the session's, or in
// the modern era the only one. It is not ok when the session is unknown.
func (e *endpoint) peer(w http.ResponseWriter, r *http.Request, m envelope) (*peer, bool) {
	e.server.mu.Lock()
	era := e.server.era
	e.server.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if era != e.era {
		e.era = era
		for id, p := range e.sessions {
			p.leave()
			delete(e.sessions, id)
		}
	}
	id := r.Header.Get(sessionHeader)
	method, _ := rawjson.String(m.method)
	modern := e.server.spec.Era >= eraModern
	switch p := e.sessions[id]; {
	case p != nil:
		return p, true
	case id != "":
		return nil, false
	case method == "initialize" && !modern:
		e.last++
		id = fmt.Sprintf("session-%d", e.last)
		w.Header().Set(sessionHeader, id)
	case modern:
	default: // a probe, answered by a connection that is kept nowhere
		p := e.server.connect(e.ctx)
		p.leave()
		p.ctx = e.ctx
		e.server.mu.Lock()
		e.server.starts--
		e.server.mu.Unlock()
		return p, true
	}
	p := e.server.connect(e.ctx)
	p.write = func(line string) { // on the stream of the session, if there is one
		p.mu.Lock()
		news := p.news
		p.mu.Unlock()
		if news != nil {
			news([]byte(line))
		}
	}
	e.sessions[id] = p
	return p, true
}

// exchange answers one request, with an object if one is all there is, else
// with a stream.
func (e *endpoint) exchange(w http.ResponseWriter, r *http.Request, p *peer, m envelope, body []byte) {
	lines, done := make(chan []byte, queuedLines), make(chan struct{})
	p.receive(body, func(line []byte) {
		select {
		case lines <- line:
		case <-r.Context().Done():
		}
	}, func() { close(done) })
	stop := context.AfterFunc(r.Context(), func() { p.cancelled(fmt.Appendf(nil, `{"requestId":%s}`, m.id)) })
	defer stop()
	streaming, any := e.server.spec.Stream, false
	put := func(line []byte) {
		any = true
		answer, err := parseEnvelope(line)
		if !streaming && err == nil && answer.method == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(line) // a client that is gone is no matter
			return
		}
		streaming = true
		event(w, line)
	}
	for open := true; open; {
		select {
		case line := <-lines:
			put(line)
		case <-done:
			open = false
		case <-r.Context().Done():
			return
		}
	}
	for len(lines) > 0 {
		put(<-lines)
	}
	if !any {
		panic(http.ErrAbortHandler) // crashed: the connection breaks off
	}
}

// stream serves the GET of a session, on which news come.
func (e *endpoint) stream(w http.ResponseWriter, r *http.Request, p *peer) {
	if e.server.spec.Era >= eraModern {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	lines := make(chan []byte, queuedLines)
	news := func(line []byte) { lines <- line }
	p.mu.Lock()
	p.news = news
	p.mu.Unlock()
	for {
		select {
		case line := <-lines:
			event(w, line)
		case <-p.ctx.Done():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// event writes a line as one event.
func event(w http.ResponseWriter, line []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", strings.TrimSpace(string(line)))
	w.(http.Flusher).Flush()
}
