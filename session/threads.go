package session

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
)

// ThreadStart implements protocol.Sidecar.
func (s *Session) ThreadStart(ctx context.Context, p *protocol.ThreadStartParams) (*protocol.ThreadStartResult, error) {
	src := s.sources(p.Cwd)
	if p.Cwd == "" && len(p.WorkspaceRoots) > 0 {
		src.Cwd = p.WorkspaceRoots[0]
	}
	switch {
	case src.Cwd == "": // the sidecar's own was deleted, most likely
		return nil, protocol.Errorf(protocol.KindInvalidParams, "cwd: needed, since the sidecar's own working folder can't be told").WithPointer("/cwd")
	case !filepath.IsAbs(src.Cwd):
		return nil, protocol.Errorf(protocol.KindInvalidParams, "cwd: %q is not an absolute path", src.Cwd).WithPointer("/cwd")
	}
	if len(p.WorkspaceRoots) > 0 {
		src.WorkspaceFolder = p.WorkspaceRoots[0]
	}
	src.Thread = p.Config
	// The records are read before the configuration that they are about, so that
	// one taken back meanwhile is known, and after it, so that a mode that was
	// kept meanwhile is not taken for one that a person wrote.
	_ = s.opts.Approvals.Reload()
	read := time.Now()
	cfg, err := config.Load(src)
	if err != nil {
		return nil, protocol.Errorf(protocol.KindConfigInvalid, "%w", err)
	}
	unreadable := s.opts.Approvals.Reload()
	settings, err := newSettings(p, cfg)
	if err != nil {
		return nil, err
	}
	t, err := s.open(ctx, thread.Options{
		Cwd: src.Cwd, Config: cfg, ConfigRead: read, Settings: settings, Provider: p.ModelProvider, Ephemeral: p.Ephemeral,
		Version: s.opts.Version, Host: s.opts.Host, Approvals: s.opts.Approvals, Editor: s.editor,
	})
	if err != nil {
		return nil, err
	}
	protocol.Admitted(ctx) // the thread can be named from here on
	if unreadable != nil {
		t.Warn("", protocol.KindConfigInvalid, "what was allowed for good is asked about again: "+unreadable.Error())
	}
	if err := t.AwaitStart(ctx, time.Duration(p.WaitForServersMs)*time.Millisecond); err != nil {
		s.retire(s.ctx, t)
		return nil, err
	}
	return &protocol.ThreadStartResult{
		Thread: t.Describe(), Model: settings.Model.Name, ModelProvider: p.ModelProvider, Cwd: src.Cwd,
		ApprovalPolicy: settings.PolicyText, ApprovalsReviewer: "user", Sandbox: settings.Sandbox.Policy(), Startup: t.Startup(),
	}, nil
}

// open makes a thread and enters it into the table.
func (s *Session) open(ctx context.Context, o thread.Options) (*thread.Thread, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, protocol.Errorf(protocol.KindShuttingDown, "the sidecar is ending")
	}
	s.last++
	o.ID = protocol.ThreadID("t-" + strconv.FormatInt(s.last, 10))
	s.mu.Unlock()
	t := thread.New(ctx, o)
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.threads[o.ID] = t
		s.order = append(s.order, o.ID)
	}
	s.mu.Unlock()
	if closed {
		end(s.ctx, t)
		return nil, protocol.Errorf(protocol.KindShuttingDown, "the sidecar is ending")
	}
	return t, nil
}

// retire takes a thread out of the table and closes it. Its servers end in the
// background; Session.Close waits for them.
func (s *Session) retire(ctx context.Context, t *thread.Thread) {
	s.mu.Lock()
	if s.threads[t.ID()] == nil { // somebody else does it
		s.mu.Unlock()
		return
	}
	delete(s.threads, t.ID())
	s.order = slices.DeleteFunc(s.order, func(id protocol.ThreadID) bool { return id == t.ID() })
	s.ends.Add(1) // under mu: before Close can wait
	s.mu.Unlock()
	t.Close(ctx)
	go func() {
		defer s.ends.Done()
		t.Wait()
	}()
}

// newSettings reads a thread's first settings: its own, else the
// configuration's, else the defaults.
func newSettings(p *protocol.ThreadStartParams, cfg *config.Config) (thread.Settings, error) {
	set := thread.Settings{PolicyText: p.ApprovalPolicy, Sandbox: p.Sandbox}
	if set.PolicyText == nil {
		set.PolicyText = protocol.ApprovalPolicy(cfg.ApprovalPolicy)
	}
	if set.PolicyText == nil {
		set.PolicyText = protocol.ApprovalPolicy(`"on-request"`)
	}
	if set.Sandbox == "" {
		set.Sandbox = protocol.SandboxWorkspaceWrite
	}
	if p.Servers != nil {
		set.Servers = *p.Servers
	}
	return set, applySettings(&set, p.Model)
}

// applySettings reads the raw parts of settings.
func applySettings(set *thread.Settings, model protocol.ModelParam) error {
	policy, err := elicit.ParsePolicy(set.PolicyText, set.Sandbox)
	if err != nil {
		return protocol.Errorf(protocol.KindInvalidParams, "approvalPolicy: %w", err).WithPointer("/approvalPolicy")
	}
	set.Policy = policy
	if model != nil {
		m, err := parseModel(model)
		if err != nil {
			return err
		}
		set.Model = m
	}
	if set.Model.Format == "" {
		set.Model.Format = protocol.FormatOpenAIResponses
	}
	return nil
}

// parseModel reads a model: its name, or a description.
func parseModel(raw protocol.ModelParam) (protocol.ModelSettings, error) {
	var m protocol.ModelSettings
	if len(raw) > 0 && raw[0] == '"' {
		return m, json.Unmarshal(raw, &m.Name)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, protocol.Errorf(protocol.KindInvalidParams, "model: must be a name or an object as ModelSettings describes it").WithPointer("/model")
	}
	if m.Format != "" {
		known := false
		for _, f := range m.Format.Values() {
			known = known || f == string(m.Format)
		}
		if !known {
			return m, protocol.Errorf(protocol.KindInvalidParams, "model.format: %q is none of %v", m.Format, m.Format.Values()).WithPointer("/model/format")
		}
	}
	if m.MaxTools < 0 || m.NameMaxLength < 0 || m.OutputTokenLimit < 0 {
		return m, protocol.Errorf(protocol.KindInvalidParams, "model: limits must not be negative").WithPointer("/model")
	}
	return m, nil
}

// ThreadList implements protocol.Sidecar.
func (s *Session) ThreadList(context.Context, *protocol.ThreadListParams) (*protocol.ThreadListResult, error) {
	s.mu.Lock()
	all := make([]*thread.Thread, 0, len(s.order))
	for _, id := range s.order {
		all = append(all, s.threads[id])
	}
	s.mu.Unlock()
	r := &protocol.ThreadListResult{Data: make([]protocol.Thread, 0, len(all))}
	for _, t := range all {
		r.Data = append(r.Data, t.Describe())
	}
	return r, nil
}

// ThreadRead implements protocol.Sidecar.
func (s *Session) ThreadRead(_ context.Context, p *protocol.ThreadReadParams) (*protocol.ThreadReadResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	return &protocol.ThreadReadResult{Thread: t.Describe(), Settings: public(t.Settings()), Startup: t.Startup()}, nil
}

func public(set thread.Settings) protocol.ThreadSettings {
	return protocol.ThreadSettings{ApprovalPolicy: set.PolicyText, Sandbox: set.Sandbox, Model: set.Model, Servers: set.Servers}
}

// ThreadClose implements protocol.Sidecar.
func (s *Session) ThreadClose(ctx context.Context, p *protocol.ThreadCloseParams) (*protocol.ThreadCloseResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	s.retire(ctx, t)
	return &protocol.ThreadCloseResult{}, nil
}

// ThreadSettingsUpdate implements protocol.Sidecar.
func (s *Session) ThreadSettingsUpdate(_ context.Context, p *protocol.ThreadSettingsUpdateParams) (*protocol.ThreadSettingsUpdateResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	set, err := t.Update(func(set *thread.Settings) error {
		if p.ApprovalPolicy != nil {
			set.PolicyText = p.ApprovalPolicy
		}
		if p.Sandbox != "" {
			set.Sandbox = p.Sandbox
		}
		if p.Servers != nil {
			set.Servers = *p.Servers
		}
		return applySettings(set, p.Model)
	})
	if err != nil {
		return nil, err
	}
	return &protocol.ThreadSettingsUpdateResult{Settings: public(set)}, nil
}

// BindingFreeze implements protocol.Sidecar.
func (s *Session) BindingFreeze(ctx context.Context, p *protocol.BindingFreezeParams) (*protocol.BindingFreezeResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	var wait *time.Duration
	if p.WaitMs != nil {
		d := time.Duration(*p.WaitMs) * time.Millisecond
		wait = &d
	}
	f, err := t.Freeze(ctx, wait, p.PreviousBindingID)
	if err != nil {
		return nil, err
	}
	return &protocol.BindingFreezeResult{Binding: f.Binding, Unchanged: f.Unchanged, Changes: f.Changes}, nil
}

// BindingRead implements protocol.Sidecar.
func (s *Session) BindingRead(_ context.Context, p *protocol.BindingReadParams) (*protocol.BindingReadResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	b, err := t.Binding(p.BindingID)
	if err != nil {
		return nil, err
	}
	return &protocol.BindingReadResult{Binding: b}, nil
}
