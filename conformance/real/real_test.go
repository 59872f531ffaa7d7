package real

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	// requireVar makes missing servers a failure.
	requireVar = "MCP_SIDECAR_REQUIRE_NODE"
	// recordVar names the file for what a recorder's server is sent; it makes the
	// test binary a recorder.
	recordVar = "MCP_SIDECAR_TEST_RECORD"

	// bound is how long any single wait may take: two cores may be shared with
	// every other test.
	bound = 90 * time.Second
)

// Paths, set by TestMain; "" when the servers are not installed.
var (
	nodePath, sidecarPath, driverPath string
	missing                           string // why nothing can be tried
)

func TestMain(m *testing.M) {
	if file := os.Getenv(recordVar); file != "" {
		os.Exit(record(file, os.Args[1:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	node, err := findNode()
	if err != nil {
		missing = "run npm ci --ignore-scripts in conformance/real (" + err.Error() + ")"
		return m.Run()
	}
	nodePath = node
	folder, err := os.MkdirTemp("", "mcp-sidecar-real-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	sidecarPath, err = build(folder, "mcp-sidecar", "github.com/mcp-sidecar/mcp-sidecar/cmd/mcp-sidecar")
	if err == nil {
		driverPath, err = build(folder, "driver", "github.com/mcp-sidecar/mcp-sidecar/conformance/real/driver")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// findNode returns the pinned Node. The servers are installed with it.
func findNode() (string, error) {
	path, err := filepath.Abs(filepath.Join("node_modules", ".bin", "node"))
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" { // there .bin has scripts only
		found, err := filepath.Glob(filepath.Join("node_modules", "node-win-*", "bin", "node.exe"))
		if err != nil || len(found) == 0 {
			return "", fmt.Errorf("no node.exe in node_modules")
		}
		path, err = filepath.Abs(found[0])
		if err != nil {
			return "", err
		}
	}
	_, err = os.Stat(path)
	return path, err
}

// build builds a command. The sources are looked at, so that go test does not
// take an old result for a new program's.
func build(folder, name, pkg string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, name)
	if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	list, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, pkg).Output()
	if err != nil {
		return "", fmt.Errorf("listing the sources of %s: %w", pkg, err)
	}
	for file := range strings.Lines(string(list)) {
		_, _ = os.Stat(strings.TrimSpace(file))
	}
	return path, nil
}

// needServers skips the test, or fails it where it must not be skipped, when
// the servers are not installed.
func needServers(t *testing.T) {
	t.Helper()
	switch {
	case missing == "":
	case os.Getenv(requireVar) == "1":
		t.Fatalf("the servers are not installed: %s", missing)
	default:
		t.Skipf("skipped: %s", missing)
	}
}

// script is the path of a reference server.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("node_modules", "@modelcontextprotocol", "server-"+name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stdio is the configuration of a reference server.
func stdio(t *testing.T, name string, args ...string) map[string]any {
	return map[string]any{"command": nodePath, "args": append([]string{script(t, name)}, args...), "startup_timeout_sec": bound.Seconds()}
}

// recorded is the configuration of a server behind a recorder, and the file
// that it writes.
func recorded(t *testing.T, name string) (config map[string]any, file string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "sent")
	return map[string]any{
		"command": self, "args": []string{nodePath, script(t, name)}, "env": map[string]string{recordVar: file},
		"startup_timeout_sec": bound.Seconds(),
	}, file
}

// record runs a server and writes what it is sent to a file, too.
func record(file string, argv []string) int {
	f, err := os.Create(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer f.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.TeeReader(os.Stdin, f), os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// within returns a context for one wait.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), bound, fmt.Errorf("not within %s", bound))
	t.Cleanup(cancel)
	return ctx
}

// decode reads JSON that must be there.
func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	return v
}
