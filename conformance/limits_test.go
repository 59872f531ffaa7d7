package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/binding/toolcall"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rpc"
	"github.com/mcp-sidecar/mcp-sidecar/schema"
	"github.com/mcp-sidecar/mcp-sidecar/session"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// The limits that are published are those that are in force.
func TestPublishedLimits(t *testing.T) {
	cfg, err := config.Load(config.Sources{Overrides: []string{`mcp_servers.x.command="y"`}, Cwd: t.TempDir()})
	if err != nil || len(cfg.Servers) != 1 {
		t.Fatalf("Load = %+v, %v", cfg, err)
	}
	x := cfg.Servers[0]
	enforced := map[string]int64{
		"editorLine":        rpc.DefaultMaxLine,
		"serverMessage":     upstream.MaxMessage,
		"editorQueue":       rpc.DefaultQueueBytes,
		"requestsInFlight":  rpc.DefaultMaxInFlight,
		"bindingsPerThread": thread.MaxBindings,
		"itemResult":        toolcall.MaxItemResult,
		"statusPage":        statusPage(t),
		"toolsPerServer":    upstream.MaxItems,
		"listPages":         upstream.MaxPages,
		"cursor":            upstream.MaxCursor,
		"callableName":      callableName(t),
		"modelOutput":       toolcall.DefaultOutputTokens,
		"stderrTail":        process.StderrBytes,
		"serverStart":       x.StartupTimeout.Milliseconds(),
		"startupGrace":      cfg.OptionalStartupGrace.Milliseconds(),
		"toolCall":          x.ToolTimeout.Milliseconds(),
		"drain":             rpc.DefaultDrain.Milliseconds(),
	}
	for _, l := range schema.Limits {
		got, ok := enforced[l.Name]
		if !ok {
			t.Errorf("%s is published, and this test does not know what enforces it", l.Name)
		} else if got != l.Value {
			t.Errorf("%s: published %d, enforced %d", l.Name, l.Value, got)
		}
		delete(enforced, l.Name)
	}
	for name := range enforced {
		t.Errorf("%s is enforced and not published", name)
	}
}

// callableName is how long the flat name of a tool with an endless raw name is.
func callableName(t *testing.T) int64 {
	t.Helper()
	const server = "server"
	tool := json.RawMessage(`{"name":"` + strings.Repeat("x", 500) + `","inputSchema":{"type":"object"}}`)
	frozen := binding.Freeze(binding.Input{Servers: []binding.Server{{
		Name: server, Catalog: binding.ParseCatalog(server, []json.RawMessage{tool}, false),
	}}}).Named("b", "t", 1, 0)
	if len(frozen.Tools) != 1 {
		t.Fatalf("frozen = %+v", frozen)
	}
	return int64(len(frozen.Tools[0].Flat))
}

// statusPage is how many servers a page without a limit has.
func statusPage(t *testing.T) int64 {
	t.Helper()
	src := config.Sources{Cwd: t.TempDir()}
	for i := range 300 {
		src.Overrides = append(src.Overrides, fmt.Sprintf(`mcp_servers.s%d={command="x"}`, i))
	}
	s := session.New(context.Background(), session.Options{Sources: src}, nil)
	page, err := s.ServerStatusList(t.Context(), &protocol.ServerStatusListParams{})
	if err != nil || page.NextCursor == nil {
		t.Fatalf("ServerStatusList = %+v, %v", page, err)
	}
	return int64(len(page.Data))
}
