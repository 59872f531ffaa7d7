package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// web is a server of the old era as a transport: what it is asked while down
// is answered with a status.
type web struct {
	mu     sync.Mutex
	down   []int // statuses of the first answers
	header http.Header
	asked  []time.Time
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(status int, body string) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	if r.Method != http.MethodPost {
		return answer(http.StatusMethodNotAllowed, "")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, time.Now())
	if len(w.down) > 0 {
		status := w.down[0]
		// The probe and the greeting are two requests of one attempt.
		if m.Method == "initialize" {
			w.down = w.down[1:]
		}
		resp, err := answer(status, "not now")
		for k, v := range w.header {
			resp.Header[k] = v
		}
		return resp, err
	}
	switch m.Method {
	case "initialize":
		return answer(200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"web","version":"1"}}}`, m.ID))
	case "server/discover":
		return answer(200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
	}
	return answer(http.StatusAccepted, "")
}

func startWeb(t *testing.T, w *web) (Status, time.Duration) {
	t.Helper()
	s := &config.Server{Name: "web", Enabled: true, Transport: config.TransportHTTP, HTTP: &config.HTTP{URL: "http://web.test/mcp"}, StartupTimeout: 30 * time.Second}
	began := time.Now()
	c := Start(t.Context(), NewHost("test", "1", nil, w), s, Questions{}, silent{})
	status, err := c.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	c.Close()
	return status, took
}

// A server that is not up yet is asked again after a while, or when it says.
func TestStartTriesAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		down  []int
		after string
		state protocol.ServerState
		kind  protocol.Kind
		took  time.Duration
	}{
		"twice down":            {down: []int{503, 429}, state: protocol.ServerConnected, took: 1250 * time.Millisecond},
		"says when":             {down: []int{503}, after: "7", state: protocol.ServerConnected, took: 7 * time.Second},
		"stays down":            {down: []int{502, 502, 502, 502}, state: protocol.ServerFailed, kind: protocol.KindHTTPStatus, took: 1250 * time.Millisecond},
		"a final answer":        {down: []int{404, 404}, state: protocol.ServerFailed, kind: protocol.KindHTTPStatus},
		"wants a login":         {down: []int{401, 401}, state: protocol.ServerAuthRequired, kind: protocol.KindAuthRequired},
		"longer than the limit": {down: []int{503, 503}, after: "60", state: protocol.ServerFailed, kind: protocol.KindHTTPStatus},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &web{down: tc.down}
				if tc.after != "" {
					w.header = http.Header{"Retry-After": {tc.after}}
				}
				status, took := startWeb(t, w)
				var kind protocol.Kind
				if status.Failure != nil {
					kind = status.Failure.Kind
				}
				if status.State != tc.state || kind != tc.kind || took != tc.took {
					t.Errorf("got %s %s after %s, want %s %s after %s; failure %+v", status.State, kind, took, tc.state, tc.kind, tc.took, status.Failure)
				}
			})
		})
	}
}
