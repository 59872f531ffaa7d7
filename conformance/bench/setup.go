package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/drive"
)

// The names of the targets are the columns of the table; ours comes first.
const (
	ours  = "ours"
	byLLM = "model" // ours, by thread/tool/call; shown in the column of ours
	plain = "relay"
	sdk   = "sdk"
	codex = "codex"
)

var columns = []string{ours, plain, sdk, codex}

// The eras of the protocol that the server speaks.
const (
	eraLegacy = "legacy"
	eraModern = "modern"
)

const serverName = "s"

// sidecarPackage is what is built.
const sidecarPackage = "github.com/mcp-sidecar/mcp-sidecar/cmd/mcp-sidecar"

// A setup is what all cases use.
type setup struct {
	self    string // this program
	dir     string // removed at the end
	sidecar string
	codex   string // "" if there is none
	http    *exec.Cmd
	stop    io.Closer // ends http
	url     string
	homes   int
}

func newSetup() (*setup, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mcp-sidecar-bench-")
	if err != nil {
		return nil, err
	}
	s := &setup{self: self, dir: dir, sidecar: filepath.Join(dir, "mcp-sidecar"), codex: os.Getenv("CODEX_BIN")}
	if runtime.GOOS == "windows" {
		s.sidecar += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", s.sidecar, sidecarPackage)
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		s.close()
		return nil, fmt.Errorf("building the sidecar: %w", err)
	}
	return s, nil
}

func (s *setup) close() {
	if s.http != nil {
		_ = s.stop.Close()
		_ = s.http.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

// An end is a server as a target reaches it: by a command or a URL.
type end struct {
	argv []string
	url  string
}

func (s *setup) stdio(era string) end { return end{argv: []string{s.self, partServer, era}} }

// web returns the server over HTTP, which is one for all.
func (s *setup) web() (end, error) {
	if s.http == nil {
		cmd := exec.Command(s.self, partHTTP, eraLegacy)
		in, err := cmd.StdinPipe()
		if err != nil {
			return end{}, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return end{}, err
		}
		if err := cmd.Start(); err != nil {
			return end{}, err
		}
		s.http, s.stop = cmd, in
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return end{}, fmt.Errorf("starting the HTTP server: %w", err)
		}
		s.url = line[:len(line)-1]
	}
	return end{url: s.url}, nil
}

// home makes a folder with the configuration that ours and Codex read.
func (s *setup) home(e end) (string, error) {
	s.homes++
	dir := filepath.Join(s.dir, strconv.Itoa(s.homes))
	quote := func(v any) string { b, _ := json.Marshal(v); return string(b) } // strings have JSON, which is TOML here
	config := fmt.Sprintf("[mcp_servers.%s]\nurl = %s\n", serverName, quote(e.url))
	if e.url == "" {
		config = fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = %s\n", serverName, quote(e.argv[0]), quote(e.argv[1:]))
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600)
}

// environ is ours with another home. Codex finds its own through CODEX_HOME.
func environ(home string) []string {
	return append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "CODEX_HOME="+home)
}

// spawn starts a target's process; nothing is sent yet.
func (s *setup) spawn(name string, e end) (*drive.Process, error) {
	if name == plain {
		return drive.Start(append([]string{s.self, partRelay}, e.argv...), os.Environ(), s.dir)
	}
	home, err := s.home(e)
	if err != nil {
		return nil, err
	}
	argv := []string{s.sidecar, "--config", filepath.Join(home, "config.toml")}
	if name == codex {
		argv = []string{s.codex, "app-server"}
	}
	return drive.Start(argv, environ(home), home)
}

// initialize greets a process.
func initialize(p *drive.Process) error {
	return p.Call("initialize", map[string]any{"clientInfo": map[string]any{"name": "bench", "version": "1"}}, nil)
}

// ready makes a greeted process ready for calls.
func (s *setup) ready(name string, p *drive.Process) error {
	if name == plain {
		p.Request = func(tool string, arguments json.RawMessage) (string, any) {
			return "tools/call", map[string]any{"name": tool, "arguments": arguments}
		}
		return nil
	}
	if err := p.Notify("initialized"); err != nil {
		return err
	}
	var started struct{ Thread struct{ ID string } }
	if err := p.Call("thread/start", map[string]any{"cwd": s.dir, "ephemeral": true}, &started); err != nil {
		return err
	}
	thread := started.Thread.ID
	if name == byLLM {
		return bind(p, thread)
	}
	p.Request = func(tool string, arguments json.RawMessage) (string, any) {
		return "mcpServer/tool/call", map[string]any{"threadId": thread, "server": serverName, "tool": tool, "arguments": arguments}
	}
	return nil
}

// bind freezes the tools, so that they are called as a model does.
func bind(p *drive.Process, thread string) error {
	var frozen struct {
		Binding struct {
			ID    string
			Tools []struct{ Name, Namespace, Tool string }
		}
	}
	if err := p.Call("thread/binding/freeze", map[string]any{"threadId": thread}, &frozen); err != nil {
		return err
	}
	names := map[string][2]string{}
	for _, t := range frozen.Binding.Tools {
		names[t.Tool] = [2]string{t.Namespace, t.Name}
	}
	p.Request = func(tool string, arguments json.RawMessage) (string, any) {
		return "thread/tool/call", map[string]any{"threadId": thread, "bindingId": frozen.Binding.ID,
			"namespace": names[tool][0], "name": names[tool][1], "arguments": arguments}
	}
	return nil
}

// open returns a target that is ready.
func (s *setup) open(name string, e end) (drive.Target, error) {
	if name == sdk {
		return drive.NewSDK(e.argv, e.url)
	}
	p, err := s.spawn(name, e)
	if err != nil {
		return nil, err
	}
	if err := initialize(p); err != nil {
		return nil, err
	}
	if err := s.ready(name, p); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// present leaves out what is not there to be measured.
func (s *setup) present(targets []string) []string {
	var out []string
	for _, name := range targets {
		if name != codex || s.codex != "" {
			out = append(out, name)
		}
	}
	return out
}
