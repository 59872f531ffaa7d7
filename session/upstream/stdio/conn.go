package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configure a [Conn]. The functions are called on the goroutine that
// reads, in the order of the wire; they must return at once and must not call
// the Conn's Call or Write. Any may be nil.
type Options struct {
	// MaxLine is the longest line taken, in bytes without the newline; 0 means
	// [DefaultMaxLine].
	MaxLine int
	// ProbeTimeout is how long a server may take to answer server/discover.
	// After it the SDK is told that the method does not exist, so that it goes
	// on with initialize; 0 means as long as the SDK's own context allows.
	ProbeTimeout time.Duration
	// OnNoise is told of each line, or element of a batch, that is skipped.
	OnNoise func(Noise)
	// OnNotification is told each notification before the SDK is. params is
	// nil when there were none, and may be kept. When it reports true the SDK
	// does not see the notification.
	OnNotification func(method string, params json.RawMessage) (handled bool)
	// OnServerRequest is told each request of the server before the SDK is.
	// params is nil when there were none, and may be kept. A token that is not
	// empty is put into params._meta under [OriginKey] for the SDK's handler.
	OnServerRequest func(method string, params json.RawMessage) (token string)
	// ExitCause is asked once when the server's output has ended and nobody
	// has told a cause: it returns why, nil if it does not know. It may wait a
	// moment for the process to be reaped; everything pending waits with it.
	ExitCause func() error
}

// Noise is a line that was skipped.
type Noise struct {
	// Head is its beginning, at most 256 bytes, in valid UTF-8. It comes from
	// the server as it is and may hold anything else.
	Head string
	// Size is its length in bytes.
	Size int
	// Reason says in words what is wrong with it.
	Reason string
}

// A Conn is a connection to one server. It is an [mcp.Connection]; give it to
// the SDK with a [Transport], and use Call beside it. Somebody has to call
// Read as long as the server sends messages for the SDK, as the SDK does.
//
// Goroutines of a Conn:
//
//	reader  reads lines and sorts messages; ends with r
//	writer  writes frames; ends when the Conn is closed
//	probe   a timer while server/discover is unanswered; stopped by the close
//	closer  closes the pipes; ends when they are closed
type Conn struct {
	opts Options
	r    io.Reader
	w    io.WriteCloser

	lines    *lineReader // these three are the reader's alone
	env      envelope
	overDone bool // the line being skipped has failed its call

	inbox chan jsonrpc.Message // never closed; the reader and probes send
	queue *frameQueue
	raw   syscall.RawConn // w, to be written without waiting; nil if it can't be
	// writing is held by whoever writes to w: the writer, also while it waits
	// for the server to read, or a caller that finds it free.
	writing sync.Mutex
	slots   chan struct{} // holds one token for each frame a caller has queued

	done     chan struct{} // closed, under mu, when closed is set
	readDone chan struct{} // closed by the reader at its end
	released chan struct{} // closed by the closer

	mu      sync.Mutex // guards the fields below; never held across a send or I/O
	pending map[int64]*pending
	late    lateIDSet
	ownID   int64 // the last one given
	foreign foreignIDs
	cause   error        // told by SetCause
	closed  *ClosedError // not nil from the close on
	probed  bool         // server/discover was sent
	heard   bool         // the server has answered something
	listens bool         // the SDK has asked for the server's news
}

var _ mcp.Connection = (*Conn)(nil)

// New returns a connection that reads the server's messages from r and writes
// ours to w, and starts reading at once. Closing it closes w, and r, if it is
// an io.Closer, a few seconds later unless it has ended by then; the owner of
// the process behind them may close r earlier.
func New(r io.Reader, w io.WriteCloser, opts Options) *Conn {
	if opts.MaxLine <= 0 {
		opts.MaxLine = DefaultMaxLine
	}
	c := &Conn{
		opts: opts, r: r, w: w,
		inbox:    make(chan jsonrpc.Message, inboxMessages),
		queue:    newFrameQueue(),
		slots:    make(chan struct{}, queueFrames),
		done:     make(chan struct{}),
		readDone: make(chan struct{}),
		released: make(chan struct{}),
		pending:  make(map[int64]*pending),
		ownID:    firstID - 1,
	}
	c.raw = rawPipe(w)
	c.lines = newLineReader(r, opts.MaxLine, c.overLimit)
	c.env.init()
	go c.readLoop()
	go c.writeLoop()
	return c
}

// SessionID returns "": there are no sessions on stdio.
func (c *Conn) SessionID() string { return "" }

// Done is closed when the connection has ended; then Err says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns the [*ClosedError] of a connection that has ended, else nil. The
// SDK wraps it so that its chain is lost; ask here after a failed Connect.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed == nil {
		return nil
	}
	return c.closed
}

// SetCause tells why the connection ends or will end, such as the exit status
// of the process. The first call counts, and none after the end.
func (c *Conn) SetCause(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
}

// Close ends the connection: what is queued may go out for a tenth of a
// second, everything pending fails, the server's stdin is closed. It may be
// called at any time and again, returns within half a second, and always nil.
func (c *Conn) Close() error {
	select {
	case <-c.done:
	default:
		c.flush()
		c.end(nil, false)
	}
	<-c.released // within closeTime
	return nil
}

// CloseWithCause is SetCause and a Close that does not wait for what is queued.
// What the server has written and was not read yet is lost, so after the end
// of a process SetCause alone is better: the end of its output follows.
func (c *Conn) CloseWithCause(cause error) {
	c.SetCause(cause)
	c.end(nil, false)
	<-c.released // within closeTime
}

// end ends the connection once. cause is used when the owner has told none; nil
// stands for a Close on our side. byServer tells that the server ended it.
func (c *Conn) end(cause error, byServer bool) {
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return
	}
	if c.cause != nil {
		cause = c.cause
	}
	waiting := c.pending
	c.pending = nil
	c.closed = &ClosedError{
		Cause:       cause,
		DuringProbe: byServer && c.probed && !c.heard,
		Pending:     countCalls(waiting),
	}
	close(c.done)
	c.mu.Unlock()

	for _, p := range waiting {
		p.stopProbe()
		if p.answer != nil {
			p.answer <- answer{err: c.closedError(p.frame)}
		}
	}
	c.queue.wakeUp()
	go c.release()
}

// closedError returns the error of a call whose frame is f, which may be nil.
func (c *Conn) closedError(f *frame) error {
	err := *c.closed
	err.Sent = f != nil && !f.drop()
	return &err
}

// release closes the pipes. r goes on to be read for a while when the server
// has not ended its output, see lingerTime.
func (c *Conn) release() {
	closed := make(chan struct{})
	go func() { // ends when the pipe lets itself be closed
		c.w.Close()
		close(closed)
	}()
	limit := time.NewTimer(closeTime)
	defer limit.Stop()
	select {
	case <-closed:
	case <-limit.C:
	}
	close(c.released)

	closer, ok := c.r.(io.Closer)
	if !ok {
		return
	}
	linger := time.NewTimer(lingerTime)
	defer linger.Stop()
	select {
	case <-c.readDone:
	case <-linger.C:
	}
	closer.Close()
}

// Read returns the next message for the SDK. After the end it returns the
// [*ClosedError].
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-c.inbox:
		return msg, nil
	default:
	}
	select {
	case msg := <-c.inbox:
		return msg, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.done:
	}
	select {
	case msg := <-c.inbox: // it came before the end
		return msg, nil
	default:
		return nil, c.Err()
	}
}

// deliver hands a message to the SDK, or drops it at the end.
func (c *Conn) deliver(msg jsonrpc.Message) {
	select {
	case c.inbox <- msg:
	case <-c.done:
	}
}

// errUnknownID reports a misuse that would leave a call without its answer.
var errUnknownID = errors.New("stdio: a request of ours needs an integer id")

// Write queues a message of the SDK. It returns before the message has gone
// out: that a pipe is broken shows in Read.
func (c *Conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	f := newFrame()
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		if !msg.IsCall() {
			if msg.Method == methodCancelled && c.givenUp(msg.Params) {
				return nil
			}
			break
		}
		id, ok := msg.ID.Raw().(int64)
		if !ok {
			return errUnknownID
		}
		f.buf = append(f.buf, data...)
		return c.writeCall(ctx, id, msg, f)
	case *jsonrpc.Response:
		data = c.restoreID(msg, data)
	}
	f.buf = append(f.buf, data...)
	f.buf = append(f.buf, '\n')
	return c.send(ctx, f)
}

// writeCall queues a call of the SDK.
func (c *Conn) writeCall(ctx context.Context, id int64, msg *jsonrpc.Request, f *frame) error {
	f.buf = append(f.buf, '\n')
	p := &pending{method: msg.Method, sdkID: msg.ID, frame: f}
	if err := c.register(id, p); err != nil {
		return err
	}
	if msg.Method == methodDiscover {
		c.startProbe(id, p)
	}
	if err := c.send(ctx, f); err != nil {
		c.takePending(id)
		p.stopProbe()
		return err
	}
	return nil
}

// A Transport hands a [Conn] to the SDK.
type Transport struct{ Conn *Conn }

// Connect returns the Conn. It implements [mcp.Transport].
func (t Transport) Connect(context.Context) (mcp.Connection, error) { return t.Conn, nil }
