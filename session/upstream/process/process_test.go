//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Stop leaves no process of a tree, whatever hides behind what.
func TestStopTakesTheTreeDown(t *testing.T) {
	want := map[string]Stage{"eof": StageEOF, "deaf": StageTerm, "stubborn": StageKill}
	s := newSupervisor(t)
	for _, shape := range shapes {
		if shape.name == "daemon" && runtime.GOOS != "linux" {
			continue // found by its cookie, on Linux only
		}
		for mode, stage := range want {
			t.Run(shape.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				p := start(t, s, shape.spec(t, mode))
				pids := readPIDs(t, bufio.NewReader(p.Stdout()), shape.pids)
				got, err := p.Stop(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if shape.name == "daemon" && mode != "eof" {
					stage = StageKill // its leaf is found by the cookie
				}
				if got != stage && shape.name != "daemon" {
					t.Errorf("stage = %v, want %v", got, stage)
				}
				for _, pid := range append(pids, p.PID()) {
					if mode == "eof" || shape.name != "daemon" {
						if running(pid) {
							t.Errorf("process %d runs after Stop", pid)
						}
					}
				}
				wantGone(t, pids) // SIGKILL by cookie takes effect in its own time
				wait(t, p.Gone(), "Gone")
				wait(t, p.Exited(), "Exited")
			})
		}
	}
}

// A server may write on stdin's end; it gets the time for it.
func TestStopLetsTheChildFinish(t *testing.T) {
	s := newSupervisor(t)
	marker := filepath.Join(t.TempDir(), "marker")
	spec := shell(`cat >/dev/null; sleep 0.3; echo done >"$0"`, marker)
	p := start(t, s, spec)
	stage, err := p.Stop(t.Context())
	if err != nil || stage != StageEOF {
		t.Errorf("Stop = %v, %v; want %v", stage, err, StageEOF)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Error(err)
	}
	if exit, ok := p.Exit(); !ok || !exit.Success() {
		t.Errorf("Exit = %v, %v; want success", exit, ok)
	}
}

// A context that ends makes the next step SIGKILL, and Stop still returns with
// the work done.
func TestStopHurries(t *testing.T) {
	s := newSupervisor(t)
	p := start(t, s, roleSpec(t, "leaf", "deaf"))
	pids := readPIDs(t, bufio.NewReader(p.Stdout()), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stage, err := p.Stop(ctx)
	if err != nil || stage != StageKill {
		t.Errorf("Stop = %v, %v; want %v", stage, err, StageKill)
	}
	if exit, _ := p.Exit(); exit.Signal != "SIGKILL" && exit.Signal != "SIGTERM" {
		t.Errorf("Exit = %v, want a signal", exit)
	}
	wantGone(t, pids)
}

// Many callers of Stop get the one result.
func TestStopByMany(t *testing.T) {
	s := newSupervisor(t)
	p := start(t, s, roleSpec(t, "leaf", "eof"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if stage, err := p.Stop(t.Context()); err != nil || stage != StageEOF {
				t.Errorf("Stop = %v, %v; want %v", stage, err, StageEOF)
			}
		})
	}
	group.Wait()
}

// The end of a child that fails at once is told with its status and its words.
func TestExit(t *testing.T) {
	s := newSupervisor(t)
	for _, test := range []struct {
		script, exit string
		tail         []string
	}{
		{`echo "need API_KEY" >&2; exit 3`, "exit status 3", []string{"need API_KEY"}},
		{`exec >&-; sleep 0.05; printf 'no \033[1mnewline' >&2; exit 1`, "exit status 1", []string{"no newline"}},
		{`kill -9 $$`, "killed by SIGKILL", nil},
		{`exit 0`, "exit status 0", nil},
	} {
		p := start(t, s, shell(test.script))
		go io.Copy(io.Discard, p.Stdout()) // ends with the child
		wait(t, p.Exited(), "Exited")
		exit, ok := p.Exit()
		if !ok || exit.String() != test.exit {
			t.Errorf("%s: Exit = %v, %v; want %v", test.script, exit, ok, test.exit)
		}
		if tail := p.StderrTail(5); !slices.Equal(tail, test.tail) {
			t.Errorf("%s: tail = %q, want %q", test.script, tail, test.tail)
		}
		wait(t, p.Gone(), "Gone without a Stop")
		if stage, err := p.Stop(t.Context()); err != nil || stage != StageNone {
			t.Errorf("%s: Stop = %v, %v; want %v", test.script, stage, err, StageNone)
		}
	}
}

// A grandchild that holds stdout does not keep a reader waiting, nor does it
// outlive the child.
func TestGrandchildHoldsStdout(t *testing.T) {
	s := newSupervisor(t)
	p := start(t, s, shell(`"$0" stubborn & exec 2>&-; echo "from the child"; exit 7`, self(t)))
	data, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Errorf("reading stdout: %v", err)
	}
	if !groupAlive(p.PID()) { // it is killed four seconds later
		t.Error("stdout ended only with the grandchild")
	}
	if !strings.Contains(string(data), "from the child") {
		t.Errorf("stdout = %q", data)
	}
	wait(t, p.Exited(), "Exited")
	if exit, _ := p.Exit(); exit.Code != 7 {
		t.Errorf("Exit = %v, want status 7", exit)
	}
	wait(t, p.Gone(), "Gone")
	if groupAlive(p.PID()) {
		t.Error("the grandchild lives")
	}
}

// What a child wrote before its end is read, however late.
func TestStdoutIsReadToItsEnd(t *testing.T) {
	s := newSupervisor(t)
	const size = 60_000
	p := start(t, s, shell(fmt.Sprintf(`head -c %d /dev/zero`, size)))
	wait(t, p.Exited(), "Exited")
	n, err := io.Copy(io.Discard, p.Stdout())
	if err != nil || n != size {
		t.Errorf("read %d bytes, %v; want %d", n, err, size)
	}
}

// A child that floods stderr is never blocked by it, and the last lines stay.
func TestStderrFlood(t *testing.T) {
	s := newSupervisor(t)
	var lines int
	var last string
	spec := roleSpec(t, "flood")
	spec.OnStderr = func(line string) { lines, last = lines+1, line }
	p := start(t, s, spec)
	if out, err := io.ReadAll(p.Stdout()); string(out) != "done\n" {
		t.Fatalf("stdout = %q, %v", out, err)
	}
	wait(t, p.Gone(), "Gone")
	want := fmt.Sprintf("warn %044d", floodLines-1)
	if lines != floodLines || last != want {
		t.Errorf("told of %d lines, the last %q; want %d, %q", lines, last, floodLines, want)
	}
	tail := p.StderrTail(1 << 20)
	size := 0
	for _, line := range tail {
		size += len(line) + 1
	}
	if size > StderrBytes || size < StderrBytes/2 {
		t.Errorf("kept %d bytes, want at most %d and not much less", size, StderrBytes)
	}
	if tail[len(tail)-1] != want {
		t.Errorf("last line kept = %q, want %q", tail[len(tail)-1], want)
	}
}

// A child gets the environment given and the cookie, and no file of ours.
func TestNothingIsInherited(t *testing.T) {
	t.Setenv("PROCESS_TEST_SECRET", "hidden")
	s := newSupervisor(t)
	p := start(t, s, Spec{Command: "env", Env: []string{"A=1", "PATH=" + os.Getenv("PATH")}})
	data, _ := io.ReadAll(p.Stdout())
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	slices.Sort(lines)
	if len(lines) != 3 || lines[0] != "A=1" || !strings.HasPrefix(lines[1], CookieVar+"="+s.cookie+".") || lines[2] != "PATH="+os.Getenv("PATH") {
		t.Errorf("environment = %q", lines)
	}
	if runtime.GOOS == "linux" {
		p := start(t, s, shell(`ls /proc/self/fd`))
		data, _ := io.ReadAll(p.Stdout())
		if got := strings.Fields(string(data)); !slices.Equal(got, []string{"0", "1", "2", "3"}) { // 3 is ls reading the folder
			t.Errorf("open files = %v", got)
		}
	}
}

// The folder of a command given by its path is in the child's PATH, at the end.
func TestFolderOfCommandIsInPath(t *testing.T) {
	s := newSupervisor(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "server")
	writeFile(t, script, "#!/bin/sh\necho \"$PATH\"\n", 0o755)
	p := start(t, s, Spec{Command: script, Env: []string{"PATH=/usr/bin:/bin"}})
	data, _ := io.ReadAll(p.Stdout())
	if want := "/usr/bin:/bin:" + dir + "\n"; string(data) != want {
		t.Errorf("PATH = %q, want %q", data, want)
	}
}

// Lines are redacted before anybody sees them.
func TestRedact(t *testing.T) {
	s := newSupervisor(t)
	spec := shell(`echo "token s3cret" >&2`)
	spec.Redact = func(line string) string { return strings.ReplaceAll(line, "s3cret", "***") }
	var told string
	spec.OnStderr = func(line string) { told = line }
	p := start(t, s, spec)
	io.Copy(io.Discard, p.Stdout())
	wait(t, p.Gone(), "Gone")
	if tail := p.StderrTail(1); !slices.Equal(tail, []string{"token ***"}) || told != "token ***" {
		t.Errorf("tail = %q, told %q", tail, told)
	}
}

// Shutdown stops all, in parallel, and nothing starts after it.
func TestShutdown(t *testing.T) {
	s := New(Options{Self: self(t), Warn: func(err error) { t.Error(err) }})
	var pids []int
	for range 3 {
		p := start(t, s, roleSpec(t, "leaf", "deaf"))
		pids = append(pids, readPIDs(t, bufio.NewReader(p.Stdout()), 1)...)
	}
	pids = append(pids, s.reaper.pid)
	var starts sync.WaitGroup
	for range 4 { // these start while the shutdown begins, or are refused
		starts.Go(func() {
			p, err := s.Start(t.Context(), roleSpec(t, "leaf", "eof"))
			if err != nil {
				if !errors.Is(err, ErrShutdown) {
					t.Error(err)
				}
				return
			}
			wait(t, p.Gone(), "Gone")
		})
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	starts.Wait()
	wantGone(t, pids)
	if _, err := s.Start(t.Context(), roleSpec(t, "leaf", "eof")); !errors.Is(err, ErrShutdown) {
		t.Errorf("Start after Shutdown: %v, want %v", err, ErrShutdown)
	}
	if s.Live() != 0 {
		t.Errorf("Live = %d", s.Live())
	}
}

// A context that has ended starts nothing.
func TestStartWithEndedContext(t *testing.T) {
	s := newSupervisor(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := s.Start(ctx, roleSpec(t, "leaf", "eof")); !errors.Is(err, cause) {
		t.Errorf("Start = %v, want %v", err, cause)
	}
}

// SIGKILL of the program leaves no process behind: no child, no grandchild, no
// daemon, no reaper.
func TestKilledProgramLeavesNothing(t *testing.T) {
	cmd := exec.Command(self(t))
	cmd.Env = []string{roleVar + "=host", "PATH=" + os.Getenv("PATH")}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var pids []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		var pid int
		if _, err := fmt.Sscanf(lines.Text(), "pid %d", &pid); err != nil {
			t.Fatal(lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) < 20 {
		t.Fatalf("the host told of %d processes", len(pids))
	}
	for _, pid := range pids {
		if !running(pid) {
			t.Errorf("process %d of %v does not run before the kill", pid, pids)
		}
	}
	cmd.Process.Kill()
	if runtime.GOOS == "linux" {
		wantGone(t, pids)
		return
	}
	for _, pid := range pids { // daemons cannot be found elsewhere; do not leave ours
		defer syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Without a reaper the kernel still kills the child itself.
func TestKilledProgramWithoutReaper(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a parent-death signal")
	}
	cmd := exec.Command(self(t))
	cmd.Env = []string{roleVar + "=bare"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPIDs(t, bufio.NewReader(out), 1)
	cmd.Process.Kill()
	cmd.Wait()
	wantGone(t, pids)
}

// A reaper ends a group that ignores SIGTERM, also where there is no cookie to
// find its members by, and not one it was told has gone.
func TestReaperKills(t *testing.T) {
	s := newSupervisor(t)
	doomed := start(t, s, roleSpec(t, "leaf", "stubborn"))
	spared := start(t, s, roleSpec(t, "leaf", "stubborn"))
	pids := readPIDs(t, bufio.NewReader(doomed.Stdout()), 1)
	readPIDs(t, bufio.NewReader(spared.Stdout()), 1)
	cmd := exec.Command(self(t), ReaperArg, "")
	cmd.Stdin = strings.NewReader(fmt.Sprintf("+%d\n+%d\n-%d\n", doomed.PID(), spared.PID(), spared.PID()))
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, pids)
	wait(t, doomed.Exited(), "Exited")
	if exit, _ := doomed.Exit(); exit.Signal != "SIGKILL" {
		t.Errorf("Exit = %v, want SIGKILL", exit)
	}
	if !running(spared.PID()) {
		t.Error("the group that had been taken back was killed")
	}
}

// A reaper that is killed is replaced, and the new one knows the old groups.
func TestReaperIsReplaced(t *testing.T) {
	warned := make(chan error, 10)
	s := New(Options{Self: self(t), Warn: func(err error) { warned <- err }})
	p := start(t, s, roleSpec(t, "leaf", "stubborn"))
	pids := readPIDs(t, bufio.NewReader(p.Stdout()), 1)
	reaper := func() (pid int, pipe *os.File) {
		s.reaper.mu.Lock()
		defer s.reaper.mu.Unlock()
		return s.reaper.pid, s.reaper.pipe
	}
	first, _ := reaper()
	syscall.Kill(first, syscall.SIGKILL)
	eventually(t, "a second reaper", func() bool { pid, pipe := reaper(); return pid != first && pipe != nil })
	select {
	case err := <-warned:
		if !strings.Contains(err.Error(), "reaper") {
			t.Errorf("warned: %v", err)
		}
	case <-time.After(bound):
		t.Error("no warning")
	}
	// Let it do its work: without our telling, as if we were killed.
	_, pipe := reaper()
	pipe.Close()
	wantGone(t, pids)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReadGroups(t *testing.T) {
	in := "+100\n+200\n-100\n+1\n+0\n+-5\nnonsense\n\n+\n+300\n-999\n*400\n" + strings.Repeat("x", 100_000) + "\n+500\n+600"
	got := readGroups(strings.NewReader(in))
	want := map[int]bool{200: true, 300: true, 500: true}
	if len(got) != len(want) {
		t.Errorf("groups = %v, want %v", got, want)
	}
	for group := range want {
		if !got[group] {
			t.Errorf("groups = %v, want %v", got, want)
		}
	}
}

func TestWatchPID(t *testing.T) {
	s := newSupervisor(t)
	p := start(t, s, roleSpec(t, "leaf", "eof"))
	gone := WatchPID(t.Context(), p.PID())
	ctx, cancel := context.WithCancel(t.Context())
	unwatched := WatchPID(ctx, p.PID())
	polled := make(chan struct{})
	go poll(t.Context(), p.PID(), polled)
	select {
	case <-gone:
		t.Error("closed while the process runs")
	case <-unwatched:
		t.Error("closed while the process runs")
	default:
	}
	cancel()
	if _, err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait(t, gone, "the watched process's end")
	wait(t, polled, "the polled process's end")
	select {
	case <-unwatched:
		t.Error("closed though its context ended first")
	default:
	}
	wait(t, WatchPID(t.Context(), p.PID()), "the end of a process that is gone")
	wait(t, WatchPID(t.Context(), 0), "the end of no process")
}

// A watcher whose context has ended does not tell of an end, even if it is the
// first thing that it sees.
func TestWatchEndsBeforeTheProcess(t *testing.T) {
	s := newSupervisor(t)
	p := start(t, s, roleSpec(t, "leaf", "eof"))
	if _, err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	polled := make(chan struct{})
	poll(ctx, p.PID(), polled)
	for what, gone := range map[string]<-chan struct{}{
		"a process that is gone": WatchPID(ctx, p.PID()), "no process": WatchPID(ctx, 0), "polling": polled,
	} {
		select {
		case <-gone:
			t.Errorf("%s: closed though its context ended first", what)
		default:
		}
	}
}
