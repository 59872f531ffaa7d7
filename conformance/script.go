package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// A Script is a parsed script.
type Script struct {
	// Name is the path that it was read from.
	Name string
	// Promise is the prose at its top.
	Promise string
	// Tags are the words of the line "tags:".
	Tags []string

	archive *txtar.Archive
	config  string
	env     []string
	limits  limits
	servers map[string]*serverSpec
	steps   []step
}

// Tagged reports whether the script has a tag.
func (s *Script) Tagged(tag string) bool { return slices.Contains(s.Tags, tag) }

// limits are bounds of the sidecar that a script sets, so that it need not
// reach the real ones. The zero value means those.
type limits struct {
	maxLine, maxInFlight, queueBytes int
	drain                            time.Duration
}

// verb says what a step does.
type verb string

// The steps that do something, after which output may come.
const (
	verbSend   verb = "-->"
	verbRaw    verb = "raw"
	verbRawEnd verb = "raw-nonl"
	verbWait   verb = "wait"
	verbEOF    verb = "eof"
	verbSignal verb = "signal"
	verbAct    verb = "server" // and a doing
)

// The steps that look at something.
const (
	verbGot    verb = "got"
	verbMatch  verb = "match"
	verbNone   verb = "none"
	verbStarts verb = "starts"
	verbExit   verb = "expect-exit"
	verbNever  verb = "never"
)

// serverLooks are the words after "server NAME:" that look.
var serverLooks = []verb{verbGot, verbMatch, verbNone, verbStarts}

// position is where a line of a script stands.
type position struct {
	file string
	line int
}

func (p position) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

func (p position) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", p, fmt.Errorf(format, args...))
}

// A step is one statement of a session and, if it does something, the output
// that must follow.
type step struct {
	position
	verb    verb
	server  string // for verbAct and the looks
	doing   string // for verbAct and verbFile
	path    string // for verbFile and verbHas
	text    string // what follows the words
	pattern node   // for match and none
	wait    time.Duration
	number  int // for starts and expect-exit
	want    []arrow
	last    int  // the last line of the step and its arrows
	own     bool // the step is in the script itself, not included
}

// arrowKind says how a line of output is compared.
type arrowKind string

const (
	arrowNext  arrowKind = "<--" // in this order
	arrowAny   arrowKind = "<~~" // in any order among neighbours of its kind
	arrowBytes arrowKind = "<==" // in this order, byte for byte
)

// An arrow is one line of output that must come.
type arrow struct {
	position
	kind    arrowKind
	text    string // as it stands in the script
	pattern node   // but for arrowBytes
}

// ReadScript reads and parses a script. What it includes is looked for in its
// folder.
func ReadScript(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("conformance: reading a script: %w", err)
	}
	return ParseScript(path, data, os.DirFS(filepath.Dir(path)))
}

// ParseScript parses a script. name is for messages; included files are read
// from folder. Errors name file and line.
func ParseScript(name string, data []byte, folder fs.FS) (*Script, error) {
	s := &Script{Name: name, archive: txtar.Parse(data), servers: map[string]*serverSpec{}}
	p := &scriptParser{script: s, folder: folder, data: string(data)}
	if err := p.header(); err != nil {
		return nil, err
	}
	for _, f := range s.archive.Files {
		if err := p.file(f); err != nil {
			return nil, err
		}
	}
	if s.steps == nil {
		return nil, position{name, 1}.errorf("the script has no file %q, or nothing in it", sessionFile)
	}
	for _, st := range s.steps {
		if st.server != "" && s.servers[st.server] == nil {
			return nil, st.errorf("there is no server/%s.json", st.server)
		}
	}
	return s, nil
}

const sessionFile = "session"

type scriptParser struct {
	script *Script
	folder fs.FS
	data   string
}

// at returns the position of the first line of an embedded file.
func (p *scriptParser) at(file string) position {
	for i, line := range strings.Split(p.data, "\n") {
		if strings.TrimSpace(line) == "-- "+file+" --" {
			return position{p.script.Name, i + 2}
		}
	}
	return position{p.script.Name, 1}
}

func (p *scriptParser) header() error {
	s := p.script
	var prose []string
	for line := range strings.SplitSeq(string(s.archive.Comment), "\n") {
		if tags, ok := strings.CutPrefix(line, "tags:"); ok {
			s.Tags = strings.Fields(tags)
			continue
		}
		prose = append(prose, line)
	}
	s.Promise = strings.TrimSpace(strings.Join(prose, "\n"))
	if s.Promise == "" {
		return position{s.Name, 1}.errorf("a script begins with its promise in prose")
	}
	return nil
}

func (p *scriptParser) file(f txtar.File) error {
	s, at := p.script, p.at(f.Name)
	server, isServer := strings.CutPrefix(f.Name, "server/")
	server, isJSON := strings.CutSuffix(server, ".json")
	switch {
	case f.Name == "config.toml":
		s.config = string(f.Data)
	case f.Name == "env":
		for i, line := range strings.Split(string(f.Data), "\n") {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			if !strings.Contains(line, "=") {
				return position{at.file, at.line + i}.errorf("env: %q is not KEY=value", line)
			}
			s.env = append(s.env, line)
		}
	case f.Name == "limits":
		return p.limits(at, string(f.Data))
	case isServer && isJSON:
		spec, err := parseServerSpec(server, f.Data)
		if err != nil {
			return at.errorf("%s: %w", f.Name, err)
		}
		s.servers[server] = spec
	case f.Name == sessionFile:
		steps, err := p.session(at, string(f.Data), true)
		s.steps = steps
		return err
	default:
		return at.errorf("the file %q means nothing here; there are config.toml, env, limits, server/NAME.json and session", f.Name)
	}
	return nil
}

func (p *scriptParser) limits(at position, text string) error {
	l := &p.script.limits
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		here := position{at.file, at.line + i}
		if len(words) != 2 {
			return here.errorf("limits: want a name and a value")
		}
		var err error
		switch words[0] {
		case "max-line":
			l.maxLine, err = strconv.Atoi(words[1])
		case "max-in-flight":
			l.maxInFlight, err = strconv.Atoi(words[1])
		case "queue-bytes":
			l.queueBytes, err = strconv.Atoi(words[1])
		case "drain-timeout":
			l.drain, err = time.ParseDuration(words[1])
		default:
			err = errors.New("unknown; there are max-line, max-in-flight, queue-bytes and drain-timeout")
		}
		if err != nil {
			return here.errorf("limits: %s: %w", words[0], err)
		}
	}
	return nil
}

// session parses statements. at is where text begins.
func (p *scriptParser) session(at position, text string, own bool) ([]step, error) {
	steps := []step{}
	arrows := false // the last step may be followed by arrows
	for _, st := range statements(at, text) {
		word, rest, _ := strings.Cut(st.text, " ")
		rest = strings.TrimSpace(rest)
		if word == "include" {
			included, err := p.include(st, rest)
			if err != nil {
				return nil, err
			}
			steps = append(steps, included...)
			arrows = false
			continue
		}
		if kind := arrowKind(word); kind == arrowNext || kind == arrowAny || kind == arrowBytes {
			if !arrows {
				return nil, st.errorf("%s must follow something that is done", word)
			}
			a := arrow{position: st.position, kind: kind, text: rest}
			if kind != arrowBytes {
				pattern, err := parsePattern(rest)
				if err != nil {
					return nil, st.errorf("%s: %w", word, err)
				}
				a.pattern = pattern
			}
			s := &steps[len(steps)-1]
			s.want, s.last = append(s.want, a), st.last
			continue
		}
		s, err := parseStep(st, word, rest)
		if err != nil {
			return nil, err
		}
		s.own = own
		steps = append(steps, s)
		arrows = s.does()
	}
	return steps, nil
}

// does reports whether output may follow the step.
func (s *step) does() bool {
	switch s.verb {
	case verbSend, verbRaw, verbRawEnd, verbWait, verbEOF, verbSignal, verbAct, verbFile:
		return true
	case verbGot, verbMatch, verbNone, verbStarts, verbExit, verbNever, verbHas:
	}
	return false
}

func (p *scriptParser) include(st statement, name string) ([]step, error) {
	data, err := fs.ReadFile(p.folder, name)
	if err != nil {
		return nil, st.errorf("include: %w", err)
	}
	steps, err := p.session(position{filepath.Join(filepath.Dir(p.script.Name), name), 1}, string(data), false)
	if err != nil {
		return nil, fmt.Errorf("%w (included at %s)", err, st.position)
	}
	return steps, nil
}

// A statement is a line with the indented lines that continue it.
type statement struct {
	position
	text string
	last int
}

func statements(at position, text string) []statement {
	var list []statement
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		trimmed := strings.TrimSpace(line)
		number := at.line + i
		switch {
		case trimmed == "", trimmed[0] == '#':
		case (line[0] == ' ' || line[0] == '\t') && len(list) > 0:
			s := &list[len(list)-1]
			s.text += trimmed
			s.last = number
		default:
			list = append(list, statement{position{at.file, number}, line, number})
		}
	}
	return list
}

func parseStep(st statement, word, rest string) (step, error) {
	s := step{position: st.position, last: st.last, verb: verb(word), text: rest}
	var err error
	switch s.verb {
	case verbSend:
		if !strings.HasPrefix(rest, "{") {
			err = errors.New("want an object")
		} else if _, bad := parsePattern(rest); bad != nil {
			err = bad
		}
	case verbRaw, verbRawEnd:
		s.text = strings.TrimPrefix(strings.TrimPrefix(st.text, word), " ") // spaces count
		_, err = unescape(s.text)
	case verbWait:
		s.wait, err = time.ParseDuration(rest)
	case verbEOF, verbSignal:
		if rest != "" {
			err = errors.New("takes no words")
		}
	case verbExit:
		s.number, err = strconv.Atoi(rest)
	case verbNever:
		if rest == "" {
			err = errors.New("want a text")
		}
	case verbAct:
		return parseServerStep(s, st.text)
	case verbFile:
		return parseFileStep(s, st.text)
	default:
		err = errors.New("no such statement")
	}
	if err != nil {
		return s, st.errorf("%s: %w", word, err)
	}
	return s, nil
}

// parseServerStep parses "server NAME: WORD TEXT".
func parseServerStep(s step, text string) (step, error) {
	name, rest, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(text, string(verbAct))), ":")
	word, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok || name == "" || word == "" {
		return s, s.errorf("server: want \"server NAME: WORD …\"")
	}
	s.server, s.text = name, rest
	var err error
	switch look := verb(word); {
	case slices.Contains(serverLooks, look):
		s.verb = look
		switch look {
		case verbMatch, verbNone:
			s.pattern, err = parsePattern(rest)
		case verbStarts:
			s.number, err = strconv.Atoi(rest)
		}
	case isDoing(word):
		s.doing = word
	default:
		err = errors.New("no such word")
	}
	if err != nil {
		return s, s.errorf("server: %s: %w", word, err)
	}
	return s, nil
}

// maxRepeat bounds what one escape of a raw line may write.
const maxRepeat = 64 << 20

// unescape reads the text of a raw line: \n, \r, \t, \\, \xNN, and \{N*text} for
// text N times.
func unescape(text string) ([]byte, error) {
	out := []byte{}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		i++
		if i == len(text) {
			return nil, errors.New("a backslash at the end")
		}
		switch c := text[i]; c {
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case '\\', '"', '/':
			// \" and \/ are JSON's own, and stay.
			if c != '\\' {
				out = append(out, '\\')
			}
			out = append(out, c)
		case 'x':
			if i+2 >= len(text) {
				return nil, errors.New(`want two digits after \x`)
			}
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return nil, errors.New(`want two digits after \x`)
			}
			out = append(out, byte(n))
			i += 2
		case 'u': // JSON's own, and stays
			out = append(out, '\\', 'u')
		case '{':
			end := strings.IndexByte(text[i:], '}')
			count, what, ok := strings.Cut(text[i+1:i+max(end, 1)], "*")
			n, err := strconv.Atoi(count)
			if end < 0 || !ok || err != nil || n < 0 || n*len(what) > maxRepeat {
				return nil, errors.New(`want \{N*text}`)
			}
			out = append(out, strings.Repeat(what, n)...)
			i += end
		default:
			return nil, fmt.Errorf("unknown escape \\%c", c)
		}
	}
	return out, nil
}
