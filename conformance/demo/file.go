package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A configFile is the config.toml of the demo's person.
type configFile struct {
	path  string
	first string // what is in it in the beginning
	known string // what was in it when it was last looked at
}

// newConfigFile writes a file that defines both servers into a folder.
func newConfigFile(home, self, town string) (*configFile, error) {
	text := fmt.Sprintf(`# The servers of my editor.
[mcp_servers.%s]   # a process, over stdio
command = %q
args = ["demo-server"]

[mcp_servers.%s]    # over Streamable HTTP
url = %q
`, notesName, self, townName, town)
	home, err := filepath.EvalSymlinks(home) // as the sidecar tells it
	if err != nil {
		return nil, fmt.Errorf("demo: looking at the folder for the configuration: %w", err)
	}
	f := &configFile{path: filepath.Join(home, "config.toml"), first: text, known: text}
	if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("demo: writing the configuration: %w", err)
	}
	return f, nil
}

// added returns the lines that were put into the file since it was last looked
// at. It is an error if anything else is different.
func (f *configFile) added() ([]string, error) {
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("looking at the configuration: %w", err)
	}
	lines, ok := inserted(f.known, string(raw))
	if !ok {
		return nil, fmt.Errorf("config.toml was\n%s\nand is\n%s\nwhich is more than lines put in", f.known, raw)
	}
	f.known = string(raw)
	return lines, nil
}

// restored checks that the file is what it was in the beginning.
func (f *configFile) restored() error {
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("looking at the configuration: %w", err)
	}
	if string(raw) != f.first {
		return fmt.Errorf("config.toml was\n%s\nand is\n%s", f.first, raw)
	}
	f.known = f.first
	return nil
}

// inserted returns the lines that make after out of before when they are put in
// at one place. It is false if that takes more.
func inserted(before, after string) (lines []string, ok bool) {
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	more := len(now) - len(old)
	if more < 0 {
		return nil, false
	}
	same := 0
	for same < len(old) && old[same] == now[same] {
		same++
	}
	if strings.Join(old[same:], "") != strings.Join(now[min(same+more, len(now)):], "") {
		return nil, false
	}
	for _, line := range now[same : same+more] {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, true
}

// approveLines are what "don't ask me again" writes for a tool.
func approveLines(server protocol.ServerName, tool protocol.ToolName) string {
	return fmt.Sprintf("[mcp_servers.%s.tools.%s]\napproval_mode = \"approve\"", server, tool)
}
