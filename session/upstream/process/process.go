package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A Spec says what to start.
type Spec struct {
	// Command is looked up as [LookPath] says.
	Command string
	// Args are the arguments after the command, passed as an exact vector,
	// never through a shell.
	Args []string
	// Dir is the working folder; empty means ours.
	Dir string
	// Env is the whole environment as KEY=value, nothing is inherited. The
	// cookie variable is added. When Command is a path, its folder is added at
	// the end of PATH.
	Env []string
	// Redact takes secrets out of a line of stderr before it is kept or shown.
	// It may be nil, and is called from several goroutines.
	Redact func(line string) string
	// OnStderr is told each line of stderr, cleaned, as it ends. It may be nil.
	// It is called on the goroutine that reads stderr and has to return at
	// once, or the child will block.
	OnStderr func(line string)
}

// A Stage is how far [Process.Stop] had to go.
type Stage int

// The stages, from the gentlest.
const (
	// StageNone: nothing had to be done, all had ended.
	StageNone Stage = iota
	// StageEOF: the child ended because its stdin was closed.
	StageEOF
	// StageTerm: SIGTERM to the group was needed.
	StageTerm
	// StageKill: SIGKILL to the group, or the end of the job, was needed.
	StageKill
)

// String returns "none", "eof", "term" or "kill".
func (s Stage) String() string {
	switch s {
	case StageNone:
		return "none"
	case StageEOF:
		return "eof"
	case StageTerm:
		return "term"
	case StageKill:
		return "kill"
	}
	return fmt.Sprintf("stage %d", int(s))
}

// A Process is a child and everything it started. [Supervisor.Start] makes it.
//
// Goroutines of a Process:
//
//	waiter      reaps the child; started by Start, ends after the child's end
//	stderr      reads stderr; ends with the pipe, which the waiter closes
//	taker-down  runs the stages of a stop once; started by the first Stop, or by
//	            the waiter when the child ended by itself; always ends
type Process struct {
	cmd    *exec.Cmd
	path   string
	pid    int
	tree   *tree
	cookie string // value of CookieVar in the environment of this tree

	stdin  *os.File
	stdout *outPipe
	errors *os.File // read side of stderr
	log    stderrLog

	reaped   chan struct{} // closed by the waiter: the child is reaped
	exit     Exit          // set before reaped is closed
	exited   chan struct{} // closed by the waiter: and stderr was read
	loggedTo chan struct{} // closed by the stderr goroutine: stderr has ended

	stopOnce  sync.Once
	stopping  chan struct{} // closed when the taker-down starts
	hurryOnce sync.Once
	hurry     chan struct{}           // closed when a Stop ran out of time
	gone      chan struct{}           // closed by the taker-down when it is done
	stage     Stage                   // set before gone is closed
	left      bool                    // set before gone is closed: something would not die
	sweep     func(cookie string) int // kills strays
	onGone    func(*Process)
}

// PID returns the process id of the child, which is its group's id on Unix.
func (p *Process) PID() int { return p.pid }

// Path returns the program that was started.
func (p *Process) Path() string { return p.path }

// Stdin is the child's stdin. Its Close may be called at any time, and ends a
// Write under way.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the child's stdout, for one reader. It ends with io.EOF when all
// writers have closed it, and at the latest [ExitGrace] after the end of the
// child for a reader that gets no more data.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Exited is closed when the child has ended and what it wrote to stderr was
// read. Other processes of its tree may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Exit returns how the child ended; false while it runs.
func (p *Process) Exit() (Exit, bool) {
	select {
	case <-p.reaped:
		return p.exit, true
	default:
		return Exit{}, false
	}
}

// Gone is closed when the whole tree is gone and the pipes are closed, or when
// the last stage of a stop has passed.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// StderrTail returns the last n lines of stderr, oldest first: cleaned,
// redacted, at most [StderrBytes] in all.
func (p *Process) StderrTail(n int) []string { return p.log.tail(n) }

// Stop takes the whole tree down and waits for that: it closes stdin, sends
// SIGTERM to the group after [GraceEOF] and SIGKILL after [GraceTerm] more,
// then kills strays by their cookie. On Windows the job is ended after
// GraceEOF. A ctx that ends earlier makes the next step SIGKILL.
//
// It may be called by several goroutines, also after the end; all of them get
// the one result: how far it had to go. The error wraps [ErrStillRunning].
func (p *Process) Stop(ctx context.Context) (Stage, error) {
	p.beginStop()
	select {
	case <-p.gone:
	case <-ctx.Done():
		p.hurryOnce.Do(func() { close(p.hurry) })
		<-p.gone // bounded: graceKill, and a look at /proc
	}
	if p.left {
		return p.stage, fmt.Errorf("process: stopping %s (pid %d): %w", p.path, p.pid, ErrStillRunning)
	}
	return p.stage, nil
}

func (p *Process) beginStop() {
	p.stopOnce.Do(func() {
		close(p.stopping)
		go p.takeDown()
	})
}

// wait is the waiter.
func (p *Process) wait() {
	// The error says again what the state says: the pipes are ours, so there
	// is no copying that could fail.
	_ = p.cmd.Wait()
	p.exit = exitOf(p.cmd.ProcessState)
	close(p.reaped)

	grace := time.NewTimer(ExitGrace)
	select {
	case <-p.loggedTo:
	case <-grace.C:
	}
	grace.Stop()
	close(p.exited)

	drained := make(chan struct{})
	go func() {
		defer close(drained)
		p.stdout.drain() // bounded by exitDrain
	}()
	select {
	case <-drained:
	case <-p.stopping:
	}
	p.stdout.Close()
	p.errors.Close()
	p.beginStop()
}

// takeDown runs the stages. It has no context: clean-up outlives its caller,
// and every stage has a bound of its own.
func (p *Process) takeDown() {
	p.stage = StageNone
	alive := p.alive() // before the end of stdin, which a child may follow at once
	p.stdin.Close()
	if alive {
		p.stage = StageEOF
		if !p.waitGone(GraceEOF, p.hurry) {
			p.stage = StageTerm
			if !p.tree.term() || !p.waitGone(GraceTerm, p.hurry) {
				p.stage = StageKill
				p.tree.kill()
				p.left = !p.waitGone(graceKill, nil)
			}
		}
	}
	if p.sweep(p.cookie) > 0 {
		p.stage = StageKill
	}
	// Nobody writes any more; let the last words be read.
	last := time.NewTimer(ExitGrace)
	select {
	case <-p.loggedTo:
	case <-last.C:
	}
	last.Stop()
	p.stdout.Close()
	p.errors.Close()
	p.tree.release()
	p.onGone(p)
	close(p.gone)
}

// alive reports whether anything of the tree runs. While the child itself does
// there is no need to look further, and looking costs a walk through /proc.
func (p *Process) alive() bool {
	select {
	case <-p.reaped:
		return p.tree.alive()
	default:
		return true
	}
}

// waitGone waits until nothing of the tree runs, at most d or until hurry.
func (p *Process) waitGone(d time.Duration, hurry <-chan struct{}) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.reaped:
	case <-hurry:
		return false
	case <-limit.C:
		return false
	}
	for pause := pollFirst; p.tree.alive(); pause = min(2*pause, pollMost) {
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-hurry:
			next.Stop()
			return false
		case <-limit.C:
			next.Stop()
			return !p.tree.alive()
		}
	}
	return true
}
