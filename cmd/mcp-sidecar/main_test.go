package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// The test binary plays three parts, chosen by this variable: the sidecar, an
// MCP server, or the tests.
const partVar = "MCP_SIDECAR_TEST_PART"

func TestMain(m *testing.M) {
	switch part := os.Getenv(partVar); {
	case len(os.Args) == 3 && os.Args[1] == process.ReaperArg, part == "sidecar":
		os.Unsetenv(partVar)
		main()
	case part == "server":
		serveLines(os.Stdin, os.Stdout)
		os.Exit(0)
	default:
		os.Exit(m.Run())
	}
}

// serveLines is a server of the old era on raw lines. Its tools: echo answers
// with its arguments as they came, sleep after some milliseconds, hang never.
func serveLines(in io.Reader, out io.Writer) {
	var mu sync.Mutex
	reply := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			reply(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"lines","version":"1"}}}`, m.ID)
		case "tools/list":
			reply(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"sleep","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"hang","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}`, m.ID)
		case "tools/call":
			switch m.Params.Name {
			case "echo":
				reply(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":%s}}`, m.ID, m.Params.Arguments)
			case "sleep":
				var a struct{ Ms int }
				_ = json.Unmarshal(m.Params.Arguments, &a)
				time.AfterFunc(time.Duration(a.Ms)*time.Millisecond, func() {
					reply(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"slept"}]}}`, m.ID)
				})
			case "hang":
			}
		default:
			reply(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		}
	}
}

// bound is how long any single wait of these tests may take.
const bound = 30 * time.Second

// sidecar starts the sidecar with one server, called lines.
func sidecar(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	config := fmt.Sprintf("[mcp_servers.lines]\ncommand = %q\nenv = { %s = \"server\" }\n", self, partVar)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Path = self
	o.Env = append(os.Environ(), partVar+"=sidecar", "MCP_SIDECAR_HOME="+home)
	if o.Stderr == nil {
		o.Stderr = testLog{t}
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	c, err := client.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Logf("sidecar: %s", bytes.TrimRight(b, "\n"))
	return len(b), nil
}

// open initializes and starts thread t-1, whose server is ready then.
func open(t *testing.T, c *client.Client, params protocol.InitializeParams) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	params.ClientInfo = protocol.ClientInfo{Name: "test", Version: "1"}
	if err := c.Call(ctx, "initialize", params, nil); err != nil {
		t.Fatal(err)
	}
	var r protocol.ThreadStartResult
	if err := c.Call(ctx, "thread/start", protocol.ThreadStartParams{WaitForServersMs: bound.Milliseconds()}, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Startup.Ready) != 1 {
		t.Fatalf("startup: %+v", r.Startup)
	}
}

func ended(t *testing.T, c *client.Client) int {
	t.Helper()
	select {
	case <-c.Done():
		return c.ExitCode()
	case <-time.After(bound):
		t.Fatal("the sidecar does not end")
		return 0
	}
}

func call(tool, arguments string) json.RawMessage {
	return json.RawMessage(`{"threadId":"t-1","server":"lines","tool":"` + tool + `","arguments":` + arguments + `}`)
}

// Each of 2,000 requests that are written before anything is read gets its own
// reply: a result, or a refusal that says when to come back.
func TestPipelinedCallsAreAllAnswered(t *testing.T) {
	c := sidecar(t, client.Options{})
	open(t, c, protocol.InitializeParams{})
	const n = 2000
	pending := make([]*client.Pending, n)
	for i := range pending {
		p, err := c.GoRaw("mcpServer/tool/call", call("echo", fmt.Sprintf(`{"i":%d}`, i)))
		if err != nil {
			t.Fatal(err)
		}
		pending[i] = p
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	refused := 0
	for i, p := range pending {
		var raw json.RawMessage
		err := p.Wait(ctx, &raw)
		var refusal *client.ReplyError
		switch {
		case err == nil:
			if want := fmt.Sprintf(`"structuredContent":{"i":%d}`, i); !strings.Contains(string(raw), want) {
				t.Fatalf("call %d: got %s, want %s in it", i, raw, want)
			}
		case errors.As(err, &refusal) && refusal.Code == int64(protocol.CodeOverloaded) && refusal.Details().RetryAfterMs > 0:
			refused++
		default:
			t.Fatalf("call %d: %v", i, err)
		}
	}
	t.Logf("%d of %d were refused as too many", refused, n)
	_ = c.CloseInput()
	if code := ended(t, c); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// 50 calls that run when stdin ends are answered, and the exit code is 0.
func TestEndOfInputAnswersWhatRuns(t *testing.T) {
	c := sidecar(t, client.Options{})
	open(t, c, protocol.InitializeParams{})
	var pending []*client.Pending
	for range 50 {
		p, err := c.GoRaw("mcpServer/tool/call", call("sleep", `{"ms":300}`))
		if err != nil {
			t.Fatal(err)
		}
		pending = append(pending, p)
	}
	if err := c.CloseInput(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	for i, p := range pending {
		var raw json.RawMessage
		if err := p.Wait(ctx, &raw); err != nil || !strings.Contains(string(raw), "slept") {
			t.Errorf("call %d: %s, %v", i, raw, err)
		}
	}
	if code := ended(t, c); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// Arguments reach a server, and a result the editor, byte for byte: member
// order, long integers, trailing zeros and angle brackets.
func TestBytesSurvive(t *testing.T) {
	const exact = `{"z":12345678901234567890,"a":1.0,"h":"<b>&"}`
	web := httptest.NewServer(http.HandlerFunc(answerLines))
	defer web.Close()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			var mu sync.Mutex
			var seen []string
			c := sidecar(t, client.Options{Trace: func(dir string, line []byte) {
				if dir == client.In {
					mu.Lock()
					defer mu.Unlock()
					seen = append(seen, string(line))
				}
			}})
			server := "lines"
			open(t, c, protocol.InitializeParams{})
			thread := "t-1"
			if transport == "http" {
				server, thread = "web", "t-2"
				ctx, cancel := context.WithTimeout(context.Background(), bound)
				defer cancel()
				start := fmt.Sprintf(`{"waitForServersMs":30000,"config":{"mcp_servers":{"web":{"url":%q}}}}`, web.URL)
				if _, err := c.CallRaw(ctx, "thread/start", json.RawMessage(start)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), bound)
			defer cancel()
			params := `{"threadId":"` + thread + `","server":"` + server + `","tool":"echo","arguments":` + exact + `}`
			if _, err := c.CallRaw(ctx, "mcpServer/tool/call", json.RawMessage(params)); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			last := seen[len(seen)-1]
			if want := `"result":{"content":[],"structuredContent":` + exact + `}`; !strings.Contains(last, want) {
				t.Errorf("the reply is %s, want %s in it", last, want)
			}
		})
	}
}

// answerLines serves serveLines' conversation over Streamable HTTP with JSON
// bodies.
func answerLines(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var out bytes.Buffer
	serveLines(bytes.NewReader(append(body, '\n')), &out)
	if out.Len() == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(bytes.TrimSpace(out.Bytes()))
}

// An editor that closes its end of our stdout ends the sidecar: no signal kills
// it before its servers are down.
func TestClosedStdoutEndsTheSidecar(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), partVar+"=sidecar", "MCP_SIDECAR_HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.Close()
	if _, err := io.WriteString(stdin, `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"x"}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil || !strings.Contains(stderr.String(), "the editor is gone") {
			t.Errorf("ended with %v, stderr %q", err, stderr.String())
		}
	case <-time.After(bound):
		_ = cmd.Process.Kill()
		t.Fatal("the sidecar does not end")
	}
}

// Usage errors have code 2 and say what to do; --version and --help work.
func TestCommandLine(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"--version"}, 0, "mcp-sidecar " + version},
		{[]string{"--help"}, 0, "Without a sub-command it serves"},
		{[]string{"--nonsense"}, 2, "unknown flag"},
		{[]string{"nonsense"}, 2, "unknown command"},
		{[]string{"call"}, 2, "accepts between 2 and 3 arg(s)"},
		{[]string{"call", "s", "t", "[1]"}, 2, "must be a JSON object"},
		{[]string{"call", "tests", "t", "-c", "mcp_servers.test.command='x'"}, 1, `no server "tests" is configured; there are "test"`},
		{[]string{"--config", "/nonexistent/config.toml"}, 2, "/nonexistent/config.toml"},
		{[]string{"-c", "nonsense"}, 2, "key=value"},
		{[]string{"--log-level", "loud"}, 2, "--log-level"},
		{[]string{"--strict", "-c", "mcp_servers.x.command=1"}, 3, "mcp_servers.x.command"},
		{[]string{"--strict", "-c", "approval_rules=[{action='deny', argument='/a', matches='('}]"}, 3, "approval_rules[0].matches"},
		{[]string{"--strict", "-c", "approval_rules=[{action='deny', server='nobody'}]"}, 3, "matches no configured server"},
		{[]string{"--strict", "-c", "approval_templates.a.b='Do it.'"}, 3, "approval_templates.a.b"},
		{[]string{"--strict", "-c", "mcp_servers.a.command='x'", "-c", "approval_templates.b.t='Do it?'"}, 3, "approval_templates.b: is no configured server"},
		{[]string{"--strict", "-c", "approval_rules=[{action='allow'}]"}, 3, "allows every tool of every server unasked"},
		{[]string{"--strict", "-c", "approval_rules=[{server='*', action='allow'}]"}, 0, ""},
		{[]string{"--strict", "-c", "mcp_servers.x.command=${workspaceFolder}/x"}, 0, ""},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			var out bytes.Buffer
			code := run(tc.args, strings.NewReader(""), &out, &out)
			if code != tc.code || !strings.Contains(out.String(), tc.out) {
				t.Errorf("code %d, output %q; want code %d and %q", code, out.String(), tc.code, tc.out)
			}
		})
	}
}

// generate-ts and generate-json-schema print what is published.
func TestGenerate(t *testing.T) {
	for command, file := range map[string]string{"generate-ts": "sidecar.d.ts", "generate-json-schema": "sidecar.schema.json"} {
		dir := t.TempDir()
		var out bytes.Buffer
		if code := run([]string{command, "--out", dir}, strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%s: code %d: %s", command, code, out.String())
		}
		got, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("..", "..", "schema", "published", file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the published file", file)
		}
	}
}
