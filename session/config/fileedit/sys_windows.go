package fileedit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const (
	// sharingLimit bounds how long a file that others have open is tried, such
	// as a virus scanner or an indexer.
	sharingLimit = time.Second
	// sharingPoll is how often.
	sharingPoll = 20 * time.Millisecond
)

// access is the read-only attribute, which is in the mode.
func access(string) error { return nil }

// links counts the names of a file.
func links(path string, _ fs.FileInfo) uint64 {
	f, err := os.Open(path)
	if err != nil {
		return 1
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return 1
	}
	return uint64(info.NumberOfLinks)
}

// own leaves the owner that the folder gives.
func own(*os.File, fs.FileInfo) error { return nil }

// forbidden reports whether a folder takes no new files.
func forbidden(err error) bool { return errors.Is(err, fs.ErrPermission) }

// rename waits a while for those who have the file open.
func rename(ctx context.Context, temp, path string) error {
	limited, cancel := context.WithTimeout(ctx, sharingLimit)
	defer cancel()
	for {
		err := os.Rename(temp, path)
		if err == nil || !shared(err) || wait(limited, sharingPoll) != nil {
			return err
		}
	}
}

// shared reports whether somebody else has a file open. Access is denied for
// a while, too, when one is being deleted.
func shared(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) ||
		errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
