package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

const theSecret = "s3cr3t-value"

// Headers go out with every request; those of the protocol can't be set.
func TestHeaders(t *testing.T) {
	f := &fake{t: t, era: era25, session: "s1"}
	var asked atomic.Int32
	o := Options{
		Header: map[string]secret.Value{"x-key": secret.New("static"), "accept": secret.New("text/html"), "Mcp-Session-Id": secret.New("mine"), "authorization": secret.New("Basic x")},
		Bearer: secret.New(theSecret),
		Headers: func(context.Context) (http.Header, error) {
			return http.Header{"X-Key": {"dynamic"}, "x-fresh": {fmt.Sprint(asked.Add(1))}, "Authorization": {"Bearer other"}}, nil
		},
	}
	s := connect(t, f, o, era25, nil)
	if _, err := callTool(t, s, `{"name":"t"}`, nil); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	for _, r := range append(f.got("POST"), f.got("DELETE")...) {
		if r.header.Get("X-Key") != "static" || r.header.Get("Authorization") != "Bearer "+theSecret || r.header.Get("X-Fresh") == "" || strings.Contains(r.header.Get("Accept"), "html") || r.header.Get("Mcp-Session-Id") == "mine" {
			t.Errorf("%s %s: %v", r.verb, r.method, r.header)
		}
	}
	if len(f.got("DELETE")) != 1 {
		t.Error("the session was not ended")
	}
}

// Headers that can't be had fail the call unsent, and the session lives.
func TestHeadersFail(t *testing.T) {
	f := &fake{t: t, era: era25}
	var failing atomic.Bool
	fail := errors.New("helper exited with 1")
	s := connect(t, f, Options{Headers: func(context.Context) (http.Header, error) {
		if failing.Load() {
			return nil, fail
		}
		return nil, nil
	}}, era25, nil)
	failing.Store(true)
	x := &Exchange{}
	if _, err := callTool(t, s, `{"name":"t"}`, x); !errors.Is(err, fail) || x.Sent {
		t.Errorf("got %v, sent %v", err, x.Sent)
	}
	failing.Store(false)
	alive(t, s)
}

// A redirect to another origin gets nothing: no request, no header, no session
// id. One that keeps origin and method is followed with the body.
func TestRedirects(t *testing.T) {
	other := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other++ }))
	defer elsewhere.Close()
	f := &fake{t: t, era: era25, session: "s1"}
	var location string // both are read for POST alone, so between calls they are ours
	var status int
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || location == "" {
			f.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}))
	mux.Handle("/mcp/", f)
	mux.Handle("/loop", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop?"+r.URL.RawQuery+"x", http.StatusPermanentRedirect)
	}))
	s := connectServer(t, mux, Options{Bearer: secret.New(theSecret)}, era25, nil)
	for _, c := range []struct {
		status          int
		location, want  string
		followed, asked bool
	}{
		{307, "/mcp/", "", true, true},
		{308, "/mcp/?token=abc", "", true, true},
		{307, elsewhere.URL + "/mcp?token=" + theSecret, "it is another origin", false, false},
		{308, "https://user:" + theSecret + "@127.0.0.1/", "it is another origin", false, false},
		{302, "/mcp/?t=" + theSecret, "POST would become GET", false, false},
		{301, elsewhere.URL, "it is another origin", false, false},
		{307, "/loop", "too many redirects", false, false},
	} {
		status, location = c.status, c.location
		before := len(f.got("tools/call"))
		_, err := callTool(t, s, `{"name":"t","arguments":{"a":1.0}}`, nil)
		location = ""
		if got := f.got("tools/call"); c.asked != (len(got) == before+1) || c.asked && !strings.Contains(got[before].body, `{"a":1.0}`) {
			t.Errorf("%d %s: the body did not go along", c.status, c.location)
		}
		var e *RedirectError
		if c.followed {
			if err != nil {
				t.Errorf("%d %s: %v", c.status, c.location, err)
			}
			continue
		}
		if !errors.As(err, &e) || e.Status != c.status && c.location != "/loop" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), theSecret) {
			t.Errorf("%d %s: %v, want %q", c.status, c.location, err, c.want)
		}
		if e != nil && (!strings.Contains(err.Error(), e.From) || !strings.Contains(err.Error(), e.To)) {
			t.Errorf("the error does not name both ends: %v", err)
		}
		alive(t, s)
	}
	if other != 0 {
		t.Errorf("the other origin got %d requests", other)
	}
}

// A client sends to one origin, whoever uses it.
func TestOneOrigin(t *testing.T) {
	f := &fake{t: t, era: era25}
	c := NewClient(Options{Base: memory{f}, Bearer: secret.New(theSecret)})
	for url, ok := range map[string]bool{"http://a.test/": true} {
		r, err := c.Get(url)
		if (err == nil) != ok {
			t.Fatalf("%s: %v", url, err)
		}
		_ = r.Body.Close()
	}
	for url, ok := range map[string]bool{"http://A.test:80/x": true, "http://b.test/": false, "https://a.test/": false, "http://a.test:8080/": false, "http://[::1]/": false} {
		r, err := c.Get(url)
		if err == nil {
			_ = r.Body.Close()
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Errors name what is useful and hold no secret: neither the URL's query nor
// what a server repeats of a header.
func TestErrorsHoldNoSecret(t *testing.T) {
	f := &fake{t: t, era: era25}
	ts := httptest.NewServer(f)
	o := Options{Bearer: secret.New(theSecret), Header: map[string]secret.Value{"X-Key": secret.New("other-" + theSecret)}}
	s := connectURL(t, ts.URL+"/mcp?key="+theSecret, o, era25, nil)
	f.handle("tools/call", func(w http.ResponseWriter, r *http.Request, _ seen) {
		w.WriteHeader(401)
		_, _ = io.WriteString(w, "bad token "+r.Header.Get("Authorization")[7:]+" or key "+r.Header.Get("X-Key"))
	})
	_, err := callTool(t, s, `{"name":"t"}`, nil)
	if want := "HTTP 401 Unauthorized: bad token *** or key ***"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	ts.CloseClientConnections()
	ts.Close()
	var e *TransportError
	x := &Exchange{}
	for range 10 { // each may still find one of the closed connections
		x = &Exchange{}
		if _, err = callTool(t, s, `{"name":"t"}`, x); !x.Sent {
			break
		}
	}
	if !errors.As(err, &e) || e.Sent || x.Sent || e.Addr != ts.Listener.Addr().String() {
		t.Errorf("got %v, sent %v", err, x.Sent)
	}
	if err == nil || strings.Contains(err.Error(), theSecret) {
		t.Errorf("got %v", err)
	}
	_, err = tryConnect(t, ts.URL+"/mcp?key="+theSecret, o, era25, nil)
	if err = Cause(err); !errors.As(err, &e) || strings.Contains(err.Error(), theSecret) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("connecting: %v", err)
	}
}

// A connection that breaks before the answer says that the request may be there.
func TestResetIsAmbiguous(t *testing.T) {
	f := &fake{t: t, era: era25}
	f.handle("tools/call", func(http.ResponseWriter, *http.Request, seen) { panic(http.ErrAbortHandler) })
	s := connectServer(t, f, Options{}, era25, nil)
	x := &Exchange{}
	_, err := callTool(t, s, `{"name":"t"}`, x)
	var e *TransportError
	if !errors.As(err, &e) || !e.Sent || !x.Sent || x.Status != 0 {
		t.Errorf("got %v, exchange %+v", err, x)
	}
	alive(t, s)
}

// "localhost" reaches a server that listens on one address family only.
func TestLocalhost(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(&fake{t: t, era: era25})
	_ = ts.Listener.Close()
	ts.Listener = l
	ts.Start()
	defer ts.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if _, err := net.LookupHost("localhost"); err != nil {
		t.Skip("no localhost here")
	}
	s := connectURL(t, "http://localhost:"+port+"/mcp", Options{}, era25, nil)
	alive(t, s)
	_ = s.Close()
}

// The URL is used byte for byte.
func TestURLIsKept(t *testing.T) {
	uris := make(chan string, 100)
	f := &fake{t: t, era: era25}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		uris <- r.RequestURI
		f.ServeHTTP(w, r)
	})
	ts := httptest.NewServer(h)
	defer ts.Close()
	s := connectURL(t, ts.URL+"/a%2Fb/mcp/?x=%20&y", Options{}, era25, nil)
	alive(t, s)
	_ = s.Close()
	ts.Close()
	close(uris)
	for u := range uris {
		if u != "/a%2Fb/mcp/?x=%20&y" {
			t.Errorf("asked for %s", u)
		}
	}
}

// A 401 or 403 is taken to Authorize once, with a header that the SDK's parser
// reads, and the request is sent again; a refusal costs the call alone.
func TestAuthorize(t *testing.T) {
	f := &fake{t: t, era: era25}
	var token atomic.Value
	token.Store("")
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Authorization") != "Bearer good" {
			w.Header().Add("WWW-Authenticate", `Negotiate YII=, Bearer realm="", error="invalid_token", resource_metadata="http://x/y"`)
			w.WriteHeader(401)
			return
		}
		f.ServeHTTP(w, r)
	})
	var asked int
	next, refuse := "good", error(nil)
	o := Options{
		Headers: func(context.Context) (http.Header, error) {
			if token.Load() == "" {
				return nil, nil
			}
			return http.Header{"Authorization": {"Bearer " + token.Load().(string)}}, nil
		},
		Authorize: func(_ context.Context, req *http.Request, resp *http.Response) error {
			asked++
			_ = resp.Body.Close()
			cs, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
			if err != nil || len(cs) != 2 || cs[1].Params["resource_metadata"] != "http://x/y" {
				t.Errorf("challenges %v, %v", cs, err)
			}
			if req.URL.Path != "/mcp" || req.Header.Get("Authorization") != "" || resp.Request != req {
				t.Errorf("request %v %v", req.URL, req.Header)
			}
			token.Store(next)
			return refuse
		},
	}
	s := connect(t, h, o, era25, nil)
	if asked != 1 {
		t.Errorf("asked %d times to connect, want once", asked)
	}
	token.Store("old")
	next = "bad"
	x := &Exchange{}
	_, err := callTool(t, s, `{"name":"t"}`, x)
	var e *StatusError
	if !errors.As(err, &e) || e.Status != 401 || asked != 2 || len(e.Challenge) != 2 || x.Status != 401 || len(x.Challenge) != 2 {
		t.Errorf("got %#v after %d questions", err, asked)
	}
	refuse = errors.New("the user declined")
	if _, err := callTool(t, s, `{"name":"t"}`, nil); !errors.Is(err, refuse) || asked != 3 {
		t.Errorf("got %v after %d questions", err, asked)
	}
	token.Store("good")
	alive(t, s)
}

// Do refuses what can't be sent, before it is sent.
func TestDoRefuses(t *testing.T) {
	f := &fake{t: t, era: era25}
	s := connect(t, f, Options{}, era25, nil)
	for _, params := range []string{`[]`, `5`, `{"a":`, ``, `{} {}`, "{\"a\":\"\xff\"}"} {
		if _, err := Do(context.Background(), s, "tools/call", json.RawMessage(params), nil); err == nil || len(f.got("tools/call")) != 0 {
			t.Errorf("%q: sent, %v", params, err)
		}
	}
	plain, err := mcp.NewClient(&mcp.Implementation{Name: "x"}, nil).Connect(context.Background(),
		&mcp.StreamableClientTransport{Endpoint: "http://fake.test", HTTPClient: &http.Client{Transport: memory{f}}, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: era25})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	f.handle("tools/call", writer(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`))
	if _, err := Do(context.Background(), plain, "tools/call", nil, nil); err == nil || !strings.Contains(err.Error(), "through this package") {
		t.Errorf("a session of another client: %v", err)
	}
}
