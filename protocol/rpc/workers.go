package rpc

import (
	"context"
	"sync/atomic"
)

// idleWorkers is how many goroutines wait for the next request.
const idleWorkers = 64

// workers are the goroutines of concurrent requests. They are used again: a
// fresh one would have to grow its stack, step by step, for each request.
type workers struct {
	ctx  context.Context // the connection's; idle ones end with it
	work chan func()     // takes work when one is idle; never closed
	idle atomic.Int64
}

func newWorkers(ctx context.Context) *workers {
	return &workers{ctx: ctx, work: make(chan func())}
}

// do runs f on a goroutine of its own, at once.
func (w *workers) do(f func()) {
	select {
	case w.work <- f:
	default:
		go w.run(f)
	}
}

// run is a worker. It ends when enough others are idle, or with the connection.
func (w *workers) run(f func()) {
	for {
		f()
		f = nil // what it holds is not kept
		if w.idle.Add(1) > idleWorkers {
			w.idle.Add(-1)
			return
		}
		select {
		case f = <-w.work:
			w.idle.Add(-1)
		case <-w.ctx.Done():
			return
		}
	}
}
