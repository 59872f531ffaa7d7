package conformance

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ProcessOptions say how a script is played against a real process.
type ProcessOptions struct {
	// Binary is the sidecar.
	Binary string
	// Args are options of the sidecar, beside those that the script needs.
	Args []string
	// Relay is the command whose process is a scripted stdio server: it has to
	// call [ScriptedServerMain] with the arguments that are added to it. None
	// means Binary with the argument "scripted-server".
	Relay []string
	// Log takes the conversation and what the sidecar writes to stderr. It may
	// be nil.
	Log io.Writer
	// Bound is how long what must come is waited for; 0 means 20 s.
	Bound time.Duration
}

// The time of a real process.
const (
	defaultBound = 20 * time.Second
	// quiet is how long nothing has to come before the output counts as
	// complete.
	quiet = 150 * time.Millisecond
	// longestWait bounds what "wait" waits for.
	longestWait = time.Second
	// poll is how often a condition is looked at.
	poll = 10 * time.Millisecond
)

// RunProcess plays a script against a real sidecar: real pipes, processes and
// sockets, and real time, in which "wait" waits a second at most and the output
// of a step is complete when all its arrows have something and then nothing
// comes for a moment. The first thing that is not as the script says is the
// error. Nothing is left behind.
func RunProcess(ctx context.Context, s *Script, o ProcessOptions) error {
	if l := s.limits; l.maxLine != 0 || l.maxInFlight != 0 || l.queueBytes != 0 {
		return fmt.Errorf("conformance: %s sets limits that a real process does not have", s.Name)
	}
	if o.Bound == 0 {
		o.Bound = defaultBound
	}
	if o.Relay == nil {
		o.Relay = []string{o.Binary, "scripted-server"}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	root, err := os.MkdirTemp("", "script-")
	if err != nil {
		return fmt.Errorf("conformance: a place for the script's files: %w", err)
	}
	defer os.RemoveAll(root)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := startProcess(ctx, s, o, root)
	if err != nil {
		return fmt.Errorf("conformance: %w", err)
	}
	defer p.end()
	player := p.player
	player.trace = func(format string, args ...any) { p.logf(format, args...) }
	if err := player.play(); err != nil {
		return fmt.Errorf("%w\nthe promise: %s\nwhat the sidecar wrote to stderr:\n%s", err, s.Promise, p.logged())
	}
	return nil
}

// A realProcess is the stage of a script outside of a bubble.
//
// Goroutines: one reads stdout and ends with it; one waits for the process; the
// relay; the HTTP server. end ends them all.
type realProcess struct {
	options ProcessOptions
	player  *player
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	network addresses
	relay   *relay
	http    *http.Server
	ended   chan struct{} // closed when the process has ended and its output was read

	mu     sync.Mutex // guards the fields below
	lines  []string
	last   time.Time // when the last line came
	stderr bytes.Buffer
}

// addresses are where the servers NAME.test are in truth.
type addresses map[string]string

// outward puts true addresses into a text for the sidecar; inward takes them
// out of what it says.
func (a addresses) outward(text string) string {
	for name, addr := range a {
		text = strings.ReplaceAll(text, "//"+name, "//"+addr)
	}
	return text
}

func (a addresses) inward(text string) string {
	for name, addr := range a {
		text = strings.ReplaceAll(text, addr, name)
	}
	return text
}

func startProcess(ctx context.Context, s *Script, o ProcessOptions, root string) (_ *realProcess, err error) {
	paths := map[string]string{"config": filepath.Join(root, "config.toml"), "cwd": filepath.Join(root, "work"), "home": filepath.Join(root, "home")}
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{paths["cwd"], paths["home"], bin} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return nil, err
		}
	}
	p := &realProcess{options: o, player: newPlayer(s, paths), network: addresses{}, ended: make(chan struct{}), last: time.Now()}
	p.player.stage = p
	defer func() {
		if err != nil {
			p.end()
		}
	}()
	if err := p.listen(ctx); err != nil {
		return nil, err
	}
	if err := p.hollow(bin); err != nil {
		return nil, err
	}
	config := p.network.outward(fillGiven(s.config, paths, true))
	if err := os.WriteFile(paths["config"], []byte(config), 0o666); err != nil {
		return nil, err
	}
	args := append([]string{"--config", paths["config"], "--log-level", "debug"}, o.Args...)
	if d := s.limits.drain; d != 0 {
		args = append(args, "--drain-timeout", d.String())
	}
	p.cmd = exec.CommandContext(ctx, o.Binary, args...)
	p.cmd.Dir = paths["cwd"]
	p.cmd.Env = append(systemEnv(), parentEnv(s, paths, bin)...)
	p.cmd.Stderr = stderrOf{p}
	p.stdin, err = p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		p.cmd = nil
		return nil, err
	}
	go p.read(stdout)
	return p, nil
}

// systemEnv is what a program needs of the real environment.
func systemEnv() []string {
	var env []string
	if runtime.GOOS == "windows" {
		for _, name := range []string{"SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP"} {
			env = append(env, name+"="+os.Getenv(name))
		}
	}
	return env
}

// listen opens the sockets: one for the hollow processes, one for each server
// over HTTP.
func (p *realProcess) listen(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.relay = &relay{listener: l, token: rand.Text(), find: p.player.serverFor, ctx: ctx}
	go p.relay.serve()
	hosts := map[string]http.Handler{}
	p.http = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hosts[r.Host].ServeHTTP(w, r) })}
	for name, s := range p.player.servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addr := l.Addr().String()
		hosts[addr] = newEndpoint(ctx, s)
		p.network[name+testDomain] = addr
		defer func() { go p.http.Serve(l) }() // when hosts is complete; ends with Close
	}
	return nil
}

// hollow writes the program "scripted" into the folder bin.
func (p *realProcess) hollow(bin string) error {
	command := append(append([]string{}, p.options.Relay...), p.relay.listener.Addr().String(), p.relay.token)
	name, text := scriptedCommand, "#!/bin/sh\nexec"
	end := ` "$@"` + "\n"
	if runtime.GOOS == "windows" {
		name, text, end = scriptedCommand+".cmd", "@", " %*\r\n"
	}
	for i, arg := range command {
		if i > 0 || text != "@" {
			text += " "
		}
		if runtime.GOOS == "windows" {
			text += `"` + arg + `"`
		} else {
			text += "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return os.WriteFile(filepath.Join(bin, name), []byte(text+end), 0o777)
}

// read collects the output and waits for the process.
func (p *realProcess) read(stdout io.Reader) {
	defer close(p.ended)
	var split splitLines
	buf := make([]byte, 1<<16)
	for {
		n, err := stdout.Read(buf)
		lines := split.add(buf[:n])
		p.mu.Lock()
		for _, line := range lines {
			p.lines = append(p.lines, p.network.inward(line))
			p.last = time.Now()
		}
		p.mu.Unlock()
		if err != nil {
			break
		}
	}
	_ = p.cmd.Wait() // the exit code is in ProcessState
}

// stderrOf takes a process's stderr.
type stderrOf struct{ p *realProcess }

func (s stderrOf) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.stderr.Write(b)
	return s.p.options.Log.Write(b)
}

func (p *realProcess) logf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.options.Log, format+"\n", args...)
}

// end takes everything down.
func (p *realProcess) end() {
	if p.cmd != nil {
		_ = p.stdin.Close()
		limit := time.NewTimer(p.options.Bound)
		defer limit.Stop()
		select {
		case <-p.ended:
		case <-limit.C:
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
	}
	if p.http != nil {
		_ = p.http.Close()
	}
	if p.relay != nil {
		_ = p.relay.listener.Close()
	}
}

func (p *realProcess) write(b []byte) error {
	_, err := p.stdin.Write([]byte(p.network.outward(string(b))))
	return err
}

func (p *realProcess) closeInput() { _ = p.stdin.Close() }

func (p *realProcess) signal() error {
	if runtime.GOOS == "windows" {
		return errors.New("there are no signals on Windows")
	}
	return p.cmd.Process.Signal(syscall.SIGTERM)
}

func (p *realProcess) sleep(d time.Duration) { pause(min(d, longestWait)) }

// pause lets real time pass.
func pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}

func (p *realProcess) settle(want int) []string {
	began := time.Now()
	p.until(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.lines) >= want
	})
	for {
		p.mu.Lock()
		since := time.Since(p.last)
		p.mu.Unlock()
		if since = min(since, time.Since(began)); since >= quiet || p.gone() {
			break
		}
		pause(quiet - since)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	return lines
}

func (p *realProcess) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *realProcess) until(cond func() bool) bool {
	for end := time.Now().Add(p.options.Bound); !cond(); pause(poll) {
		if time.Now().After(end) || p.gone() {
			return cond()
		}
	}
	return true
}

func (p *realProcess) exit() (int, bool) {
	if !p.gone() {
		return 0, false
	}
	return p.cmd.ProcessState.ExitCode(), true
}

func (p *realProcess) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}
