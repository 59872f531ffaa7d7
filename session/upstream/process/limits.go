package process

import "time"

// Stages of taking a child down (spec 5: "close stdin → 2 s → SIGTERM to the
// group → 2 s → SIGKILL to the group, … 5 s in all").
const (
	// GraceEOF is how long a child may take to end after its stdin was closed.
	GraceEOF = 2 * time.Second
	// GraceTerm is how long its group may take to end after SIGTERM.
	GraceTerm = 2 * time.Second
	// graceKill bounds the wait for the kernel to end a group after SIGKILL.
	// Only a process in uninterruptible sleep needs longer.
	graceKill = 500 * time.Millisecond
)

const (
	// ExitGrace is how long after the end of a child a reader of its stdout
	// may go on waiting for data when another process holds the pipe open.
	ExitGrace = 200 * time.Millisecond
	// exitDrain bounds the reading of what is left in the pipes after the end
	// of a child: a grandchild that keeps writing must not keep them alive.
	exitDrain = 2 * time.Second
)

// Polling of groups that only processes other than our own child are left in;
// there is no event for their end.
const (
	pollFirst = 2 * time.Millisecond
	pollMost  = 25 * time.Millisecond
)

const (
	// StderrBytes is how much of a child's stderr is kept.
	StderrBytes = 64 << 10
	// StderrLine is the longest line kept; the rest of it is dropped.
	StderrLine = 4 << 10
)

// maxElsewhere bounds the places a [NotFoundError] names.
const maxElsewhere = 5

// watchPoll is the interval of [WatchPID] where the system has no event.
const watchPoll = time.Second
