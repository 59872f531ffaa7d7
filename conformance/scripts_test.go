package conformance

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the arrows of the scripts to what the sidecar says")

func traceTo(w io.Writer, format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }

// scripts calls f with every script.
func scripts(t *testing.T, f func(t *testing.T, path string, s *Script)) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			s, err := ReadScript(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, path, s)
		})
	}
}

// Each script's promise holds, in fake time, and whatever the sidecar says is
// what the published schema says.
func TestScripts(t *testing.T) {
	scripts(t, func(t *testing.T, path string, s *Script) {
		t.Parallel()
		if !*update {
			playInBubble(t, s, func(p *player) { p.observe = newChecker(t).observe })
			return
		}
		var edits []edit
		defer func() { rewriteScript(t, path, edits) }() // also when it fails half-way
		playInBubble(t, s, func(p *player) {
			p.update = func(s *step, arrows []string) { edits = append(edits, edit{s, arrows}) }
		})
	})
}

func rewriteScript(t *testing.T, path string, edits []edit) {
	if len(edits) == 0 {
		return
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(apply(string(data), edits)), 0o666)
	}
	if err != nil {
		t.Error(err)
	}
}
