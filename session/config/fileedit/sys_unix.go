//go:build unix

package fileedit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// access reports whether the system lets us write to a file.
func access(path string) error { return unix.Access(path, unix.W_OK) }

// links counts the names of a file.
func links(_ string, info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// own gives a new file the owner and group of another.
func own(f *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if has, ok := info.Sys().(*syscall.Stat_t); ok && has.Uid == want.Uid && has.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// forbidden reports whether a folder takes no new files.
func forbidden(err error) bool { return errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) }

func rename(_ context.Context, temp, path string) error { return pinned(os.Rename(temp, path)) }

// pinned marks the errors of a file that is mounted by itself, or that only
// its owner may replace.
func pinned(err error) error {
	for _, e := range []error{unix.EBUSY, unix.EXDEV, unix.EPERM, unix.EACCES, unix.EROFS} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", errPinned, err)
		}
	}
	return err
}
