package stdio

import (
	"bytes"
	"context"
	"encoding/json"
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

// recycle gives the buffer of a frame back, which only the writer may do.
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

func (q *frameQueue) pop() *frame {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.frames) == 0 {
		return nil
	}
	f := q.frames[0]
	q.frames[0] = nil
	if q.frames = q.frames[1:]; len(q.frames) == 0 {
		q.frames = nil
	}
	return f
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

// writeLoop is the writer.
func (c *Conn) writeLoop() {
	for {
		f := c.queue.pop()
		if f == nil {
			select {
			case <-c.queue.wake:
				continue
			case <-c.done:
				return
			}
		}
		if !f.free {
			<-c.slots
		}
		if f.sent != nil {
			close(f.sent)
			continue
		}
		if f.state.CompareAndSwap(frameQueued, frameStarted) {
			if _, err := c.w.Write(f.buf); err != nil {
				c.broken(err)
				return
			}
		}
		f.recycle()
	}
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
