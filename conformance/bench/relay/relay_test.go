package relay

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/fast"
)

// TestMain lets the test binary be the server.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		if err := new(fast.Server).Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// Requests reach the server, and answers come back with the editor's own ids.
func TestRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in := strings.NewReader(`{"id":"hello","method":"initialize"}
{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}
{"jsonrpc":"2.0","id":"x","method":"tools/nothing","params":{}}
`)
	var out bytes.Buffer
	if err := Run([]string{self, "serve"}, in, &out); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":"hello","result":{}}
{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}]}}
{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"unknown method or tool"}}
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}
