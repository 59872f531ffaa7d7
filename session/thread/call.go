package thread

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/binding/toolcall"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// A ModelCall is a model's call of a bound tool.
type ModelCall struct {
	Binding         protocol.BindingID
	Namespace, Name string
	Arguments, Meta json.RawMessage
	CallID          protocol.CallID // "" makes one
	TurnID          protocol.TurnID
	Timeout         time.Duration // 0 leaves the tool's own
}

// Called is how a call ended.
type Called struct {
	ID      protocol.CallID
	Server  protocol.ServerName
	Tool    protocol.ToolName
	Outcome toolcall.Outcome
}

// Call carries out a model's call. What the model should know is in the
// outcome; an error is a mistake of the editor.
func (t *Thread) Call(ctx context.Context, m ModelCall) (Called, error) {
	f, err := t.binding(m.Binding)
	if err != nil {
		return Called{}, err
	}
	bound, ok := f.tools.Lookup(m.Namespace, m.Name)
	if !ok || bound.Exposure == protocol.ExposureHidden {
		e := protocol.Errorf(protocol.KindUnknownTool, "binding %q has no tool %q", m.Binding, callable(m.Namespace, m.Name))
		if near := f.tools.Nearest(m.Namespace, m.Name); len(near) > 0 {
			e.WithHint("did you mean %s?", strings.Join(near, " or "))
		}
		return Called{}, e
	}
	return t.run(ctx, toolcall.Call{
		CallID: m.CallID, TurnID: m.TurnID, Server: bound.Server, Tool: bound.Tool, Arguments: m.Arguments, Meta: m.Meta,
		Frozen: frozenDefinition(f.tools, bound), Timeout: m.Timeout,
	})
}

func callable(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// CallDirect carries out a person's call by raw names.
func (t *Thread) CallDirect(ctx context.Context, server protocol.ServerName, tool protocol.ToolName, arguments, meta json.RawMessage) (Called, error) {
	return t.run(ctx, toolcall.Call{Server: server, Tool: tool, Arguments: arguments, Meta: meta, Direct: true})
}

// hint adds to an error about a tool that the server does not offer, or that
// the configuration leaves out, what may help.
func (x *target) hint(e *protocol.Error) {
	c := x.client()
	if e == nil || e.Data.Kind != protocol.KindUnknownTool || e.Data.Hint != "" || c == nil {
		return
	}
	catalog := c.Status().Catalog
	if _, ok := catalog.Tool(x.tool); ok {
		if why := x.g.rules[x.name].Refuses(x.tool); why != "" {
			e.WithHint("the configuration leaves it out: %s", why)
		}
	} else if near := catalog.Nearest(x.tool); len(near) > 0 {
		e.WithHint("did you mean %s?", strings.Join(near, " or "))
	}
}

// run is what both kinds of calls have in common.
func (t *Thread) run(ctx context.Context, c toolcall.Call) (Called, error) {
	g, release, err := t.acquire(ctx)
	if err != nil {
		return Called{}, err
	}
	target := &target{t: t, g: g, release: release, name: c.Server, tool: c.Tool}
	defer func() { target.release() }()
	if _, ok := g.server(c.Server); !ok && c.Direct {
		return Called{}, unknownServer(c.Server, g.servers)
	}
	set := g.settings
	c.ThreadID, c.Policy, c.CanAsk = t.id, set.Policy, t.editor.Approvals
	c.ImageInput, c.AudioInput, c.OutputTokenLimit = set.Model.ImageInput, set.Model.AudioInput, set.Model.OutputTokenLimit
	c.SandboxState, c.Rules, c.Templates = g.sandbox, g.reviewer.rules, g.reviewer.templates
	if err := t.enter(&c); err != nil {
		return Called{}, err
	}
	defer t.leave(c.CallID)
	target.id, target.turn, target.token = c.CallID, c.TurnID, c.ProgressToken
	ctx, end := t.lived(ctx)
	defer end()
	outcome := toolcall.Run(ctx, c, target, &t.gate, person{t, c.TurnID, target}, events{t, c.TurnID})
	target.hint(outcome.Err)
	return Called{c.CallID, c.Server, c.Tool, outcome}, nil
}

// enter registers a call, and makes an id for it if it has none.
func (t *Thread) enter(c *toolcall.Call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.errClosed()
	}
	if c.CallID == "" {
		t.lastCall++
		c.CallID = protocol.CallID(string(t.id) + "-c-" + strconv.FormatInt(t.lastCall, 10))
	}
	if t.calls[c.CallID] {
		return protocol.Errorf(protocol.KindInvalidParams, "callId: a call %q is running in this thread", c.CallID).WithPointer("/callId")
	}
	// Call ids are the editor's, and two threads may use one: the token, which
	// a server must be able to tell calls apart by, has the thread in it.
	c.ProgressToken = string(t.id) + "/" + string(c.CallID)
	t.calls[c.CallID] = true
	t.running.Add(1)
	return nil
}

func (t *Thread) leave(id protocol.CallID) {
	t.mu.Lock()
	delete(t.calls, id)
	t.updated = time.Now()
	idle := t.shown && len(t.calls) == 0
	if idle {
		t.shown = false
	}
	t.mu.Unlock()
	if idle {
		protocol.ThreadStatusChanged.Send(t.editor, &protocol.ThreadStatusChangedNotification{
			ThreadID: t.id, Status: protocol.ThreadStatus{Type: protocol.ThreadIdle}})
	}
	t.running.Done()
}

func unknownServer(name protocol.ServerName, servers []*config.Server) error {
	e := protocol.Errorf(protocol.KindUnknownServer, "no server %q is configured for this thread", name).WithServer(name)
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = strconv.Quote(s.Name)
	}
	if len(names) > 0 && len(names) <= 10 {
		e.WithHint("configured: %s", strings.Join(names, ", "))
	}
	return e
}

// Request passes a resources/* or prompts/* request on to a server.
func (t *Thread) Request(ctx context.Context, server protocol.ServerName, method string, params json.RawMessage) (json.RawMessage, error) {
	g, release, err := t.acquire(ctx)
	if err != nil {
		return nil, err
	}
	target := &target{t: t, g: g, release: release, name: server}
	defer func() { target.release() }()
	entry, ok := g.server(server)
	if !ok {
		return nil, unknownServer(server, g.servers)
	}
	ctx, end := t.lived(ctx)
	defer end()
	if err := target.Await(ctx); err != nil {
		return nil, t.told(err)
	}
	ctx, deadline := toolcall.NewDeadline(ctx, entry.ToolTimeout)
	defer deadline.Stop()
	caller := caller{t: t, g: g, deadline: deadline}
	result, err := target.client().Request(ctx, caller, method, params)
	if errors.Is(err, upstream.ErrNotRun) && target.replace(ctx) == nil {
		result, err = target.client().Request(ctx, caller, method, params)
	}
	if errors.Is(err, toolcall.ErrTimeout) {
		return nil, protocol.Errorf(protocol.KindTimeout, "server %q did not answer %s within %s", server, method, entry.ToolTimeout).WithServer(server)
	}
	return result, t.told(err)
}

// target is a tool on its live server. It implements toolcall.Target.
type target struct {
	t       *Thread
	g       *generation
	release func()
	name    protocol.ServerName
	tool    protocol.ToolName

	id    protocol.CallID
	turn  protocol.TurnID
	token string
}

func (x *target) client() *upstream.Client { return x.g.clients[x.name] }

// Await implements toolcall.Target. A server that was lost just now is started
// again and waited for, once.
func (x *target) Await(ctx context.Context) error {
	for again := false; ; again = true {
		entry, ok := x.g.server(x.name)
		switch {
		case !ok:
			return unknownServer(x.name, x.g.servers)
		case !entry.Enabled:
			return upstream.Status{Name: x.name, State: protocol.ServerDisabled}.Error()
		case x.client() == nil:
			f := invalid(entry)
			return protocol.Errorf(f.Kind, "server %q can't start: %s", x.name, f.Error).WithServer(x.name).WithHint("%s", f.Hint)
		}
		status, err := x.client().Await(ctx)
		if err != nil {
			return err
		}
		if fault := status.Error(); fault == nil {
			return nil
		} else if again || !status.WasReady || entry.Restart == config.RestartNever {
			return fault
		}
		if err := x.renew(ctx); err != nil {
			return err
		}
	}
}

// renew goes over to the thread's current generation.
func (x *target) renew(ctx context.Context) error {
	g, release, err := x.t.acquire(ctx)
	if err != nil {
		return err
	}
	x.release()
	x.g, x.release = g, release
	return nil
}

// replace goes over to another connection to the server after the one at hand
// has ended, and waits until it is ready.
func (x *target) replace(ctx context.Context) error {
	if err := x.client().AwaitLost(ctx); err != nil {
		return err
	}
	if err := x.renew(ctx); err != nil {
		return err
	}
	return x.Await(ctx)
}

// Tool implements toolcall.Target.
func (x *target) Tool() (toolcall.Tool, bool) {
	entry, ok := x.g.server(x.name)
	c := x.client()
	if !ok || c == nil {
		return toolcall.Tool{}, false
	}
	status := c.Status()
	if status.Catalog == nil {
		return toolcall.Tool{}, false
	}
	offered, ok := status.Catalog.Tool(x.tool)
	rules := x.g.rules[x.name]
	if !ok || rules.Refuses(x.tool) != "" {
		return toolcall.Tool{}, false
	}
	tool := toolcall.Tool{
		Title: offered.Title, Description: offered.Description, Hints: rules.HintsOf(offered),
		Definition: toolcall.Definition{Hash: offered.DefinitionHash(), Read: offered.Definition},
		Parallel:   entry.SupportsParallel, Mode: elicit.ApprovalMode(entry.Approval(string(x.tool))), DefaultMode: elicit.ApprovalMode(entry.DefaultApproval),
		Timeout: entry.CallTimeout(string(x.tool)), OutputTokenLimit: int64(entry.Tools[string(x.tool)].OutputTokenLimit),
		SandboxState: status.SandboxState, ResourceURI: resourceURI(offered),
	}
	return tool, true
}

// Send implements toolcall.Target.
func (x *target) Send(ctx context.Context, params json.RawMessage, as toolcall.Definition, progress func(toolcall.Progress)) (json.RawMessage, error) {
	same := func() error {
		if now, ok := x.Tool(); !ok || now.Definition.Hash != as.Hash {
			return toolcall.ErrToolChanged
		}
		return nil
	}
	call := upstream.Call{
		ID: x.id, Params: params, Token: x.token, Recheck: same,
		Caller:   caller{t: x.t, g: x.g, turn: x.turn, deadline: toolcall.DeadlineFrom(ctx), tool: x.tool, params: params},
		Progress: func(p upstream.Progress) { progress(toolcall.Progress(p)) },
	}
	result, err := x.client().CallTool(ctx, call)
	if !errors.Is(err, upstream.ErrNotRun) || x.replace(ctx) != nil {
		return result, err
	}
	if err := same(); err != nil {
		return nil, err
	}
	return x.client().CallTool(ctx, call)
}

// resourceURI is the page of a tool (MCP Apps), "" if it has none.
func resourceURI(t *binding.Tool) string {
	if t.Meta == nil {
		return ""
	}
	var meta struct {
		UI struct {
			ResourceURI string `json:"resourceUri"`
		} `json:"ui"`
		Old string `json:"ui/resourceUri"`
	}
	if json.Unmarshal(t.Meta, &meta) != nil {
		return ""
	}
	if meta.UI.ResourceURI != "" {
		return meta.UI.ResourceURI
	}
	return meta.Old
}

// events tells the editor of a call. It implements toolcall.Events.
type events struct {
	t    *Thread
	turn protocol.TurnID
}

// Started implements toolcall.Events.
func (e events) Started(item protocol.Item, at time.Time) {
	protocol.ItemStarted.Send(e.t.editor, &protocol.ItemStartedNotification{ThreadID: e.t.id, TurnID: e.turn, Item: item, StartedAtMs: at.UnixMilli()})
}

// Progress implements toolcall.Events.
func (e events) Progress(id protocol.CallID, p toolcall.Progress) {
	protocol.ItemProgress.Send(e.t.editor, &protocol.ItemProgressNotification{
		ThreadID: e.t.id, TurnID: e.turn, ItemID: id, Message: p.Message, Progress: p.Progress, Total: p.Total,
	})
}

// Completed implements toolcall.Events.
func (e events) Completed(item protocol.Item, resultOmitted bool, at time.Time) {
	protocol.ItemCompleted.Send(e.t.editor, &protocol.ItemCompletedNotification{
		ThreadID: e.t.id, TurnID: e.turn, Item: item, ResultOmitted: resultOmitted, CompletedAtMs: at.UnixMilli(),
	})
}

// frozenDefinition is what the model was shown of a tool.
func frozenDefinition(b *binding.Binding, bound *protocol.BoundTool) *toolcall.Definition {
	return &toolcall.Definition{Hash: bound.DefinitionHash, Read: func() json.RawMessage {
		return b.Definition(bound.Server, bound.Tool)
	}}
}
