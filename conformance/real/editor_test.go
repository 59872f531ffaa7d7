package real

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// An editor has a sidecar with one thread. It notes what it hears and gives
// every approval; a test says how it answers servers' questions.
type editor struct {
	*client.Client
	t      *testing.T
	thread protocol.ThreadID

	mu        sync.Mutex
	heard     []notice
	news      chan struct{} // closed and replaced with each notice
	approvals []protocol.ToolName
	answer    func(ctx context.Context, q protocol.ElicitationRequestParams) (protocol.ElicitationRequestResult, error)
}

type notice struct {
	method string
	params json.RawMessage
}

// secrets are in the sidecar's own environment. No server may see them.
var secrets = []string{"GITHUB_TOKEN=for-the-sidecar-only-1", "AWS_SECRET_ACCESS_KEY=for-the-sidecar-only-2", "MY_OWN_PASSWORD=for-the-sidecar-only-3"}

// open starts a sidecar, with more arguments, and a thread with servers, which
// are ready then.
func open(t *testing.T, servers map[string]any, args ...string) *editor {
	t.Helper()
	needServers(t)
	e := &editor{t: t, news: make(chan struct{})}
	log := &testLog{t: t}
	t.Cleanup(log.close)
	home := t.TempDir()
	c, err := client.Start(context.Background(), client.Options{
		Path: sidecarPath, Args: append([]string{"--log-level", "info", "--log-format", "text"}, args...),
		Env: append(append(os.Environ(), secrets...), "MCP_SIDECAR_HOME="+home), Dir: home,
		Stderr: log, Notification: e.hear, Request: e.request,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		<-c.Done()
	})
	e.Client = c
	e.do("initialize", protocol.InitializeParams{
		ClientInfo: protocol.ClientInfo{Name: "real", Version: "1"},
		Capabilities: &protocol.ClientCapabilities{MCP: &protocol.MCPCapabilities{
			Approvals: true, Elicitation: &protocol.ElicitationCapability{Form: true, ApplyDefaults: true},
		}},
	}, nil)
	config, err := json.Marshal(map[string]any{"mcp_servers": servers})
	if err != nil {
		t.Fatal(err)
	}
	var started protocol.ThreadStartResult
	e.do("thread/start", protocol.ThreadStartParams{Cwd: home, Config: config, WaitForServersMs: bound.Milliseconds()}, &started)
	if len(started.Startup.Ready) != len(servers) {
		t.Fatalf("not all servers are ready: %+v", started.Startup)
	}
	e.thread = started.Thread.ID
	return e
}

// testLog hands the sidecar's log to the test, as long as that lasts.
type testLog struct {
	mu sync.Mutex
	t  *testing.T
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.t != nil {
		l.t.Logf("sidecar: %s", bytes.TrimRight(b, "\n"))
	}
	return len(b), nil
}

func (l *testLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = nil
}

// close ends the sidecar in the ordinary way and checks that none of the
// servers' processes is left.
func (e *editor) close() {
	e.t.Helper()
	left := e.watch()
	if err := e.Close(within(e.t)); err != nil || e.ExitCode() != 0 {
		e.t.Errorf("the sidecar ended with code %d: %v", e.ExitCode(), err)
	}
	e.gone(left)
}

// watch watches the servers' processes.
func (e *editor) watch() map[protocol.ServerName]<-chan struct{} {
	e.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e.t.Cleanup(cancel)
	left := map[protocol.ServerName]<-chan struct{}{}
	for _, s := range e.status() {
		if s.PID != 0 {
			left[s.Name] = process.WatchPID(ctx, int(s.PID))
		} else if s.HTTPOrigin == "" {
			e.t.Errorf("server %s has no process", s.Name)
		}
	}
	return left
}

// gone waits until processes have ended.
func (e *editor) gone(left map[protocol.ServerName]<-chan struct{}) {
	e.t.Helper()
	for name, ended := range left {
		select {
		case <-ended:
		case <-within(e.t).Done():
			e.t.Errorf("the process of server %s is left", name)
		}
	}
}

func (e *editor) status() []protocol.ServerStatus {
	e.t.Helper()
	var r protocol.ServerStatusListResult
	e.do("mcpServerStatus/list", protocol.ServerStatusListParams{ThreadID: e.thread}, &r)
	return r.Data
}

// do makes a request that must succeed.
func (e *editor) do(method string, params, result any) {
	e.t.Helper()
	if err := e.Call(within(e.t), method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

// hear notes a notification. It is called on the client's reader.
func (e *editor) hear(method string, params json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, notice{method, params})
	close(e.news)
	e.news = make(chan struct{})
}

// await waits for a notification of a call.
func (e *editor) await(method string, call protocol.CallID) {
	e.t.Helper()
	ctx := within(e.t)
	for {
		e.mu.Lock()
		news := e.news
		e.mu.Unlock()
		for _, n := range e.of(call) {
			if n.method == method {
				return
			}
		}
		select {
		case <-news:
		case <-ctx.Done():
			e.t.Fatalf("%s of call %s: %v", method, call, context.Cause(ctx))
		}
	}
}

// of returns what was heard of a call so far, in order.
func (e *editor) of(call protocol.CallID) []notice {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []notice
	for _, n := range e.heard {
		var p struct {
			Item   struct{ ID protocol.CallID }
			ItemID protocol.CallID
		}
		if strings.HasPrefix(n.method, "item/") && json.Unmarshal(n.params, &p) == nil && (p.Item.ID == call || p.ItemID == call) {
			out = append(out, n)
		}
	}
	return out
}

// request answers the sidecar.
func (e *editor) request(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method != protocol.ElicitationRequest.Name {
		return nil, errors.New("no method " + method)
	}
	var q protocol.ElicitationRequestParams
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, err
	}
	var meta struct {
		Kind string            `json:"codex_approval_kind"`
		Tool protocol.ToolName `json:"tool_name"`
	}
	if q.Meta != nil {
		if err := json.Unmarshal(q.Meta, &meta); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	answer := e.answer
	if meta.Kind == "mcp_tool_call" {
		e.approvals = append(e.approvals, meta.Tool)
	}
	e.mu.Unlock()
	switch {
	case meta.Kind == "mcp_tool_call":
		return protocol.ElicitationRequestResult{Action: protocol.AnswerAccept}, nil
	case answer == nil:
		e.t.Errorf("server %s asks %q", q.ServerName, q.Message)
		return protocol.ElicitationRequestResult{Action: protocol.AnswerCancel}, nil
	}
	return answer(ctx, q)
}

// onQuestion sets how questions of servers are answered.
func (e *editor) onQuestion(f func(context.Context, protocol.ElicitationRequestParams) (protocol.ElicitationRequestResult, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = f
}

// approved returns the tools that approvals were asked for so far.
func (e *editor) approved() []protocol.ToolName {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.approvals
}

// freeze takes the catalogue for a model.
func (e *editor) freeze(model string) protocol.Binding {
	e.t.Helper()
	e.do("thread/settings/update", protocol.ThreadSettingsUpdateParams{ThreadID: e.thread, Model: protocol.ModelParam(model)}, nil)
	var r protocol.BindingFreezeResult
	e.do("thread/binding/freeze", protocol.BindingFreezeParams{ThreadID: e.thread}, &r)
	return r.Binding
}

// begin begins a call of a tool by its server's name for it.
func (e *editor) begin(b protocol.Binding, server protocol.ServerName, tool protocol.ToolName, arguments string, id protocol.CallID) *client.Pending {
	e.t.Helper()
	for _, bound := range b.Tools {
		if bound.Server != server || bound.Tool != tool {
			continue
		}
		p, err := e.Go("thread/tool/call", protocol.ThreadToolCallParams{
			ThreadID: e.thread, BindingID: b.ID, Name: bound.Flat, Arguments: json.RawMessage(arguments), CallID: id,
		})
		if err != nil {
			e.t.Fatal(err)
		}
		return p
	}
	e.t.Fatalf("the binding has no tool %s of server %s", tool, server)
	return nil
}

// end waits for a call's end.
func (e *editor) end(p *client.Pending) protocol.ThreadToolCallResult {
	e.t.Helper()
	var r protocol.ThreadToolCallResult
	if err := p.Wait(within(e.t), &r); err != nil {
		e.t.Fatal(err)
	}
	return r
}

// tool carries out a call, which must complete.
func (e *editor) tool(b protocol.Binding, server protocol.ServerName, tool protocol.ToolName, arguments string) protocol.ThreadToolCallResult {
	e.t.Helper()
	r := e.end(e.begin(b, server, tool, arguments, ""))
	if r.Status != protocol.CallCompleted || r.Reason != "" {
		e.t.Fatalf("%s: %s, %s: %s", tool, r.Status, r.Reason, text(r))
	}
	return r
}

// text is what the model reads of a result, without images.
func text(r protocol.ThreadToolCallResult) string {
	var parts []string
	for _, i := range r.Output.Items {
		parts = append(parts, i.Text)
	}
	return strings.Join(parts, "\n")
}
