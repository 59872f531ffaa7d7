package rpc

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
)

// Work begins at once, however much else is running, and no more workers than
// are worth keeping wait for more.
func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		w := newWorkers(ctx)
		const many = 3 * idleWorkers
		for range 2 {
			var running sync.WaitGroup
			stop := make(chan struct{})
			running.Add(many)
			for range many {
				w.do(func() {
					running.Done()
					<-stop
				})
			}
			running.Wait() // all of them at the same time
			close(stop)
			synctest.Wait()
			if got := w.idle.Load(); got != idleWorkers {
				t.Errorf("%d workers wait, want %d", got, idleWorkers)
			}
		}
		end() // the bubble fails if they stay
		synctest.Wait()
		done := make(chan struct{})
		w.do(func() { close(done) })
		<-done // work is done even so
	})
}
