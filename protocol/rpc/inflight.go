package rpc

import (
	"context"
	"sync"
)

// inflight is the table of the requests that were read and not yet answered.
// Only the reader adds.
type inflight struct {
	mu      sync.Mutex // guards the fields below
	cancels map[string]context.CancelCauseFunc
	active  int  // requests whose reply is not queued yet
	closing bool // no more are added
	idle    chan struct{}
}

func newInflight() *inflight {
	return &inflight{cancels: map[string]context.CancelCauseFunc{}, idle: make(chan struct{})}
}

// state says what a new request with this key would meet.
func (t *inflight) state(key string) (duplicate, closing bool, running int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, duplicate = t.cancels[key]
	return duplicate, t.closing, len(t.cancels)
}

// add enters a request, unless the table is closed.
func (t *inflight) add(key string, cancel context.CancelCauseFunc) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing {
		return false
	}
	t.cancels[key] = cancel
	t.active++
	return true
}

// free takes a request's id out, before its reply is queued: the editor may
// use it again as soon as it has read the reply.
func (t *inflight) free(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.cancels, key)
}

// finish says that a reply is queued.
func (t *inflight) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active--
	t.settleLocked()
}

// cancel cancels a request with errCancelled. Unknown keys are ignored.
func (t *inflight) cancel(key string) {
	t.mu.Lock()
	cancel := t.cancels[key]
	t.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
}

// close refuses what comes from now on; idle is closed when the rest is
// answered.
func (t *inflight) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closing {
		t.closing = true
		t.settleLocked()
	}
}

func (t *inflight) settleLocked() {
	if t.closing && t.active == 0 {
		close(t.idle)
	}
}

func (t *inflight) unanswered() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.active
}
