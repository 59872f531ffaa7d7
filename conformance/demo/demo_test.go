package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
)

// bound is how long a test waits for something that must come.
const bound = time.Minute

// Under these variables this test is a sidecar that is none: it passes on what
// the real one and the editor say, with one text replaced.
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
	told := func(line []byte) string { return strings.ReplaceAll(string(line), truth, instead) }
	cmd := exec.Command(real)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 9
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return 9
	}
	go func() { // ends with the process, or its stdin
		for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
			_, _ = fmt.Fprintln(in, told(sc.Bytes()))
		}
		_ = in.Close()
	}()
	c := client.Attach(out, io.Discard, client.Options{Trace: func(_ string, line []byte) {
		fmt.Println(told(line))
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
		`"method":"initialize"`, `"method":"thread/start"`, `"method":"thread/binding/freeze"`, "mcp__notes__add_note              ask",
		`"name":"search_notes"`, `Allow the notes MCP server to run tool`, "The demo answers in your place",
		`{"persist":"session"}`, `approval.source is "memory"`, "Allow town to put an event into a calendar?", `{"persist":"always"}`,
		"+ [mcp_servers.town.tools.create_calendar_event]\n", "+ approval_mode = \"approve\"\n", "mcp__town__create_calendar_event  allow",
		`approval.source is "mode"`, `"method":"approval/list"`, `"method":"approval/revoke"`, "what it was in the beginning",
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
	const table = "y\n2\n18:00\n"
	for _, c := range []struct {
		name, typed string
		want        []string // in this order
	}{
		{"each call once", "y\nyes\ny\n4\n21:00\ny\ny\n", []string{
			"for this call only", "so the person is asked", "for this call only", "The Blue Jar, 4 people, 21:00", "for this call only",
			"mcp__town__create_calendar_event  ask", "for this call only", "Nothing is remembered"}},
		{"never", "n\n\n\nn\nno\n", []string{
			"the call was declined", "so the person is asked", "the call was declined", "Nothing is booked", "the call was declined",
			"the call was declined", "Nothing is remembered"}},
		{"for the session", "s\n" + table + "S\ns\n", []string{
			"nobody is asked", `source is "memory"`, "mcp__town__create_calendar_event  ask", "session  notes", "It is taken back."}},
		{"for good", "a\n" + table + "a\n", []string{
			"+ [mcp_servers.notes.tools.add_note]", `source is "memory"`, "+ [mcp_servers.town.tools.create_calendar_event]",
			"mcp__notes__add_note              allow", `source is "mode"`, "always   notes", "always   town", "The lines are gone"}},
		{"no at first, in the end for good", "n\ns\n" + table + "n\na\n", []string{
			"the call was declined", "so the person is asked", "the call was declined", "+ [mcp_servers.town.tools.create_calendar_event]",
			"session  notes", "always   town", "The lines are gone"}},
		{"an answer that does not fit is asked for again", "s\ny\n44\n21:00\ny\n5\n18:00\na\n", []string{"The Blue Jar, 5 people, 18:00"}},
		{"an answer that never fits", "s\n" + strings.Repeat("y\n2\nnoon\n", 3) + "a\n", []string{"Nothing is booked"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := perform(t, Options{Interactive: true, In: strings.NewReader(c.typed), Echo: true, Full: true})
			rest := out
			for _, want := range c.want {
				_, after, ok := strings.Cut(rest, want)
				if err != nil || !ok {
					t.Fatalf("got %v, want no error and %q of %q in\n%s", err, want, c.want, out)
				}
				rest = after
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
		{"a tool too few", `"tool":"time_zones"=>"tool":"time_zone"`, "says \"\" of time_zones"},
		{"a wrong outlook", `"approval":"ask"=>"approval":"allow"`, `not "ask"`},
		{"a wrong text", `rear wheel=>front wheel`, "rear wheel"},
		{"the wrong one decided", `"source":"annotations"=>"source":"policy"`, `decided by "policy"`},
		{"no approval", `codex_approval_kind=>approval_kind`, "whether the tool may run"},
		{"not offered for good", `"persist":["session","always"]=>"persist":["session"]`, "for the session or always"},
		{"asked again in the session", `"persist":"session"=>"persist":"once"`, "somebody was asked about add_note"},
		{"another source of the session", `"source":"memory"=>"source":"person"`, `decided by "person"`},
		{"not written", `"persist":"always"=>"persist":"session"`, `config.toml got the lines ""`},
		{"written without being asked to", `"persist":"session"=>"persist":"always"`, "nobody wanted that"},
		{"another source of what is written", `"source":"mode"=>"source":"memory"`, `decided by "memory"`},
		{"something else is remembered", `"tool":"add_note","definitionHash"=>"tool":"add_notes","definitionHash"`, "which nobody allowed"},
		{"nothing is remembered", `"method":"approval/list","params":{}=>"method":"approval/list","params":{"server":"none"}`, "not all that was allowed"},
		{"no list", `"result":{"approvals":=>"result":{"approval":`, "no list"},
		{"not taken back", `"method":"approval/revoke"=>"method":"approval/list"`, "was not taken back"},
		{"another one taken back", `"method":"approval/revoke","params":{"id":"keep-=>"method":"approval/revoke","params":{"id":"no-`, "is remembered"},
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

// Only lines that are put in at one place pass for such.
func TestInserted(t *testing.T) {
	const before = "# mine\n[a]\nx = 1\n\n[b]\ny = 2\n"
	for _, c := range []struct {
		name, after string
		want        []string
		ok          bool
	}{
		{"the same", before, nil, true},
		{"at the end", before + "\n[b.c]\nz = 3\n", []string{"", "[b.c]", "z = 3"}, true},
		{"between", "# mine\n[a]\nx = 1\n\n[a.c]\nz = 3\n\n[b]\ny = 2\n", []string{"[a.c]", "z = 3", ""}, true},
		{"at the beginning", "z = 3\n" + before, []string{"z = 3"}, true},
		{"a line changed", strings.Replace(before, "x = 1", "x = 2", 1), nil, false},
		{"a line changed and one put in", strings.Replace(before, "x = 1", "x  = 1", 1) + "z = 3\n", nil, false},
		{"two places", "z = 3\n" + before + "z = 3\n", nil, false},
		{"a line less", strings.Replace(before, "y = 2\n", "", 1), nil, false},
		{"other line ends", strings.ReplaceAll(before, "\n", "\r\n"), nil, false},
		{"no line end at the end", strings.TrimSuffix(before, "\n"), nil, false},
		{"empty", "", nil, false},
	} {
		got, ok := inserted(before, c.after)
		if ok != c.ok || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v, want %q, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// What happens to config.toml is seen, whatever the sidecar says.
func TestTheFileIsLookedAt(t *testing.T) {
	f, err := newConfigFile(t.TempDir(), "sidecar", "http://127.0.0.1:1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(f.first + "x = 1\n")
	if lines, err := f.added(); err != nil || !slices.Equal(lines, []string{"x = 1"}) {
		t.Errorf("got %q, %v", lines, err)
	}
	if lines, err := f.added(); err != nil || len(lines) > 0 {
		t.Errorf("the second time: got %q, %v", lines, err)
	}
	if f.restored() == nil {
		t.Error("a file with a line more is as in the beginning")
	}
	write(f.first)
	if err := f.restored(); err != nil {
		t.Error(err)
	}
	write(strings.Replace(f.first, "# The", "#  The", 1))
	if lines, err := f.added(); err == nil {
		t.Errorf("a changed line passes for %q", lines)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.added(); err == nil || f.restored() == nil {
		t.Error("the file is gone, and nobody sees it")
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
