package toolcall

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ends runs script under a deadline of ten seconds and returns when its
// context ended.
func ends(t *testing.T, script func(*Deadline)) (after time.Duration, cause error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, d := NewDeadline(t.Context(), 10*time.Second)
		defer d.Stop()
		if DeadlineFrom(ctx) != d {
			t.Error("the deadline is not in its context")
		}
		var run sync.WaitGroup
		run.Go(func() { script(d) })
		<-ctx.Done()
		after, cause = time.Since(start), context.Cause(ctx)
		run.Wait()
	})
	return after, cause
}

func TestDeadline(t *testing.T) {
	s := func(n float64) { time.Sleep(time.Duration(n * float64(time.Second))) }
	for name, c := range map[string]struct {
		script func(d *Deadline)
		want   time.Duration
		limit  time.Duration
	}{
		"runs out": {func(*Deadline) {}, 10 * time.Second, 10 * time.Second},
		"stands still while a question is open": {func(d *Deadline) {
			s(4)
			d.Pause()
			s(3600)
			d.Resume()
		}, 3610 * time.Second, 10 * time.Second},
		"counts questions": {func(d *Deadline) {
			d.Pause()
			s(1)
			d.Pause()
			s(20)
			d.Resume()
			s(20)
			d.Resume()
			d.Resume() // one too many does nothing
		}, 51 * time.Second, 10 * time.Second},
		"progress": {func(d *Deadline) {
			s(9)
			d.Progress()
			s(9)
			d.Progress()
		}, 28 * time.Second, 10 * time.Second},
		"four times in all": {func(d *Deadline) {
			for range 100 {
				s(3)
				d.Progress()
			}
		}, 40 * time.Second, 40 * time.Second},
		"a pause is not part of the total": {func(d *Deadline) {
			for range 100 {
				s(3)
				d.Pause()
				s(50)
				d.Progress()
				d.Resume()
			}
		}, 40*time.Second + 13*50*time.Second, 40 * time.Second},
		"progress during a pause": {func(d *Deadline) {
			s(9)
			d.Pause()
			s(1)
			d.Progress()
			d.Resume()
		}, 20 * time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got, cause := ends(t, c.script)
			var e *TimeoutError
			if got != c.want || !errors.As(cause, &e) || e.Limit != c.limit || !errors.Is(cause, ErrTimeout) {
				t.Errorf("ended after %v with %v, want %v", got, cause, c.want)
			}
		})
	}
}

// A stopped deadline stays quiet, and knows how long it stood still.
func TestDeadlineStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := NewDeadline(t.Context(), time.Second)
		d.Pause()
		time.Sleep(5 * time.Second)
		if got := d.Paused(); got != 5*time.Second {
			t.Errorf("paused for %v, want 5s", got)
		}
		d.Resume()
		time.Sleep(time.Second / 2)
		d.Stop()
		d.Pause()
		d.Resume()
		d.Progress()
		d.Stop()
		time.Sleep(time.Hour)
		if errors.Is(context.Cause(ctx), ErrTimeout) || ctx.Err() == nil {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		if got := d.Paused(); got != 5*time.Second {
			t.Errorf("paused for %v, want 5s", got)
		}
	})
	var none *Deadline
	none.Pause()
	none.Resume()
	none.Progress()
	none.Stop()
	if none.Paused() != 0 || DeadlineFrom(t.Context()) != nil {
		t.Error("there is a deadline where there is none")
	}
}

func TestTimeoutText(t *testing.T) {
	for d, want := range map[time.Duration]string{2 * time.Second: "timed out after 2s", 1500 * time.Millisecond: "timed out after 1.5s", 300 * time.Second: "timed out after 300s"} {
		if got := (&TimeoutError{Limit: d}).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
