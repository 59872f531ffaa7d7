package fileedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks bounds a chain of symbolic links, as systems do.
const maxLinks = 40

// resolve follows symbolic links, the last of which may lead to nothing.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			return filepath.Join(dir, filepath.Base(path)), nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			return filepath.EvalSymlinks(path)
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			// The folder first: .. means the one above the real one.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", errors.New("too many symbolic links; name the file itself")
}

// state is a file as it was at one time.
type state struct {
	info fs.FileInfo
	data []byte
}

// same reports whether nobody has touched the file between two states: it is
// the same file with the same content and mode.
func (s state) same(t state) bool {
	return s.info != nil && t.info != nil && os.SameFile(s.info, t.info) &&
		s.info.Mode() == t.info.Mode() && bytes.Equal(s.data, t.data)
}

// Read reads a file that Update could edit: a regular one of at most 1 MiB. It
// never waits for what is no file. Without one the error is an fs.ErrNotExist.
func Read(path string) ([]byte, error) {
	s, err := read(path)
	return s.data, err
}

// read reads a regular file of bounded size.
func read(path string) (state, error) {
	// Opening something else could block, or have an effect.
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, fmt.Errorf("there is no such file, create it first: %w", fs.ErrNotExist)
	}
	if err != nil {
		return state{}, err
	}
	if !info.Mode().IsRegular() {
		return state{info: info}, ErrNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return state{info: info}, err
	}
	defer f.Close()
	return readOpen(f)
}

func readOpen(f *os.File) (state, error) {
	info, err := f.Stat()
	if err != nil {
		return state{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return state{info: info}, err
	}
	if len(data) > maxFile {
		return state{info: info}, ErrTooLarge
	}
	return state{info, data}, nil
}

// writable reports why a file is not to be written. The mode counts for root,
// too, whom the system would let.
func writable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o222 == 0 {
		return ErrReadOnly
	}
	if err := access(path); err != nil {
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	}
	return nil
}
