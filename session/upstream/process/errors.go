package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
)

// ErrShutdown is returned by [Supervisor.Start] after [Supervisor.Shutdown]
// has begun.
var ErrShutdown = errors.New("process: shutting down")

// ErrStillRunning is returned, wrapped, by [Process.Stop] and
// [Supervisor.Shutdown] when a process was left at the end of the time given.
// The reaper tries again when we are gone.
var ErrStillRunning = errors.New("still running")

// NotFoundError says that a command exists in none of the places searched.
type NotFoundError struct {
	// Command is the command as it was given.
	Command string
	// Searched holds the folders of the child's PATH in order, or the one path
	// that was tried when Command holds a separator.
	Searched []string
	// FoundElsewhere holds paths of that name in the folders where version
	// managers and package managers put programs, at most a handful. None of
	// them is used by itself: they are for the person who reads the error.
	FoundElsewhere []string
}

// Error names the command, where it was looked for and where it was seen.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "looking up %q: not found", e.Command)
	if len(e.Searched) > 0 {
		fmt.Fprintf(&b, " in %s", strings.Join(e.Searched, ", "))
	}
	if len(e.FoundElsewhere) > 0 {
		fmt.Fprintf(&b, "; it exists at %s: use that path as the command, or add its folder to the server's PATH",
			strings.Join(e.FoundElsewhere, ", "))
	}
	return b.String()
}

// Is reports a match with [exec.ErrNotFound] and [fs.ErrNotExist].
func (e *NotFoundError) Is(target error) bool {
	return target == exec.ErrNotFound || target == fs.ErrNotExist
}

// NotExecutableError says that a file of the command's name exists but cannot
// be started.
type NotExecutableError struct {
	// Path is the file found.
	Path string
	// Reason says in words why it cannot be started.
	Reason string
}

// Error names the file and the reason.
func (e *NotExecutableError) Error() string {
	return fmt.Sprintf("starting %q: %s", e.Path, e.Reason)
}

// Is reports a match with [fs.ErrPermission].
func (e *NotExecutableError) Is(target error) bool { return target == fs.ErrPermission }

// CwdMissingError says that the working folder of a child does not exist or is
// not a folder. It is looked for before the command, since the system reports
// either as the same "no such file".
type CwdMissingError struct {
	// Dir is the folder.
	Dir string
	// Err is what the system said about it; nil when Dir is not a folder.
	Err error
}

// Error names the folder.
func (e *CwdMissingError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("working folder %q is not a folder", e.Dir)
	}
	if errors.Is(e.Err, fs.ErrNotExist) {
		return fmt.Sprintf("working folder %q does not exist", e.Dir)
	}
	return fmt.Sprintf("working folder %q: %v", e.Dir, e.Err)
}

// Unwrap returns the system's error.
func (e *CwdMissingError) Unwrap() error { return e.Err }

// UnsafeArgumentError says that an argument cannot be passed safely to a
// Windows batch file, whose interpreter would expand or split it.
type UnsafeArgumentError struct {
	// Script is the batch file.
	Script string
	// Index is the argument's place, from 0; -1 means the script's own path.
	Index int
	// Char is the character at fault. The argument itself is not shown, since
	// it may hold a secret.
	Char rune
}

// Error names the script, the argument's place and the character.
func (e *UnsafeArgumentError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("starting %q: cmd.exe cannot run a batch file with %q in its path", e.Script, e.Char)
	}
	return fmt.Sprintf("starting %q: argument %d holds %q, which cmd.exe would interpret; start the program behind the batch file instead",
		e.Script, e.Index+1, e.Char)
}
