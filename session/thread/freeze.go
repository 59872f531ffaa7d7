package thread

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// frozen is a binding that the thread keeps.
type frozen struct {
	public protocol.Binding
	tools  *binding.Binding
}

// Frozen is the result of Freeze.
type Frozen struct {
	Binding   protocol.Binding
	Unchanged bool
	Changes   *protocol.BindingChanges // nil when there is nothing to compare with
}

// Freeze takes the catalogue for the next step. wait bounds the wait for
// servers that are starting instead of the configured grace; previous is the
// binding to tell changes against, "" for the thread's last one.
func (t *Thread) Freeze(ctx context.Context, wait *time.Duration, previous protocol.BindingID) (Frozen, error) {
	var base *frozen
	if previous != "" {
		f, err := t.binding(previous)
		if err != nil {
			return Frozen{}, err
		}
		base = &f
	}
	g, release, err := t.acquire(ctx)
	if err != nil {
		return Frozen{}, err
	}
	defer release()
	if err := g.await(ctx, t.ctx, g.deadline(wait)); err != nil {
		return Frozen{}, t.told(err)
	}
	tools := binding.Freeze(t.catalogue(g))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return Frozen{}, t.errClosed()
	}
	if base == nil && len(t.bindings) > 0 {
		base = &t.bindings[len(t.bindings)-1]
	}
	if base != nil && base.tools.Fingerprint() == tools.Fingerprint() {
		// What is pending, left out or likely to be asked for may have changed;
		// what a model sees has not.
		same := base.public
		now := tools.Named(same.ID, same.ThreadID, same.Revision, same.CreatedAtMs)
		return Frozen{Binding: now, Unchanged: true, Changes: &protocol.BindingChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}}, nil
	}
	t.revision++
	id := protocol.BindingID(string(t.id) + bindingInfix + strconv.FormatInt(t.revision, 10))
	public := tools.Named(id, t.id, t.revision, time.Now().UnixMilli())
	out := Frozen{Binding: public}
	if base != nil {
		changes := binding.Diff(base.tools, tools)
		out.Changes = &changes
	}
	t.bindings = append(t.bindings, frozen{public, tools})
	if len(t.bindings) > MaxBindings {
		t.bindings = t.bindings[1:]
	}
	t.updated = time.Now()
	return out, nil
}

// bindingInfix joins a thread's id and a revision into a binding's id, so that
// an expired one can be told from one that never was.
const bindingInfix = "-b-"

// Binding returns a binding that the thread keeps.
func (t *Thread) Binding(id protocol.BindingID) (protocol.Binding, error) {
	f, err := t.binding(id)
	return f.public, err
}

func (t *Thread) binding(id protocol.BindingID) (frozen, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.bindings {
		if f.public.ID == id {
			return f, nil
		}
	}
	if n, ok := strings.CutPrefix(string(id), string(t.id)+bindingInfix); ok {
		if r, err := strconv.ParseInt(n, 10, 64); err == nil && r > 0 && r <= t.revision {
			return frozen{}, protocol.Errorf(protocol.KindBindingExpired, "binding %q is older than the last %d of thread %q", id, MaxBindings, t.id).
				WithHint("freeze again with thread/binding/freeze")
		}
	}
	return frozen{}, protocol.Errorf(protocol.KindUnknownBinding, "thread %q has no binding %q", t.id, id)
}

// deadline says until when a freeze waits for servers that are not required:
// the caller's own wait, or the grace, which is one for each generation. A
// grace of 0 means as long as their start-up limits allow.
func (g *generation) deadline(wait *time.Duration) time.Time {
	if wait != nil {
		return time.Now().Add(*wait)
	}
	if grace := g.config.OptionalStartupGrace; grace > 0 {
		return g.born.Add(grace)
	}
	var longest time.Duration
	for _, s := range g.servers {
		longest = max(longest, s.StartupTimeout)
	}
	return g.born.Add(longest + time.Second)
}

// catalogue gathers what the servers of g offer now, as binding wants it. A
// server that is not there takes part without a catalogue, so that its names
// are reserved and nothing is renamed when it comes.
func (t *Thread) catalogue(g *generation) binding.Input {
	in := binding.Input{Model: g.settings.Model}
	for _, s := range g.servers {
		name := protocol.ServerName(s.Name)
		offered := binding.Server{Name: name, Rules: g.rules[name]}
		if c := g.clients[name]; c != nil {
			if status := c.Status(); status.State == protocol.ServerConnected {
				offered.Instructions, offered.Catalog = status.Instructions, status.Catalog
			} else {
				in.Pending = append(in.Pending, protocol.PendingServer{Server: name, State: status.State})
			}
		}
		in.Servers = append(in.Servers, offered)
	}
	return in
}

// rules turns a server's configuration into what binding needs of it.
func (t *Thread) rules(cfg *config.Config, review reviewer, set Settings, s *config.Server) binding.Rules {
	name := protocol.ServerName(s.Name)
	r := binding.Rules{
		Enabled: s.EnabledTools, Disabled: s.DisabledTools, NoPrefix: !s.ToolNamePrefix, Parallel: s.SupportsParallel,
		Outlook: func(tool *binding.Tool, hints protocol.Hints) protocol.ApprovalOutlook {
			mode := elicit.ApprovalMode(s.Approval(string(tool.Name)))
			kept := t.keptFor(cfg, s, tool.Name, mode, tool.DefinitionHash)
			return elicit.Approve(elicit.ApprovalRequest{
				Server: name, Tool: tool.Name, Mode: mode, DefaultMode: elicit.ApprovalMode(s.DefaultApproval), Hints: hints,
				Policy: set.Policy, CanAsk: t.editor.Approvals(), Rule: review.rules.Tool(name, tool.Name), Memory: kept.Standing, ModeVoid: kept.ModeVoid,
			}).Outlook()
		},
	}
	switch s.Exposure {
	case config.ExposureHidden:
		r.Exposure = protocol.ExposureHidden
	case config.ExposureDirect, config.ExposureDeferred: // what can't be searched for yet must be in the list
		r.Exposure = protocol.ExposureDirect
	case config.ExposureAuto:
	}
	for name, rule := range s.Tools {
		if r.Tools == nil {
			r.Tools = map[protocol.ToolName]binding.ToolRules{}
		}
		r.Tools[protocol.ToolName(name)] = binding.ToolRules{Enabled: rule.Enabled, Hints: override(rule.Annotations)}
	}
	return r
}

// override turns the annotations of a configuration into hints; those that are
// absent leave the server's in force.
func override(a config.Annotations) protocol.Hints {
	h := protocol.Hints{ReadOnly: a.ReadOnly, Destructive: a.Destructive, Idempotent: a.Idempotent, OpenWorld: a.OpenWorld}
	if a.Title != nil {
		h.Title = *a.Title
	}
	return h
}

// warnAboutFilters tells of names in a server's configuration that match none
// of its tools, once the catalogue is known.
func (t *Thread) warnAboutFilters(name protocol.ServerName) {
	t.mu.Lock()
	g := t.current
	t.mu.Unlock()
	s, ok := g.server(name)
	if !ok || g.clients[name] == nil {
		return
	}
	offered := binding.Server{Name: name, Catalog: g.clients[name].Status().Catalog, Rules: g.rules[name]}
	t.mu.Lock()
	known := offered.Catalog == nil || t.checked[name] == offered.Catalog
	t.checked[name] = offered.Catalog
	t.mu.Unlock()
	if known {
		return
	}
	for _, miss := range binding.UnmatchedFilters(offered) {
		w := &protocol.ConfigWarningNotification{
			Summary: fmt.Sprintf("server %q has no tool %q, which %s names", name, miss.Name, miss.Key),
			Path:    s.Origin.Path, Key: "mcp_servers." + s.Name + "." + miss.Key, Server: name,
		}
		if miss.Nearest != "" {
			w.Hint = fmt.Sprintf("did you mean %q?", miss.Nearest)
		}
		protocol.ConfigWarned.Send(t.editor, w)
	}
}
