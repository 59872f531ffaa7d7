package rpc

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"
)

// The defaults of Options, and the bounds of an ending that are not options.
const (
	DefaultMaxLine     = 32 << 20
	DefaultMaxInFlight = 1024
	DefaultQueueBytes  = 64 << 20
	DefaultDrain       = 30 * time.Second
	DefaultStopGrace   = 5 * time.Second

	// cancelGrace is how long requests that were cancelled may take to reply.
	cancelGrace = 2 * time.Second
	// flushGrace is how long the last lines may take to be written.
	flushGrace = 2 * time.Second
)

// Options are the limits of a connection. The zero value of each means its
// default.
type Options struct {
	// MaxLine bounds a line from the editor, in bytes without its end. A longer
	// one is refused and skipped.
	MaxLine int
	// MaxInFlight bounds the requests that run at once; more are refused with
	// kind overloaded.
	MaxInFlight int
	// QueueBytes bounds what the editor may leave unread. Beyond it an editor
	// that reads nothing for a second is gone, beyond twice as much any.
	QueueBytes int
	// Drain bounds how long requests may run on after the end of input.
	Drain time.Duration
	// StopGrace bounds the same after Serve's context was cancelled.
	StopGrace time.Duration
	// Counters, if given, count what happens.
	Counters *Counters
}

// Counters count what a connection met, for diagnostics. They may be read at
// any time.
type Counters struct {
	// BadLines were refused because they are no message.
	BadLines atomic.Int64
	// InFlight requests are running now.
	InFlight atomic.Int64
	// Refused requests met too many in flight.
	Refused atomic.Int64
	// Ignored answers belong to no open question: late ones, mostly.
	Ignored atomic.Int64
	// Coalesced progress notifications were replaced by a later one, or came
	// to nothing because the item was completed first.
	Coalesced atomic.Int64
	// QueueHigh is the most that was ever queued for the editor, in bytes.
	QueueHigh atomic.Int64
}

func (c *Counters) high(bytes int) {
	if n := int64(bytes); n > c.QueueHigh.Load() {
		c.QueueHigh.Store(n) // only called under the queue's lock
	}
}

// A Bind makes the Sidecar of a connection. The Editor may be used from then
// on; what it says waits for the reply to initialize.
type Bind func(protocol.Editor) protocol.Sidecar

// How says why a connection ended.
type How int

const (
	// EndOfInput: the editor closed its end; what was read was answered.
	EndOfInput How = iota
	// Exited: exit came after shutdown.
	Exited
	// ExitedEarly: exit came without shutdown.
	ExitedEarly
	// EditorGone: the editor does not read any more, or its process ended.
	EditorGone
	// Stopped: Serve's context was cancelled.
	Stopped
)

// String returns the reason in words.
func (h How) String() string {
	switch h {
	case EndOfInput:
		return "end of input"
	case Exited:
		return "exit"
	case ExitedEarly:
		return "exit without shutdown"
	case EditorGone:
		return "editor gone"
	case Stopped:
		return "stopped"
	}
	return "unknown"
}

// An Ending says how a connection ended.
type Ending struct {
	How How
	// Cause is there for EditorGone (why it is thought so), for Stopped (the
	// context's cause), and for EndOfInput when reading failed.
	Cause error
	// Unanswered counts requests that outlasted every bound.
	Unanswered int
}

// ExitCode is the code for the process (spec section 2.9): 1 for an exit
// without shutdown, else 0.
func (e Ending) ExitCode() int {
	if e.How == ExitedEarly {
		return 1
	}
	return 0
}

// A connection is the state of one Serve.
type connection struct {
	log      *zerolog.Logger
	options  Options
	counters *Counters
	ctx      context.Context // the connection's life; parent of each request's
	cancel   context.CancelCauseFunc
	conn     *jsonrpc2.Conn
	stream   *stream
	queue    *queue
	editor   *editor
	inflight *inflight
	workers  *workers
	sidecar  protocol.Sidecar

	phase   phase       // of the reader
	exited  atomic.Bool // exit came
	orderly atomic.Bool // shutdown succeeded
}

// Serve runs one connection until the editor is done or gone, and says how it
// ended. All replies it owes are written when it returns, as far as the bounds
// of opts and the editor allow.
//
// At the end of input no new requests can come; those that were read are
// answered within opts.Drain, and questions to the editor fail at once, since
// no answer can come. Cancelling ctx refuses new requests and gives those that
// run opts.StopGrace; with ErrEditorGone as its cause it means that the editor
// is gone, and cancels all. After exit all is cancelled, too.
//
// Serve closes in, if it is an io.Closer, so that its reader ends; where a
// read can't be interrupted the reader ends with the process. It leaves out
// open unless a write is stuck. Values of ctx, its logger among them, reach
// the handlers.
func Serve(ctx context.Context, in io.Reader, out io.Writer, bind Bind, opts Options) Ending {
	c := connect(ctx, in, out, opts)
	c.sidecar = bind(c.editor)
	close(c.stream.bound)
	ending := c.wait(ctx)
	c.close(in, out)
	ending.Unanswered = c.inflight.unanswered()
	c.log.Debug().Stringer("how", ending.How).AnErr("cause", ending.Cause).Int("unanswered", ending.Unanswered).Msg("the connection ended")
	return ending
}

func connect(ctx context.Context, in io.Reader, out io.Writer, opts Options) *connection {
	opts.MaxLine = orDefault(opts.MaxLine, DefaultMaxLine)
	opts.MaxInFlight = orDefault(opts.MaxInFlight, DefaultMaxInFlight)
	opts.QueueBytes = orDefault(opts.QueueBytes, DefaultQueueBytes)
	opts.Drain = orDefault(opts.Drain, DefaultDrain)
	opts.StopGrace = orDefault(opts.StopGrace, DefaultStopGrace)
	if opts.Counters == nil {
		opts.Counters = new(Counters)
	}
	c := &connection{log: zerolog.Ctx(ctx), options: opts, counters: opts.Counters, inflight: newInflight()}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.workers = newWorkers(c.ctx)
	c.queue = newQueue(out, opts.QueueBytes, c.counters)
	c.editor = &editor{log: c.log, queue: c.queue, counters: c.counters, open: map[string]*question{}}
	c.stream = &stream{c: c, lines: newLineReader(in, opts.MaxLine), bound: make(chan struct{})}
	c.conn = jsonrpc2.NewConn(c.ctx, c.stream, c, jsonrpc2.SetLogger(libraryLog{c.log}))
	c.editor.conn = c.conn
	go c.queue.run()
	return c
}

func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

// libraryLog takes what jsonrpc2 has to say.
type libraryLog struct{ log *zerolog.Logger }

func (l libraryLog) Printf(format string, v ...any) { l.log.Debug().Msgf(format, v...) }

// wait returns when nothing more is to be done.
func (c *connection) wait(ctx context.Context) Ending {
	ending, patience := c.first(ctx)
	c.inflight.close()
	if ending.How != EditorGone {
		ending = c.finish(ctx, ending, patience)
	}
	if ending.How == EditorGone {
		c.abandon(ending.Cause)
	}
	return ending
}

// finish gives the requests that were read the time to end by themselves, then
// a moment to end when cancelled, and the editor the time to read the replies.
// Its own ending replaces the one given when something worse happens.
func (c *connection) finish(ctx context.Context, ending Ending, patience time.Duration) Ending {
	ending, deadline := c.drain(ctx, ending, time.Now().Add(patience))
	if ending.How == EditorGone {
		return ending
	}
	c.cancel(errEnding)
	select {
	case <-c.inflight.idle:
	case <-c.queue.gone:
		return c.unread()
	case <-time.After(cancelGrace):
		c.log.Warn().Int("requests", c.inflight.unanswered()).Msg("requests did not end when cancelled")
	}
	c.queue.close()
	select {
	case <-c.queue.done:
	case <-c.queue.gone:
		return c.unread()
	case <-time.After(max(flushGrace, time.Until(deadline))):
		return Ending{How: EditorGone, Cause: errUnread}
	}
	return ending
}

// drain waits for the requests that run, at most until deadline, which a signal
// brings nearer. exit ends it.
func (c *connection) drain(ctx context.Context, ending Ending, deadline time.Time) (Ending, time.Time) {
	var stop, hangup <-chan struct{}
	switch ending.How {
	case Stopped:
		hangup = c.conn.DisconnectNotify()
	case EndOfInput, Exited, ExitedEarly, EditorGone:
		stop = ctx.Done()
	}
	limit := time.NewTimer(time.Until(deadline))
	defer limit.Stop()
	for {
		select {
		case <-c.inflight.idle:
			return ending, deadline
		case <-limit.C:
			return ending, deadline
		case <-c.queue.gone:
			return c.unread(), deadline
		case <-stop:
			stop = nil
			if cause := context.Cause(ctx); errors.Is(cause, ErrEditorGone) {
				return Ending{How: EditorGone, Cause: cause}, deadline
			}
			if sooner := time.Now().Add(c.options.StopGrace); sooner.Before(deadline) {
				deadline = sooner
				limit.Reset(time.Until(deadline))
			}
		case <-hangup:
			hangup = nil
			if c.exited.Load() {
				return c.hungUp(), deadline
			}
		}
	}
}

// unread is the ending when the queue has failed.
func (c *connection) unread() Ending {
	return Ending{How: EditorGone, Cause: c.queue.lost()}
}

// first waits for the first reason to end, and says how long requests may run
// on.
func (c *connection) first(ctx context.Context) (Ending, time.Duration) {
	select {
	case <-c.queue.gone:
		return c.unread(), 0
	case <-c.conn.DisconnectNotify():
		e := c.hungUp()
		if e.How == EndOfInput {
			return e, c.options.Drain
		}
		return e, 0
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if errors.Is(cause, ErrEditorGone) {
			return Ending{How: EditorGone, Cause: cause}, 0
		}
		return Ending{How: Stopped, Cause: cause}, c.options.StopGrace
	}
}

// hungUp says how the input ended.
func (c *connection) hungUp() Ending {
	switch {
	case !c.exited.Load():
		return Ending{How: EndOfInput, Cause: c.stream.err}
	case c.orderly.Load():
		return Ending{How: Exited}
	}
	return Ending{How: ExitedEarly}
}

// abandon ends all at once: nobody reads the replies.
func (c *connection) abandon(cause error) {
	c.log.Error().Err(cause).Msg("the editor is gone")
	c.queue.fail(cause)
	c.cancel(ErrEditorGone)
	select {
	case <-c.inflight.idle:
	case <-time.After(cancelGrace):
	}
}

// close ends the goroutines.
func (c *connection) close(in io.Reader, out io.Writer) {
	c.stream.stopped.Store(true)
	c.cancel(errEnding)
	_ = c.conn.Close() // it may have closed itself
	c.queue.close()
	// Closing may wait for a read or a write that is stuck; that must not
	// keep Serve.
	if closer, ok := in.(io.Closer); ok {
		go closer.Close()
	}
	select {
	case <-c.queue.done:
	default:
		if closer, ok := out.(io.Closer); ok {
			go closer.Close()
		}
	}
}
