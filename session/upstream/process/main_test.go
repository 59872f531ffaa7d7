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
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleVar makes the test binary a child: its value is the role, the arguments
// are the role's. A child of a test gets only what the test gives it, so the
// variable is in every Spec.
const roleVar = "PROCESS_TEST_ROLE"

// bound is how long a test waits for something that must come.
const bound = 20 * time.Second

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == ReaperArg {
		ReaperMain(os.Stdin, os.Args[2])
		syscall.Exit(0) // not os.Exit, which takes a second under the race detector
	}
	switch os.Getenv(roleVar) {
	case "leaf":
		leaf(os.Args[1])
	case "daemon":
		daemon(os.Args[1])
	case "host":
		host()
	case "flood":
		flood()
	case "bare":
		bare()
	default:
		os.Exit(m.Run())
	}
	syscall.Exit(0)
}

// leaf stands for a server. It says "pid N" on stdout and then behaves as mode
// says: "eof" ends with stdin, "deaf" does not, "stubborn" ignores SIGTERM too.
func leaf(mode string) {
	if mode == "stubborn" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	fmt.Printf("pid %d\n", os.Getpid())
	io.Copy(io.Discard, os.Stdin)
	for mode != "eof" {
		time.Sleep(time.Hour) // not select{}, which the runtime would call a deadlock
	}
}

// daemon starts a leaf that leaves session and group, and is a leaf itself.
func daemon(mode string) {
	cmd := exec.Command(os.Args[0], mode)
	cmd.Env = append(os.Environ(), roleVar+"=leaf")
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println("daemon:", err)
	}
	leaf("eof")
}

const floodLines = 200_000 // of 60 bytes, about 11 MB

func flood() {
	out := bufio.NewWriter(os.Stderr)
	for i := range floodLines {
		fmt.Fprintf(out, "\x1b[33mwarn\x1b[0m %044d\n", i)
	}
	out.Flush()
	fmt.Println("done")
}

// A shape is a way in which a server hides behind what was started.
type shape struct {
	name string
	pids int // how many "pid" lines it says
	spec func(t testing.TB, mode string) Spec
}

func self(t testing.TB) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func roleSpec(t testing.TB, role string, args ...string) Spec {
	return Spec{Command: self(t), Args: args, Env: []string{roleVar + "=" + role, "PATH=" + os.Getenv("PATH")}}
}

func shell(script string, args ...string) Spec {
	return Spec{
		Command: "sh", Args: append([]string{"-c", script}, args...),
		Env: []string{"PATH=" + os.Getenv("PATH"), roleVar + "=leaf"},
	}
}

var shapes = []shape{
	{"direct", 1, func(t testing.TB, mode string) Spec { return roleSpec(t, "leaf", mode) }},
	{"sh", 1, func(t testing.TB, mode string) Spec { return shell(`"$0" "$@"; true`, self(t), mode) }},
	{"fork", 1, func(t testing.TB, mode string) Spec {
		return shell(`exec 3<&0; ("$0" "$@" <&3 &); exec 3<&-; exec cat >/dev/null`, self(t), mode)
	}},
	{"daemon", 2, func(t testing.TB, mode string) Spec { return roleSpec(t, "daemon", mode) }},
}

// host is a program with children in every shape. It says their pids and its
// reaper's, then "ready", and waits to be killed.
func host() {
	fatal := func(err error) {
		fmt.Println("host:", err)
		os.Exit(1)
	}
	path, err := os.Executable()
	if err != nil {
		fatal(err)
	}
	s := New(Options{Self: path, Warn: func(err error) { fmt.Println("host:", err) }})
	for _, shape := range shapes {
		for _, mode := range []string{"eof", "deaf", "stubborn"} {
			p, err := s.Start(context.Background(), shape.spec(nil, mode))
			if err != nil {
				fatal(err)
			}
			fmt.Printf("pid %d\n", p.PID())
			in := bufio.NewScanner(p.Stdout())
			for range shape.pids {
				if !in.Scan() {
					fatal(errors.New("a child said nothing"))
				}
				fmt.Println(in.Text())
			}
		}
	}
	fmt.Printf("pid %d\n", s.reaper.pid)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

// bare is a program with one child and no reaper.
func bare() {
	path, _ := os.Executable()
	s := New(Options{})
	p, err := s.Start(context.Background(), Spec{Command: path, Args: []string{"stubborn"}, Env: []string{roleVar + "=leaf"}})
	if err != nil {
		fmt.Println("bare:", err)
		os.Exit(1)
	}
	io.Copy(os.Stdout, p.Stdout())
}

func newSupervisor(t testing.TB) *Supervisor {
	s := New(Options{Self: self(t), Warn: func(err error) { t.Log("warned:", err) }})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if s.Live() != 0 {
			t.Errorf("%d children live after Shutdown", s.Live())
		}
	})
	return s
}

func start(t testing.TB, s *Supervisor, spec Spec) *Process {
	t.Helper()
	p, err := s.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readPIDs reads n lines "pid N".
func readPIDs(t testing.TB, r *bufio.Reader, n int) []int {
	t.Helper()
	var pids []int
	for range n {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("reading a pid: %v", err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "pid ")))
		if err != nil {
			t.Fatalf("reading a pid: got %q", line)
		}
		pids = append(pids, pid)
	}
	return pids
}

// wait fails the test unless c is closed in time.
func wait(t testing.TB, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(bound):
		t.Fatalf("%s: not within %v", what, bound)
	}
}

// eventually fails the test unless cond comes true in time.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	limit := time.NewTimer(bound)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("%s: not within %v", what, bound)
		}
	}
}

func wantGone(t testing.TB, pids []int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("end of process %d", pid), func() bool { return !running(pid) })
	}
}
