package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// secretive is an entry that holds the secrets t0p-s3cret and 4711471147.
func secretive(t *testing.T) *config.Server {
	t.Helper()
	cfg, err := config.Load(config.Sources{GOOS: "linux", Cwd: "/p", WorkspaceFolder: "/p", UserHome: "/h", Thread: json.RawMessage(
		`{"mcp_servers":{"s":{"url":"http://s.test/mcp","http_headers":{"X-Key":"t0p-s3cret","X-Pin":"4711471147"}}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := cfg.Server("s")
	if !ok || len(s.Secrets()) != 2 {
		t.Fatalf("got %v with %d secrets", s, len(s.Secrets()))
	}
	return s
}

// A server that repeats a secret in an error does not bring it into what the
// editor, the model and the log are told; the rest of its error is untouched.
func TestErrorsHoldNoSecrets(t *testing.T) {
	log := zerolog.Nop()
	c := &Client{server: secretive(t), log: &log}
	for in, want := range map[string]string{
		`{"n":1.0,"key":"t0p-s3cret"}`: `{"n":1.0,"key":"***"}`,
		`{"n":1.0,"pin":4711471147}`:   ``,
		`{"n":1.0}`:                    `{"n":1.0}`,
		``:                             ``,
	} {
		err := c.callError(t.Context(), nil, "tools/call", &jsonrpc.Error{Code: -32000, Message: "no t0p-s3cret here", Data: json.RawMessage(in)})
		e, ok := err.(*protocol.Error)
		if !ok || e.Data.Upstream == nil {
			t.Fatalf("got %v", err)
		}
		if strings.Contains(e.Message, "t0p") || e.Data.Upstream.Message != "no *** here" || string(e.Data.Upstream.Data) != want {
			t.Errorf("data %s: got %q, upstream %+v, data %s; want data %s", in, e.Message, e.Data.Upstream, e.Data.Upstream.Data, want)
		}
	}
	// A form that holds one is shown without it, or not at all.
	for in, want := range map[string]string{`"t0p-s3cret"`: `{"type":"object","properties":{},"x":"***"}`, `4711471147`: ""} {
		q, err := c.readQuestion(json.RawMessage(`{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{},"x":` + in + `}}`))
		if string(q.Schema) != want || (err == nil) != (want != "") {
			t.Errorf("a form with %s: %s, %v", in, q.Schema, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := secretive(t)
		status, _ := start(t, answers(func(method string, _ json.RawMessage) string {
			if method == "initialize" {
				return `"error":{"code":-32000,"message":"t0p-s3cret is not a key"}`
			}
			return ""
		}), true, func(server *config.Server) { *server = *s })
		if f := status.Failure; f == nil || strings.Contains(f.Error, "t0p") || !strings.Contains(f.Error, "is not a key") {
			t.Errorf("got %+v", f)
		}
	})
}

// What an HTTP server answers to a call is told with the time to try again, and
// without doubt in an address where the server was greeted.
func TestCallErrorHTTP(t *testing.T) {
	log := zerolog.Nop()
	c := &Client{server: &config.Server{Name: "s"}, log: &log}
	for name, tc := range map[string]struct {
		err   error
		kind  protocol.Kind
		after int64
		hint  string
	}{
		"busy":        {&streamable.StatusError{Method: "tools/call", Status: 429, RetryAfter: time.Hour}, protocol.KindHTTPStatus, 3_600_000, "try again after 1h0m0s"},
		"busy, mute":  {&streamable.StatusError{Method: "tools/call", Status: 503}, protocol.KindHTTPStatus, 0, ""},
		"no route":    {&streamable.StatusError{Method: "tools/call", Status: 404}, protocol.KindHTTPStatus, 0, ""},
		"no key":      {&streamable.StatusError{Method: "tools/call", Status: 401}, protocol.KindAuthRequired, 0, "set bearer_token_env_var or http_headers for this server"},
		"elsewhere":   {&streamable.RedirectError{Status: 302, From: "http://a", To: "http://b", Target: "http://b/x", Reason: "no"}, protocol.KindHTTPStatus, 0, "if that is the server you mean, set url to http://b/x"},
		"a web page":  {&streamable.StatusError{Method: "tools/call", Status: 200, Reason: "no"}, protocol.KindProtocolError, 0, "check url: what answers there is no MCP server"},
		"its own no":  {fmt.Errorf("x: %w", &jsonrpc.Error{Code: 1, Message: "no"}), protocol.KindUpstreamError, 0, ""},
		"its own 429": {&streamable.StatusError{Status: 429, RPC: &jsonrpc.Error{Code: 1, Message: "no"}}, protocol.KindUpstreamError, 0, ""},
	} {
		err := c.callError(t.Context(), nil, "tools/call", tc.err)
		e, ok := err.(*protocol.Error)
		if !ok || e.Data.Kind != tc.kind || e.Data.RetryAfterMs != tc.after || e.Data.Hint != tc.hint {
			t.Errorf("%s: got %v, %+v; want %+v", name, err, e.Data, tc)
		}
	}
}
