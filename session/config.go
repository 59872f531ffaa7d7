package session

import (
	"context"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
)

// ConfigRead implements protocol.Sidecar.
func (s *Session) ConfigRead(_ context.Context, p *protocol.ConfigReadParams) (*protocol.ConfigReadResult, error) {
	cfg, err := s.effective(p)
	if err != nil {
		return nil, err
	}
	r := &protocol.ConfigReadResult{Config: cfg.Effective(), Origins: map[string]protocol.ConfigOrigin{}, Warnings: thread.Warnings(cfg)}
	for key, o := range cfg.Origins() {
		if o.Layer == config.LayerDefaults {
			continue
		}
		source := protocol.ConfigLayerSource{Type: protocol.ConfigSessionFlags}
		layer := protocol.ConfigLayerName(o.Layer)
		if layer == protocol.LayerUser {
			source = protocol.ConfigLayerSource{Type: protocol.ConfigUser, File: o.Path}
		}
		r.Origins[key] = protocol.ConfigOrigin{Name: source, Version: cfg.Version(), Layer: layer, Line: int64(o.Line), Column: int64(o.Column)}
	}
	return r, nil
}

// effective is the configuration of a thread, or the one that a new thread
// would get.
func (s *Session) effective(p *protocol.ConfigReadParams) (*config.Config, error) {
	if p.ThreadID != "" {
		t, err := s.thread(p.ThreadID)
		if err != nil {
			return nil, err
		}
		return t.Config()
	}
	cfg, err := config.Load(s.sources(p.Cwd))
	if err != nil {
		return nil, protocol.Errorf(protocol.KindConfigInvalid, "%w", err)
	}
	return cfg, nil
}
