package toolcall

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"time"
)

// DefaultTimeout is the limit of a call that has none of its own (spec section
// 12).
const DefaultTimeout = 300 * time.Second

// totalFactor is how many times its limit a call may take in all, however much
// progress it reports (spec section 7).
const totalFactor = 4

// ErrTimeout matches the cause of a context that a Deadline ended.
var ErrTimeout = errors.New("toolcall: the time limit ran out")

// A TimeoutError is that cause. It matches ErrTimeout.
type TimeoutError struct {
	// Limit is the time that was over, not counting pauses.
	Limit time.Duration
}

// Error says how long was waited.
func (e *TimeoutError) Error() string { return "timed out after " + seconds(e.Limit) }

// Is reports whether target is ErrTimeout.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// seconds writes a duration as people read limits: 300s, 1.5s.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// A Deadline is the time limit of a call. It runs out when nothing was heard
// for the limit, or when the call took four times the limit in all. Both
// clocks stand still while it is paused. Its methods may be called from any
// goroutine, and on a nil Deadline.
type Deadline struct {
	cancel context.CancelCauseFunc
	limit  time.Duration

	mu sync.Mutex // guards the fields below; not held while cancel runs
	// idle and total are what is left of the two clocks, as of since.
	idle, total time.Duration
	// since is when the clocks were last read; when paused, since when.
	since  time.Time
	pauses int // questions open
	paused time.Duration
	ended  bool
	timer  *time.Timer
}

type deadlineKey struct{}

// NewDeadline starts a Deadline and returns a context that ends with it, with
// a *TimeoutError as its cause; DeadlineFrom finds the Deadline in it. A limit
// of 0 or less is DefaultTimeout. The caller stops it; the only goroutine it
// ever starts is its timer's, which ends at once.
func NewDeadline(ctx context.Context, limit time.Duration) (context.Context, *Deadline) {
	if limit <= 0 {
		limit = DefaultTimeout
	}
	total := time.Duration(math.MaxInt64)
	if limit <= total/totalFactor {
		total = totalFactor * limit
	}
	ctx, cancel := context.WithCancelCause(ctx)
	d := &Deadline{cancel: cancel, limit: limit, idle: limit, total: total, since: time.Now()}
	d.mu.Lock() // the timer may fire before it is assigned
	d.timer = time.AfterFunc(limit, d.fire)
	d.mu.Unlock()
	return context.WithValue(ctx, deadlineKey{}, d), d
}

// DeadlineFrom returns the Deadline of the call that ctx belongs to, nil if
// there is none. Who puts a question of the call to a person pauses it
// meanwhile.
func DeadlineFrom(ctx context.Context) *Deadline {
	d, _ := ctx.Value(deadlineKey{}).(*Deadline)
	return d
}

// Pause stops the clocks until Resume was called as often.
func (d *Deadline) Pause() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pauses++; d.pauses == 1 && !d.ended {
		d.spendLocked()
		d.timer.Stop()
	}
}

// Resume takes one Pause back.
func (d *Deadline) Resume() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pauses == 0 {
		return
	}
	if d.pauses--; d.pauses == 0 && !d.ended {
		now := time.Now()
		d.paused += now.Sub(d.since)
		d.since = now
		d.timer.Reset(max(min(d.idle, d.total), 0))
	}
}

// Progress says that the call is alive: the idle clock starts again.
func (d *Deadline) Progress() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	if d.pauses == 0 {
		d.spendLocked()
		if min(d.idle, d.total) <= 0 {
			return // too late: the timer is about to end the call
		}
		d.timer.Reset(min(d.limit, d.total))
	}
	d.idle = d.limit
}

// Paused returns how long the clocks have stood still so far.
func (d *Deadline) Paused() time.Duration {
	if d == nil {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pauses > 0 && !d.ended {
		return d.paused + time.Since(d.since)
	}
	return d.paused
}

// Stop ends the Deadline and its context.
func (d *Deadline) Stop() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.endLocked()
	d.mu.Unlock()
	d.cancel(nil)
}

// spendLocked takes the time since the last reading off the clocks.
func (d *Deadline) spendLocked() {
	now := time.Now()
	spent := now.Sub(d.since)
	d.since = now
	d.idle -= spent
	d.total -= spent
}

func (d *Deadline) endLocked() {
	if !d.ended && d.pauses > 0 {
		d.paused += time.Since(d.since)
	}
	d.ended = true
	d.timer.Stop()
}

// fire runs on the timer's goroutine. A timer that was reset or stopped too
// late finds time left and goes back to sleep.
func (d *Deadline) fire() {
	d.mu.Lock()
	if d.ended || d.pauses > 0 {
		d.mu.Unlock()
		return
	}
	d.spendLocked()
	if left := min(d.idle, d.total); left > 0 {
		d.timer.Reset(left)
		d.mu.Unlock()
		return
	}
	limit := d.limit
	if d.idle > 0 {
		limit = totalFactor * d.limit
	}
	d.endLocked()
	d.mu.Unlock()
	d.cancel(&TimeoutError{Limit: limit})
}
