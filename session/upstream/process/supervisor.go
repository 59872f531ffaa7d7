package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// CookieVar is the environment variable that marks the processes of a tree, so
// that those which left their group are found.
const CookieVar = "MCP_SIDECAR_TREE"

// ReaperArg is the first argument of a process that is to call [ReaperMain];
// the second is the cookie.
const ReaperArg = "__reaper"

// Options configure a [Supervisor].
type Options struct {
	// Self is the path of our own program, which is run as the reaper with the
	// arguments [ReaperArg] and a cookie. Empty means no reaper: then a SIGKILL
	// of this process may leave grandchildren. Windows needs none.
	Self string
	// Warn is told what went wrong without failing anything, such as a reaper
	// that does not start. It may be nil, and must not call back.
	Warn func(error)
}

// A Supervisor starts children and knows them all until they are gone. Make
// one in main with [New]; it has no goroutine until the first child.
type Supervisor struct {
	cookie string
	warn   func(error)
	reaper *reaper

	mu      sync.Mutex // guards the fields below
	closing bool
	next    int
	live    map[*Process]struct{}
	busy    sync.WaitGroup // one for each start under way or live process; added to under mu while !closing
}

// New returns a Supervisor. On Windows it also puts this process into a job
// that ends with it, so that no child escapes between its birth and its own job.
func New(opts Options) *Supervisor {
	if opts.Warn == nil {
		opts.Warn = func(error) {}
	}
	confineSelf(opts.Warn)
	cookie := newCookie()
	return &Supervisor{
		cookie: cookie,
		warn:   opts.Warn,
		reaper: newReaper(opts.Self, cookie, opts.Warn),
		live:   make(map[*Process]struct{}),
	}
}

func newCookie() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Start starts a child. Whatever is wrong with the working folder or the
// command is told as [LookPath] tells it; [ErrShutdown] comes after Shutdown.
//
// ctx bounds the start alone, which is quick unless a file system hangs; a
// child that comes to life after ctx ended is stopped. The caller has to Stop
// the Process; one that ends by itself cleans up after itself.
func (s *Supervisor) Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil, ErrShutdown
	}
	s.next++
	cookie := s.cookie + "." + strconv.Itoa(s.next)
	s.busy.Add(1)
	s.mu.Unlock()

	type result struct {
		process *Process
		err     error
	}
	done := make(chan result, 1)
	go func() { // ends when the start does
		p, err := s.start(spec, cookie)
		if err != nil {
			s.busy.Done()
		}
		done <- result{p, err}
	}()
	select {
	case r := <-done:
		return r.process, r.err
	case <-ctx.Done():
		go func() { // ends when the late child is gone
			if r := <-done; r.process != nil {
				r.process.Stop(ctx) // ctx is done: no stage is waited for
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// start does the work of Start. On success the process is known, and busy is
// left to forget.
func (s *Supervisor) start(spec Spec, cookie string) (*Process, error) {
	path, err := LookPath(spec.Command, spec.Dir, spec.Env)
	if err != nil {
		return nil, err
	}
	env := environ(spec.Env)
	if !isBareName(spec.Command) {
		env = env.withFolderOf(path)
	}
	env = env.with(CookieVar, cookie)
	cmd, err := command(path, spec.Args, env)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env = spec.Dir, env

	var pipes pipeSet
	stdin, stdout, stderr, err := pipes.attach(cmd)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", path, err)
	}
	t := new(tree)
	if err := t.prepare(cmd); err != nil {
		pipes.closeAll()
		return nil, fmt.Errorf("starting %q: %w", path, err)
	}
	s.reaper.ensure() // before the child, so that there is no gap
	err = fork(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		return t.adopt(cmd)
	})
	if err != nil {
		t.release()
		pipes.closeAll()
		return nil, startError(path, err)
	}
	pipes.closeTheirs()

	p := &Process{
		cmd: cmd, path: path, pid: cmd.Process.Pid, tree: t, cookie: cookie,
		stdin: stdin, stdout: newOutPipe(stdout), errors: stderr,
		log:      stderrLog{redact: spec.Redact, onLine: spec.OnStderr},
		reaped:   make(chan struct{}),
		exited:   make(chan struct{}),
		loggedTo: make(chan struct{}),
		stopping: make(chan struct{}),
		hurry:    make(chan struct{}),
		gone:     make(chan struct{}),
		sweep:    s.sweepStrays,
		onGone:   s.forget,
	}
	s.reaper.add(p.pid)
	s.mu.Lock()
	s.live[p] = struct{}{}
	closing := s.closing
	s.mu.Unlock()
	go func() {
		defer close(p.loggedTo)
		p.log.run(stderr)
	}()
	go p.wait()
	if closing {
		p.beginStop()
	}
	return p, nil
}

// sweepStrays is called by a process's taker-down when its group is gone. In a
// shutdown one walk through all processes does it for all trees at the end.
func (s *Supervisor) sweepStrays(cookie string) int {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		return 0
	}
	return sweep(cookie, true)
}

// forget is called by a process's taker-down when it is done.
func (s *Supervisor) forget(p *Process) {
	if !p.left {
		s.reaper.remove(p.pid)
	}
	s.mu.Lock()
	delete(s.live, p)
	s.mu.Unlock()
	s.busy.Done()
}

// Live returns how many children are not gone yet.
func (s *Supervisor) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

// Shutdown refuses further starts and stops all children in parallel, those
// that are just starting included, as [Process.Stop] does; then the reaper
// ends. It takes a little longer than ctx at most. The error wraps
// [ErrStillRunning] when something was left; the reaper then tries again.
func (s *Supervisor) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	live := make([]*Process, 0, len(s.live))
	for p := range s.live {
		live = append(live, p)
	}
	s.mu.Unlock()

	errs := make([]error, len(live))
	var stops sync.WaitGroup
	for i, p := range live {
		stops.Go(func() { _, errs[i] = p.Stop(ctx) })
	}
	stops.Wait()

	idle := make(chan struct{})
	go func() { // ends when the last start and the last process have ended
		s.busy.Wait()
		close(idle)
	}()
	var late error
	select {
	case <-idle:
	case <-ctx.Done():
		select {
		case <-idle:
		default:
			late = fmt.Errorf("process: shutting down: a child was still starting: %w", ErrStillRunning)
		}
	}
	sweep(s.cookie, false)
	s.reaper.close(ctx)
	return errors.Join(append(errs, late)...)
}

// A pipeSet is the three pipes of a child that is being started.
type pipeSet struct{ ours, theirs []*os.File }

// attach makes the pipes. They are our own, not those of exec.Cmd: its Wait
// closes them before everything was read, or waits for grandchildren.
func (s *pipeSet) attach(cmd *exec.Cmd) (stdin, stdout, stderr *os.File, err error) {
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			s.closeAll()
			return nil, nil, nil, err
		}
		s.ours = append(s.ours, files[i+1])
		s.theirs = append(s.theirs, files[i])
		if i > 0 {
			s.ours[i/2], s.theirs[i/2] = files[i], files[i+1]
		}
	}
	widen(s.ours[1])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.theirs[0], s.theirs[1], s.theirs[2]
	return s.ours[0], s.ours[1], s.ours[2], nil
}

func (s *pipeSet) closeTheirs() {
	for _, f := range s.theirs {
		f.Close()
	}
}

func (s *pipeSet) closeAll() {
	s.closeTheirs()
	for _, f := range s.ours {
		f.Close()
	}
}

// isBareName reports whether command is searched in PATH.
func isBareName(command string) bool {
	return !finder{windows: os.PathSeparator == '\\'}.hasSeparator(command)
}
