package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func writeFile(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func skipOnWindows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rules of Unix")
	}
}

func TestLookPath(t *testing.T) {
	skipOnWindows(t)
	root := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, path := range []string{at("one", "tool"), at("two", "tool"), at("work", "bin", "tool"), at("work", "here")} {
		writeFile(t, path, "#!/bin/sh\n", 0o755)
	}
	writeFile(t, at("one", "data"), "", 0o644)
	writeFile(t, at("one", "late"), "", 0o644)
	writeFile(t, at("two", "late"), "", 0o755)
	writeFile(t, at("one", "sub", "x"), "", 0o755)
	path := "PATH=relative:" + at("one") + "::.:" + at("two")

	for _, test := range []struct{ command, want string }{
		{"tool", at("one", "tool")},
		{"late", at("two", "late")}, // one that cannot be run does not hide one that can
		{"bin/tool", at("work", "bin", "tool")},
		{"./here", at("work", "here")},
		{at("two", "tool"), at("two", "tool")},
	} {
		got, err := LookPath(test.command, at("work"), []string{"PATH=/nowhere", path})
		if err != nil || got != test.want {
			t.Errorf("LookPath(%q) = %q, %v; want %q", test.command, got, err, test.want)
		}
	}

	// "here" lies in the working folder, which is not searched.
	_, err := LookPath("here", at("work"), []string{path, "HOME=" + root})
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		t.Fatalf("LookPath(here) = %v, want a NotFoundError", err)
	}
	if want := []string{at("one"), at("two")}; !slices.Equal(missing.Searched, want) || missing.Command != "here" {
		t.Errorf("NotFoundError = %+v, want Searched %q", missing, want)
	}
	if !errors.Is(err, exec.ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Error("a NotFoundError matches neither exec.ErrNotFound nor fs.ErrNotExist")
	}
	for _, test := range []struct{ command, reason string }{
		{"data", "not executable"},
		{"sub", "folder"},
		{at("one", "data"), "not executable"},
	} {
		_, err := LookPath(test.command, "", []string{path})
		var refused *NotExecutableError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, test.reason) {
			t.Errorf("LookPath(%q) = %v, want a NotExecutableError saying %q", test.command, err, test.reason)
		}
	}
	if _, err := LookPath("", "", nil); !errors.As(err, &missing) {
		t.Errorf("LookPath of nothing = %v", err)
	}
}

// A missing working folder is blamed before the command is.
func TestLookPathBlamesTheFolderFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "", 0o644)
	for _, dir := range []string{dir, file} {
		_, err := LookPath("no-such-binary", dir, nil)
		var missing *CwdMissingError
		if !errors.As(err, &missing) || missing.Dir != dir {
			t.Errorf("LookPath in %q = %v, want a CwdMissingError", dir, err)
		}
	}
}

// A command that lies where version managers put programs is named.
func TestFoundElsewhere(t *testing.T) {
	skipOnWindows(t)
	home := t.TempDir()
	want := []string{
		filepath.Join(home, ".nvm/versions/node/v22.1.0/bin/our-npx"),
		filepath.Join(home, ".nvm/versions/node/v20.9.0/bin/our-npx"),
		filepath.Join(home, ".cargo/bin/our-npx"),
	}
	for _, path := range want {
		writeFile(t, path, "", 0o755)
	}
	writeFile(t, filepath.Join(home, ".bun/bin/our-npx"), "", 0o644) // cannot be run
	_, err := LookPath("our-npx", "", []string{"PATH=/nowhere", "HOME=" + home})
	var missing *NotFoundError
	if !errors.As(err, &missing) || !slices.Equal(missing.FoundElsewhere, want) {
		t.Fatalf("LookPath = %v, want it found at %q", err, want)
	}
	for _, part := range append(want, "/nowhere", `"our-npx"`) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not name %s", err, part)
		}
	}
}

// The rules of Windows, on any system.
func TestLookPathWindowsRules(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"npx", "npx.cmd", "npx.ps1", "node.exe", "python.exe", "both.bat", "both.exe", "only", "old.js", "dotted.v2.exe"} {
		writeFile(t, filepath.Join(dir, name), "", 0o644)
	}
	env := environ{"PATH=" + dir}
	f := finder{env: env, windows: true}
	for _, test := range []struct{ command, want string }{
		{"npx", "npx.cmd"}, // never the sh script of that name
		{"npx.cmd", "npx.cmd"},
		{"node", "node.exe"},
		{"both", "both.exe"},
		{"dotted.v2", "dotted.v2.exe"},
		{filepath.Join(dir, "python"), "python.exe"},
	} {
		got, err := f.find(test.command)
		if err != nil || got != filepath.Join(dir, test.want) {
			t.Errorf("find(%q) = %q, %v; want %s", test.command, got, err, test.want)
		}
	}
	for _, test := range []struct{ command, reason string }{
		{"npx.ps1", "npx.cmd"},
		{"only", "cannot start"},
		{"old.js", "cannot start"},
	} {
		_, err := f.find(test.command)
		var refused *NotExecutableError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, test.reason) {
			t.Errorf("find(%q) = %v, want a NotExecutableError saying %q", test.command, err, test.reason)
		}
	}
	f.env = append(env, "PATHEXT=.bat;.JS;.Exe")
	if got, err := f.find("both"); err != nil || got != filepath.Join(dir, "both.bat") {
		t.Errorf("find(both) with PATHEXT = %q, %v; want both.bat", got, err)
	}
}

func TestStartErrors(t *testing.T) {
	skipOnWindows(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	writeFile(t, script, "#!/no/such/interpreter -x\n", 0o755)
	crlf := filepath.Join(dir, "crlf")
	writeFile(t, crlf, "#!/bin/sh\r\necho\r\n", 0o755)
	noise := filepath.Join(dir, "noise")
	writeFile(t, noise, "\x00\x01\x02", 0o755)
	s := New(Options{})
	for path, reason := range map[string]string{
		script: `"/no/such/interpreter"`,
		crlf:   `/bin/sh\\r`,
		noise:  "kind of program",
	} {
		_, err := s.Start(t.Context(), Spec{Command: path})
		var refused *NotExecutableError
		if !errors.As(err, &refused) || refused.Path != path || !strings.Contains(refused.Reason, reason) {
			t.Errorf("Start(%s) = %v, want a NotExecutableError saying %s", path, err, reason)
		}
	}
	if s.Live() != 0 {
		t.Errorf("Live = %d", s.Live())
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWithFolderOf(t *testing.T) {
	skipOnWindows(t)
	for _, test := range []struct {
		env     environ
		program string
		want    string
	}{
		{environ{"PATH=/a:/b"}, "/c/x", "/a:/b:/c"},
		{environ{"PATH=/a:/b/"}, "/b/x", "/a:/b/"},
		{environ{}, "/c/x", defaultPath + ":/c"},
		{environ{"PATH=/a"}, "/c:d/x", "/a"},
	} {
		if got, _ := test.env.withFolderOf(test.program).get("PATH"); got != test.want {
			t.Errorf("%q with the folder of %s = %q, want %q", test.env, test.program, got, test.want)
		}
	}
}
