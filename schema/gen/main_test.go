package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a module with the source of protocol in it and nothing
// published yet, and returns its folder.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"protocol", "schema/published"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "protocol"), os.DirFS("../../protocol")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// From wherever in the repository it is run: -check names each stale file and
// the command that helps; the command does help; what differs is found again.
func TestCheckAndWrite(t *testing.T) {
	dir := repository(t)
	var stderr strings.Builder
	gen := func(args ...string) int {
		stderr.Reset()
		return run(args, filepath.Join(dir, "protocol"), &stderr)
	}
	if code := gen("-check"); code != 1 || strings.Count(stderr.String(), "is stale; run: go run ./schema/gen\n") != 3 {
		t.Errorf("nothing is published: exit %d, %q", code, &stderr)
	}
	if code := gen(); code != 0 || stderr.Len() > 0 {
		t.Errorf("writing: exit %d, %q", code, &stderr)
	}
	if code := gen("-check"); code != 0 || stderr.Len() > 0 {
		t.Errorf("all is published: exit %d, %q", code, &stderr)
	}
	path := filepath.Join(dir, "schema", "published", "METHODS.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, ' '), 0o666); err != nil {
		t.Fatal(err)
	}
	if code := gen("-check"); code != 1 || stderr.String() != "gen: schema/published/METHODS.md is stale; run: go run ./schema/gen\n" {
		t.Errorf("one file is stale: exit %d, %q", code, &stderr)
	}
}

// A wrong use is told apart from what can't be done.
func TestExitCodes(t *testing.T) {
	dir := repository(t)
	if err := os.RemoveAll(filepath.Join(dir, "schema")); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		dir  string
		code int
		says string
	}{
		{[]string{"-h"}, dir, 0, "-check"},
		{[]string{"-nonsense"}, dir, 2, "nonsense"},
		{[]string{"nonsense"}, dir, 2, `unexpected argument "nonsense"`},
		{nil, dir, 1, "METHODS.md"},
		{nil, filepath.Join(dir, "..", "no", "module"), 1, "is in no module"},
	} {
		var stderr strings.Builder
		if code := run(x.args, x.dir, &stderr); code != x.code || !strings.Contains(stderr.String(), x.says) {
			t.Errorf("%q in %s: exit %d, %q, want %d and %q", x.args, x.dir, code, &stderr, x.code, x.says)
		}
	}
}
