package fileedit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tempName is the pattern of temporary files. It does not hold the file's
// name, which may be as long as names can be.
const tempName = ".mcp-sidecar-edit-*.tmp"

// maxSwaps bounds how often what came out of a swap goes back in, which ends
// when nobody writes between two swaps.
const maxSwaps = 20

var (
	// errNoSwap says that two files cannot be exchanged here.
	errNoSwap = errors.New("files cannot be exchanged here")
	// errPinned says that the file cannot be replaced, or not by one that has
	// the same owner.
	errPinned = errors.New("the file cannot be replaced")
)

// replace puts a new file in the place of the old one.
func (j *job) replace(ctx context.Context, old state, out []byte) (done bool, err error) {
	temp, err := writeTemp(filepath.Dir(j.real), old.info, out)
	if errors.Is(err, errPinned) {
		return j.inPlace(old, out)
	}
	if err != nil {
		return false, err
	}
	holdsOurs := true
	defer func() {
		if holdsOurs {
			_ = os.Remove(temp) // gone already after a rename
		}
	}()
	ours, err := read(temp)
	if err != nil {
		return false, err
	}
	if now, err := read(j.real); err != nil || !now.same(old) {
		return false, nil // whatever it is, the next attempt finds it
	}
	j.compared()
	err = j.swap(temp, j.real)
	if err == nil {
		was, err := read(temp)
		if err == nil && was.same(old) {
			syncDir(filepath.Dir(j.real))
			return true, nil
		}
		err = j.giveBack(temp, was, ours)
		holdsOurs = err == nil
		return false, err
	}
	if errors.Is(err, errNoSwap) {
		if err = j.rename(ctx, temp, j.real); err == nil {
			syncDir(filepath.Dir(j.real))
			return true, nil
		}
	}
	switch {
	case errors.Is(err, errPinned):
		return j.inPlace(old, out)
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, err
}

// giveBack undoes a swap that took out theirs, which somebody put there after
// the comparison. If somebody writes over ours before it is taken out again,
// that is newer and has to stay: so each swap must take out what the one
// before put in, else what it took out goes back.
//
//	file    ours │ theirs │ newer
//	temp  theirs │ newer  │ theirs, older than newer and replaced by it: the end
func (j *job) giveBack(temp string, theirs, ours state) error {
	in, expected := theirs, ours
	for range maxSwaps {
		if err := j.swap(temp, j.real); err != nil {
			// A plain rename puts it back as well; ours is what it replaces.
			if os.Rename(temp, j.real) == nil {
				return nil
			}
			return fmt.Errorf("what another program wrote meanwhile is in %s, put it back by hand: %w", temp, err)
		}
		out, _ := read(temp) // what cannot be read is not ours
		if out.same(expected) {
			return nil
		}
		in, expected = out, in
	}
	return fmt.Errorf("%w; what another program wrote may be in %s", ErrBusy, temp)
}

// writeTemp writes a file beside another one, with its mode and owner.
func writeTemp(dir string, like fs.FileInfo, data []byte) (name string, err error) {
	f, err := os.CreateTemp(dir, tempName) // with mode 0600
	if err != nil {
		if forbidden(err) {
			return "", errPinned
		}
		return "", err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if own(f, like) != nil {
		return "", errPinned
	}
	if err := f.Chmod(like.Mode().Perm()); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// inPlace writes into the file, which stays the same.
func (j *job) inPlace(old state, out []byte) (done bool, err error) {
	f, err := os.OpenFile(j.real, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	if now, err := readOpen(f); err != nil || !now.same(old) {
		return false, nil
	}
	j.compared()
	if err := overwrite(f, old.data, out); err != nil {
		return false, err
	}
	return true, f.Sync()
}

// overwrite begins with the end that is new, so that a full disk is found
// before anything is lost.
func overwrite(f *os.File, old, out []byte) error {
	both := min(len(old), len(out))
	_, err := f.WriteAt(out[both:], int64(both))
	if err == nil {
		_, err = f.WriteAt(out[:both], 0)
	}
	if err == nil {
		err = f.Truncate(int64(len(out)))
	}
	if err != nil {
		_, _ = f.WriteAt(old, 0) // there is no more to be done about it
		_ = f.Truncate(int64(len(old)))
	}
	return err
}

// syncDir makes a replacement last. Not all systems can, and the file is right
// in any case.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}
