package session

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/keep"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// Options are what a session is made of.
type Options struct {
	// Version is the build's version, for serverInfo.
	Version string
	// Home is the folder for the sidecar's own state.
	Home string
	// Sources says where the configuration is read; the layers that requests
	// bring are added to it.
	Sources config.Sources
	// Host is shared by all connections of the process.
	Host *upstream.Host
	// Approvals keeps approvals beyond the process's life; nil keeps none.
	Approvals *keep.Store
	// Limits are told in the reply to initialize.
	Limits map[string]int64
	// OnProcess hears the editor's process id, if it gave one.
	OnProcess func(pid int)
}

// A Session is one editor connection. It implements protocol.Sidecar.
type Session struct {
	opts   Options
	editor *editor
	ctx    context.Context // the life of the session; threads take their loggers from it

	mu      sync.Mutex
	folders []protocol.WorkspaceFolder
	layer   []byte // initialize.config
	threads map[protocol.ThreadID]*thread.Thread
	order   []protocol.ThreadID // oldest first
	last    int64               // number of the last thread
	closed  bool

	ends sync.WaitGroup // threads that are closed and whose servers are ending
}

var _ protocol.Sidecar = (*Session)(nil)

// New returns a session that reaches its editor through e. It lives until
// Close; ctx gives values only.
func New(ctx context.Context, opts Options, e protocol.Editor) *Session {
	return &Session{opts: opts, editor: newEditor(e), ctx: context.WithoutCancel(ctx), threads: map[protocol.ThreadID]*thread.Thread{}}
}

// Close closes all threads in parallel and waits for them and for those that
// were closed before. Calls that are still running when ctx ends are not waited
// for.
func (s *Session) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	all := s.threads
	s.threads = map[protocol.ThreadID]*thread.Thread{}
	s.order = nil
	s.mu.Unlock()
	for _, t := range all {
		s.ends.Go(func() { end(ctx, t) })
	}
	s.ends.Wait()
}

// end closes a thread and waits for its servers.
func end(ctx context.Context, t *thread.Thread) {
	t.Close(ctx)
	t.Wait()
}

// Initialize implements protocol.Sidecar.
func (s *Session) Initialize(ctx context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if p.ProcessID != nil && (*p.ProcessID <= 0 || *p.ProcessID > math.MaxInt32) {
		return nil, protocol.Errorf(protocol.KindInvalidParams, "processId: %d is no process id", *p.ProcessID).WithPointer("/processId").
			WithHint("leave it out when no process is to be watched")
	}
	s.editor.learn(p.Capabilities)
	sources := s.sources("")
	sources.Initialize = p.Config
	if _, err := config.Load(sources); err != nil {
		return nil, protocol.Errorf(protocol.KindConfigInvalid, "%w", err).WithPointer("/config")
	}
	s.mu.Lock()
	s.folders, s.layer = p.WorkspaceFolders, p.Config
	s.mu.Unlock()
	if p.ProcessID != nil && s.opts.OnProcess != nil {
		s.opts.OnProcess(int(*p.ProcessID))
	}
	family, system := platform()
	caps := protocol.Capabilities{Limits: s.opts.Limits, Methods: []string{}, Notifications: []string{}}
	for _, m := range protocol.Methods {
		switch {
		case m.From == protocol.FromEditor && !m.Notification:
			caps.Methods = append(caps.Methods, m.Name)
		case m.From == protocol.FromSidecar && m.Notification:
			caps.Notifications = append(caps.Notifications, m.Name)
		}
	}
	return &protocol.InitializeResult{
		UserAgent: fmt.Sprintf("mcp-sidecar/%s (%s; %s) %s/%s", s.opts.Version, system, runtime.GOARCH, token(p.ClientInfo.Name), token(p.ClientInfo.Version)),
		CodexHome: s.opts.Home, PlatformFamily: family, PlatformOS: system,
		ServerInfo:      protocol.ServerInfo{Name: "mcp-sidecar", Version: s.opts.Version},
		ProtocolVersion: protocol.Version, MCPVersions: protocol.MCPVersions, Capabilities: caps,
	}, nil
}

// token keeps of a name what may stand in a user agent.
func token(s string) string {
	s = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return r
		}
		return '-'
	}, s)
	if s == "" {
		return "0"
	}
	return s[:min(len(s), 64)]
}

func platform() (family, system string) {
	switch runtime.GOOS {
	case "windows":
		return "windows", "windows"
	case "darwin":
		return "unix", "macos"
	}
	return "unix", runtime.GOOS
}

// Shutdown implements protocol.Sidecar. The wire refuses what comes after; the
// threads end when the connection does, so that calls in flight are answered.
func (s *Session) Shutdown(context.Context, *protocol.ShutdownParams) error { return nil }

// sources says where the configuration of a thread in folder cwd is read; ""
// means the default folder.
func (s *Session) sources(cwd string) config.Sources {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := s.opts.Sources
	src.Initialize = s.layer
	for _, f := range s.folders {
		if path, ok := folderPath(f.URI); ok {
			src.WorkspaceFolder = path
			break
		}
	}
	switch {
	case cwd != "":
		src.Cwd = cwd
	case src.WorkspaceFolder != "":
		src.Cwd = src.WorkspaceFolder
	}
	if src.WorkspaceFolder == "" {
		src.WorkspaceFolder = src.Cwd
	}
	return src
}

// folderPath returns the path of a file URI.
func folderPath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // /c:/folder
		path = path[1:]
	}
	if u.Host != "" && u.Host != "localhost" { // \\host\share
		path = "//" + u.Host + path
	}
	return filepath.FromSlash(path), true
}

// thread returns an open thread.
func (s *Session) thread(id protocol.ThreadID) (*thread.Thread, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.threads[id]; t != nil {
		return t, nil
	}
	return nil, protocol.Errorf(protocol.KindUnknownThread, "no thread %q is open", id).WithHint("open one with thread/start; thread/list lists those that are open")
}

// onlyThread returns the thread with the given id, or the only open one for "".
func (s *Session) onlyThread(id protocol.ThreadID) (*thread.Thread, error) {
	if id != "" {
		return s.thread(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 1 {
		return s.threads[s.order[0]], nil
	}
	return nil, protocol.Errorf(protocol.KindInvalidParams, "threadId: required, since %d threads are open", len(s.order)).WithPointer("/threadId")
}
