package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

const (
	// done is the last line of a scenario that was played to its end. The suite
	// keeps stdout; it does not keep exit codes.
	done = "the scenario was played to its end"

	// playTime bounds a scenario, endTime the end of the sidecar after it. Many
	// are played at once.
	playTime = 150 * time.Second
	endTime  = 20 * time.Second

	// serverName is what the suite's server is called in the configuration.
	serverName = "suite"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "driver: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(done)
}

func run() (err error) {
	if len(os.Args) != 2 {
		return errors.New("usage: driver URL")
	}
	s := scenario{name: os.Getenv("MCP_CONFORMANCE_SCENARIO"), revision: os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &s.context); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), playTime, fmt.Errorf("not done after %s", playTime))
	defer cancel()

	home, err := os.MkdirTemp("", "mcp-sidecar-suite-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	e, err := open(ctx, home, os.Args[1], s)
	if err != nil {
		return err
	}
	err = s.play(ctx, e)
	return errors.Join(err, e.close())
}

// An editor is the editor's side of one thread with the suite's server.
type editor struct {
	*client.Client
	thread protocol.ThreadID
}

// open starts a sidecar and a thread whose only server is the one at url.
func open(ctx context.Context, home, url string, s scenario) (*editor, error) {
	c, err := client.Start(context.WithoutCancel(ctx), client.Options{
		Path: os.Getenv("MCP_SIDECAR_BINARY"), Args: []string{"--log-level", "info", "--log-format", "text"},
		Env: append(os.Environ(), "MCP_SIDECAR_HOME="+home), Stderr: os.Stderr, Request: s.answer,
		Notification: func(method string, params json.RawMessage) {
			switch method {
			case protocol.Warned.Name, protocol.ConfigWarned.Name:
				fmt.Fprintf(os.Stderr, "%s %s\n", method, params)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	e := &editor{Client: c}
	if err := e.start(ctx, url, s); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *editor) start(ctx context.Context, url string, s scenario) error {
	err := e.Call(ctx, "initialize", protocol.InitializeParams{
		ClientInfo: protocol.ClientInfo{Name: "suite-driver", Version: "1"},
		Capabilities: &protocol.ClientCapabilities{MCP: &protocol.MCPCapabilities{
			Approvals: true, Elicitation: &protocol.ElicitationCapability{Form: true, ApplyDefaults: true},
		}},
	}, nil)
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{"mcp_servers": map[string]any{
		serverName: map[string]any{"url": url, "required": true, "startup_timeout_sec": playTime.Seconds(), "tool_timeout_sec": playTime.Seconds()},
	}})
	if err != nil {
		return err
	}
	var started protocol.ThreadStartResult
	err = e.Call(ctx, "thread/start", protocol.ThreadStartParams{
		Config: config, Model: protocol.ModelParam(`{"format":"mcp"}`), WaitForServersMs: playTime.Milliseconds(),
	}, &started)
	if err != nil {
		return err
	}
	e.thread = started.Thread.ID
	return e.checkRevision(ctx, s.revision)
}

// checkRevision makes sure that a scenario is not passed in another revision
// of MCP than the one that is tried.
func (e *editor) checkRevision(ctx context.Context, want string) error {
	var status protocol.ServerStatusListResult
	err := e.Call(ctx, "mcpServerStatus/list", protocol.ServerStatusListParams{ThreadID: e.thread, Detail: protocol.DetailToolsAndAuthOnly}, &status)
	if err != nil {
		return err
	}
	if want != "" && (len(status.Data) != 1 || status.Data[0].Era != want) {
		return fmt.Errorf("the scenario is played in revision %s, and not in %s", status.Data[0].Era, want)
	}
	return nil
}

func (e *editor) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	err := e.Close(ctx)
	if code := e.ExitCode(); err == nil && code != 0 {
		err = fmt.Errorf("the sidecar ended with code %d", code)
	}
	return err
}

// tools freezes the catalogue.
func (e *editor) tools(ctx context.Context) (*protocol.Binding, error) {
	var r protocol.BindingFreezeResult
	err := e.Call(ctx, "thread/binding/freeze", protocol.BindingFreezeParams{ThreadID: e.thread}, &r)
	for _, o := range r.Binding.Omitted {
		fmt.Fprintf(os.Stderr, "left out: tool %q: %s\n", o.Tool, o.Reason)
	}
	return &r.Binding, err
}

// tool calls a tool of a binding by the name that its server gave it. That the
// tool fails is no error.
func (e *editor) tool(ctx context.Context, b *protocol.Binding, name protocol.ToolName, arguments any) error {
	raw, err := rawjson.Marshal(arguments)
	if err != nil {
		return err
	}
	for _, t := range b.Tools {
		if t.Tool == name {
			var r protocol.ThreadToolCallResult
			err := e.Call(ctx, "thread/tool/call", protocol.ThreadToolCallParams{ThreadID: e.thread, BindingID: b.ID, Name: t.Flat, Arguments: raw}, &r)
			if err != nil {
				return fmt.Errorf("calling %s: %w", name, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %s %s %s\n", name, r.Status, r.Reason, texts(r.Output))
			return nil
		}
	}
	return fmt.Errorf("no tool %q is in the binding", name)
}

func texts(o protocol.Output) string {
	var b strings.Builder
	for _, i := range o.Items {
		fmt.Fprintf(&b, "%q ", i.Text)
	}
	return b.String()
}
