//go:build unix

package keep

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is no file is never waited for: Recall would have to wait, too.
func TestPipes(t *testing.T) {
	home, file := place(t)
	s := open(t, home)
	if err := s.Keep(t.Context(), approval(file, "write")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(home, fileName)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		if got := s.List(); len(got) != 1 {
			t.Errorf("with a pipe as %s: %v", filepath.Base(path), got)
		}
	}
	if err := s.Reload(); err == nil {
		t.Error("records in a pipe can be read")
	}
}
