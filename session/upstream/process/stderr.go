package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// A stderrLog reads a child's stderr to its end and keeps its last lines.
type stderrLog struct {
	redact func(string) string // may be nil
	onLine func(string)        // may be nil

	mu    sync.Mutex // guards the fields below
	lines []string   // oldest first; lines[:head] are dropped already
	head  int
	bytes int    // of lines[head:]
	part  []byte // the line that has not ended yet, at most StderrLine bytes
	cut   bool   // part lost some of its end
}

// stderrBuffer is the size of one read, the capacity of a pipe on Linux.
const stderrBuffer = 64 << 10

// run reads r until it ends, fails or is closed. Its owner closes r.
func (l *stderrLog) run(r io.Reader) {
	buf := make([]byte, stderrBuffer)
	for {
		n, err := r.Read(buf)
		l.write(buf[:n])
		if err != nil {
			l.endLine()
			return
		}
	}
}

func (l *stderrLog) write(data []byte) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			l.grow(data)
			return
		}
		l.grow(data[:i])
		l.endLine()
		data = data[i+1:]
	}
}

// grow adds data, which holds no newline, to the unfinished line.
func (l *stderrLog) grow(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := StderrLine - len(l.part); len(data) > room {
		data, l.cut = data[:room], true
	}
	l.part = append(l.part, data...)
}

// endLine keeps the unfinished line, if it says anything, and tells of it.
func (l *stderrLog) endLine() {
	line, ok := l.takePart()
	if !ok {
		return
	}
	l.mu.Lock()
	l.lines = append(l.lines, line)
	l.bytes += len(line) + 1
	for l.bytes > StderrBytes {
		l.bytes -= len(l.lines[l.head]) + 1
		l.lines[l.head] = ""
		l.head++
	}
	if l.head > len(l.lines)/2 {
		n := copy(l.lines, l.lines[l.head:])
		clear(l.lines[n:])
		l.lines, l.head = l.lines[:n], 0
	}
	l.mu.Unlock()
	if l.onLine != nil {
		l.onLine(line)
	}
}

func (l *stderrLog) takePart() (string, bool) {
	l.mu.Lock()
	line, cut := cleanLine(l.part), l.cut
	l.part, l.cut = l.part[:0], false
	l.mu.Unlock()
	return l.finish(line, cut)
}

// finish redacts a cleaned line and marks it when it lost its end.
func (l *stderrLog) finish(line string, cut bool) (string, bool) {
	if strings.TrimSpace(line) == "" {
		return "", false
	}
	if l.redact != nil {
		line = l.redact(line)
	}
	if cut {
		line += "…"
	}
	return line, true
}

// tail returns the last n lines, oldest first, an unfinished one included.
func (l *stderrLog) tail(n int) []string {
	l.mu.Lock()
	lines := append([]string(nil), l.lines[max(l.head, len(l.lines)-n):]...)
	part, cut := cleanLine(l.part), l.cut
	l.mu.Unlock()
	if line, ok := l.finish(part, cut); ok {
		lines = append(lines, line)
	}
	return lines[max(0, len(lines)-n):]
}

// cleanLine returns line as text fit for a status or a log: valid UTF-8 without
// terminal escape sequences, control characters and direction overrides. Where
// a carriage return overwrote the line, as progress bars do, the last text
// stands.
func cleanLine(line []byte) string {
	line = bytes.TrimRight(line, "\r\n \t")
	if plain(line) {
		return string(line)
	}
	line = stripEscapes(line)
	if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	var b strings.Builder
	b.Grow(len(line))
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		line = line[size:]
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		case r == '\u2028', r == '\u2029': // line and paragraph separator
			b.WriteByte(' ')
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\ufeff':
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// plain reports whether line is printable ASCII, as nearly all lines are.
func plain(line []byte) bool {
	for _, c := range line {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// stripEscapes removes the escape sequences of ECMA-48: CSI ("\x1b[31m"), the
// strings OSC, DCS, SOS, PM and APC up to their end, and the short ones.
func stripEscapes(line []byte) []byte {
	const esc, bel = 0x1b, 0x07
	if bytes.IndexByte(line, esc) < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != esc {
			out = append(out, line[i])
			continue
		}
		if i++; i == len(line) {
			break
		}
		switch c := line[i]; c {
		case '[': // parameters and intermediates, then one final byte
			for i++; i < len(line) && line[i] >= 0x20 && line[i] <= 0x3f; i++ {
			}
		case ']', 'P', 'X', '^', '_': // text up to BEL or ESC \
			for i++; i < len(line) && line[i] != bel; i++ {
				if line[i] == esc {
					i++ // the backslash of ESC \
					break
				}
			}
		default: // intermediates, then one final byte
			for ; i < len(line) && line[i] >= 0x20 && line[i] <= 0x2f; i++ {
			}
		}
	}
	return out
}
