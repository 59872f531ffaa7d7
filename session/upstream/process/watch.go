package process

import "context"

// WatchPID returns a channel that is closed when the process pid has ended. It
// is closed at once when there is none. It stays open for ever when ctx ends
// first, which also ends the watching.
//
// The process need not be a child; the editor that started us is watched so.
// It is held by a handle where the system has one (a pidfd on Linux, a kqueue
// on macOS, a process handle on Windows), so that a later process of the same
// id is not mistaken for it, and polled once a second elsewhere.
func WatchPID(ctx context.Context, pid int) <-chan struct{} {
	gone := make(chan struct{})
	if pid <= 0 {
		tellGone(ctx, gone)
		return gone
	}
	watch(ctx, pid, gone)
	return gone
}

// tellGone closes gone unless ctx has ended. Every watcher ends with it: the
// end of ctx stops none of them at once, and a process that ends in between
// ends too late to be told.
func tellGone(ctx context.Context, gone chan<- struct{}) {
	if ctx.Err() == nil {
		close(gone)
	}
}
