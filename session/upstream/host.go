package upstream

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// A Child is a running stdio server.
type Child interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	PID() int
	// Exited is closed when the child has ended and its stderr was read.
	Exited() <-chan struct{}
	// Exit says how; false while it runs.
	Exit() (process.Exit, bool)
	// StderrTail returns the last n lines of stderr.
	StderrTail(n int) []string
	// Stop takes the child and all that it started down.
	Stop(ctx context.Context) (process.Stage, error)
}

// A Spawner starts stdio servers.
type Spawner interface {
	Spawn(ctx context.Context, spec process.Spec) (Child, error)
}

// Processes spawns real processes.
type Processes struct{ *process.Supervisor }

// Spawn implements Spawner.
func (p Processes) Spawn(ctx context.Context, spec process.Spec) (Child, error) {
	child, err := p.Start(ctx, spec)
	if err != nil {
		return nil, err // not a Child that holds a nil pointer
	}
	return child, nil
}

// A Host is what all connections of the process share: how servers are
// reached, the places for starting, and what was learnt about servers. It is
// made once.
type Host struct {
	name, version string
	spawner       Spawner
	base          http.RoundTripper // nil for the usual one

	starts chan struct{} // a place for each process that is starting

	mu  sync.Mutex
	era map[string]string // identity -> protocol version to greet with; guarded by mu
}

// NewHost returns a Host that introduces the sidecar to servers by name and
// version. base sends HTTP requests; nil means a transport of its own for each
// server.
func NewHost(name, version string, spawner Spawner, base http.RoundTripper) *Host {
	return &Host{name: name, version: version, spawner: spawner, base: base,
		starts: make(chan struct{}, MaxStarts), era: map[string]string{}}
}

// place waits for a place to start a process. The place is given back by
// calling release, or by itself after StartHold.
func (h *Host) place(ctx context.Context) (release func(), err error) {
	select {
	case h.starts <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	give := sync.OnceFunc(func() { <-h.starts })
	t := time.AfterFunc(StartHold, give)
	return func() { t.Stop(); give() }, nil
}

// greeting returns the protocol version with which the server of an identity
// is to be greeted, "" for the newest.
func (h *Host) greeting(identity string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.era[identity]
}

// learn remembers that the server of an identity wants the old greeting.
func (h *Host) learn(identity, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.era[identity] = version
}
