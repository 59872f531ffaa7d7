package rpc

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

const (
	// writeSize is how much small messages are put together for one write,
	// and the size of the pieces in which big ones are written.
	writeSize = 64 << 10
	bigWrite  = 256 << 10
	// messageCost is what a queued message takes beside its bytes.
	messageCost = 128
	// stallGrace is how long an editor may read nothing at all while more than
	// the limit is queued. A burst of results is not a dead editor.
	stallGrace = time.Second
	// hardFactor times the limit is the end in any case.
	hardFactor = 2
)

var (
	errUnread = errors.New("the editor stopped reading")
	errWrite  = errors.New("writing to the editor")
)

// A queue holds the lines for the editor. Pushing never blocks; one writer
// goroutine drains it in order.
type queue struct {
	out      io.Writer
	limit    int
	counters *Counters

	wake chan struct{} // one token: there may be something to do
	done chan struct{} // closed by the writer when it ends
	gone chan struct{} // closed with cause, by fail

	mu     sync.Mutex // guards the fields below
	items  []*outgoing
	held   []*outgoing // wait behind the reply to initialize
	open   bool        // the reply to initialize is queued
	bytes  int         // in items, held and what the writer has taken
	writes int         // writes that succeeded
	watch  *time.Timer // running while bytes is over the limit
	closed bool        // nothing more is taken
	cause  error       // why the editor is gone
	slow   map[string]*throttle
}

// An outgoing is one line, in pieces, with its line feed.
type outgoing struct {
	parts [][]byte
	size  int
	taken bool // by the writer; before that a throttle may replace parts
}

func newOutgoing(parts [][]byte) *outgoing {
	m := &outgoing{parts: parts, size: messageCost}
	for _, p := range parts {
		m.size += len(p)
	}
	return m
}

func newQueue(out io.Writer, limit int, counters *Counters) *queue {
	return &queue{
		out: out, limit: limit, counters: counters, slow: map[string]*throttle{},
		wake: make(chan struct{}, 1), done: make(chan struct{}), gone: make(chan struct{}),
	}
}

// reply queues an answer to the editor; it may come before the reply to
// initialize.
func (q *queue) reply(parts [][]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pushLocked(newOutgoing(parts), true)
}

// send queues what the sidecar says by itself, behind the reply to initialize.
// supersedes, unless "", is the key of a throttle that ends here: what it holds
// back is obsolete.
func (q *queue) send(parts [][]byte, supersedes string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if supersedes != "" {
		q.endThrottleLocked(supersedes)
	}
	q.pushLocked(newOutgoing(parts), q.open)
}

// release lets out what waits for the reply to initialize, which must be
// queued.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = true
	q.items = append(q.items, q.held...)
	q.held = nil
	q.signal()
}

func (q *queue) pushLocked(m *outgoing, now bool) {
	if q.closed || q.cause != nil {
		return
	}
	alone := q.bytes == 0
	q.bytes += m.size
	if now {
		q.items = append(q.items, m)
		q.signal()
	} else {
		q.held = append(q.held, m)
	}
	q.measureLocked(alone)
}

// measureLocked judges an editor that leaves too much unread. One message may
// be over the limit by itself.
func (q *queue) measureLocked(alone bool) {
	q.counters.high(q.bytes)
	switch {
	case q.bytes <= q.limit || alone:
	case q.bytes > hardFactor*q.limit:
		q.failLocked(fmt.Errorf("%w: %d bytes are queued", errUnread, q.bytes))
	case q.watch == nil:
		q.watchLocked()
	}
}

func (q *queue) watchLocked() {
	writes := q.writes
	q.watch = time.AfterFunc(stallGrace, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.watch = nil
		switch {
		case q.bytes <= q.limit || q.cause != nil:
		case q.writes == writes:
			q.failLocked(fmt.Errorf("%w: %d bytes are queued", errUnread, q.bytes))
		default:
			q.watchLocked()
		}
	})
}

// fail says that the editor is gone and drops what is queued.
func (q *queue) fail(cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failLocked(cause)
}

func (q *queue) failLocked(cause error) {
	if q.cause != nil {
		return
	}
	q.cause = cause
	q.items, q.held, q.bytes = nil, nil, 0
	q.stopTimersLocked()
	close(q.gone)
	q.signal()
}

// lost returns the cause of fail.
func (q *queue) lost() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cause
}

// close ends the queue: what is in it is still written.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flushThrottlesLocked()
	q.closed = true
	q.stopTimersLocked()
	q.signal()
}

func (q *queue) stopTimersLocked() {
	if q.watch != nil && (q.closed || q.cause != nil) {
		q.watch.Stop()
		q.watch = nil
	}
	for key, t := range q.slow {
		t.timer.Stop()
		delete(q.slow, key)
	}
}

// signal wakes the writer.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns all that is queued, waiting for the first. It returns nil when
// there will be no more.
func (q *queue) take() []*outgoing {
	for {
		q.mu.Lock()
		batch, ended := q.items, q.closed || q.cause != nil
		q.items = nil
		for _, m := range batch {
			m.taken = true
		}
		q.mu.Unlock()
		if len(batch) > 0 || ended {
			return batch
		}
		<-q.wake
		if q.counters.InFlight.Load() > 1 {
			// Those that are about to reply go first, so that their lines go out
			// with this one.
			runtime.Gosched()
		}
	}
}

// run is the writer goroutine.
func (q *queue) run() {
	defer close(q.done)
	w := writer{q: q, buf: make([]byte, 0, writeSize)}
	for {
		batch := q.take()
		if batch == nil {
			return
		}
		for i, m := range batch {
			batch[i] = nil // a big result is not held longer than needed
			for _, p := range m.parts {
				w.put(p)
			}
			w.sizes += m.size
		}
		if w.flush(); w.failed {
			return
		}
	}
}

// A writer puts small pieces together.
type writer struct {
	q      *queue
	buf    []byte
	sizes  int // of the messages that are wholly in buf or written
	failed bool
}

func (w *writer) put(p []byte) {
	if len(w.buf)+len(p) > cap(w.buf) {
		w.flush()
	}
	if len(p) <= cap(w.buf) {
		w.buf = append(w.buf, p...)
		return
	}
	for len(p) > 0 && !w.failed {
		n := min(len(p), bigWrite)
		w.write(p[:n])
		p = p[n:]
	}
}

func (w *writer) flush() {
	if len(w.buf) > 0 && !w.failed {
		w.write(w.buf)
	}
	w.buf = w.buf[:0]
}

func (w *writer) write(p []byte) {
	_, err := w.q.out.Write(p)
	if err != nil {
		w.failed = true
		w.q.fail(fmt.Errorf("%w: %w", errWrite, err))
		return
	}
	w.failed = !w.q.wrote(w.sizes)
	w.sizes = 0
}

// wrote books a write that finished messages of the given size, and reports
// whether to go on.
func (q *queue) wrote(size int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writes++
	if q.cause != nil {
		return false
	}
	q.bytes -= size
	return true
}
