package session

import (
	"context"
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
)

// defaultStatusLimit is the page size of mcpServerStatus/list.
const defaultStatusLimit = 100

// ServerStatusList implements protocol.Sidecar.
func (s *Session) ServerStatusList(ctx context.Context, p *protocol.ServerStatusListParams) (*protocol.ServerStatusListResult, error) {
	rows, err := s.statusRows(ctx, p)
	if err != nil {
		return nil, err
	}
	limit := int(p.Limit)
	if limit <= 0 {
		limit = defaultStatusLimit
	}
	r := &protocol.ServerStatusListResult{Data: []protocol.ServerStatus{}}
	for _, row := range rows {
		// The cursor is the last name of the page before: rows that come and
		// go in between shift nothing.
		if p.Cursor != "" && string(row.Name) <= p.Cursor {
			continue
		}
		if len(r.Data) == limit {
			next := string(r.Data[limit-1].Name)
			r.NextCursor = &next
			break
		}
		r.Data = append(r.Data, row)
	}
	return r, nil
}

// statusRows returns all rows that the request means, sorted by name.
func (s *Session) statusRows(ctx context.Context, p *protocol.ServerStatusListParams) ([]protocol.ServerStatus, error) {
	if p.ThreadID != "" {
		t, err := s.thread(p.ThreadID)
		if err != nil {
			return nil, err
		}
		return t.Status(ctx, p.ServerName, p.Detail != protocol.DetailToolsAndAuthOnly)
	}
	cfg, err := config.Load(s.sources(""))
	if err != nil {
		return nil, protocol.Errorf(protocol.KindConfigInvalid, "%w", err)
	}
	return thread.ConfiguredStatus(cfg, p.ServerName)
}

// ResourceList implements protocol.Sidecar.
func (s *Session) ResourceList(ctx context.Context, p *protocol.ResourceListParams) (*protocol.ResourceListResult, error) {
	return request[protocol.ResourceListResult](ctx, s, p.ThreadID, p.Server, "resources/list", cursorParams{p.Cursor})
}

// ResourceTemplatesList implements protocol.Sidecar.
func (s *Session) ResourceTemplatesList(ctx context.Context, p *protocol.ResourceTemplatesListParams) (*protocol.ResourceTemplatesListResult, error) {
	return request[protocol.ResourceTemplatesListResult](ctx, s, p.ThreadID, p.Server, "resources/templates/list", cursorParams{p.Cursor})
}

// ResourceRead implements protocol.Sidecar.
func (s *Session) ResourceRead(ctx context.Context, p *protocol.ResourceReadParams) (*protocol.ResourceReadResult, error) {
	return request[protocol.ResourceReadResult](ctx, s, p.ThreadID, p.Server, "resources/read", readParams{p.URI, p.Meta})
}

// PromptList implements protocol.Sidecar.
func (s *Session) PromptList(ctx context.Context, p *protocol.PromptListParams) (*protocol.PromptListResult, error) {
	return request[protocol.PromptListResult](ctx, s, p.ThreadID, p.Server, "prompts/list", cursorParams{p.Cursor})
}

// PromptGet implements protocol.Sidecar.
func (s *Session) PromptGet(ctx context.Context, p *protocol.PromptGetParams) (*protocol.PromptGetResult, error) {
	return request[protocol.PromptGetResult](ctx, s, p.ThreadID, p.Server, "prompts/get", promptParams{p.Name, p.Arguments})
}

// The params of the MCP requests that are passed on.
type (
	cursorParams struct {
		Cursor *string `json:"cursor,omitzero"`
	}
	readParams struct {
		URI  string          `json:"uri"`
		Meta json.RawMessage `json:"_meta,omitzero"`
	}
	promptParams struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments,omitzero"`
	}
)

// request passes a request on to a server of a thread and hands back the raw
// result.
func request[R ~[]byte](ctx context.Context, s *Session, id protocol.ThreadID, server protocol.ServerName, method string, params any) (*R, error) {
	t, err := s.onlyThread(id)
	if err != nil {
		return nil, err
	}
	raw, err := rawjson.Marshal(params)
	if err != nil {
		return nil, err
	}
	result, err := t.Request(ctx, server, method, raw)
	if err != nil {
		return nil, err
	}
	r := R(result)
	return &r, nil
}
