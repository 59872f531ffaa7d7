package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
)

// bound is how long a test waits for something that must come.
const bound = time.Minute

// Under these variables this test is a sidecar that is none: it passes on what
// the real one says, with one text replaced.
const (
	liarReal = "MCP_SIDECAR_TEST_LIAR_REAL"
	liarLie  = "MCP_SIDECAR_TEST_LIAR_LIE" // truth=>lie
)

func TestMain(m *testing.M) {
	if real := os.Getenv(liarReal); real != "" {
		os.Exit(lie(real, os.Getenv(liarLie)))
	}
	code := m.Run()
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func lie(real, lie string) int {
	truth, instead, _ := strings.Cut(lie, "=>")
	cmd := exec.Command(real)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return 9
	}
	c := client.Attach(out, io.Discard, client.Options{Trace: func(_ string, line []byte) {
		fmt.Println(strings.ReplaceAll(string(line), truth, instead))
	}, Request: func(context.Context, string, json.RawMessage) (any, error) { return nil, client.ErrNoAnswer }})
	<-c.Done()
	if cmd.Wait() != nil {
		return 1
	}
	return 0
}

var (
	dir   string
	build = sync.OnceValues(func() (string, error) {
		var err error
		if dir, err = os.MkdirTemp("", "mcp-sidecar-demo-test-"); err != nil {
			return "", err
		}
		path := filepath.Join(dir, "mcp-sidecar")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		out, err := exec.Command("go", "build", "-o", path, "../../cmd/mcp-sidecar").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("building the sidecar: %w\n%s", err, out)
		}
		return path, nil
	})
)

func sidecar(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func perform(t *testing.T, o Options) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	var out, stderr bytes.Buffer
	o.Out, o.Stderr, o.Self = &out, &stderr, sidecar(t)
	if o.Sidecar == "" {
		o.Sidecar = o.Self
	}
	err := Run(ctx, o)
	return out.String() + stderr.String(), err
}

func TestTheDemoShowsWhatItSays(t *testing.T) {
	out, err := perform(t, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`"method":"initialize"`, `"method":"thread/start"`, `"method":"thread/binding/freeze"`, "mcp__notes__add_note     ask",
		`"name":"search_notes"`, `Allow the notes MCP server to run tool`, "The demo answers in your place",
		`"source":"memory"`, `"persist":"always"`, "    [mcp_servers.notes.tools.add_note]", `    approval_mode = "approve"`,
		`"method":"approval/list"`, `"method":"approval/revoke"`,
		`for how many, and when?`, playedBooking, `"progress":3`, `"method":"$/cancelRequest"`, `"status":"cancelled"`,
		"The sidecar has ended with code 0.", "bytes in all",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the show lacks %q", want)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("there are colours without a terminal")
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestFullLinesAndColours(t *testing.T) {
	out, err := perform(t, Options{Full: true, Color: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(out, "bytes in all") {
		t.Error("a line is cut")
	}
	if want := bold + `"method":"thread/start"` + plain; !strings.Contains(out, want) {
		t.Errorf("the show lacks %q", want)
	}
}

func TestAPersonAnswers(t *testing.T) {
	for _, c := range []struct{ name, typed, want string }{
		{"yes, and for longer", "s\na\nyes\n4\n21:00\n", "The Blue Jar, 4 people, 21:00"},
		{"yes, each time", "y\nyes\nY\nyes\n4\n21:00\n", "config.toml is as it was"},
		{"for the session only", "s\ns\nyes\n4\n21:00\n", "config.toml is as it was"},
		{"for good at once", "a\nyes\n4\n21:00\n", "approval_mode = "},
		{"no", "n\n\nno\n\n", "the call was declined"},
		{"an answer that does not fit is asked for again", "s\na\ny\n44\n21:00\ny\n5\n18:00\n", "The Blue Jar, 5 people, 18:00"},
		{"an answer that never fits", "s\na\n" + strings.Repeat("y\n2\nnoon\n", 3), "Nothing is booked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := perform(t, Options{Interactive: true, In: strings.NewReader(c.typed), Echo: true, Full: true})
			if err != nil || !strings.Contains(out, c.want) {
				t.Errorf("got %v, want no error and %q in\n%s", err, c.want, out)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		out, err := perform(t, Options{Interactive: true, In: strings.NewReader("")})
		if err == nil || !strings.Contains(err.Error(), errNoInput.Error()) {
			t.Errorf("got %v, want %v\n%s", err, errNoInput, out)
		}
	})
}

// TestALieIsFound: whatever the sidecar gets wrong, the demo does not end well.
func TestALieIsFound(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, lie, want string }{
		{"another protocol", `"protocolVersion":"0.=>"protocolVersion":"7.`, "speaks protocol"},
		{"a server that is not ready", `"ready":["notes","town"]=>"ready":["notes"]`, "ready are"},
		{"a tool too few", `"tool":"time_zones"=>"tool":"time_zone"`, "town time_zones"},
		{"a wrong outlook", `"approval":"ask"=>"approval":"allow"`, "notes add_note"},
		{"a wrong text", `rear wheel=>front wheel`, "rear wheel"},
		{"the wrong one decided", `"source":"annotations"=>"source":"policy"`, `decided by "policy"`},
		{"nothing is remembered", `"source":"memory"=>"source":"person"`, `decided by "person"`},
		{"a list without it", `"scope":"always"=>"scope":"session"`, "not in the list"},
		{"no approval", `codex_approval_kind=>approval_kind`, "whether the tool may run"},
		{"the question of another", `"serverName":"town"=>"serverName":"notes"`, "did not arrive"},
		{"a cancel that did not", `"status":"cancelled","reason":"cancelled"=>"status":"completed"`, `ended "completed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(liarReal, sidecar(t))
			t.Setenv(liarLie, c.lie)
			out, err := perform(t, Options{Sidecar: self})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q\n%s", err, c.want, out)
			}
		})
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	program := sidecar(t) // built before the folder for temporary files is another
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	if out, err := perform(t, Options{}); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if runtime.GOOS != "linux" {
		t.Log("whether a process is left is looked up in /proc, on Linux only")
		return
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(bound); ; <-tick.C {
		left := processes(program)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running: %v", left)
		}
	}
}

// processes lists those that run a program.
func processes(program string) (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if exe, err := os.Readlink(link); err == nil && exe == program {
			found = append(found, filepath.Dir(link))
		}
	}
	return found
}

func TestASidecarThatIsNotThere(t *testing.T) {
	if _, err := perform(t, Options{Sidecar: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("no error")
	}
}

func TestShorten(t *testing.T) {
	short := strings.Repeat("x", shownHead+shownTail)
	if got := shorten(short); got != short {
		t.Errorf("a short line becomes %q", got)
	}
	long := strings.Repeat("é", 2000)
	got := shorten(long)
	if !strings.Contains(got, " … (4,000 bytes in all) … ") || strings.ToValidUTF8(got, "?") != got {
		t.Errorf("a long line becomes %q", got)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}
