package fileedit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
)

// folder is a place for a test's files. When it ends, no temporary file may
// be left.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
	return dir
}

func write(t *testing.T, path, data string, mode fs.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// to is an edit that does not look at what was there.
func to(s string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(s), nil }
}

// adding appends, so that each edit can be found again.
func adding(s string) func([]byte) ([]byte, error) {
	return func(old []byte) ([]byte, error) { return append(old, s...), nil }
}

func TestUpdateKeepsLinksAndMode(t *testing.T) {
	dir := folder(t)
	file := write(t, filepath.Join(dir, "real.toml"), "a = 1\r\n[mcp_servers.x]\r\nenabled = true\r\n", 0o640)
	inner, outer := filepath.Join(dir, "inner"), filepath.Join(t.TempDir(), "outer")
	link(t, "real.toml", inner)
	link(t, inner, outer)
	err := Update(t.Context(), outer, t.TempDir(), func(old []byte) ([]byte, error) {
		return tomledit.Set(old, []string{"mcp_servers", "x", "enabled"}, "no")
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, file), "a = 1\r\n[mcp_servers.x]\r\nenabled = \"no\"\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, l := range []string{inner, outer} {
		if info, err := os.Lstat(l); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", l, info, err)
		}
	}
	if info, _ := os.Stat(file); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Skip(err) // Windows wants a privilege for it
	}
}

// A file that is not there is said to be missing, also at the end of a link,
// and is not made.
func TestUpdateMissing(t *testing.T) {
	dir := folder(t)
	dangling, nowhere := filepath.Join(dir, "dangling"), filepath.Join(dir, "nowhere")
	link(t, "target", dangling)
	link(t, "no/such/folder", nowhere)
	round, trip := filepath.Join(dir, "round"), filepath.Join(dir, "trip")
	link(t, round, trip)
	link(t, trip, round)
	for _, path := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "no", "folder"), dangling, nowhere} {
		err := Update(t.Context(), path, t.TempDir(), func([]byte) ([]byte, error) { t.Error("edited"); return nil, nil })
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := Update(t.Context(), round, t.TempDir(), to("x")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("links in a circle: %v", err)
	}
	if err := Update(t.Context(), dangling, t.TempDir(), to("x")); !strings.Contains(err.Error(), filepath.Join(dir, "target")) {
		t.Errorf("the target is not named: %v", err)
	}
	// Once it is there, it is edited.
	write(t, filepath.Join(dir, "target"), "old", 0o600)
	if err := Update(t.Context(), dangling, t.TempDir(), to("new")); err != nil || content(t, filepath.Join(dir, "target")) != "new" {
		t.Errorf("%v, %q", err, content(t, dangling))
	}
}

// What is there already is not written again.
func TestUpdateWithoutChange(t *testing.T) {
	file := write(t, filepath.Join(folder(t), "f"), "same", 0o400)
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(file, long, long); err != nil {
		t.Fatal(err)
	}
	was, _ := os.Stat(file)
	if err := Update(t.Context(), file, t.TempDir(), to("same")); err != nil {
		t.Fatal(err) // not even a file that is read-only
	}
	if is, _ := os.Stat(file); !is.ModTime().Equal(was.ModTime()) || !os.SameFile(is, was) {
		t.Errorf("it was written: %v, %v", was.ModTime(), is.ModTime())
	}
	_ = os.Chmod(file, 0o600) // Windows removes no read-only file
}

func TestUpdateReadOnly(t *testing.T) {
	file := write(t, filepath.Join(folder(t), "f"), "s3cret", 0o444)
	err := Update(t.Context(), file, t.TempDir(), to("new"))
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	if got := content(t, file); got != "s3cret" {
		t.Errorf("got %q", got)
	}
	_ = os.Chmod(file, 0o600)
}

// An edit that goes wrong leaves everything as it is, and its error is found
// in ours.
func TestUpdateRefusals(t *testing.T) {
	dir := folder(t)
	big := strings.Repeat("x", maxFile+1)
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		path string
		edit func([]byte) ([]byte, error)
		want error
	}{
		"edit":      {write(t, filepath.Join(dir, "a"), "a", 0o600), func([]byte) ([]byte, error) { return []byte("b"), mine }, mine},
		"too large": {write(t, filepath.Join(dir, "b"), big, 0o600), to("a"), ErrTooLarge},
		"grows":     {write(t, filepath.Join(dir, "c"), "c", 0o600), to(big), ErrTooLarge},
		"folder":    {dir, to("a"), ErrNotRegular},
	} {
		before := ""
		if c.path != dir {
			before = content(t, c.path)
		}
		if err := Update(t.Context(), c.path, t.TempDir(), c.edit); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if c.path != dir && content(t, c.path) != before {
			t.Errorf("%s: it was written", name)
		}
	}
	write(t, filepath.Join(dir, "state"), "", 0o600)
	if err := Update(t.Context(), filepath.Join(dir, "a"), filepath.Join(dir, "state"), to("b")); err == nil || content(t, filepath.Join(dir, "a")) != "a" {
		t.Errorf("the state folder is a file: %v", err)
	}
}

// Whoever waits for the lock stops waiting when the context ends.
func TestUpdateWaitsForTheLock(t *testing.T) {
	file, stateDir := write(t, filepath.Join(folder(t), "f"), "old", 0o600), t.TempDir()
	unlock, err := lock(t.Context(), file, stateDir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := Update(ctx, file, stateDir, to("new")); !errors.Is(err, ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if got := content(t, file); got != "old" {
		t.Errorf("got %q", got)
	}
	done := make(chan error)
	go func() { done <- Update(t.Context(), file, stateDir, to("new")) }() // ends with its send
	unlock()
	if err := <-done; err != nil || content(t, file) != "new" {
		t.Errorf("%v, %q", err, content(t, file))
	}
}

// The edit may keep and change what it is given.
func TestUpdateGivesAwayTheOld(t *testing.T) {
	file := write(t, filepath.Join(folder(t), "f"), "old", 0o600)
	err := Update(t.Context(), file, t.TempDir(), func(old []byte) ([]byte, error) {
		copy(old, "new")
		return old, nil
	})
	if got := content(t, file); err != nil || got != "new" {
		t.Errorf("%v, %q", err, got)
	}
}
