package demo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// shellBlock is a block of commands in README.md.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// What a reader copies from README.md into a shell works, but for make and
// go test, which are what runs this test.
func TestReadme(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, folder := range []string{"docs", "conformance"} {
		if err := os.Symlink(filepath.Join(root, folder), filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Dir(sidecar(t)), filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	says := map[string]string{
		" list\n":              "mcp__notes__search_notes",
		"call --yes":           "Note 4 is written.",
		"printf":               `{"jsonrpc":"2.0","id":3,"result":`,
		"call notes search_no": "spare key",
		"run-script":           "ok   conformance/testdata/approval-asks.txtar",
	}
	for _, block := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		commands := block[1]
		if strings.HasPrefix(commands, "make ") || strings.HasPrefix(commands, "go test ") {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		cmd := exec.CommandContext(ctx, "sh", "-e", "-c", commands)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), homeVariable+"="+t.TempDir())
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%v in\n%s\n%s", err, commands, out)
		}
		for command, want := range says {
			if !strings.Contains(commands, command) {
				continue
			}
			delete(says, command)
			if !strings.Contains(string(out), want) {
				t.Errorf("no %q from\n%s\n%s", want, commands, out)
			}
		}
	}
	if len(says) > 0 {
		t.Errorf("README.md lacks commands with %v", says)
	}
}
