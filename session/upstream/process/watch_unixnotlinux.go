//go:build unix && !linux

package process

import "golang.org/x/sys/unix"

// running reports whether pid has not ended.
func running(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }
