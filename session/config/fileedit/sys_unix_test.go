//go:build unix

package fileedit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Each name of a file shows the edit.
func TestHardLink(t *testing.T) {
	dir := folder(t)
	file := write(t, filepath.Join(dir, "f"), "old", 0o640)
	other := filepath.Join(dir, "other")
	if err := os.Link(file, other); err != nil {
		t.Skip(err)
	}
	if err := Update(t.Context(), other, t.TempDir(), to("new")); err != nil {
		t.Fatal(err)
	}
	if content(t, file) != "new" || content(t, other) != "new" {
		t.Errorf("got %q and %q", content(t, file), content(t, other))
	}
	if err := Update(t.Context(), other, t.TempDir(), to(strings.Repeat("x", maxFile+1))); !errors.Is(err, ErrTooLarge) || content(t, file) != "new" {
		t.Errorf("%v, %d bytes", err, len(content(t, file)))
	}
}

func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	file := write(t, filepath.Join(folder(t), "f"), "old", 0o600)
	if err := os.Chown(file, 12, 34); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := Update(t.Context(), file, t.TempDir(), to("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12 || st.Gid != 34 || info.Mode().Perm() != 0o604 || content(t, file) != "new" {
		t.Errorf("%d:%d %o %q", st.Uid, st.Gid, info.Mode().Perm(), content(t, file))
	}
}

// In a folder that takes no new files, the file is written in place.
func TestReadOnlyFolder(t *testing.T) {
	dir, stateDir := folder(t), t.TempDir()
	file := write(t, filepath.Join(dir, "f"), "old", 0o600)
	locked := write(t, filepath.Join(dir, "locked"), "old", 0o400)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	asNobody(t, file, locked, stateDir)
	if f, err := os.CreateTemp(dir, ""); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("the folder takes new files: %v, %v", f, err)
	}
	was, _ := os.Stat(file)
	err := Update(t.Context(), file, stateDir, to("new"))
	is, _ := os.Stat(file)
	if err != nil || content(t, file) != "new" || !os.SameFile(was, is) {
		t.Errorf("%v, %q", err, content(t, file))
	}
	if err := Update(t.Context(), locked, stateDir, to("new")); !errors.Is(err, ErrReadOnly) || content(t, locked) != "old" {
		t.Errorf("%v, %q", err, content(t, locked))
	}
}

// A file that somebody else owns and lets us write stays theirs.
func TestForeignOwner(t *testing.T) {
	dir, stateDir := folder(t), t.TempDir()
	file := write(t, filepath.Join(dir, "f"), "old", 0o666)
	if os.Getuid() != 0 {
		t.Skip("only root can prepare it")
	}
	asNobody(t, dir, stateDir)
	was, _ := os.Stat(file)
	err := Update(t.Context(), file, stateDir, to("new"))
	is, _ := os.Stat(file)
	if err != nil || content(t, file) != "new" || !os.SameFile(was, is) {
		t.Errorf("%v, %q", err, content(t, file))
	}
}

// Where there is no room, the file stays as it is.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir, 64<<10); err != nil {
		t.Skip(err)
	}
	defer unmount(dir)
	old := strings.Repeat("o", 40<<10)
	file := write(t, filepath.Join(dir, "f"), old, 0o600)
	link := filepath.Join(dir, "g")
	for _, hard := range []bool{false, true} {
		if hard {
			if err := os.Link(file, link); err != nil {
				t.Fatal(err)
			}
		}
		err := Update(t.Context(), file, t.TempDir(), to(strings.Repeat("n", 100<<10)))
		if !errors.Is(err, unix.ENOSPC) || content(t, file) != old {
			t.Errorf("hard link %v: %v, %d bytes", hard, err, len(content(t, file)))
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
}

// A pipe is not read, which could take for ever.
func TestPipe(t *testing.T) {
	path := filepath.Join(folder(t), "p")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if err := Update(t.Context(), path, t.TempDir(), to("x")); !errors.Is(err, ErrNotRegular) {
		t.Errorf("got %v", err)
	}
}
