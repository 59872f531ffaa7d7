package demo

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
)

// What is shown of a long line: its beginning and its end.
const (
	shownHead = 230
	shownTail = 60
)

// The escape sequences of the colours.
const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	green = "\x1b[32m"
	blue  = "\x1b[36m"
	plain = "\x1b[0m"
)

// A screen shows the conversation. Its methods may be called from any
// goroutine.
type screen struct {
	color, full bool

	mu   sync.Mutex // guards what follows
	out  io.Writer
	step int
}

// begin opens a step with what happens in it, and why.
func (s *screen) begin(sentence string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step++
	fmt.Fprintf(s.out, "\n%s\n", s.in(bold, fmt.Sprintf("%d. ", s.step)+fmt.Sprintf(sentence, args...)))
}

// say adds a sentence.
func (s *screen) say(sentence string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "   %s\n", fmt.Sprintf(sentence, args...))
}

// ask puts a prompt before the person, who types on the same line.
func (s *screen) ask(prompt string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "   %s", s.in(bold, prompt))
}

// typed shows what answered a prompt, where no terminal has done so.
func (s *screen) typed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.out, line)
}

// line shows a line of the wire. It is a client's Trace.
func (s *screen) line(dir string, line []byte) {
	arrow, color := "editor  → ", green
	if dir == client.In {
		arrow, color = "sidecar → ", blue
	}
	text := string(line)
	if !s.full {
		text = shorten(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "   %s%s\n", s.in(color, arrow), s.marked(text))
}

// method finds what a line is about.
var method = regexp.MustCompile(`"method":"[^"]*"`)

// marked lets the method stand out.
func (s *screen) marked(text string) string {
	at := method.FindStringIndex(text)
	if !s.color || at == nil {
		return text
	}
	return text[:at[0]] + s.in(bold, text[at[0]:at[1]]) + text[at[1]:]
}

func (s *screen) in(color, text string) string {
	if !s.color {
		return text
	}
	return color + text + plain
}

// shorten cuts the middle out of a long line and says how long it was.
func shorten(line string) string {
	if len(line) <= shownHead+shownTail {
		return line
	}
	head, tail := shownHead, len(line)-shownTail
	for !utf8.RuneStart(line[head]) {
		head--
	}
	for !utf8.RuneStart(line[tail]) {
		tail++
	}
	return fmt.Sprintf("%s … (%s bytes in all) … %s", line[:head], grouped(len(line)), line[tail:])
}

// grouped writes a number with commas.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
