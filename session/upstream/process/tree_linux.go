package process

import (
	"bytes"
	"errors"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithUs lets the kernel kill the child when we are gone.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = unix.SIGKILL }

// keepFiles makes every file but stdin, stdout and stderr close on exec, as Go
// does with those it opens. Kernels before 5.11 refuse, and nothing is lost.
func keepFiles() { unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) }

// forks runs functions on one goroutine that is locked to its thread and never
// ends: the kernel sends the parent-death signal when the *thread* that forked
// ends, which the Go runtime may do to any other at any time.
var forks = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() { // lives as long as the program
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// fork runs start where children have to be forked.
func fork(start func() error) error {
	done := make(chan error, 1)
	forks() <- func() { done <- start() }
	return <-done
}

// stdoutPipe is the size asked for a child's stdout: a large result comes in
// fewer steps.
const stdoutPipe = 256 << 10

// widen asks for a larger pipe; the system may refuse.
func widen(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, stdoutPipe) })
	}
}

// groupAlive reports whether the group has a member that is not a zombie.
// kill(2) alone succeeds for zombies too, which stay until init reaps them; in
// many containers that is never.
func groupAlive(group int) bool {
	if errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
		return false
	}
	want := []byte(strconv.Itoa(group))
	alive := false
	if !eachProcess(func(pid string) bool {
		state, pgrp := procStat(pid)
		alive = bytes.Equal(pgrp, want) && state != 'Z' && state != 'X'
		return !alive
	}) {
		return true // no /proc: believe kill
	}
	return alive
}

// procStat returns the state and the process group of a process, from
// /proc/pid/stat: "pid (name) state ppid pgrp …", where name may hold anything.
func procStat(pid string) (state byte, pgrp []byte) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 'X', nil
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 3 {
		return 'X', nil
	}
	return fields[0][0], fields[2]
}

// eachProcess calls f with the id of every process until it returns false. It
// returns false when there is no /proc.
func eachProcess(f func(pid string) bool) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	if len(names) == 0 {
		return false
	}
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' && !f(name) {
			break
		}
	}
	return true
}

// Sweeping is repeated while it finds something, for something may have forked
// while we looked; sweepRounds bounds that.
const (
	sweepRounds = 5
	sweepPause  = 5 * time.Millisecond
)

// sweep kills every process whose environment carries cookie, or, unless
// exact, a cookie derived from it, and returns how many it killed. It is the
// net for processes that left their group.
func sweep(cookie string, exact bool) int {
	needle := []byte("\x00" + CookieVar + "=" + cookie)
	if exact {
		needle = append(needle, 0)
	} else {
		needle = append(needle, '.')
	}
	self := strconv.Itoa(os.Getpid())
	killed := 0
	for range sweepRounds {
		found := 0
		eachProcess(func(pid string) bool {
			if pid == self {
				return true
			}
			env, err := os.ReadFile("/proc/" + pid + "/environ")
			if err != nil || len(env) == 0 {
				return true // somebody else's, or a zombie
			}
			env = append(append([]byte{0}, env...), 0)
			if !bytes.Contains(env, needle) {
				return true
			}
			if id, err := strconv.Atoi(pid); err == nil && unix.Kill(id, unix.SIGKILL) == nil {
				found++
			}
			return true
		})
		if found == 0 {
			break
		}
		killed += found
		time.Sleep(sweepPause)
	}
	return killed
}
