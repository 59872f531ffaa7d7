package fileedit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swap exchanges two files. APFS can; other file systems may not.
func swap(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errNoSwap
	}
	return pinned(err)
}
