package conformance

import (
	"io"
	"sync"
)

// pipeRoom is how much a pipe of the system takes before a writer has to wait.
const pipeRoom = 64 << 10

// A pipe is like one of the system: it takes some bytes before anybody reads.
// (With io.Pipe the SDK would wait for a server that does not read yet while it
// holds a mutex, and a bubble whose goroutines wait for a mutex never settles.)
type pipe struct {
	mu      sync.Mutex // guards the fields below
	data    []byte
	closed  bool          // by either side
	changed chan struct{} // closed and replaced at each change
}

func newPipe() (*pipeReader, *pipeWriter) {
	p := &pipe{changed: make(chan struct{})}
	return &pipeReader{p}, &pipeWriter{p}
}

func (p *pipe) signalLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.signalLocked()
}

type pipeReader struct{ *pipe }

func (r *pipeReader) Close() error { r.close(); return nil }

func (r *pipeReader) Read(b []byte) (int, error) {
	for {
		r.mu.Lock()
		if n := copy(b, r.data); n > 0 {
			r.data = r.data[n:]
			r.signalLocked()
			r.mu.Unlock()
			return n, nil
		}
		closed, changed := r.closed, r.changed
		r.mu.Unlock()
		if closed {
			return 0, io.EOF
		}
		<-changed
	}
}

type pipeWriter struct{ *pipe }

func (w *pipeWriter) Close() error { w.close(); return nil }

func (w *pipeWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return n, io.ErrClosedPipe
		}
		k := min(len(b), max(0, pipeRoom-len(w.data)))
		if k > 0 {
			w.data = append(w.data, b[:k]...)
			w.signalLocked()
		}
		changed := w.changed
		w.mu.Unlock()
		n, b = n+k, b[k:]
		if k == 0 {
			<-changed
		}
	}
	return n, nil
}
