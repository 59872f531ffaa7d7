package thread

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// Status describes the servers of the thread, sorted by name; only one when
// only is not "". full asks connected servers for their resources too. No
// server is started for it.
func (t *Thread) Status(ctx context.Context, only protocol.ServerName, full bool) ([]protocol.ServerStatus, error) {
	t.mu.Lock()
	g := t.current
	if g != nil {
		g.users++
		t.running.Add(1)
	}
	t.mu.Unlock()
	if g == nil {
		return nil, t.errClosed()
	}
	defer t.running.Done()
	defer t.release(g)
	ctx, end := t.lived(ctx)
	defer end()
	rows, err := describeAll(g.servers, only)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if c := g.clients[rows[i].Name]; c != nil {
			describeLive(ctx, &rows[i], c, full)
		}
	}
	return rows, nil
}

// ConfiguredStatus describes the servers of a configuration without a thread.
func ConfiguredStatus(cfg *config.Config, only protocol.ServerName) ([]protocol.ServerStatus, error) {
	servers := make([]*config.Server, len(cfg.Servers))
	for i := range cfg.Servers {
		servers[i] = &cfg.Servers[i]
	}
	return describeAll(servers, only)
}

func describeAll(servers []*config.Server, only protocol.ServerName) ([]protocol.ServerStatus, error) {
	rows := []protocol.ServerStatus{}
	for _, s := range servers {
		if only == "" || only == protocol.ServerName(s.Name) {
			rows = append(rows, describe(s))
		}
	}
	if only != "" && len(rows) == 0 {
		return nil, unknownServer(only, servers)
	}
	return rows, nil
}

// describe is the row of a server of which only the configuration is known.
func describe(s *config.Server) protocol.ServerStatus {
	row := protocol.ServerStatus{
		Name: protocol.ServerName(s.Name), RuntimeStatus: protocol.ServerNotStarted, AuthStatus: protocol.AuthUnsupported,
		Tools: map[string]json.RawMessage{}, Resources: []json.RawMessage{}, ResourceTemplates: []json.RawMessage{},
		Origin: &protocol.ServerOrigin{Path: s.Origin.Path, Line: int64(s.Origin.Line), Layer: protocol.ConfigLayerName(s.Origin.Layer)},
	}
	for _, o := range s.Shadowed {
		row.Origin.Shadowed = append(row.Origin.Shadowed, protocol.ConfigLayerName(o.Layer))
	}
	if h := s.HTTP; h != nil {
		row.AuthStatus = protocol.AuthUnknown
		if !h.Bearer.Empty() || h.Headers.Get("Authorization") != "" {
			row.AuthStatus = protocol.AuthBearerToken
		}
		if u, err := url.Parse(h.URL); err == nil {
			row.HTTPOrigin = u.Scheme + "://" + u.Host
		}
	}
	switch {
	case !s.Enabled:
		row.RuntimeStatus = protocol.ServerDisabled
	case len(s.Invalid) > 0:
		row.RuntimeStatus, row.LastError = protocol.ServerFailed, invalid(s)
		row.ToolsError = row.LastError.Error
	}
	return row
}

// describeLive adds what is known of a server's connection.
func describeLive(ctx context.Context, row *protocol.ServerStatus, c *upstream.Client, full bool) {
	s := c.Status()
	row.RuntimeStatus, row.Era, row.PID, row.Instructions = s.State, s.Era, s.PID, s.Instructions
	row.ServerInfo, row.ServerCapabilities = s.Info, s.Capabilities
	if s.Failure != nil {
		row.LastError = s.Failure
	}
	if s.Catalog != nil {
		row.ToolsTruncated = s.Catalog.Truncated
		for _, tool := range s.Catalog.Tools {
			row.Tools[string(tool.Name)] = statusTool(&tool)
		}
	} else if s.Failure != nil {
		row.ToolsError = s.Failure.Error
	}
	if !full || s.State != protocol.ServerConnected {
		return
	}
	resources, templates, err := c.Inventory(ctx)
	if err != nil {
		return // the row stands without them
	}
	row.Resources = append(row.Resources, resources...)
	row.ResourceTemplates = append(row.ResourceTemplates, templates...)
}

// statusTool is a tool as its server gave it, with the input schema that the
// row's readers rely on.
func statusTool(t *binding.Tool) json.RawMessage {
	if t.InputSchema != nil {
		return t.Raw
	}
	const schema = `"inputSchema":{"type":"object","properties":{}}`
	return append([]byte("{"+schema+","), t.Raw[1:]...) // it has a name at least
}

// Config returns the configuration of the thread.
func (t *Thread) Config() (*config.Config, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil {
		return nil, t.errClosed()
	}
	return t.current.config, nil
}
