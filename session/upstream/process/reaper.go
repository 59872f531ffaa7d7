//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A reaper is our end of the process that outlives us. It is told the groups
// that live, as lines "+pgid" and "-pgid"; when its stdin ends, however that
// came about, it ends those that are left.
//
// Nobody else holds the pipe: Go opens it close-on-exec, and the reaper's own
// copy is the read side.
type reaper struct {
	self, cookie string
	warn         func(error)

	mu       sync.Mutex // guards the fields below, and the order of lines
	groups   map[int]bool
	pipe     *os.File      // nil while no reaper runs
	pid      int           // of the last reaper started
	done     chan struct{} // closed when the running reaper was reaped
	restarts int
	closing  bool
}

func newReaper(self, cookie string, warn func(error)) *reaper {
	return &reaper{self: self, cookie: cookie, warn: warn, groups: make(map[int]bool)}
}

// ensure starts the reaper unless it runs. A child is started without one
// rather than not at all.
func (r *reaper) ensure() {
	if r.self == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipe == nil && !r.closing {
		r.startLocked()
	}
}

func (r *reaper) startLocked() {
	if r.restarts > reaperRestarts {
		return
	}
	r.restarts++
	theirs, ours, err := os.Pipe()
	if err != nil {
		r.warn(fmt.Errorf("process: starting the reaper: %w", err))
		return
	}
	cmd := exec.Command(r.self, ReaperArg, r.cookie)
	// Not our environment: it may hold secrets, and a cookie in it, when we are
	// a child of a sidecar ourselves, would get the reaper swept away first.
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=20"}
	cmd.Dir = "/"
	cmd.Stdin = theirs
	// Its own session: a signal to our group or terminal is none for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		ours.Close()
		r.warn(fmt.Errorf("process: starting the reaper: %w", err))
		return
	}
	done := make(chan struct{})
	r.pipe, r.pid, r.done = ours, cmd.Process.Pid, done
	for group := range r.groups {
		r.sendLocked('+', group)
	}
	go func() { // ends when the reaper does
		cmd.Wait()
		ours.Close()
		close(done)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.pipe == ours {
			r.pipe = nil
			if !r.closing && len(r.groups) > 0 {
				r.warn(fmt.Errorf("process: the reaper ended (%s) and is started again", cmd.ProcessState))
				r.startLocked()
			}
		}
	}()
}

func (r *reaper) add(group int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups[group] = true
	r.sendLocked('+', group)
}

func (r *reaper) remove(group int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, group)
	r.sendLocked('-', group)
}

// sendLocked writes one line; the pipe holds thousands, so this does not wait.
// A reaper that is gone is noticed by the goroutine that waits for it.
func (r *reaper) sendLocked(op byte, group int) {
	if r.pipe == nil {
		return
	}
	line := append(strconv.AppendInt([]byte{op}, int64(group), 10), '\n')
	r.pipe.SetWriteDeadline(time.Now().Add(reaperWrite))
	if _, err := r.pipe.Write(line); err != nil {
		r.warn(fmt.Errorf("process: telling the reaper of group %d: %w", group, err))
	}
}

// close lets the reaper do what is left, and waits for its end within ctx.
func (r *reaper) close(ctx context.Context) {
	r.mu.Lock()
	r.closing = true
	pipe, done := r.pipe, r.done
	r.pipe = nil
	r.mu.Unlock()
	if pipe == nil {
		return
	}
	pipe.Close()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// ReaperMain is the main function of the reaper: it reads lines "+pgid" and
// "-pgid" from in until in ends, sends SIGTERM to the groups that are left,
// waits 1.5 s for them, sends SIGKILL, and kills what else carries the cookie
// in its environment (Linux). A line it cannot read is skipped. It ignores
// SIGHUP, SIGINT and SIGTERM: it ends by itself, and not before its parent.
func ReaperMain(in io.Reader, cookie string) {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM)
	groups := readGroups(in)
	signalGroups(groups, unix.SIGTERM)
	limit := time.Now().Add(reaperTerm)
	for pause := pollFirst; anyAlive(groups) && time.Now().Before(limit); pause = min(2*pause, pollMost) {
		time.Sleep(pause)
	}
	signalGroups(groups, unix.SIGKILL)
	if cookie != "" {
		sweep(cookie, false)
	}
}

// readGroups reads in to its end and returns the groups that are left then.
func readGroups(in io.Reader) map[int]bool {
	groups := make(map[int]bool)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return groups // a line without its end was not said
		}
		line = strings.TrimSuffix(line, "\n")
		if len(line) < 2 {
			continue
		}
		group, err := strconv.Atoi(line[1:])
		if err != nil || group <= 1 { // -1 would be everything, 0 ourselves
			continue
		}
		switch line[0] {
		case '+':
			groups[group] = true
		case '-':
			delete(groups, group)
		}
	}
}

func signalGroups(groups map[int]bool, sig syscall.Signal) {
	for group := range groups {
		unix.Kill(-group, sig)
	}
}

func anyAlive(groups map[int]bool) bool {
	for group := range groups {
		if groupAlive(group) {
			return true
		}
	}
	return false
}
