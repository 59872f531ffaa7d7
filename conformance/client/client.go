package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// The directions of a traced line, as scripts write them.
const (
	Out = "-->" // to the sidecar
	In  = "<--" // from the sidecar
)

// endGrace is how long stdout and stderr may stay open after the end of the
// process: something it started may still hold them.
const endGrace = 2 * time.Second

// ErrNoAnswer, returned by Options.Request, leaves a request of the sidecar
// without an answer.
var ErrNoAnswer = errors.New("client: no answer")

// Options say which process to start, and who hears what it sends.
type Options struct {
	// Path is the sidecar. Attach does not look at it, nor at the next four.
	Path string
	// Args are the arguments after the name.
	Args []string
	// Env is the whole environment as KEY=value; nil means ours.
	Env []string
	// Dir is the working folder; empty means ours.
	Dir string
	// Stderr takes what the sidecar writes to stderr; nil drops it. Unless it
	// is an *os.File it is written to from another goroutine.
	Stderr io.Writer

	// Trace, if not nil, sees each line without its line feed, before it is
	// sent and before it is looked at. dir is Out or In. It is never called
	// twice at once, and must not keep line nor call the client.
	Trace func(dir string, line []byte)
	// Notification, if not nil, is told each notification but $/cancelRequest.
	// It runs on the reader: it must not wait for the sidecar. params is nil
	// when left out; it may be kept.
	Notification func(method string, params json.RawMessage)
	// Request answers a request of the sidecar, on a goroutine of its own: the
	// result is marshaled, an error becomes an error reply. ctx ends when the
	// sidecar cancels the request and with the connection. Nil means that each
	// request is refused as unknown.
	Request func(ctx context.Context, method string, params json.RawMessage) (any, error)
	// Stray, if not nil, is told each line that is no message, and each reply
	// that belongs to no call: to what Write sent, or to a call that was given
	// up. It runs on the reader and may keep line.
	Stray func(line []byte)
}

// A Client is the editor's end of one connection. [Start] and [Attach] make it.
// Its methods may be called from any goroutine.
//
// Goroutines of a Client:
//
//	reader   reads lines; ends with the sidecar's output
//	waiter   reaps the process; ends after it (Start only)
//	request  one for each request of the sidecar; its context ends with the reader
type Client struct {
	opts Options

	out   io.Writer // writing is guarded
	input lineReader
	cmd   *exec.Cmd // nil: attached

	ctx  context.Context // ends with the connection
	stop context.CancelCauseFunc
	done chan struct{} // closed by the reader, or by the waiter if there is one

	// writing guards line and out: one line at a time. It is held while the
	// sidecar does not read.
	writing sync.Mutex
	line    []byte // the line being made, its memory reused

	tracing sync.Mutex // one Trace at a time

	// mu guards what follows. Nothing is called while it is held.
	mu       sync.Mutex
	ended    error // why no call can be made any more
	lastID   int64
	calls    map[int64]*Pending
	requests map[string]context.CancelFunc // by the id as it came
	serving  sync.WaitGroup                // the reader adds

	code int // set before done is closed
}

// Start starts a sidecar. If ctx ends before the process does, it is killed.
// Somebody has to end it: with Close, with CloseInput, or with ctx.
func Start(ctx context.Context, o Options) (*Client, error) {
	cmd := exec.CommandContext(ctx, o.Path, o.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.WaitDelay = o.Env, o.Dir, o.Stderr, endGrace
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("client: starting %s: %w", o.Path, err)
	}
	// Not StdoutPipe: its Wait would cut off what was not read yet.
	out, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("client: starting %s: %w", o.Path, err)
	}
	cmd.Stdout = w
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("client: starting %s: %w", o.Path, err)
	}
	c := newClient(out, in, o)
	c.cmd = cmd
	read := make(chan struct{})
	go func() { // ends with the sidecar's output, or when the waiter closes it
		defer close(read)
		c.read()
	}()
	go func() { // ends after the process
		_ = cmd.Wait() // the code says all
		late := time.AfterFunc(endGrace, func() { _ = out.Close() })
		<-read
		late.Stop()
		_ = out.Close()
		c.serving.Wait()
		c.code = cmd.ProcessState.ExitCode()
		close(c.done)
	}()
	return c, nil
}

// Attach returns a client of a sidecar that reads what is written to w and
// writes what is read from r. The connection ends with r. CloseInput closes w
// if it is an io.Closer.
func Attach(r io.Reader, w io.Writer, o Options) *Client {
	c := newClient(r, w, o)
	c.code = -1
	go func() { // ends with r
		c.read()
		c.serving.Wait()
		close(c.done)
	}()
	return c
}

func newClient(r io.Reader, w io.Writer, o Options) *Client {
	c := &Client{
		opts: o, out: w, input: lineReader{r: r}, done: make(chan struct{}),
		calls: map[int64]*Pending{}, requests: map[string]context.CancelFunc{},
	}
	c.ctx, c.stop = context.WithCancelCause(context.Background())
	return c
}

// Done is closed when the sidecar has ended: all that it sent was read and
// handled and, after Start, its process was reaped.
func (c *Client) Done() <-chan struct{} { return c.done }

// ExitCode returns the exit code of a process that has ended; -1 while it
// runs, when a signal killed it, and after Attach.
func (c *Client) ExitCode() int {
	select {
	case <-c.done:
		return c.code
	default:
		return -1
	}
}

// PID returns the process id of the sidecar; 0 after Attach.
func (c *Client) PID() int {
	if c.cmd == nil {
		return 0
	}
	return c.cmd.Process.Pid
}

// Kill ends the process at once. After Attach it does nothing.
func (c *Client) Kill() {
	if c.cmd != nil {
		_ = c.cmd.Process.Kill() // it may have ended already
	}
}

// CloseInput ends the sidecar's input, as an editor that is gone does: it
// answers what it has read and ends. What it still sends is read.
func (c *Client) CloseInput() error {
	if w, ok := c.out.(io.Closer); ok {
		return w.Close()
	}
	return nil
}

// Close ends the sidecar in the ordinary way: shutdown, exit, the end of its
// input. It waits for the end, and kills the process when ctx ends first. The
// error says why the end was not an ordinary one; a Client that has ended
// already is closed without one.
func (c *Client) Close(ctx context.Context) error {
	err := c.Call(ctx, protocol.MethodShutdown, nil, nil)
	if err == nil {
		err = c.NotifyRaw(protocol.MethodExit, nil)
	}
	if e := (*EndedError)(nil); errors.As(err, &e) {
		err = nil // it was faster
	}
	_ = c.CloseInput() // a second close is no fault
	select {
	case <-c.done:
		return err
	case <-ctx.Done():
	}
	c.Kill()
	if c.cmd != nil {
		<-c.done
	}
	return errors.Join(err, fmt.Errorf("client: closing: the sidecar did not end: %w", context.Cause(ctx)))
}

// EndedError is why a call has no reply: the connection has ended. It matches
// what reading said, io.EOF if the sidecar closed its output.
type EndedError struct{ Cause error }

// Error says that the sidecar is gone, and why.
func (e *EndedError) Error() string { return "client: the sidecar is gone: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }
