package conformance

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A stage is where a script is played: a sidecar to talk to.
type stage interface {
	// write gives bytes to the sidecar's stdin.
	write(b []byte) error
	// closeInput ends the sidecar's stdin.
	closeInput()
	// signal asks the sidecar to end.
	signal() error
	// sleep lets time pass.
	sleep(d time.Duration)
	// settle waits until the sidecar is quiet and returns the lines that it
	// has written since the last time. want is how many are expected.
	settle(want int) []string
	// until waits until cond is true, within the bounds of the stage.
	until(cond func() bool) bool
	// exit returns the exit code; false while the sidecar runs.
	exit() (code int, ended bool)
	// logged returns what the sidecar has written beside the protocol.
	logged() string
}

// A player plays a script on a stage.
type player struct {
	script  *Script
	stage   stage
	servers map[string]*server
	vars    bindings
	never   []step
	output  []string // all lines so far
	// observe hears each line from and to the sidecar; it may be nil.
	observe func(sent bool, line string) error
	// update collects what the arrows of a step should be instead of failing.
	update func(s *step, arrows []string)
	trace  func(format string, args ...any) // may be nil
}

// newPlayer returns a player with the variables that scripts may use from the
// beginning.
func newPlayer(s *Script, given map[string]string) *player {
	p := &player{script: s, servers: map[string]*server{}, vars: bindings{}}
	for name, spec := range s.servers {
		p.servers[name] = newServer(name, spec)
	}
	for name, value := range given {
		p.vars[name] = node{kind: str, text: value}
	}
	return p
}

// given are the names of the variables of newPlayer that are replaced inside
// texts too.
var given = []string{"config", "cwd", "home"}

// fillGiven replaces $config, $cwd and $home anywhere in a text; quote makes
// the value fit into a string of JSON or TOML.
func fillGiven(text string, values map[string]string, quote bool) string {
	for _, name := range given {
		value := values[name]
		if quote {
			value = strings.Trim(string(rawjson.AppendString(nil, value)), `"`)
		}
		text = strings.ReplaceAll(text, "$"+name, value)
	}
	return text
}

// play runs the whole script.
func (p *player) play() error {
	for i := range p.script.steps {
		if err := p.step(&p.script.steps[i]); err != nil {
			return err
		}
	}
	return p.checkNever()
}

func (p *player) step(s *step) error {
	if !s.does() {
		return p.look(s)
	}
	if err := p.do(s); err != nil {
		return s.errorf("%s: %w", s.verb, err)
	}
	lines := p.stage.settle(len(s.want))
	for _, line := range lines {
		p.tracef("<-- %s", line)
		p.output = append(p.output, line)
		if p.observe != nil {
			if err := p.observe(false, line); err != nil {
				return s.errorf("%w", err)
			}
		}
	}
	return p.compare(s, lines)
}

func (p *player) tracef(format string, args ...any) {
	if p.trace != nil {
		p.trace(format, args...)
	}
}

func (p *player) do(s *step) error {
	switch s.verb {
	case verbSend:
		line, err := p.vars.fill(s.text)
		if err != nil {
			return err
		}
		line = versioned(line)
		p.tracef("--> %s", line)
		if p.observe != nil {
			if err := p.observe(true, line); err != nil {
				return err
			}
		}
		return p.stage.write([]byte(line + "\n"))
	case verbRaw, verbRawEnd:
		text, err := unescape(s.text)
		if err != nil {
			return err
		}
		if s.verb == verbRaw {
			text = append(text, '\n')
		}
		p.tracef("raw %.300s", s.text)
		if p.observe != nil {
			if err := p.observe(true, string(text)); err != nil {
				return err
			}
		}
		return p.stage.write(text)
	case verbWait:
		p.tracef("wait %v", s.wait)
		p.stage.sleep(s.wait)
	case verbEOF:
		p.tracef("eof")
		p.stage.closeInput()
	case verbSignal:
		p.tracef("signal")
		return p.stage.signal()
	case verbAct:
		p.tracef("server %s: %s %s", s.server, s.doing, s.text)
		return p.servers[s.server].act(s.doing, s.text)
	case verbFile:
		p.tracef("file %s: %s %s", s.path, s.doing, s.text)
		return p.changeFile(s)
	case verbGot, verbMatch, verbNone, verbStarts, verbExit, verbNever, verbHas:
	}
	return nil
}

// versioned adds the member "jsonrpc" to a message that has none.
func versioned(line string) string {
	if strings.Contains(line, `"jsonrpc"`) {
		return line
	}
	rest := line[1:] // the parser has seen the brace
	if strings.HasPrefix(strings.TrimSpace(rest), "}") {
		return `{"jsonrpc":"2.0"` + rest
	}
	return `{"jsonrpc":"2.0",` + rest
}

// compare checks the output of a step against its arrows.
func (p *player) compare(s *step, lines []string) error {
	values := make([]node, len(lines))
	for i, line := range lines {
		v, err := parseValue(line)
		if err != nil {
			return s.errorf("the sidecar wrote what is no JSON: %w: %.300q", err, line)
		}
		values[i] = v.without("jsonrpc")
	}
	next, err := p.matchAll(s.want, lines, values)
	if err == nil {
		p.vars = next
		return nil
	}
	if p.update != nil && s.own {
		p.update(s, p.rewrite(s, lines, values))
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v\nafter %s %s\nwanted:\n", err, s.verb, s.text)
	for _, a := range s.want {
		fmt.Fprintf(&b, "  %s %s\n", a.kind, a.text)
	}
	b.WriteString("got:\n")
	for _, v := range values {
		fmt.Fprintf(&b, "  <-- %s\n", v)
	}
	return s.errorf("%s", b.String())
}

// without returns an object without a member.
func (n node) without(key string) node {
	n.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool { return m.key == key })
	return n
}

// matchAll matches arrows with lines, all of both.
func (p *player) matchAll(want []arrow, lines []string, values []node) (bindings, error) {
	vars := p.vars
	for len(want) > 0 {
		n := 1
		if want[0].kind == arrowAny {
			for n < len(want) && want[n].kind == arrowAny {
				n++
			}
		}
		if len(lines) < n {
			return nil, fmt.Errorf("%v: a line is missing", want[len(lines)].position)
		}
		next, err := matchGroup(want[:n], lines[:n], values[:n], vars)
		if err != nil {
			return nil, err
		}
		vars = next
		want, lines, values = want[n:], lines[n:], values[n:]
	}
	if len(lines) > 0 {
		return nil, fmt.Errorf("%d lines too many came, the first: %s", len(lines), short(values[0]))
	}
	return vars, nil
}

// matchGroup matches arrows with as many lines, in any order. It tries the
// lines for the first arrow, then those that are left for the second, and goes
// back where variables turn out not to fit.
func matchGroup(want []arrow, lines []string, values []node, vars bindings) (bindings, error) {
	if len(want) == 0 {
		return vars, nil
	}
	var last error
	for i := range lines {
		next, err := want[0].match(lines[i], values[i], vars)
		if err == nil {
			next, err = matchGroup(want[1:], drop(lines, i), drop(values, i), next)
		}
		if err == nil {
			return next, nil
		}
		if last == nil || len(want) == 1 || sameMethod(want[0].pattern, values[i]) {
			last = err
		}
	}
	return nil, last
}

func drop[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// match compares one line.
func (a arrow) match(line string, value node, vars bindings) (bindings, error) {
	if a.kind == arrowBytes {
		if !glob(a.text, line) {
			return nil, a.errorf("the bytes differ:\n  got  %s\n  want %s", line, a.text)
		}
		return vars, nil
	}
	next, err := match(a.pattern, value, vars)
	if err != nil {
		return nil, a.errorf("%w", err)
	}
	return next, nil
}

// sameMethod reports whether two messages are of one kind: the same method, or
// the same id.
func sameMethod(a, b node) bool {
	for _, key := range []string{"method", "id"} {
		x, has := a.get(key)
		y, too := b.get(key)
		if has != too {
			return false
		}
		if has {
			return x.kind == variable || x.kind == anything || x.text == y.text
		}
	}
	return false
}

// look carries out a step that checks something.
func (p *player) look(s *step) error {
	switch s.verb {
	case verbExit:
		var code int
		if !p.stage.until(func() (ended bool) { code, ended = p.stage.exit(); return ended }) {
			return s.errorf("the sidecar has not ended")
		}
		if lines := p.stage.settle(0); len(lines) > 0 {
			return s.errorf("the sidecar wrote before it ended: %q", lines)
		}
		if code != s.number {
			return s.errorf("the exit code is %d, want %d", code, s.number)
		}
		return nil
	case verbNever:
		p.never = append(p.never, *s)
		return nil
	case verbHas:
		return p.lookAtFile(s)
	case verbSend, verbRaw, verbRawEnd, verbWait, verbEOF, verbSignal, verbAct, verbFile:
	case verbGot, verbMatch, verbNone, verbStarts:
		return p.lookAtServer(s, p.servers[s.server])
	}
	return nil
}

func (p *player) lookAtServer(s *step, server *server) error {
	switch s.verb {
	case verbStarts:
		count := func() int { server.mu.Lock(); defer server.mu.Unlock(); return server.starts }
		if !p.stage.until(func() bool { return count() == s.number }) {
			return s.errorf("server %s was started %d times, want %d", s.server, count(), s.number)
		}
	case verbGot, verbMatch:
		if !p.stage.until(func() bool { return p.find(s, server) }) {
			return s.errorf("server %s did not get it. Since the last look it got:\n%s", s.server, strings.Join(server.unseen(), "\n"))
		}
	case verbNone:
		for _, line := range server.unseen() {
			if _, ok := p.fits(s, line); ok {
				return s.errorf("server %s got %s", s.server, line)
			}
		}
	}
	return nil
}

// unseen returns the lines that the script has not looked at.
func (s *server) unseen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got[s.looked:])
}

// find looks for a line that fits and marks what is before it as seen.
func (p *player) find(s *step, server *server) bool {
	for i, line := range server.unseen() {
		if next, ok := p.fits(s, line); ok {
			p.vars = next
			server.mu.Lock()
			server.looked += i + 1
			server.mu.Unlock()
			return true
		}
	}
	return false
}

// fits reports whether a line that a server got is what a step looks for.
func (p *player) fits(s *step, line string) (bindings, bool) {
	if s.verb == verbGot {
		return p.vars, glob(s.text, line)
	}
	v, err := parseValue(line)
	if err != nil {
		return nil, false
	}
	next, err := match(s.pattern, v.without("jsonrpc"), p.vars)
	return next, err == nil
}

// checkNever checks that what must never be seen was not.
func (p *player) checkNever() error {
	for _, s := range p.never {
		for _, line := range p.output {
			if strings.Contains(line, s.text) {
				return s.errorf("%q is in the output: %s", s.text, line)
			}
		}
		if strings.Contains(p.stage.logged(), s.text) {
			return s.errorf("%q is in the log", s.text)
		}
	}
	return nil
}

// splitLines is the state of a reader that cuts output into lines.
type splitLines struct{ rest []byte }

// add takes bytes and returns the lines that they complete.
func (l *splitLines) add(b []byte) (lines []string) {
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return lines
		}
		lines = append(lines, string(l.rest[:i]))
		l.rest = l.rest[i+1:]
	}
}

// serverFor returns the server that a spawned "scripted" stands for: the one
// that its first argument names, or the only one.
func (p *player) serverFor(args []string) (*server, error) {
	if len(args) > 0 {
		if s := p.servers[args[0]]; s != nil {
			return s, nil
		}
		return nil, fmt.Errorf("conformance: there is no server/%s.json", args[0])
	}
	if len(p.servers) == 1 {
		for _, s := range p.servers {
			return s, nil
		}
	}
	return nil, fmt.Errorf("conformance: which of %d servers? name it: args = [\"NAME\"]", len(p.servers))
}
