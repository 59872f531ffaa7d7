package thread

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// A generation is what a thread works with for a while. It is immutable but
// for its count of users, which Thread.mu guards.
type generation struct {
	config   *config.Config
	settings Settings
	servers  []*config.Server // the thread's selection, sorted by name; disabled and broken ones too
	clients  map[protocol.ServerName]*upstream.Client
	rules    map[protocol.ServerName]binding.Rules // of the servers
	reviewer reviewer
	sandbox  json.RawMessage // for the servers that want to know
	born     time.Time
	users    int
}

// server returns the entry of a server in the thread's selection.
func (g *generation) server(name protocol.ServerName) (*config.Server, bool) {
	if g == nil {
		return nil, false
	}
	for _, s := range g.servers {
		if s.Name == string(name) {
			return s, true
		}
	}
	return nil, false
}

// next builds a generation. Connections of prev that are alive and whose
// identity is the same are carried over, and so are failures to start: those
// are not tried again by themselves. A server that was lost after it had been
// ready is started again, unless its entry says restart = "never".
func (t *Thread) next(prev *generation, cfg *config.Config, settings Settings) *generation {
	g := &generation{
		config: cfg, settings: settings, sandbox: t.sandboxState(settings), born: time.Now(),
		clients: map[protocol.ServerName]*upstream.Client{}, rules: map[protocol.ServerName]binding.Rules{},
	}
	if prev != nil && prev.config == cfg {
		g.reviewer = prev.reviewer
	} else {
		g.reviewer, _ = newReviewer(cfg) // Warnings has told what is wrong
	}
	can := t.editor.Questions()
	offer := upstream.Questions{Form: can.Form, URL: can.URL}
	for i := range cfg.Servers {
		s := &cfg.Servers[i]
		name := protocol.ServerName(s.Name)
		if !selected(settings.Servers, name) {
			continue
		}
		g.servers = append(g.servers, s)
		g.rules[name] = t.rules(cfg, g.reviewer, settings, s)
		if !s.Startable() {
			if _, known := prev.server(name); s.Enabled && !known {
				f := invalid(s)
				protocol.StartupStatusUpdated.Send(t.editor, &protocol.StartupStatusUpdatedNotification{
					ThreadID: t.id, Name: name, Status: protocol.StartupFailed, Kind: f.Kind, Error: f.Error, Hint: f.Hint})
			}
			continue
		}
		if prev != nil {
			if old := prev.clients[name]; old != nil && old.Identity() == s.Identity() {
				status := old.Status()
				if (!status.WasReady || s.Restart == config.RestartNever) && status.State != protocol.ServerCancelled {
					g.clients[name] = old
					continue
				}
			}
		}
		g.clients[name] = upstream.Start(t.ctx, t.host, s, offer, t)
	}
	return g
}

// sandboxState is what servers hear that asked for it.
func (t *Thread) sandboxState(set Settings) json.RawMessage {
	path := filepath.ToSlash(t.cwd)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path}
	raw, err := rawjson.Marshal(struct {
		Policy protocol.SandboxPolicy `json:"sandboxPolicy"`
		Cwd    string                 `json:"sandboxCwd"`
	}{set.Sandbox.Policy(), u.String()})
	if err != nil {
		return nil
	}
	return raw
}

func selected(sel protocol.ServerSelection, name protocol.ServerName) bool {
	return (sel.Include == nil || slices.Contains(sel.Include, name)) && !slices.Contains(sel.Exclude, name)
}

// publish makes g the current generation and lets go of the one before.
func (t *Thread) publish(g *generation) {
	t.mu.Lock()
	for _, c := range g.clients {
		t.held[c]++
	}
	g.users = 1
	last := t.current
	closed := t.closed
	if !closed {
		t.current = g
		t.announced = false
	}
	t.mu.Unlock()
	if last != nil && !closed {
		t.release(last)
	}
	if closed {
		t.release(g)
	}
	for _, s := range g.servers {
		t.warnAboutFilters(protocol.ServerName(s.Name)) // of those that were ready before they were published
	}
	t.announceStartup()
}

// acquire returns the current generation and keeps it alive until release. It
// refreshes first if the stale mark is set.
func (t *Thread) acquire(ctx context.Context) (*generation, func(), error) {
	if err := t.refresh(ctx); err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	g := t.current
	if g == nil {
		t.mu.Unlock()
		return nil, nil, t.errClosed()
	}
	g.users++
	t.running.Add(1)
	t.mu.Unlock()
	return g, func() { t.release(g); t.running.Done() }, nil
}

// release gives up one use of g. Connections that no generation uses any more
// are ended in the background.
func (t *Thread) release(g *generation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g.users--
	if g.users == 0 {
		for _, c := range g.clients {
			t.held[c]--
			if t.held[c] == 0 {
				delete(t.held, c)
				t.endLocked(c)
			}
		}
	}
}

// refresh builds and publishes the next generation if the current one may be
// out of date. Marks set meanwhile are claimed too.
func (t *Thread) refresh(ctx context.Context) error {
	if t.built.Load() == t.wanted.Load() {
		return nil
	}
	select {
	case t.refreshing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.ctx.Done():
		return t.errClosed()
	}
	defer func() { <-t.refreshing }()
	for {
		// Who comes meanwhile waits for the token above: the mark is taken off
		// when the generation is there, not when somebody begins to build it.
		wanted := t.wanted.Load()
		if t.built.Load() == wanted {
			return nil
		}
		t.mu.Lock()
		prev, settings := t.current, t.settings
		t.mu.Unlock()
		if prev == nil {
			return t.errClosed()
		}
		t.publish(t.next(prev, prev.config, settings))
		t.built.Store(wanted)
	}
}
