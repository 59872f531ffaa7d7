package toolcall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// entering tries to enter and reports whether it is inside once the bubble is
// at rest.
type entering struct {
	leave func()
	err   error
	done  atomic.Bool
}

func enter(ctx context.Context, g *Gate, s protocol.ServerName, p Passage) *entering {
	e := &entering{}
	go func() {
		e.leave, e.err = g.Enter(ctx, s, p)
		e.done.Store(true)
	}()
	synctest.Wait()
	return e
}

func (e *entering) inside() bool { synctest.Wait(); return e.done.Load() && e.err == nil }

// Calls that share run together, any other alone, per server, in the order in
// which they came: one that waits to be alone is not overtaken.
func TestGateOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		ctx := t.Context()
		first, second := enter(ctx, &g, "a", Shared), enter(ctx, &g, "a", Shared)
		alone := enter(ctx, &g, "a", Alone)
		late := enter(ctx, &g, "a", Shared)
		other := enter(ctx, &g, "b", Alone)
		state := func(want ...bool) {
			t.Helper()
			got := []bool{first.inside(), second.inside(), alone.inside(), late.inside(), other.inside()}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("inside %v, want %v", got, want)
			}
		}
		state(true, true, false, false, true)
		first.leave()
		state(true, true, false, false, true)
		first.leave() // leaving twice does nothing
		state(true, true, false, false, true)
		second.leave()
		state(true, true, true, false, true)
		alone.leave()
		state(true, true, true, true, true)
		late.leave()
		other.leave()
		if len(g.lanes) != 0 {
			t.Errorf("%d lanes are kept", len(g.lanes))
		}
	})
}

// Who gives up its place lets those behind it pass.
func TestGateGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		inside := enter(t.Context(), &g, "a", Shared)
		alone := enter(ctx, &g, "a", Alone)
		behind := enter(t.Context(), &g, "a", Shared)
		if behind.inside() {
			t.Fatal("a shared call overtook one that waits to be alone")
		}
		cancel(cause)
		if !behind.inside() || alone.inside() || alone.err != cause {
			t.Errorf("behind inside %v, alone %v", behind.inside(), alone.err)
		}
		if _, err := g.Enter(ctx, "a", Shared); err != cause {
			t.Errorf("entering with a context that ended: %v", err)
		}
		inside.leave()
		behind.leave()
		if len(g.lanes) != 0 {
			t.Errorf("%d lanes are kept", len(g.lanes))
		}
	})
}

// Whoever is let in at the moment it gives up leaves at once.
func TestGateAdmitsAndGivesUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		for range 200 {
			ctx, cancel := context.WithCancel(t.Context())
			first := enter(t.Context(), &g, "a", Alone)
			second := enter(ctx, &g, "a", Alone)
			cancel()
			first.leave()
			if second.inside() {
				second.leave()
			}
			if len(g.lanes) != 0 {
				t.Fatal("the lane of one that gave up is kept")
			}
		}
	})
}

// Under any mix of calls and cancellations nobody is inside with one that is
// alone, everybody gets in or gives up, and nothing is left behind.
func TestGateHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		var shared, alone [2]atomic.Int64
		var entered atomic.Int64
		var all sync.WaitGroup
		random := rand.New(rand.NewPCG(1, 2))
		const calls = 2000
		for range calls {
			i, p := random.IntN(2), Passage(random.IntN(3) > 0)
			patience, work := time.Duration(random.IntN(400))*time.Millisecond, time.Duration(random.IntN(5))*time.Millisecond
			start := time.Duration(random.IntN(500)) * time.Millisecond
			all.Go(func() {
				time.Sleep(start)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				leave, err := g.Enter(ctx, protocol.ServerName(fmt.Sprint(i)), p)
				if err != nil {
					return
				}
				defer leave()
				entered.Add(1)
				count := &shared[i]
				if p == Alone {
					count = &alone[i]
				}
				count.Add(1)
				defer count.Add(-1)
				for range 2 {
					if a, s := alone[i].Load(), shared[i].Load(); a > 1 || a == 1 && s > 0 {
						t.Errorf("%d alone beside %d shared", a, s)
					}
					time.Sleep(work)
				}
			})
		}
		all.Wait()
		if n := entered.Load(); n == 0 || n == calls {
			t.Errorf("%d of %d calls got in: the test shows nothing", n, calls)
		}
		if len(g.lanes) != 0 {
			t.Errorf("%d lanes are kept", len(g.lanes))
		}
	})
}
