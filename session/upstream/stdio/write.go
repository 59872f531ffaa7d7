package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A frame is one message with its newline on its way to the server.
type frame struct {
	buf   []byte
	free  bool          // it holds no slot
	sent  chan struct{} // not nil for a mark in the queue: closed when reached
	state atomic.Int32
}

// States of a frame. It leaves queued once, to be written or to be dropped.
const (
	frameQueued int32 = iota
	frameStarted
	frameDropped
)

// drop keeps a queued frame from being written. It reports false when writing
// had begun.
func (f *frame) drop() bool {
	return f.state.CompareAndSwap(frameQueued, frameDropped) || f.state.Load() == frameDropped
}

// buffers holds the buffers of frames that were written.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 1<<10); return &b }}

func newFrame() *frame { return &frame{buf: (*buffers.Get().(*[]byte))[:0]} }

// recycle gives the buffer of a frame back, which only who writes it may do.
func (f *frame) recycle() {
	if buf := f.buf; cap(buf) > 0 && cap(buf) <= maxFrameKept {
		buffers.Put(&buf)
	}
	f.buf = nil
}

// A frameQueue is the frames on their way to the writer, in order.
type frameQueue struct {
	wake chan struct{} // room for one token: look again

	mu     sync.Mutex // guards frames
	frames []*frame
}

func newFrameQueue() *frameQueue { return &frameQueue{wake: make(chan struct{}, 1)} }

func (q *frameQueue) push(f *frame) {
	q.mu.Lock()
	q.frames = append(q.frames, f)
	q.mu.Unlock()
	q.wakeUp()
}

func (q *frameQueue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *frameQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.frames) == 0
}

// take returns all that is queued. spent is a slice that it returned before, to
// be used again.
func (q *frameQueue) take(spent []*frame) []*frame {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.frames
	q.frames = spent[:0]
	return all
}

// send queues a frame, in the order of calls. It waits, within ctx, while the
// server does not read and the queue is full.
func (c *Conn) send(ctx context.Context, f *frame) error {
	select {
	case c.slots <- struct{}{}:
	default:
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			f.drop()
			return context.Cause(ctx)
		case <-c.done:
		}
	}
	select {
	case <-c.done:
		return c.closedError(f)
	default:
		c.queue.push(f)
		return nil
	}
}

// sendNow queues a frame however long the queue is; it is for messages that
// are at most as many as those queued by send.
func (c *Conn) sendNow(f *frame) {
	f.free = true
	c.queue.push(f)
}

// flush waits until what is queued has gone out, at most flushTime.
func (c *Conn) flush() {
	mark := &frame{free: true, sent: make(chan struct{})}
	c.queue.push(mark)
	limit := time.NewTimer(flushTime)
	defer limit.Stop()
	select {
	case <-mark.sent:
	case <-c.done:
	case <-limit.C:
	}
}

// direct writes a frame on the caller's goroutine and reports whether it has.
// It never waits. It is for a call that is alone: nothing is queued, nobody
// writes, and nothing else will be worth putting together with it. That saves
// a change of goroutines, which is most of what a small call costs.
func (c *Conn) direct(f *frame) bool {
	if c.raw == nil || len(f.buf) > maxTogether || c.several() || !c.writing.TryLock() {
		return false
	}
	defer c.writing.Unlock()
	if !c.queue.empty() {
		return false
	}
	f.state.Store(frameStarted)
	if writeNow(c.raw, f.buf) {
		f.recycle()
		return true
	}
	f.state.Store(frameQueued) // the pipe is full, or broken: the writer finds out
	return false
}

// writeLoop is the writer.
func (c *Conn) writeLoop() {
	w := frameWriter{c: c}
	var frames []*frame
	for {
		c.writing.Lock() // before the queue is emptied: see direct
		if frames = c.queue.take(frames); len(frames) == 0 {
			c.writing.Unlock()
			select {
			case <-c.queue.wake:
				if c.several() {
					// Those that are about to queue a frame go first, so that
					// theirs go out with this one.
					runtime.Gosched()
				}
				continue
			case <-c.done:
				return
			}
		}
		err := w.all(frames)
		c.writing.Unlock()
		if err != nil {
			c.broken(err)
			return
		}
	}
}

// A frameWriter puts small frames together. A frame is dropped or begun as a
// whole; those that are put together have all begun.
type frameWriter struct {
	c   *Conn
	buf []byte // what was put together, at most maxTogether
}

// all writes frames and forgets them.
func (w *frameWriter) all(frames []*frame) error {
	for i, f := range frames {
		frames[i] = nil
		if err := w.put(f); err != nil {
			return err
		}
	}
	return w.flush()
}

func (w *frameWriter) put(f *frame) error {
	if !f.free {
		<-w.c.slots
	}
	if f.sent != nil {
		err := w.flush()
		close(f.sent)
		return err
	}
	if len(w.buf)+len(f.buf) > maxTogether {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if !f.state.CompareAndSwap(frameQueued, frameStarted) {
		f.recycle()
		return nil
	}
	if len(f.buf) > maxTogether {
		_, err := w.c.w.Write(f.buf)
		f.recycle()
		return err
	}
	w.buf = append(w.buf, f.buf...)
	f.recycle()
	return nil
}

func (w *frameWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.c.w.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// broken ends the connection after a failed write. The server has closed its
// input, most likely by ending; what it said before is still read, and the end
// of its output tells more than a broken pipe does.
func (c *Conn) broken(err error) {
	limit := time.NewTimer(brokenTime)
	defer limit.Stop()
	select {
	case <-c.done:
	case <-limit.C:
		c.end(err, true)
	}
}

// cancelled tells the server that a request of Call was given up.
func (c *Conn) cancelled(id int64, cause error) {
	reason := cause.Error()
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	f := newFrame()
	f.buf = append(f.buf, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	f.buf = appendInt(f.buf, id)
	f.buf = append(f.buf, `,"reason":`...)
	f.buf = rawjson.AppendString(f.buf, reason)
	f.buf = append(f.buf, "}}\n"...)
	c.sendNow(f)
}

// restoreID puts the server's own id into an answer of the SDK.
func (c *Conn) restoreID(msg *jsonrpc.Response, data []byte) []byte {
	standIn, ok := msg.ID.Raw().(string)
	if !ok {
		return data
	}
	c.mu.Lock()
	raw, ok := c.foreign.take(standIn)
	c.mu.Unlock()
	if !ok {
		return data
	}
	quoted, err := json.Marshal(standIn)
	if err != nil {
		return data
	}
	// The id is the second member the SDK writes; a result comes after it.
	return bytes.Replace(data, append([]byte(`"id":`), quoted...), append([]byte(`"id":`), raw...), 1)
}
