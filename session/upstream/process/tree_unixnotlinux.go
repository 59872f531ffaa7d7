//go:build unix && !linux

package process

import (
	"os"
	"strconv"
	"syscall"
)

// keepFiles makes every file but stdin, stdout and stderr close on exec, as Go
// does with those it opens.
func keepFiles() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// dieWithUs has no counterpart here; the reaper does it.
func dieWithUs(*syscall.SysProcAttr) {}
