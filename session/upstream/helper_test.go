//go:build unix

package upstream

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// The helper's headers are taken, and none of what it prints shows up in an
// error.
func TestHeadersHelper(t *testing.T) {
	got, err := runHelper(t.Context(), `echo '{"x-api-key":"s3cret","Accept-Language":"de"}'`)
	if err != nil || got["X-Api-Key"] != "s3cret" || len(got) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	for command, want := range map[string]string{
		`echo s3cret; echo s3cret >&2; exit 3`: "exit status 3",
		`echo '["s3cret"]'`:                    "no JSON object of strings",
		`echo '{"a":1}'`:                       "no JSON object of strings",
		`head -c 100000 /dev/zero | tr '\0' s`: "more than 65536 bytes",
		`no-such-command-s3cret 2>/dev/null`:   "exit status 127",
	} {
		_, err := runHelper(t.Context(), command)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
}

// After an authorization http_headers_helper is run anew, and what it prints
// then goes out with the call that is sent again.
func TestRefreshRunsTheHelper(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	put := func(s string) {
		if err := os.WriteFile(token, []byte(`{"X-Token":"`+s+`"}`), 0o600); err != nil {
			t.Error(err)
		}
	}
	put("old")
	g := &guarded{refuse: func(int) string { return "" }}
	s := &challenging{fakeServer: g.fake(), status: 401, header: []string{`Bearer error_uri="https://a.test/login"`}, key: "new"}
	server := &config.Server{Name: "docs", StartupTimeout: 30 * time.Second,
		HTTP: &config.HTTP{URL: "http://s.test/mcp", HeadersHelper: "cat '" + token + "'"}}
	c := Start(t.Context(), NewHost("test", "1", nil, s), server, Questions{URL: true}, silent{})
	defer c.Close()
	if status, err := c.Await(t.Context()); err != nil || status.State != protocol.ServerConnected {
		t.Fatalf("%+v, %v", status, err)
	}
	me := &scripted{verdict: asks, act: func(elicit.Question, elicit.Verdict) (elicit.Answer, error) {
		put("new") // as a login on the page would
		return elicit.Answer{Action: protocol.AnswerAccept}, nil
	}}
	result, err := c.CallTool(t.Context(), Call{ID: "1", Token: "1", Caller: me, Params: json.RawMessage(`{"name":"t"}`)})
	if err != nil || !strings.Contains(string(result), `"in"`) || len(me.asked) != 1 {
		t.Errorf("got %s, %v; %s", result, err, me.state())
	}
}
