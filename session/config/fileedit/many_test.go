package fileedit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the test binary be one of several processes that edit.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "editor" {
		if err := editor(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// edits is how many lines each process adds.
const edits = 15

func editor(path, stateDir, name string) error {
	for i := range edits {
		if err := Update(context.Background(), path, stateDir, adding(fmt.Sprintf("%s %d;\n", name, i))); err != nil {
			return err
		}
	}
	return nil
}

// start runs editors, each in its own process, and returns a function that
// waits for them.
func start(t *testing.T, path, stateDir string, names ...string) (wait func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	out := &output{}
	for _, name := range names {
		cmd := exec.CommandContext(t.Context(), self, "editor", path, stateDir, name)
		cmd.Stderr = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	return func() {
		t.Helper()
		for _, cmd := range all {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
}

// wantAll checks that each editor's lines are there, once each.
func wantAll(t *testing.T, path string, names ...string) {
	t.Helper()
	got := content(t, path)
	for _, name := range names {
		for i := range edits {
			if n := strings.Count(got, fmt.Sprintf("%s %d;\n", name, i)); n != 1 {
				t.Errorf("edit %d of %s is there %d times", i, name, n)
			}
		}
	}
}

func TestManyGoroutines(t *testing.T) {
	dir, stateDir := folder(t), t.TempDir()
	file := write(t, filepath.Join(dir, "f"), "", 0o600)
	link(t, file, filepath.Join(dir, "link")) // one lock for both names
	var wg sync.WaitGroup
	for i := range 40 {
		path := file
		if i%2 == 1 {
			path = filepath.Join(dir, "link")
		}
		wg.Go(func() {
			if err := Update(t.Context(), path, stateDir, adding(fmt.Sprintf("g%d;\n", i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := content(t, file)
	for i := range 40 {
		if n := strings.Count(got, fmt.Sprintf("g%d;\n", i)); n != 1 {
			t.Errorf("edit %d is there %d times", i, n)
		}
	}
}

func TestManyProcesses(t *testing.T) {
	dir, stateDir := folder(t), filepath.Join(t.TempDir(), "new", "state")
	file := write(t, filepath.Join(dir, "f"), "", 0o600)
	names := []string{"a", "b", "c", "d"}
	start(t, file, stateDir, names...)()
	wantAll(t, file, names...)
}

// Processes that edit a hard link, in place, wait for each other as well.
func TestManyProcessesInPlace(t *testing.T) {
	dir, stateDir := folder(t), t.TempDir()
	file := write(t, filepath.Join(dir, "f"), "", 0o600)
	if err := os.Link(file, filepath.Join(dir, "g")); err != nil {
		t.Skip(err)
	}
	start(t, file, stateDir, "a", "b", "c")()
	wantAll(t, filepath.Join(dir, "g"), "a", "b", "c")
}

// O241: a program that knows no lock and renames loses nothing to us. What it takes
// from us is its own doing: it may rename over an edit that it has not read.
func TestForeignWriter(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	dir, stateDir := folder(t), t.TempDir()
	file := write(t, filepath.Join(dir, "f"), "", 0o600)
	wait, done := start(t, file, stateDir, "a", "b"), make(chan struct{})
	go func() { wait(); close(done) }()
	foreign := 0
	for pause := time.NewTicker(10 * time.Millisecond); ; foreign++ {
		select {
		case <-pause.C:
			others["renames"](t, file, fmt.Sprintf("%sforeign %d;\n", content(t, file), foreign))
			continue
		case <-done:
		}
		pause.Stop()
		break
	}
	got := content(t, file)
	for i := range foreign {
		if n := strings.Count(got, fmt.Sprintf("foreign %d;\n", i)); n != 1 {
			t.Errorf("of %d foreign edits, %d is there %d times", foreign, i, n)
		}
	}
	ours := strings.Count(got, ";\n") - foreign
	if t.Logf("%d foreign edits, %d of our %d", foreign, ours, 2*edits); ours < edits {
		t.Errorf("%d of our %d edits are left", ours, 2*edits)
	}
}

// output takes what several processes print.
type output struct {
	mu   sync.Mutex // guards text
	text []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}
