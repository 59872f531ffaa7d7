package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// An Owner hears what happens to a client, and answers for the person behind
// it. Its methods are called without locks held; none of the first three may
// wait.
type Owner interface {
	// ServerChanged tells a new state before anyone else can see it. after, if
	// not nil, is called once others can.
	ServerChanged(Status) (after func())
	// ToolsChanged tells that a connected server's catalogue was replaced.
	ToolsChanged(protocol.ServerName)
	// Warn tells something a person should know.
	Warn(server protocol.ServerName, kind protocol.Kind, message string)
	// Question answers a question of the server that no caller's request can
	// have caused; see Caller. ctx ends when the question becomes pointless; its
	// cause says why. It returns at once then.
	Question(context.Context, elicit.Question) (elicit.Answer, error)
}

// Status is a client's state at one moment. It is immutable.
type Status struct {
	Name    protocol.ServerName
	State   protocol.ServerState
	Failure *protocol.ServerFailure // for states failed and authenticationRequired
	// WasReady: the server had been connected before it failed.
	WasReady bool

	// What a connected server said of itself; kept after a failure.
	Catalog      *binding.Catalog
	Info         *protocol.ServerInfo
	Capabilities json.RawMessage // as the server sent them
	SandboxState bool            // it asked to be told how the agent is sandboxed
	Instructions string
	Era          string
	PID          int64
}

// Error returns why the server is not there, as an editor is told, or nil if
// it is.
func (s Status) Error() *protocol.Error {
	switch s.State {
	case protocol.ServerConnected:
		return nil
	case protocol.ServerFailed, protocol.ServerAuthRequired:
		return protocol.Errorf(s.Failure.Kind, "server %q is not there: %s", s.Name, s.Failure.Error).WithServer(s.Name).WithHint("%s", s.Failure.Hint)
	case protocol.ServerDisabled:
		return protocol.Errorf(protocol.KindServerDisabled, "server %q is disabled in the configuration", s.Name).WithServer(s.Name)
	case protocol.ServerCancelled:
		return protocol.Errorf(protocol.KindServerFailed, "server %q was stopped", s.Name).WithServer(s.Name)
	case protocol.ServerStarting, protocol.ServerNotStarted, "":
	}
	return protocol.Errorf(protocol.KindServerFailed, "server %q is not ready", s.Name).WithServer(s.Name)
}

// Questions says which kinds of questions a client's server may ask.
type Questions struct{ Form, URL bool }

// A Client is one connection to one server; see the package comment.
type Client struct {
	host     *Host
	server   *config.Server
	identity string
	offer    Questions
	owner    Owner
	log      *zerolog.Logger

	ctx    context.Context // the life of the client, not of a request
	cancel context.CancelCauseFunc
	done   chan struct{} // closed by the supervisor when all is over
	relist chan struct{} // capacity 1: the server said its tools changed

	calls  calls
	visits visits
	fresh  chan struct{} // capacity 1: a refresh is wanted
	// retired counts the connections that were replaced. Only the supervisor
	// adds to it and waits for it.
	retired sync.WaitGroup
	// stopping counts the connections of starts that did not succeed. Only the
	// supervisor adds to it and waits for it.
	stopping sync.WaitGroup

	mu      sync.Mutex
	status  Status        // guarded by mu
	telling bool          // the owner is being told of status; guarded by mu
	changed chan struct{} // closed and replaced at every change; guarded by mu
	wire    wire          // nil unless connected; guarded by mu
	noise   string        // the first line that was no message; guarded by mu
	wanted  *refresh      // the one that has not begun, nil if none; guarded by mu
}

var errClosed = errors.New("the connection was closed")

// Start begins to connect to a server and returns at once. The client lives
// until Close, independent of ctx, from which it takes values only.
func Start(ctx context.Context, host *Host, server *config.Server, offer Questions, owner Owner) *Client {
	log := zerolog.Ctx(ctx).With().Str("server", server.Name).Logger()
	c := &Client{
		host: host, server: server, identity: server.Identity(), offer: offer, owner: owner, log: &log,
		done: make(chan struct{}), relist: make(chan struct{}, 1), fresh: make(chan struct{}, 1), changed: make(chan struct{}),
		status: Status{Name: protocol.ServerName(server.Name), State: protocol.ServerStarting},
	}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	go c.supervise()
	return c
}

// Server returns the configuration that the client was started with.
func (c *Client) Server() *config.Server { return c.server }

// Identity says what makes this connection what it is; see
// config.Server.Identity. The questions on offer belong to it too.
func (c *Client) Identity() string { return c.identity }

// Status returns the state now.
func (c *Client) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Await waits until the client is neither starting nor ctx ended, and returns
// the state then.
func (c *Client) Await(ctx context.Context) (Status, error) {
	for {
		c.mu.Lock()
		status, changed, telling := c.status, c.changed, c.telling
		c.mu.Unlock()
		if !telling && status.State != protocol.ServerStarting {
			return status, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return status, context.Cause(ctx)
		}
	}
}

// AwaitLost waits until a connection that has ended is known to have.
func (c *Client) AwaitLost(ctx context.Context) error {
	for {
		c.mu.Lock()
		status, changed, telling := c.status, c.changed, c.telling
		c.mu.Unlock()
		if !telling && status.State != protocol.ServerConnected {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends the connection and waits until it has ended, at most StopTime.
func (c *Client) Close() {
	c.cancel(errClosed)
	<-c.done
}

// move makes a change of the status, tells the owner all that follows from it,
// and then lets go of those who wait. Only the supervisor calls it.
func (c *Client) move(change func(*Status)) {
	c.mu.Lock()
	next := c.status
	change(&next)
	c.mu.Unlock()
	after := c.owner.ServerChanged(next)
	c.mu.Lock()
	c.status, c.telling = next, true
	c.mu.Unlock()
	if after != nil {
		after()
	}
	c.mu.Lock()
	c.telling = false
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// supervise runs the client's whole life.
func (c *Client) supervise() {
	defer close(c.done)
	defer c.stopping.Wait()
	defer c.retired.Wait()
	defer c.cancel(errClosed) // ends the questions of a start that came to nothing
	c.move(func(*Status) {})
	conn, status, failure := c.connect()
	if failure != nil {
		failure = c.clean(failure)
		state := protocol.ServerFailed
		if failure.Kind == protocol.KindAuthRequired {
			state = protocol.ServerAuthRequired
		}
		if context.Cause(c.ctx) == errClosed {
			c.move(func(s *Status) { s.State = protocol.ServerCancelled })
			return
		}
		c.log.Info().Str("kind", string(failure.Kind)).Str("error", failure.Error).Msg("server did not start")
		c.move(func(s *Status) { s.State, s.Failure = state, failure })
		return
	}
	c.mu.Lock()
	c.wire = conn
	c.mu.Unlock()
	c.move(func(s *Status) { *s = status; s.State = protocol.ServerConnected })
	c.log.Info().Str("era", status.Era).Int("tools", len(status.Catalog.Tools)).Msg("server is ready")

	conn = c.serve(conn)

	c.mu.Lock()
	c.wire = nil
	c.mu.Unlock()
	closed := context.Cause(c.ctx) == errClosed
	if !closed {
		failure = c.clean(conn.failure())
		c.log.Warn().Str("kind", string(failure.Kind)).Str("error", failure.Error).Msg("server was lost")
		c.move(func(s *Status) { s.State, s.Failure, s.WasReady, s.PID = protocol.ServerFailed, failure, true, 0 })
	}
	conn.stop()
	if closed {
		c.move(func(s *Status) { s.State, s.PID = protocol.ServerCancelled, 0 })
	}
}

// stopBeside ends the connection of a start that did not succeed. That may take
// as long as StopTime, which nobody should wait for to hear of the failure; the
// goroutine ends before the client does.
func (c *Client) stopBeside(conn wire) { c.stopping.Go(conn.stop) }

// serve keeps a connected client up to date until the connection or the client
// ends. It returns the connection, which may be another one by then.
func (c *Client) serve(conn wire) wire {
	var due <-chan time.Time
	for {
		select {
		case <-c.ctx.Done():
			return conn
		case <-conn.lost():
			return conn
		case <-c.fresh:
			conn = c.refresh(conn)
		case <-c.relist:
			if due == nil {
				due = time.After(ListDebounce)
			}
		case <-due:
			due = nil
			if err := c.listAgain(conn); err != nil {
				// The old list stays: better stale than empty.
				c.log.Warn().Str("error", c.redact(err.Error())).Msg("listing the tools again")
			}
		}
	}
}

// listAgain lists the tools of a connected server and tells the owner if they
// are others. The old list stays on failure.
func (c *Client) listAgain(conn wire) error {
	ctx, cancel := context.WithTimeout(c.ctx, ListTime)
	defer cancel()
	catalog, err := c.tools(ctx, conn)
	if err != nil {
		return err
	}
	c.replaceStatus(func(s *Status) { s.Catalog = catalog })
	return nil
}

// replaceStatus changes what a connected server is known to offer, and tells
// the owner if its tools are others: an announcement that changes nothing is no
// news.
func (c *Client) replaceStatus(change func(*Status)) {
	c.mu.Lock()
	before := c.status.Catalog
	change(&c.status)
	same := sameTools(before, c.status.Catalog)
	if same {
		c.status.Catalog = before
	}
	c.mu.Unlock()
	if !same {
		c.owner.ToolsChanged(protocol.ServerName(c.server.Name))
	}
}

// toolsStale asks for the tools to be listed again soon. It never waits.
func (c *Client) toolsStale() {
	select {
	case c.relist <- struct{}{}:
	default:
	}
}

// live returns the connection, or why there is none.
func (c *Client) live() (wire, *protocol.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wire != nil {
		return c.wire, nil
	}
	if fault := c.status.Error(); fault != nil {
		return nil, fault
	}
	// It has just ended, and how is still to be found out.
	name := protocol.ServerName(c.server.Name)
	return nil, protocol.Errorf(protocol.KindServerFailed, "server %q was lost: %w", name, ErrNotRun).WithServer(name)
}

// lost reports whether there is no connection, or one that has ended by itself.
func (c *Client) lost() bool {
	conn, gone := c.live()
	if gone != nil {
		return true
	}
	select {
	case <-conn.lost():
		return true
	default:
		return false
	}
}

// fence keeps a panic on a goroutine of the SDK or of a transport, where
// nobody else would catch it, from ending the process (spec 2.10). It is to be
// deferred; otherwise makes the result.
func (c *Client) fence(doing string, otherwise func()) {
	if p := recover(); p != nil {
		c.log.Error().Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg(doing)
		otherwise()
	}
}
