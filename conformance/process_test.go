package conformance

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// relayArg makes the test binary a scripted server of TestProcess.
const relayArg = "conformance-scripted-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == relayArg {
		os.Exit(ScriptedServerMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the real sidecar, built once.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// sidecar returns the path of the real program.
func sidecar(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "sidecar-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "mcp-sidecar")
		if runtime.GOOS == "windows" {
			built.path += ".exe"
		}
		var out []byte
		if out, built.err = exec.Command("go", "build", "-o", built.path, "github.com/mcp-sidecar/mcp-sidecar/cmd/mcp-sidecar").CombinedOutput(); built.err != nil {
			built.err = errors.New(string(out) + built.err.Error())
		}
	})
	if errors.Is(built.err, exec.ErrNotFound) {
		t.Skip("there is no go command to build the sidecar with")
	}
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// The scripts with the tag process hold for the real program as well.
func TestProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("real time")
	}
	binary := sidecar(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scripts(t, func(t *testing.T, _ string, s *Script) {
		if !s.Tagged("process") {
			t.Skip("not tagged")
		}
		if runtime.GOOS == "windows" && strings.Contains(s.Name, "signal") {
			t.Skip("no signals")
		}
		t.Parallel()
		var log bytes.Buffer
		if err := RunProcess(t.Context(), s, ProcessOptions{Binary: binary, Relay: []string{self, relayArg}, Log: &log}); err != nil {
			t.Errorf("%v\nthe conversation:\n%s", err, log.String())
		}
	})
}

// A script that does not hold fails, with the place and what came instead.
func TestProcessFails(t *testing.T) {
	if testing.Short() {
		t.Skip("real time")
	}
	s, err := ParseScript("x.txtar", []byte("A promise.\n-- session --\nexpect-exit 3\n"), os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	s.steps[0].verb = verbEOF
	s.steps = append(s.steps, step{position: position{"x.txtar", 4}, verb: verbExit, number: 3})
	err = RunProcess(context.Background(), s, ProcessOptions{Binary: sidecar(t)})
	if err == nil || !strings.Contains(err.Error(), "x.txtar:4: the exit code is 0, want 3") {
		t.Errorf("RunProcess = %v", err)
	}
}
