package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// Limits of the connection. There is none on the answer: a tool may take its time.
const (
	// DefaultMaxBody is Options.MaxBody where it is not set (spec section 12).
	DefaultMaxBody = 32 << 20

	dialTimeout         = 30 * time.Second
	keepAliveInterval   = 15 * time.Second
	tlsHandshakeTimeout = 15 * time.Second
	idleConnTimeout     = 90 * time.Second
	maxIdlePerHost      = 64
	pingAfter           = 30 * time.Second // HTTP/2: silence before a ping
	pingTimeout         = 20 * time.Second
	maxResponseHeader   = 1 << 20
)

// Options say what a client sends besides the SDK's requests, what it accepts,
// and who hears of what. The zero Options are usable. The functions may be
// called from several goroutines at once.
type Options struct {
	// Header is sent with every request. Headers that belong to the protocol
	// (Accept, Content-Type, Mcp-…, Last-Event-ID) and to the connection are
	// left out.
	Header map[string]secret.Value
	// Bearer, if set, is sent as "Authorization: Bearer …" and beats Header,
	// which beats Headers.
	Bearer secret.Value
	// Headers, if set, is asked before every request, also before those that
	// open a stream again: a token may be fresh each time. An error fails the
	// request, and nothing is sent.
	Headers func(ctx context.Context) (http.Header, error)
	// Authorize, if set, is called when a call or a notification is answered
	// with 401 or 403; resp has its WWW-Authenticate repaired. It has the shape
	// of auth.OAuthHandler.Authorize. After nil the request is sent once more;
	// an error is the error of the call. Listening streams never call it.
	Authorize func(ctx context.Context, req *http.Request, resp *http.Response) error

	// MaxBody bounds a JSON body, and one event of a stream, in bytes;
	// 0 means DefaultMaxBody.
	MaxBody int64

	// OnNotification sees every notification of the server, in the order of its
	// stream and before the SDK. One that it has handled is not passed on. ctx
	// is that of the call on whose stream it came, or has no Exchange.
	OnNotification func(ctx context.Context, method string, params json.RawMessage) (handled bool)
	// OnServerRequest sees every request of the server likewise. The token that
	// it returns is put into the params' _meta under OriginKey, where the SDK's
	// handler finds it; with "" there is none, whatever the server sent.
	OnServerRequest func(ctx context.Context, method string, params json.RawMessage) (token string)
	// OnSessionLost is called once for each session that the server forgot.
	OnSessionLost func(ctx context.Context)
	// OnListening is called once, when it is settled whether there is a
	// standalone stream (the older protocol; never in 2026-07-28): it is open,
	// or the server refused it, or has not answered for listenWait. What a server
	// sends on that stream before it is open is lost for good on most, so ask
	// nothing of it before.
	OnListening func()
	// OnGap is called when a listening stream is open again after a time without,
	// and the server cannot have replayed what was missed.
	OnGap func(ctx context.Context)

	// Base sends the requests; nil means a transport of its own with time limits
	// for dialling and for TLS, HTTP/2, and proxies from the environment.
	Base http.RoundTripper
}

// OriginKey is the member of a server request's params._meta that holds the
// token of Options.OnServerRequest. A member of that name that the server sent
// is removed.
const OriginKey = "io.mcp-sidecar/origin"

// NewClient returns an HTTP client for one session. It belongs to the origin of
// its first request and sends to no other. Close idle connections with
// its CloseIdleConnections when the session is over.
func NewClient(o Options) *http.Client {
	return &http.Client{Transport: newTransport(o), CheckRedirect: checkRedirect}
}

// baseTransport returns the transport that NewClient uses without Options.Base.
func baseTransport() *http.Transport {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAliveInterval}
	return &http.Transport{
		Proxy:                  proxyFromEnvironment,
		DialContext:            d.DialContext,
		TLSHandshakeTimeout:    tlsHandshakeTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleConnTimeout,
		MaxResponseHeaderBytes: maxResponseHeader,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}

// proxyFromEnvironment is http.ProxyFromEnvironment without the proxy's URL,
// which may hold a password, in the error.
func proxyFromEnvironment(req *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(req)
	if err != nil {
		return nil, errors.New("the proxy variable of the environment holds no URL")
	}
	return u, nil
}
