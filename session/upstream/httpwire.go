package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// httpWire is a session over Streamable HTTP.
type httpWire struct {
	client  *Client
	http    *http.Client
	session *mcp.ClientSession
	new     bool // 2026-07-28 or later

	mu      sync.Mutex
	users   int           // requests that run; guarded by mu
	retired bool          // takes no more of them; guarded by mu
	idle    chan struct{} // closed when it is retired and none runs

	once sync.Once
	gone chan struct{}
	why  *protocol.ServerFailure // set before gone is closed
}

// passing reports whether a failure to connect may be over soon, and after
// how long the server wants to be asked again.
func passing(err error) (after time.Duration, ok bool) {
	var status *streamable.StatusError
	var transport *streamable.TransportError
	switch {
	case errors.As(err, &status):
		switch status.Status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return status.RetryAfter, true
		}
		return 0, false
	case errors.As(err, &transport):
		return 0, !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return 0, false
}

// dialHTTP greets the server.
func (c *Client) dialHTTP(ctx context.Context, at *stage) (wire, *mcp.ClientSession, error) {
	*at = stageHandshake
	h := c.server.HTTP
	w := &httpWire{client: c, gone: make(chan struct{}), idle: make(chan struct{})}
	var from origins
	listening := make(chan struct{}) // closed by the transport, in the older eras
	header := map[string]secret.Value{}
	for name, values := range h.Headers {
		for _, v := range values {
			header[name] = secret.New(v)
		}
	}
	opts := streamable.Options{
		Header:  header,
		MaxBody: MaxMessage,
		OnNotification: func(_ context.Context, method string, params json.RawMessage) bool {
			return c.notification(method, params)
		},
		OnServerRequest: func(ctx context.Context, method string, params json.RawMessage) string {
			if call := callOf(ctx); call != nil {
				return from.note(method, params, func() []*inflight { return call }, true)
			}
			return from.note(method, params, c.calls.candidates, false)
		},
		OnSessionLost: func(context.Context) {
			w.end(&protocol.ServerFailure{Kind: protocol.KindServerFailed, Error: "the server no longer knows the session"})
		},
		OnListening: func() { close(listening) },
		OnGap:       func(context.Context) { c.toolsStale() }, // an announcement may have been missed
		Base:        c.host.base,
	}
	if h.HeadersHelper != "" {
		helped, err := runHelper(ctx, h.HeadersHelper)
		if err != nil {
			return nil, nil, err
		}
		for name, value := range helped {
			if _, own := header[name]; !own {
				header[name] = secret.New(value)
			}
		}
	}
	opts.Bearer = h.Bearer
	w.http = streamable.NewClient(opts)
	session, err := c.greet(ctx, c.client(&from), &mcp.StreamableClientTransport{Endpoint: h.URL, HTTPClient: w.http}, "")
	if err != nil {
		w.http.CloseIdleConnections()
		return nil, nil, streamable.Cause(err)
	}
	w.session = session
	if r := session.InitializeResult(); r != nil {
		w.new = r.ProtocolVersion >= modernVersion
	}
	go func() { // ends with the session, which stop closes
		err := session.Wait()
		f := &protocol.ServerFailure{Kind: protocol.KindServerFailed, Error: "the connection ended"}
		if err != nil {
			f = describe(streamable.Cause(err))
		}
		w.end(f)
	}()
	if !w.new {
		// A question that the server asks on a stream that is not there yet is
		// lost, and its call with it.
		select {
		case <-listening:
		case <-w.gone:
		case <-ctx.Done():
		}
	}
	return w, session, nil
}

// end marks the connection as lost, once.
func (w *httpWire) end(why *protocol.ServerFailure) {
	w.once.Do(func() {
		w.why = why
		close(w.gone)
	})
}

// errRetired says that a request came to a connection that was replaced just
// then; it was not sent.
var errRetired = fmt.Errorf("the connection was replaced: %w", ErrNotRun)

func (w *httpWire) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if !w.use(+1) {
		return nil, errRetired
	}
	defer w.use(-1)
	return streamable.Do(ctx, w.session, method, params, new(streamable.Exchange))
}

// use counts the requests that run. It is false for one that may not begin.
func (w *httpWire) use(by int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.retired && by > 0 {
		return false
	}
	w.users += by
	if w.retired && w.users == 0 {
		close(w.idle)
	}
	return true
}

// retire ends the connection when the requests that run on it have ended, or
// with ctx. It takes no more of them.
func (w *httpWire) retire(ctx context.Context) {
	w.mu.Lock()
	w.retired = true
	if w.users == 0 {
		close(w.idle)
	}
	w.mu.Unlock()
	select {
	case <-w.idle:
	case <-ctx.Done():
	}
	w.stop()
}

func (w *httpWire) modern() bool                     { return w.new }
func (w *httpWire) lost() <-chan struct{}            { return w.gone }
func (w *httpWire) failure() *protocol.ServerFailure { <-w.gone; return w.why }

func (w *httpWire) stop() {
	closed := make(chan struct{})
	go func() { // bounded: the SDK gives the DELETE 5 s
		defer close(closed)
		_ = w.session.Close()
		w.http.CloseIdleConnections()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), StopTime)
	defer cancel()
	select {
	case <-closed:
	case <-ctx.Done():
	}
}
