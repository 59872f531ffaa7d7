package process

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// watch closes gone when pid has ended.
func watch(ctx context.Context, pid int, gone chan<- struct{}) {
	queue, err := unix.Kqueue()
	if err != nil {
		go poll(ctx, pid, gone)
		return
	}
	unix.CloseOnExec(queue)
	changes := []unix.Kevent_t{{
		Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT,
	}}
	if _, err := unix.Kevent(queue, changes, nil, nil); err != nil {
		unix.Close(queue)
		if errors.Is(err, unix.ESRCH) {
			tellGone(ctx, gone)
			return
		}
		go poll(ctx, pid, gone)
		return
	}
	go func() { // ends with the process or within watchPoll of ctx
		defer unix.Close(queue)
		events := make([]unix.Kevent_t, 1)
		wait := unix.NsecToTimespec(watchPoll.Nanoseconds())
		for ctx.Err() == nil {
			switch n, err := unix.Kevent(queue, nil, events, &wait); {
			case n > 0:
				tellGone(ctx, gone)
				return
			case err != nil && !errors.Is(err, unix.EINTR):
				poll(ctx, pid, gone)
				return
			}
		}
	}()
}
