package thread

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/binding/toolcall"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/keep"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// MaxBindings is how many bindings a thread keeps.
const MaxBindings = 16

// ErrClosed is the cause with which a closed thread ends its calls.
var ErrClosed = toolcall.ErrThreadClosed

// An Editor is what a thread needs of whoever opened it.
type Editor interface {
	protocol.Notifier
	// Ask puts a question to the person. An answer that accepts fits the
	// question. When ctx ends first, its cause is returned. An editor that turns
	// out not to know the request is a *protocol.Error of kind
	// clientUnsupported.
	Ask(ctx context.Context, from protocol.ThreadID, turn protocol.TurnID, q elicit.Question) (elicit.Answer, error)
	// Approvals reports whether the editor can be asked for approvals.
	Approvals() bool
	// Questions says which questions of servers the editor can show.
	Questions() protocol.ElicitationCapability
}

// Options are what a thread is made of.
type Options struct {
	ID     protocol.ThreadID
	Cwd    string
	Config *config.Config
	// ConfigRead is a time before Config was read.
	ConfigRead time.Time
	Settings   Settings
	// Provider and Ephemeral are echoed in the thread's description.
	Provider  string
	Ephemeral bool
	Version   string
	Host      *upstream.Host
	// Approvals keeps approvals beyond the thread's life.
	Approvals *keep.Store
	Editor    Editor
}

// Settings are what may change between the steps of a thread.
type Settings struct {
	// PolicyText is the approval policy as it was given; Policy is its reading
	// together with the sandbox.
	PolicyText protocol.ApprovalPolicy
	Policy     elicit.Policy
	Sandbox    protocol.SandboxMode
	Model      protocol.ModelSettings
	Servers    protocol.ServerSelection
}

// A Thread is one conversation's view of the servers.
type Thread struct {
	id         protocol.ThreadID
	cwd        string
	provider   string
	ephemeral  bool
	version    string
	host       *upstream.Host
	approvals  *keep.Store
	configRead time.Time
	editor     Editor
	created    time.Time

	ctx    context.Context // the life of the thread
	cancel context.CancelCauseFunc

	wanted     atomic.Int64  // how often something made the generation out of date
	built      atomic.Int64  // how often of that the current one knows; behind it, it is stale
	refreshing chan struct{} // capacity 1: the right to build a generation
	gate       toolcall.Gate
	running    sync.WaitGroup // calls, and all else that uses a generation for a request

	mu           sync.Mutex
	closed       bool
	settings     Settings
	current      *generation
	held         map[*upstream.Client]int // how many generations use a client
	closers      int                      // goroutines that end connections
	settled      chan struct{}            // closed when the last of them is done; nil without any
	revision     int64
	lastCall     int64    // number of the last call id made
	lastGrant    int64    // number of the last approval id made
	grants       []grant  // what the person allowed for the thread's life, one a tool; in that order
	bindings     []frozen // the last MaxBindings, oldest first
	updated      time.Time
	calls        map[protocol.CallID]bool // those that run
	waiting      map[protocol.ThreadActiveFlag]int
	checked      map[protocol.ServerName]*binding.Catalog // whose filters were looked at
	unsupported  map[protocol.ServerName]bool             // whose questions the editor can't show, and was told so
	checkedRules *elicit.Rules                            // that were held against the catalogues
	shown        bool                                     // the editor was last told that the thread is active
	announced    bool                                     // startup/completed was sent for the current generation
}

// New opens a thread and begins to start its servers. ctx gives values only.
func New(ctx context.Context, o Options) *Thread {
	now := time.Now()
	t := &Thread{
		id: o.ID, cwd: o.Cwd, provider: o.Provider, ephemeral: o.Ephemeral, version: o.Version,
		host: o.Host, approvals: o.Approvals, configRead: o.ConfigRead, editor: o.Editor, created: now, updated: now,
		refreshing: make(chan struct{}, 1),
		settings:   o.Settings, held: map[*upstream.Client]int{},
		calls: map[protocol.CallID]bool{}, waiting: map[protocol.ThreadActiveFlag]int{}, checked: map[protocol.ServerName]*binding.Catalog{},
	}
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	protocol.ThreadStarted.Send(t.editor, &protocol.ThreadStartedNotification{Thread: t.Describe()})
	t.warnAbout(o.Config)
	t.publish(t.next(nil, o.Config, o.Settings))
	return t
}

// ID returns the thread's id.
func (t *Thread) ID() protocol.ThreadID { return t.id }

// Settings returns the settings now in force.
func (t *Thread) Settings() Settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.settings
}

// Update changes the settings for the next step.
func (t *Thread) Update(change func(*Settings) error) (Settings, error) {
	t.mu.Lock()
	next := t.settings
	if err := change(&next); err != nil {
		t.mu.Unlock()
		return Settings{}, err
	}
	t.settings = next
	t.updated = time.Now()
	t.mu.Unlock()
	t.wanted.Add(1)
	t.bindingChanged(protocol.ChangedSettings)
	return next, nil
}

// Describe returns the thread as an editor is shown it.
func (t *Thread) Describe() protocol.Thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	return protocol.Thread{
		ID: t.id, SessionID: string(t.id), Ephemeral: t.ephemeral, ModelProvider: t.provider, Model: t.settings.Model.Name,
		CreatedAt: t.created.Unix(), UpdatedAt: t.updated.Unix(), Status: t.statusLocked(), Cwd: t.cwd,
		CLIVersion: t.version, Source: "appServer", Turns: []protocol.ThreadTurn{},
		Bindings: int64(len(t.bindings)), CallsInFlight: int64(len(t.calls)),
	}
}

func (t *Thread) statusLocked() protocol.ThreadStatus {
	if len(t.calls) == 0 {
		return protocol.ThreadStatus{Type: protocol.ThreadIdle}
	}
	flags := []protocol.ThreadActiveFlag{}
	for _, f := range []protocol.ThreadActiveFlag{protocol.WaitingOnApproval, protocol.WaitingOnUserInput} {
		if t.waiting[f] > 0 {
			flags = append(flags, f)
		}
	}
	return protocol.ThreadStatus{Type: protocol.ThreadActive, ActiveFlags: flags}
}

// wait marks that the thread waits for a person until the returned function is
// called, and tells the editor of both. When the last call has ended after
// that, leave tells that the thread is idle; calls that nobody is asked about
// are not told as a status, their items are.
func (t *Thread) wait(flag protocol.ThreadActiveFlag) (done func()) {
	change := func(by int) {
		t.mu.Lock()
		before := t.waiting[flag]
		t.waiting[flag] = before + by
		status := t.statusLocked()
		tell := before == 0 || before+by == 0
		if tell {
			t.shown = status.Type == protocol.ThreadActive
		}
		t.mu.Unlock()
		if tell {
			protocol.ThreadStatusChanged.Send(t.editor, &protocol.ThreadStatusChangedNotification{ThreadID: t.id, Status: status})
		}
	}
	change(+1)
	return func() { change(-1) }
}

// Close ends the thread: its calls and requests are cancelled and its questions
// closed, which is waited for, though no longer than ctx. Starts that are under
// way are told as cancelled. Its connections end in the background; Wait waits
// for them.
func (t *Thread) Close(ctx context.Context) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	last := t.current
	t.current = nil
	t.mu.Unlock()
	t.cancel(ErrClosed)
	calls := make(chan struct{})
	go func() { // ends with the calls and requests, which all see t.ctx
		t.running.Wait()
		close(calls)
	}()
	select {
	case <-calls:
	case <-ctx.Done():
	}
	if last != nil {
		t.cancelStart(last)
		t.release(last)
	}
	protocol.ThreadClosed.Send(t.editor, &protocol.ThreadClosedNotification{ThreadID: t.id})
}

// Wait waits until the connections of a closed thread have ended, which is
// bounded by their own time to stop.
func (t *Thread) Wait() {
	t.mu.Lock()
	settled := t.settled
	t.mu.Unlock()
	if settled != nil {
		<-settled
	}
}

// endLocked ends a connection in the background.
func (t *Thread) endLocked(c *upstream.Client) {
	if t.closers == 0 {
		t.settled = make(chan struct{})
	}
	t.closers++
	go func() { // ends with the connection, which is bounded by upstream.StopTime
		c.Close()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.closers--; t.closers == 0 {
			close(t.settled)
			t.settled = nil
		}
	}()
}

// errClosed is what a request on a closed thread is told.
func (t *Thread) errClosed() error {
	return protocol.Errorf(protocol.KindUnknownThread, "no thread %q is open: it was closed", t.id)
}

// told returns err, or, when it is the cause with which a closed thread ends
// what still runs in it, what the editor is told of that.
func (t *Thread) told(err error) error {
	if errors.Is(err, ErrClosed) {
		return t.errClosed()
	}
	return err
}
