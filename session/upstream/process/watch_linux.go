package process

import (
	"context"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// watch closes gone when pid has ended. A pidfd is readable from then on, and
// the runtime's poller waits for that, so no thread does.
func watch(ctx context.Context, pid int, gone chan<- struct{}) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		tellGone(ctx, gone)
		return
	case err != nil: // a kernel before 5.10, or a sandbox
		go poll(ctx, pid, gone)
		return
	}
	file := os.NewFile(uintptr(fd), "pidfd:"+strconv.Itoa(pid))
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		go poll(ctx, pid, gone)
		return
	}
	stop := context.AfterFunc(ctx, func() { file.Close() })
	go func() { // ends with the process or, by the Close above, with ctx
		defer file.Close()
		defer stop()
		err := conn.Read(func(fd uintptr) bool {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(fds, 0)
			return err == nil && n == 1
		})
		switch {
		case err == nil:
			tellGone(ctx, gone)
		case ctx.Err() == nil:
			poll(ctx, pid, gone)
		}
	}()
}

// running reports whether pid has not ended; a zombie has.
func running(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return true
	}
	state, _ := procStat(strconv.Itoa(pid))
	return state != 'Z' && state != 'X'
}
