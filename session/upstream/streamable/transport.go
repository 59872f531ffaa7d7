package streamable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// A transport is the RoundTripper under the SDK. What it returns to the SDK is
// never the server's answer itself but one made from it that the SDK reads.
type transport struct {
	opts  Options
	limit int64
	// inner follows redirects within the origin and adds the headers.
	inner *http.Client
	base  http.RoundTripper

	// home is the origin that this client belongs to, nil before the first request.
	home atomic.Pointer[string]
	// ready is closed once notifications/initialized was answered: the
	// standalone stream is opened after that, as servers expect.
	ready     chan struct{}
	readyOnce sync.Once
	// denied is why server/discover was refused with 401 or 403, nil if it was not.
	denied atomic.Pointer[error]
	// listening calls Options.OnListening, once.
	listening func()

	// mu guards lost.
	mu sync.Mutex
	// lost is the id of the session that was reported as lost.
	lost string
}

func newTransport(o Options) *transport {
	t := &transport{opts: o, limit: o.MaxBody, base: o.Base, ready: make(chan struct{})}
	if t.limit <= 0 {
		t.limit = DefaultMaxBody
	}
	if t.base == nil {
		t.base = baseTransport()
	}
	t.listening = sync.OnceFunc(func() {
		if o.OnListening != nil {
			o.OnListening()
		}
	})
	t.inner = &http.Client{Transport: (*outgoing)(t), CheckRedirect: checkRedirect}
	return t
}

// CloseIdleConnections closes the connections that wait for the next request.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	if err := t.belongs(req.URL); err != nil {
		return nil, err
	}
	switch {
	case req.Method == http.MethodPost:
		return t.post(req, body)
	case req.Method == http.MethodGet && strings.Contains(req.Header.Get("Accept"), eventType):
		return t.standalone(req), nil
	case req.Method == http.MethodDelete && t.isLost(req.Header.Get(sessionHeader)):
		return accepted(req), nil // there is nothing to end
	}
	resp, _, err := t.send(req.Context(), "", req, body)
	if err != nil {
		return nil, err
	}
	resp.Request = req // without the configured headers
	return resp, nil
}

// requestBody reads and closes the body of req; nil if there is none.
func requestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// belongs binds the client to the origin of its first request and refuses any other.
func (t *transport) belongs(u *url.URL) error {
	o := origin(u)
	t.home.CompareAndSwap(nil, &o)
	if home := *t.home.Load(); home != o {
		return fmt.Errorf("a client of %s sends nothing to %s", home, o)
	}
	return nil
}

// post sorts what the SDK posts.
func (t *transport) post(req *http.Request, body []byte) (*http.Response, error) {
	m, err := parseMessage(body)
	if err != nil {
		return nil, fmt.Errorf("a request that is no JSON-RPC message: %w", err)
	}
	c := &call{t: t, req: req, ctx: req.Context(), method: m.method, stateless: isStateless(req.Header),
		session: req.Header.Get(sessionHeader)}
	switch {
	case m.isCall():
		c.id, c.x = m.id, ExchangeFrom(c.ctx)
		return c.run(m, body)
	case m.method == "notifications/cancelled" && c.stateless:
		return accepted(req), nil // closing the stream of the call said it
	case m.method == "notifications/initialized":
		defer t.readyOnce.Do(func() { close(t.ready) })
	}
	return c.tell(body)
}

// send sends a copy of req with body and returns the answer. sent is false if
// nothing can have reached the server. The error is one of this package's.
func (t *transport) send(ctx context.Context, method string, req *http.Request, body []byte) (resp *http.Response, sent bool, err error) {
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { wrote.Store(true) },
	})
	r := req.Clone(context.WithValue(ctx, wroteKey{}, &wrote))
	r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	if body != nil {
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	}
	resp, err = t.inner.Do(r)
	if err == nil {
		return resp, true, nil
	}
	var redirect *RedirectError
	var refused *headersError
	var u *url.Error
	switch {
	case errors.As(err, &redirect):
		return nil, true, redirect
	case errors.As(err, &refused):
		return nil, false, refused
	case errors.As(err, &u):
		err = u.Err // the URL may hold a secret
	}
	return nil, wrote.Load(), &TransportError{Method: method, Addr: req.URL.Host, Sent: wrote.Load(), Err: err}
}

// wroteKey is the context key of the flag that send keeps for a request.
type wroteKey struct{}

// A headersError says that Options.Headers failed.
type headersError struct{ err error }

func (e *headersError) Error() string { return "the headers of the request: " + e.err.Error() }
func (e *headersError) Unwrap() error { return e.err }

// outgoing is the last step: it adds the configured headers to each hop.
type outgoing transport

// RoundTrip implements http.RoundTripper.
func (t *outgoing) RoundTrip(req *http.Request) (*http.Response, error) {
	r := req.Clone(req.Context())
	if t.opts.Headers != nil {
		h, err := t.opts.Headers(req.Context())
		if err != nil {
			closeBody(req.Body)
			return nil, &headersError{err}
		}
		for name, values := range h {
			if name = http.CanonicalHeaderKey(name); !reserved(name) {
				r.Header[name] = append([]string(nil), values...)
			}
		}
	}
	for name, value := range t.opts.Header {
		if name = http.CanonicalHeaderKey(name); !reserved(name) {
			r.Header[name] = []string{value.Reveal()}
		}
	}
	if !t.opts.Bearer.Empty() {
		r.Header["Authorization"] = []string{"Bearer " + t.opts.Bearer.Reveal()}
	}
	if _, traced := t.base.(*http.Transport); !traced {
		if wrote, ok := req.Context().Value(wroteKey{}).(*atomic.Bool); ok {
			wrote.Store(true) // it can't be told, so the worse is taken
		}
	}
	resp, err := t.base.RoundTrip(r)
	if err == nil {
		resp.Request = r // with the headers that were sent, for redact
	}
	return resp, err
}

// sessionLost records that the server forgot a session, and says it once.
func (t *transport) sessionLost(ctx context.Context, session string) {
	t.mu.Lock()
	known := t.lost == session
	t.lost = session
	t.mu.Unlock()
	if known {
		return
	}
	zerolog.Ctx(ctx).Info().Msg("the server no longer knows the session")
	if t.opts.OnSessionLost != nil {
		t.opts.OnSessionLost(ctx)
	}
}

// isLost reports whether session was reported as lost.
func (t *transport) isLost(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return session != "" && t.lost == session
}

// fromServer passes on a request or a notification that the server sent. It
// returns what the SDK gets, nil for nothing.
func (t *transport) fromServer(ctx context.Context, m message, stateless bool) []byte {
	if !m.hasID() {
		if t.opts.OnNotification != nil && t.opts.OnNotification(ctx, m.method, m.params) {
			return nil
		}
		return shallow(ctx, renderRequest(nil, m.method, m.params))
	}
	if stateless || !answerable(m.id) {
		// 2026-07-28 has no requests of the server, and no way to answer them.
		zerolog.Ctx(ctx).Warn().Str("method", m.method).Bool("stateless", stateless).
			Msg("dropped a request of the server that can't be answered")
		return nil
	}
	token := ""
	if t.opts.OnServerRequest != nil {
		token = t.opts.OnServerRequest(ctx, m.method, m.params)
	}
	return shallow(ctx, renderRequest(m.id, m.method, withOrigin(m.params, token)))
}

// shallow returns message unless the SDK would end the session over its nesting.
func shallow(ctx context.Context, message []byte) []byte {
	if tooDeep(message) {
		zerolog.Ctx(ctx).Warn().Msg("dropped a message of the server that is nested too deep")
		return nil
	}
	return message
}

// accepted is the answer to what needs none.
func accepted(req *http.Request) *http.Response {
	return answer(req, http.StatusAccepted, "", http.NoBody)
}

// answer makes a response for the SDK.
func answer(req *http.Request, status int, contentType string, body io.ReadCloser) *http.Response {
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: body, ContentLength: -1, Request: req,
	}
}

// closeBody closes a body that may be nil.
func closeBody(b io.Closer) {
	if b != nil {
		_ = b.Close()
	}
}
