package fileedit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// maxFile bounds the file, before and after, as session/config does.
	maxFile = 1 << 20
	// maxTries bounds how often somebody else may be faster.
	maxTries = 50
	// maxPause bounds the pauses between tries, which grow by a millisecond.
	maxPause = 20 * time.Millisecond
)

// What a caller may tell apart, beside fs.ErrNotExist and the errors of edit.
var (
	ErrReadOnly   = errors.New("it is read-only; make it writable first")
	ErrTooLarge   = fmt.Errorf("it is larger than %d bytes; make it smaller first", maxFile)
	ErrNotRegular = errors.New("it is not a regular file; name one")
	ErrBusy       = errors.New("others are editing it and do not come to an end; try again")
)

// An Error says why a file was not changed.
type Error struct {
	// Path is as given; Real is without links, or "" if that can't be told.
	Path, Real string
	Err        error
}

// Error names the file and the reason.
func (e *Error) Error() string {
	where := e.Path
	if e.Real != "" && e.Real != e.Path {
		where += " (" + e.Real + ")"
	}
	return "editing " + where + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) with(err error) error { return &Error{e.Path, e.Real, err} }

// Update replaces the content of the file at path by what edit makes of it.
// edit is called again with the new content if somebody else changed the file
// meanwhile; it may change what it is given. The lock lies in stateDir, which
// is created if need be. ctx bounds the waiting for the lock and for others.
func Update(ctx context.Context, path, stateDir string, edit func(old []byte) ([]byte, error)) error {
	return update(ctx, path, stateDir, edit, system())
}

// seams are what a test stands in for.
type seams struct {
	// swap exchanges two files, or returns errNoSwap where that is not known.
	swap func(a, b string) error
	// rename puts temp in the place of path.
	rename func(ctx context.Context, temp, path string) error
	// compared is told that the file is still what was edited; after it, there
	// is no turning back.
	compared func()
}

func system() seams { return seams{swap, rename, func() {}} }

func update(ctx context.Context, path, stateDir string, edit func([]byte) ([]byte, error), s seams) error {
	where := &Error{Path: path}
	real, err := resolve(path)
	if err != nil {
		return where.with(err)
	}
	where.Real = real
	unlock, err := lock(ctx, real, stateDir)
	if err != nil {
		return where.with(err)
	}
	defer unlock()
	j := &job{seams: s, real: real}
	for try := range maxTries {
		done, err := j.attempt(ctx, edit)
		if err != nil {
			return where.with(err)
		}
		if done {
			return nil
		}
		if err := wait(ctx, min(time.Duration(try)*time.Millisecond, maxPause)); err != nil {
			return where.with(fmt.Errorf("%w: %w", ErrBusy, err))
		}
	}
	return where.with(ErrBusy)
}

// job is one call of Update, while it has the lock.
type job struct {
	seams
	real string // the file behind all links
}

// attempt does the work once. It is not done if somebody else was faster.
func (j *job) attempt(ctx context.Context, edit func([]byte) ([]byte, error)) (done bool, err error) {
	old, err := read(j.real)
	if err != nil {
		return false, err
	}
	out, err := edit(bytes.Clone(old.data))
	if err != nil {
		return false, err
	}
	if bytes.Equal(out, old.data) {
		return true, nil
	}
	if len(out) > maxFile {
		return false, fmt.Errorf("with the edit %w", ErrTooLarge)
	}
	if err := writable(j.real, old.info); err != nil {
		return false, err
	}
	if links(j.real, old.info) > 1 {
		return j.inPlace(old, out)
	}
	return j.replace(ctx, old, out)
}

// wait waits for a moment, or for the end of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
