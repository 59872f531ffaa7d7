package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK's choice of the protocol version works through this package: a server
// that knows the new one gets it, one that does not is met in the old.
func TestVersionIsNegotiated(t *testing.T) {
	for name, c := range map[string]struct {
		h    http.Handler
		want string
	}{
		"stateless SDK":   {sdkHandler(sdkServer(), &mcp.StreamableHTTPOptions{Stateless: true}), era26},
		"stateful SDK":    {sdkHandler(sdkServer(), nil), era25},
		"new":             {&fake{t: t, era: era26}, era26},
		"old":             {&fake{t: t, era: era25}, era25},
		"old, plain 404":  {refusing(&fake{t: t, era: era25}, 404, "text/plain", "no"), era25},
		"old, HTML":       {refusing(&fake{t: t, era: era25}, 200, "text/html", "<html>"), era25},
		"old, 202":        {refusing(&fake{t: t, era: era25}, 202, "", ""), era25},
		"old, broken":     {refusing(&fake{t: t, era: era25}, 200, "application/json", "{"), era25},
		"old, no session": {refusing(&fake{t: t, era: era25}, 400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`), era25},
	} {
		t.Run(name, func(t *testing.T) {
			s := connectServer(t, c.h, Options{}, "", nil)
			if got := s.InitializeResult().ProtocolVersion; got != c.want {
				t.Errorf("version %s, want %s", got, c.want)
			}
			alive(t, s)
		})
	}
}

// refusing makes f answer server/discover in its own way.
func refusing(f *fake, status int, contentType, body string) *fake {
	f.handle("server/discover", writer(status, contentType, body))
	return f
}

// A session that can't be opened fails with an error that says the status.
func TestConnectFails(t *testing.T) {
	f := &fake{t: t, era: era25}
	f.handle("initialize", func(w http.ResponseWriter, _ *http.Request, _ seen) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(503)
	})
	_, err := tryConnect(t, "http://fake.test/", Options{Base: memory{f}}, "", nil)
	e, ok := Cause(err).(*StatusError)
	if !ok || e.Status != 503 || e.RetryAfter != 7*time.Second || e.Method != "initialize" {
		t.Errorf("got %#v", Cause(err))
	}
}

// A subscription is made in either protocol, and what it brings is seen.
func TestSubscribe(t *testing.T) {
	for _, era := range []string{era25, era26} {
		t.Run(era, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, &mcp.ServerOptions{
				SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
				UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
			})
			server.AddResource(&mcp.Resource{URI: "test://one", Name: "one"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{}, nil
			})
			updated := make(chan string, 100)
			o := Options{OnNotification: func(ctx context.Context, method string, params json.RawMessage) bool {
				if method == "notifications/resources/updated" && ExchangeFrom(ctx) == nil {
					select {
					case updated <- string(params):
					default:
					}
				}
				return false
			}}
			s := connectServer(t, sdkHandler(server, &mcp.StreamableHTTPOptions{Stateless: era == era26}), o, era, nil)
			ctx, cancel := context.WithTimeout(context.Background(), bound)
			defer cancel()
			params := json.RawMessage(`{"uri":"test://one"}`)
			if raw, err := Do(ctx, s, "resources/subscribe", params, nil); err != nil || string(raw) != "{}" {
				t.Fatalf("got %s, %v", raw, err)
			}
			// The stream may still be opening: tell it until it is heard.
			for heard := false; !heard; {
				_ = server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://one"})
				select {
				case p := <-updated:
					if heard = true; !contains(p, `"uri":"test://one"`) {
						t.Errorf("params %s", p)
					}
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					t.Fatal("the update was not heard")
				}
			}
			if raw, err := Do(ctx, s, "resources/unsubscribe", params, nil); err != nil || string(raw) != "{}" {
				t.Errorf("got %s, %v", raw, err)
			}
		})
	}
}

// Calls, streams and cancelling work over HTTP/2 as well.
func TestHTTP2(t *testing.T) {
	f := &fake{t: t, era: era25, session: "s1", sse: true}
	open, closed := make(chan bool, 1), make(chan string, 1)
	f.handle("tools/call", func(w http.ResponseWriter, r *http.Request, s seen) {
		if contains(s.params, "hang") {
			emit(w, ": open\n\n")
			open <- true
			<-r.Context().Done()
			closed <- r.Proto
			return
		}
		f.result(w, s, fmt.Sprintf(`{"proto":%q}`, r.Proto))
	})
	ts := httptest.NewUnstartedServer(f)
	ts.EnableHTTP2 = true
	ts.StartTLS()
	defer ts.Close()
	s := connectURL(t, ts.URL, Options{Base: ts.Client().Transport}, era25, nil)
	raw, err := callTool(t, s, `{"name":"t"}`, nil)
	if err != nil || string(raw) != `{"proto":"HTTP/2.0"}` {
		t.Errorf("got %s, %v", raw, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with the stream's opening, or with the test
		<-open
		cancel()
	}()
	if _, err := Do(ctx, s, "tools/call", json.RawMessage(`{"name":"hang"}`), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if p := receive(t, closed, "the end of the stream"); p != "HTTP/2.0" {
		t.Errorf("the stream was %s", p)
	}
	alive(t, s)
	_ = s.Close()
}
