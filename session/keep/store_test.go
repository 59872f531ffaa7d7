package keep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	return filepath.Join(dir, "home"), file
}

func approval(file, tool string) Approval {
	return Approval{
		File: file, Path: []string{"mcp_servers", "docs", "tools", tool, "approval_mode"}, Server: "docs", Tool: protocol.ToolName(tool),
		Declared: "d1", DefinitionHash: "h-" + tool, Definition: json.RawMessage(`{"name":"` + tool + `"}`), At: time.Unix(1, 0).UTC(),
	}
}

func open(t *testing.T, home string) *Store {
	t.Helper()
	s, err := Open(home)
	if err != nil {
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
	if got, ok := next.Recall(file, "docs", "write"); !ok || fmt.Sprint(got) != fmt.Sprint(a) {
		t.Errorf("the next process knows %+v", got)
	}
	if _, ok := next.Recall(file, "docs", "erase"); ok {
		t.Error("it knows what nobody allowed")
	}
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
			s, _ := Open(home)
			err := s.Keep(t.Context(), approval(file, "write"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want something of %q", err, c.want)
			}
			if now, _ := os.ReadFile(file); string(now) != string(was) {
				t.Errorf("the file is\n%s", now)
			}
			if _, ok := s.Recall(file, "docs", "write"); ok {
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

// Records that can't be read are set aside, not thrown away, and don't keep
// anybody from allowing.
func TestBrokenRecords(t *testing.T) {
	home, file := place(t)
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	records := filepath.Join(home, fileName)
	if err := os.WriteFile(records, []byte(`{"version":1,"appro`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(home)
	if err == nil || len(s.List()) > 0 {
		t.Errorf("opened with %v, %+v", err, s.List())
	}
	if err := s.Keep(t.Context(), approval(file, "write")); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, records+".broken"); got != `{"version":1,"appro` {
		t.Errorf("set aside is %q", got)
	}
	if got := open(t, home).List(); len(got) != 1 {
		t.Errorf("the list is %+v", got)
	}
}

// The records are bounded: texts of the oldest go first, then the oldest.
func TestBounded(t *testing.T) {
	var all []Approval
	text := json.RawMessage(`"` + strings.Repeat("x", maxDefinition-2) + `"`)
	for i := range maxRecords + 10 {
		a := approval("f", fmt.Sprint(i))
		a.Definition = text
		all = append(all, a)
	}
	got := bounded(all)
	texts := 0
	for i, a := range got {
		if a.Definition != nil {
			texts++
		} else if i > 0 && got[i-1].Definition != nil {
			t.Errorf("record %d lost its text before an older one", i)
		}
	}
	if len(got) != maxRecords || got[0].Tool != "10" || texts != maxTexts/maxDefinition {
		t.Errorf("%d records from %s on, %d texts", len(got), got[0].Tool, texts)
	}
	if all[0].Definition == nil {
		t.Error("the records given were changed")
	}
	home, file := place(t)
	large := approval(file, "large")
	large.Definition = append(text, ' ')
	s := open(t, home)
	if err := s.Keep(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Recall(file, "docs", "large"); got.Definition != nil || got.DefinitionHash == "" {
		t.Errorf("a large text: %d bytes, hash %q", len(got.Definition), got.DefinitionHash)
	}
}
