package thread

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// ServerChanged implements upstream.Owner.
func (t *Thread) ServerChanged(s upstream.Status) (after func()) {
	n := protocol.StartupStatusUpdatedNotification{ThreadID: t.id, Name: s.Name}
	switch s.State {
	case protocol.ServerStarting:
		n.Status = protocol.StartupStarting
	case protocol.ServerConnected:
		n.Status = protocol.StartupReady
	case protocol.ServerFailed, protocol.ServerAuthRequired:
		n.Status = protocol.StartupFailed
		n.Kind, n.Error, n.Hint = s.Failure.Kind, s.Failure.Error, s.Failure.Hint
		n.StderrTail, n.ExitCode = s.Failure.StderrTail, s.Failure.ExitCode
	case protocol.ServerCancelled:
		n.Status = protocol.StartupCancelled
	case protocol.ServerNotStarted, protocol.ServerDisabled:
		return nil
	}
	if t.ctx.Err() != nil {
		return nil // the thread is gone: nobody listens for its servers
	}
	protocol.StartupStatusUpdated.Send(t.editor, &n)
	switch {
	case s.State == protocol.ServerConnected:
		t.bindingChanged(protocol.ChangedServerReady, s.Name)
	case s.WasReady:
		// A server that was lost is started again by whoever needs it next.
		t.wanted.Add(1)
		t.bindingChanged(protocol.ChangedServerFailed, s.Name)
	}
	return func() {
		if s.State == protocol.ServerConnected {
			t.warnAboutFilters(s.Name)
		}
		t.announceStartup()
	}
}

// ToolsChanged implements upstream.Owner.
func (t *Thread) ToolsChanged(name protocol.ServerName) {
	t.warnAboutFilters(name)
	t.bindingChanged(protocol.ChangedToolList, name)
}

// Warn implements upstream.Owner.
func (t *Thread) Warn(server protocol.ServerName, kind protocol.Kind, message string) {
	protocol.Warned.Send(t.editor, &protocol.WarningNotification{Message: message, ThreadID: t.id, Server: server, Kind: kind})
}

// bindingChanged hints that a freeze would differ, if there is a binding at
// all.
func (t *Thread) bindingChanged(why protocol.BindingChangeReason, servers ...protocol.ServerName) {
	t.mu.Lock()
	any := len(t.bindings) > 0
	t.mu.Unlock()
	if !any {
		return
	}
	if servers == nil {
		servers = []protocol.ServerName{}
	}
	protocol.BindingChanged.Send(t.editor, &protocol.BindingChangedNotification{ThreadID: t.id, Reason: why, Servers: servers})
}

// announceStartup tells once for each generation that every server has ended
// its start.
func (t *Thread) announceStartup() {
	t.mu.Lock()
	g := t.current
	if g == nil || t.announced {
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	n := protocol.StartupCompletedNotification{ThreadID: t.id, Ready: []protocol.ServerName{}, Failed: []protocol.StartupFailure{}, Cancelled: []protocol.ServerName{}}
	s := g.startup()
	if len(s.Pending) > 0 {
		return
	}
	n.Ready, n.Failed = s.Ready, s.Failed
	t.mu.Lock()
	first := t.current == g && !t.announced
	if first {
		t.announced = true
	}
	t.mu.Unlock()
	if first {
		protocol.StartupCompleted.Send(t.editor, &n)
		t.warnAboutRules(g)
	}
}

// cancelStart tells the end of a start that the thread's own end cuts short.
// What the servers do from here on is not told any more: see ServerChanged.
func (t *Thread) cancelStart(g *generation) {
	t.mu.Lock()
	over := t.announced
	t.announced = true
	t.mu.Unlock()
	if over {
		return
	}
	s := g.startup()
	for _, name := range s.Pending {
		protocol.StartupStatusUpdated.Send(t.editor, &protocol.StartupStatusUpdatedNotification{ThreadID: t.id, Name: name, Status: protocol.StartupCancelled})
	}
	protocol.StartupCompleted.Send(t.editor, &protocol.StartupCompletedNotification{ThreadID: t.id, Ready: s.Ready, Failed: s.Failed, Cancelled: s.Pending})
}

// startup sums up how far the servers are.
func (g *generation) startup() protocol.Startup {
	s := protocol.Startup{Ready: []protocol.ServerName{}, Pending: []protocol.ServerName{}, Failed: []protocol.StartupFailure{}}
	for _, server := range g.servers {
		name := protocol.ServerName(server.Name)
		if !server.Enabled {
			continue
		}
		c := g.clients[name]
		if c == nil {
			s.Failed = append(s.Failed, protocol.StartupFailure{Name: name, Kind: protocol.KindConfigInvalid, Error: invalid(server).Error})
			continue
		}
		switch status := c.Status(); status.State {
		case protocol.ServerConnected:
			s.Ready = append(s.Ready, name)
		case protocol.ServerStarting, protocol.ServerNotStarted:
			s.Pending = append(s.Pending, name)
		case protocol.ServerFailed, protocol.ServerAuthRequired:
			s.Failed = append(s.Failed, protocol.StartupFailure{Name: name, Kind: status.Failure.Kind, Error: status.Failure.Error})
		case protocol.ServerCancelled, protocol.ServerDisabled:
		}
	}
	return s
}

// invalid describes a broken entry of the configuration.
func invalid(s *config.Server) *protocol.ServerFailure {
	f := &protocol.ServerFailure{Kind: protocol.KindConfigInvalid}
	var texts []string
	for _, p := range s.Invalid {
		texts = append(texts, p.Error())
		if f.Hint == "" {
			f.Hint = p.Hint
		}
	}
	f.Error = strings.Join(texts, "; ")
	return f
}

// Startup says how far the servers are.
func (t *Thread) Startup() protocol.Startup {
	t.mu.Lock()
	g := t.current
	t.mu.Unlock()
	if g == nil {
		return protocol.Startup{Ready: []protocol.ServerName{}, Pending: []protocol.ServerName{}, Failed: []protocol.StartupFailure{}}
	}
	return g.startup()
}

// AwaitStart waits for the required servers, and for the others at most wait.
// Required ones that failed make it fail, all of them named.
func (t *Thread) AwaitStart(ctx context.Context, wait time.Duration) error {
	g, release, err := t.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := g.await(ctx, t.ctx, time.Now().Add(wait)); err != nil {
		return t.told(err)
	}
	var failed []protocol.StartupFailure
	for _, f := range g.startup().Failed {
		if s, ok := g.server(f.Name); ok && s.Required {
			failed = append(failed, f)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	var texts []string
	for _, f := range failed {
		texts = append(texts, fmt.Sprintf("%q: %s", f.Name, f.Error))
	}
	e := protocol.Errorf(protocol.KindRequiredServerFailed, "required servers did not start: %s", strings.Join(texts, "; "))
	e.Data.Failed = failed
	return e
}

var errDeadline = errors.New("the time to wait is over")

// await waits until no required server is starting, and until no other one is
// or the deadline has come. life is the thread's.
func (g *generation) await(ctx, life context.Context, deadline time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	defer stop()
	patience, done := context.WithDeadlineCause(ctx, deadline, errDeadline)
	defer done()
	for _, s := range g.servers {
		c := g.clients[protocol.ServerName(s.Name)]
		if c == nil {
			continue
		}
		limit := patience
		if s.Required {
			limit = ctx
		}
		if _, err := c.Await(limit); err != nil && err != errDeadline {
			return err
		}
	}
	return nil
}

// warnAbout sends what is wrong in a configuration.
func (t *Thread) warnAbout(cfg *config.Config) {
	for _, w := range Warnings(cfg) {
		protocol.ConfigWarned.Send(t.editor, &w)
	}
}

// Warnings turns what is wrong in a configuration into notifications.
func Warnings(cfg *config.Config) []protocol.ConfigWarningNotification {
	list := []protocol.ConfigWarningNotification{}
	for _, p := range cfg.Problems {
		list = append(list, warning(p, ""))
	}
	_, problems := newReviewer(cfg)
	for _, p := range problems {
		list = append(list, warning(p, ""))
	}
	for _, s := range cfg.Servers {
		for _, p := range s.Invalid {
			list = append(list, warning(p, protocol.ServerName(s.Name)))
		}
	}
	return list
}

func warning(p config.Problem, server protocol.ServerName) protocol.ConfigWarningNotification {
	w := protocol.ConfigWarningNotification{Summary: p.Error(), Path: p.Path, Key: p.Key, Server: server, Hint: p.Hint}
	if p.Line > 0 {
		at := protocol.TextPosition{Line: int64(p.Line), Column: max(1, int64(p.Column))}
		w.Range = &protocol.TextRange{Start: at, End: at}
	}
	return w
}
