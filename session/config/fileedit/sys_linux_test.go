package fileedit

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody lets the rest of a test touch files as nobody does, who gets
// these. It changes one thread, which ends with the test.
func asNobody(t *testing.T, paths ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		return // nobody special already
	}
	const nobody = 65534
	for _, path := range paths {
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, info.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.LockOSThread() // the goroutine ends with it locked, so the thread does
	_ = unix.Setfsgid(nobody)
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.Setfsuid(0), unix.Setfsgid(0) })
}

func mountSmall(dir string, size int) error {
	return unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
}

func unmount(dir string) { _ = unix.Unmount(dir, 0) }

// A file that is mounted by itself, as containers do, is written in place.
func TestBindMount(t *testing.T) {
	dir := folder(t)
	source, file := write(t, filepath.Join(t.TempDir(), "source"), "old", 0o600), write(t, filepath.Join(dir, "f"), "", 0o600)
	if err := unix.Mount(source, file, "", unix.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	defer unmount(file)
	if err := Update(t.Context(), file, t.TempDir(), to("new")); err != nil || content(t, source) != "new" || content(t, file) != "new" {
		t.Errorf("%v, %q", err, content(t, source))
	}
	s := system() // the same without the exchange
	s.swap = func(string, string) error { return errNoSwap }
	if err := update(t.Context(), file, t.TempDir(), to("newer"), s); err != nil || content(t, source) != "newer" {
		t.Errorf("%v, %q", err, content(t, source))
	}
}

// A mount that is read-only says no before anything is tried.
func TestReadOnlyMount(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir, 64<<10); err != nil {
		t.Skip(err)
	}
	defer unmount(dir)
	file := write(t, filepath.Join(dir, "f"), "old", 0o600)
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	if err := Update(t.Context(), file, t.TempDir(), to("new")); err == nil || content(t, file) != "old" {
		t.Errorf("%v, %q", err, content(t, file))
	}
}
