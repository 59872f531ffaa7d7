package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// webFunc answers HTTP requests with a function, by JSON-RPC method or, for what
// has none, by verb.
type webFunc func(method string, id json.RawMessage, r *http.Request) (status int, contentType string, body io.ReadCloser)

func (f webFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if r.Body != nil {
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	if m.Method == "" {
		m.Method = r.Method
	}
	status, contentType, body := f(m.Method, m.ID, r)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: r}, nil
}

// until is a stream on which nothing comes before ctx ends.
type until struct{ ctx context.Context }

func (u until) Read([]byte) (int, error) { <-u.ctx.Done(); return 0, u.ctx.Err() }
func (u until) Close() error             { return nil }

func connectWeb(t *testing.T, f webFunc) (*Client, Status) {
	t.Helper()
	server := &config.Server{Name: "s", HTTP: &config.HTTP{URL: "http://s.test/mcp"}, Enabled: true, StartupTimeout: time.Minute}
	c := Start(t.Context(), NewHost("sidecar", "1", nil, f), server, Questions{Form: true}, silent{})
	status, err := c.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, status
}

// A server of an older revision may ask on its standalone stream. It counts as
// connected when that stream is open, so that no question of a call is lost.
func TestConnectedWithStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Bool
		c, status := connectWeb(t, func(method string, id json.RawMessage, r *http.Request) (int, string, io.ReadCloser) {
			result := func(s string) (int, string, io.ReadCloser) {
				return 200, "application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, s)))
			}
			switch method {
			case "GET":
				time.Sleep(300 * time.Millisecond)
				open.Store(true)
				return 200, "text/event-stream", until{r.Context()}
			case "initialize":
				return result(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
			case "tools/list":
				return result(`"result":{"tools":[]}`)
			case "server/discover":
				return result(`"error":{"code":-32601,"message":"no"}`)
			}
			return 202, "", http.NoBody
		})
		if status.State != protocol.ServerConnected || !open.Load() {
			t.Errorf("state %s, stream open: %v; failure %+v", status.State, open.Load(), status.Failure)
		}
		c.Close()
	})
}

// A server of the newest revision that wants authorization and knows no
// initialize is reported as one that wants authorization.
func TestDiscoverWantsAuthorization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, status := connectWeb(t, func(method string, id json.RawMessage, _ *http.Request) (int, string, io.ReadCloser) {
			if method == "server/discover" {
				return 401, "application/json", io.NopCloser(strings.NewReader(`{"error":"invalid_token"}`))
			}
			return 400, "application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(
				`{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Missing MCP-Protocol-Version header"}}`, id)))
		})
		if status.State != protocol.ServerAuthRequired || status.Failure.Kind != protocol.KindAuthRequired || !strings.Contains(status.Failure.Error, "401") {
			t.Errorf("state %s, failure %+v", status.State, status.Failure)
		}
		c.Close()
	})
}
