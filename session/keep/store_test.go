package keep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

const before = "# mine\n[mcp_servers.docs]\ncommand = \"docs\"\n"

// place makes a folder for state and a configuration file.
func place(t *testing.T) (home, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if dir, file = realPath(t, dir), realPath(t, file); dir == "" {
		t.Fatal("no folder")
	}
	return filepath.Join(dir, "home"), file
}

// realPath is a path without links; temporary folders may have some.
func realPath(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// recalled is what is known of a tool whose configuration was read now.
func recalled(s *Store, file, tool string) (Approval, Standing) {
	return s.Recall(file, "docs", protocol.ToolName(tool), time.Now())
}

func approval(file, tool string) Approval {
	return Approval{
		File: file, Path: []string{"mcp_servers", "docs", "tools", tool, "approval_mode"}, Server: "docs", Tool: protocol.ToolName(tool),
		Declared: "d1", DefinitionHash: "h-" + tool, Definition: json.RawMessage(`{"name":"` + tool + `"}`), At: time.Unix(1, 0).UTC(),
	}
}

func open(t *testing.T, home string) *Store {
	t.Helper()
	s := Open(home)
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	return s
}

func contents(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What is kept is in the file, is known to the next process, and can be taken
// back without a trace.
func TestKeepAndRevoke(t *testing.T) {
	home, file := place(t)
	s := open(t, home)
	a := approval(file, "write")
	if err := s.Keep(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, file), before+"\n[mcp_servers.docs.tools.write]\napproval_mode = \"approve\"\n"; got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(filepath.Join(home, fileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the records: %v, %v", info.Mode(), err)
	}
	next := open(t, home)
	if got, standing := recalled(next, file, "write"); standing != Kept || fmt.Sprint(got) != fmt.Sprint(a) {
		t.Errorf("the next process knows %+v, %v", got, standing)
	}
	if _, standing := recalled(next, file, "erase"); standing != ByHand {
		t.Error("it knows what nobody allowed")
	}
	read := time.Now()
	if got := next.List(); len(got) != 1 || got[0].ID() != a.ID() {
		t.Errorf("the list is %+v", got)
	}
	if err := next.Revoke(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, file); got != before {
		t.Errorf("after taking it back the file is\n%s", got)
	}
	if len(next.List()) > 0 || len(open(t, home).List()) > 0 {
		t.Error("it is still remembered")
	}
	// Whoever read the configuration before knows by now; the other process
	// once it looks.
	if _, standing := next.Recall(file, "docs", "write", read); standing != Revoked {
		t.Errorf("it is %v", standing)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, standing := s.Recall(file, "docs", "write", read); standing != Revoked {
		t.Errorf("to the other process it is %v", standing)
	}
	// What is written by hand from here on is nobody's answer.
	if _, standing := s.Recall(file, "docs", "write", time.Now().Add(time.Second)); standing != ByHand {
		t.Errorf("written by hand it is %v", standing)
	}
}

// A mode that a person wrote meanwhile is theirs: it is neither listed nor
// taken away.
func TestSomebodyElsesMode(t *testing.T) {
	home, file := place(t)
	s := open(t, home)
	a := approval(file, "write")
	if err := s.Keep(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	theirs := strings.ReplaceAll(contents(t, file), `"approve"`, `"prompt"`)
	if err := os.WriteFile(file, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.List(); len(got) > 0 {
		t.Errorf("listed %+v", got)
	}
	if err := s.Revoke(t.Context(), a); err != nil || contents(t, file) != theirs {
		t.Errorf("%v, the file is\n%s", err, contents(t, file))
	}
}

// A mode that stood there before comes back, with its quotes and comment.
func TestTheModeBefore(t *testing.T) {
	home, file := place(t)
	theirs := before + "[mcp_servers.docs.tools.write]\napproval_mode = 'auto' # mine\n"
	if err := os.WriteFile(file, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, home)
	for range 2 { // the second finds its own
		if err := s.Keep(t.Context(), approval(file, "write")); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := contents(t, file), strings.Replace(theirs, "auto", "approve", 1); got != want {
		t.Errorf("the file is\n%s", got)
	}
	if err := s.Revoke(t.Context(), s.List()[0]); err != nil || contents(t, file) != theirs {
		t.Errorf("%v, the file is\n%s", err, contents(t, file))
	}
}

// While the person thought somebody took the server out of the file, or gave the
// tool another mode: that is not overruled.
func TestMeanwhile(t *testing.T) {
	for theirs, want := range map[string]string{
		"[mcp_servers.other]\ncommand = 'x'\n":                                "does not define the server",
		"[mcp_servers.docs]\nenabled = true\n":                                "does not define the server",
		before + "[mcp_servers.docs.tools.write]\napproval_mode = 'prompt'\n": `approval_mode = "prompt"`,
	} {
		home, file := place(t)
		if err := os.WriteFile(file, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, home)
		if err := s.Keep(t.Context(), approval(file, "write")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something of %q", err, want)
		}
		if contents(t, file) != theirs || len(open(t, home).List()) > 0 {
			t.Errorf("the file is\n%s", contents(t, file))
		}
	}
}

// O071: what can't be written is an error that says why, and nothing stands:
// neither in the file nor in the records.
func TestKeepFails(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, home, file string)
		want  string
	}{
		"read-only file": {func(t *testing.T, _, file string) {
			if err := os.Chmod(file, 0o400); err != nil {
				t.Fatal(err)
			}
		}, "config.toml"},
		"no file": {func(t *testing.T, _, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, "config.toml"},
		"not TOML": {func(t *testing.T, _, file string) {
			if err := os.WriteFile(file, []byte("a = \n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "line 1"},
		"a file for a folder": {func(t *testing.T, home, _ string) {
			if err := os.WriteFile(home, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "folder"},
		"records of a later version": {func(t *testing.T, home, _ string) {
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, fileName), []byte(`{"version":2}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			home, file := place(t)
			c.spoil(t, home, file)
			was, _ := os.ReadFile(file)
			s := Open(home)
			err := s.Keep(t.Context(), approval(file, "write"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want something of %q", err, c.want)
			}
			if now, _ := os.ReadFile(file); string(now) != string(was) {
				t.Errorf("the file is\n%s", now)
			}
			if _, standing := recalled(s, file, "write"); standing == Kept {
				t.Error("it is remembered all the same")
			}
		})
	}
	var none *Store
	if err := none.Keep(t.Context(), approval("f", "write")); err == nil || len(none.List()) > 0 || none.Reload() != nil {
		t.Errorf("no store: %v", err)
	}
	if s := open(t, ""); s.Keep(t.Context(), approval("f", "write")) == nil {
		t.Error("no folder, but it was kept")
	}
}

// O074: many at once all survive, in the file and in the records.
func TestManyAtOnce(t *testing.T) {
	home, file := place(t)
	const processes, each = 4, 5
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for p := range processes {
		s := open(t, home) // as another process has it
		all.Go(func() {
			for i := range each {
				if err := s.Keep(ctx, approval(file, fmt.Sprintf("t%d-%d", p, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := open(t, home).List(); len(got) != processes*each {
		t.Errorf("%d are listed", len(got))
	}
	if got := strings.Count(contents(t, file), `approval_mode = "approve"`); got != processes*each || !strings.HasPrefix(contents(t, file), before) {
		t.Errorf("%d are in the file:\n%s", got, contents(t, file))
	}
}

// While the records can't be read nobody knows what was agreed to: what a file
// allows is Unknown, and nothing is kept that would throw them away. Once they
// are gone, a person has decided.
func TestUnreadableRecords(t *testing.T) {
	for _, broken := range []string{`{"version":1,"appro`, `{"version":2,"approvals":[]}`} {
		home, file := place(t)
		s := open(t, home)
		if err := s.Keep(t.Context(), approval(file, "write")); err != nil {
			t.Fatal(err)
		}
		records := filepath.Join(home, fileName)
		if err := os.WriteFile(records, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		s = Open(home)
		if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "approvals.json") {
			t.Errorf("reading says %v", err)
		}
		if _, standing := recalled(s, file, "write"); standing != Unknown {
			t.Errorf("it is %v", standing)
		}
		if err := s.Keep(t.Context(), approval(file, "erase")); err == nil {
			t.Error("kept")
		}
		if got := contents(t, records); got != broken {
			t.Errorf("the records are %q", got)
		}
		if err := os.Remove(records); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(); err != nil {
			t.Error(err)
		}
		if _, standing := recalled(s, file, "write"); standing == Unknown {
			t.Error("still unknown")
		}
	}
}

// However a file is named, its approvals are the same.
func TestLinks(t *testing.T) {
	home, file := place(t)
	link := filepath.Join(filepath.Dir(file), "link")
	if err := os.Symlink(filepath.Dir(file), link); err != nil {
		t.Skip("no links here: ", err)
	}
	linked := filepath.Join(link, filepath.Base(file))
	s := open(t, home)
	if err := s.Keep(t.Context(), approval(linked, "write")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, linked} {
		if _, standing := recalled(s, name, "write"); standing != Kept {
			t.Errorf("under the name %s it is %v", name, standing)
		}
	}
	if got := s.List(); len(got) != 1 || got[0].File != file || s.Revoke(t.Context(), got[0]) != nil || contents(t, file) != before {
		t.Errorf("%+v, %s", got, contents(t, file))
	}
}

// Keeping and revoking at once, in several processes: whatever the file says at
// the end, the records say too.
func TestKeepAgainstRevoke(t *testing.T) {
	for range 30 {
		home, file := place(t)
		a := approval(file, "write")
		var all sync.WaitGroup
		for i := range 4 {
			s := open(t, home)
			all.Go(func() {
				if i%2 == 0 {
					if err := s.Keep(t.Context(), a); err != nil {
						t.Error(err)
					}
				} else if err := s.Revoke(t.Context(), a); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, standing := recalled(open(t, home), file, "write")
		if says := strings.Contains(contents(t, file), "approve"); says != (standing == Kept) {
			t.Fatalf("the file says approve: %v; the records: %v", says, standing)
		}
	}
}

// The records are bounded, but never by forgetting what a file still allows:
// that would hold for whatever the tool becomes.
func TestBounded(t *testing.T) {
	home, file := place(t)
	s := open(t, home)
	var all []Approval
	text := json.RawMessage(`"` + strings.Repeat("x", maxDefinition-2) + `"`)
	var toml strings.Builder
	for i := range maxRecords {
		a := approval(file, fmt.Sprint(i))
		a.Definition = text
		all = append(all, a)
		fmt.Fprintf(&toml, "[mcp_servers.docs.tools.%d]\napproval_mode = 'approve'\n", i)
	}
	if err := os.WriteFile(file, []byte(toml.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	more := approval(file, "more")
	more.Definition = text
	if _, err := s.with(all, more); err == nil || !strings.Contains(err.Error(), "take some back") {
		t.Errorf("too many: %v", err)
	}
	if got, err := s.with(all, all[0]); err != nil || len(got) != maxRecords {
		t.Errorf("one again: %d, %v", len(got), err)
	}
	// Of those that no file stands for the place is free.
	if err := os.WriteFile(file, []byte(strings.Replace(toml.String(), "'approve'", "'prompt'", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.with(all, more)
	if err != nil || len(got) != maxRecords-9 || got[0].Tool != "10" || got[len(got)-1].Tool != "more" {
		t.Fatalf("%d records, %v", len(got), err)
	}
	texts := 0
	for i, a := range got {
		if a.Definition != nil {
			texts++
		} else if i > 0 && got[i-1].Definition != nil {
			t.Errorf("record %d lost its text before an older one", i)
		}
	}
	if texts != maxTexts/maxDefinition || all[0].Definition == nil {
		t.Errorf("%d texts", texts)
	}
	raw, err := encode(got)
	if err != nil || len(raw) > 1<<20 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}

	home, file = place(t)
	large := approval(file, "large")
	large.Definition = append(text, ' ')
	s = open(t, home)
	if err := s.Keep(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if got, _ := recalled(s, file, "large"); got.Definition != nil || got.DefinitionHash == "" {
		t.Errorf("a large text: %d bytes, hash %q", len(got.Definition), got.DefinitionHash)
	}
}

// A Reload that was begun before something was kept and ends after it takes
// over what is there then: an older state would say that it was taken back, or
// that a person wrote it.
func TestReloadIsNeverLate(t *testing.T) {
	home, file := place(t)
	s, other := open(t, home), open(t, home)
	for i := range 10 {
		tool := fmt.Sprint("t", i)
		s.mu.Lock() // somebody else has it, and Reload has to wait
		var reading sync.WaitGroup
		reading.Go(func() { _ = s.Reload() })
		for range 1000 {
			runtime.Gosched()
		}
		err := other.Keep(t.Context(), approval(file, tool))
		s.mu.Unlock()
		reading.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if _, standing := recalled(s, file, tool); standing != Kept {
			t.Fatalf("%s is %v right after it was kept", tool, standing)
		}
	}
}
