package tomledit

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// maxDepth bounds how deep keys, tables and lists may nest, as in
// session/config. The decoder recurses, so something must stop it before.
const maxDepth = 64

// kind tells what a statement is.
type kind int

const (
	pair        kind = iota // key = value
	header                  // [key]
	arrayHeader             // [[key]]
)

// statement is a header, or a pair at the top of a line or in an inline table.
// Its numbers are byte offsets.
type statement struct {
	kind    kind
	key     []string // decoded
	start   int      // the first byte of the key, or the [
	value   int      // the first byte of the value of a pair
	end     int      // past the value, or past the ]
	lineEnd int      // past the newline; of top-level statements
	comma   int      // the comma after it, or -1; in inline tables
	inline  *inlineTable
	list    bool // the value is a list
}

type inlineTable struct {
	open, close int // the braces
	pairs       []*statement
}

// scanError is a place where the scanner could not go on.
type scanError struct {
	offset  int
	tooDeep bool
}

// scan splits a text into statements by the lexical rules of TOML 1.1 alone.
// It accepts all that the decoder accepts, and more (FuzzSet).
func scan(text string, body int) (all []*statement, problem *scanError) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *scanError:
			problem = r
		default:
			panic(r)
		}
	}()
	s := &scanner{text: text, at: body}
	for {
		s.blank()
		if s.at >= len(s.text) {
			return all, nil
		}
		all = append(all, s.statement())
	}
}

type scanner struct {
	text string
	at   int
}

func (s *scanner) fail() { panic(&scanError{offset: s.at}) }

func (s *scanner) statement() *statement {
	st := &statement{start: s.at, comma: -1}
	if s.peek() != '[' {
		s.pair(st, 0)
	} else {
		st.kind = header
		s.at++
		if s.peek() == '[' {
			st.kind = arrayHeader
			s.at++
		}
		s.spaces()
		st.key = s.key()
		s.expect(']')
		if st.kind == arrayHeader {
			s.expect(']')
		}
		st.end = s.at
	}
	s.spaces()
	s.comment()
	s.newline()
	st.lineEnd = s.at
	return st
}

// pair reads key = value into st. depth counts what is open around it.
func (s *scanner) pair(st *statement, depth int) {
	st.key = s.key()
	s.spaces()
	s.expect('=')
	s.spaces()
	st.value = s.at
	st.list = s.peek() == '['
	st.inline = s.anyValue(depth + len(st.key))
	st.end = s.at
}

// anyValue skips one value and returns it if it is an inline table.
func (s *scanner) anyValue(depth int) *inlineTable {
	if depth > maxDepth {
		panic(&scanError{s.at, true})
	}
	switch s.peek() {
	case '"', '\'':
		s.anyString()
	case '[':
		s.at++
		for s.blank(); s.peek() != ']'; s.blank() {
			s.anyValue(depth + 1)
			s.separator(']')
		}
		s.at++
	case '{':
		return s.inlineTable(depth)
	default:
		s.scalar()
	}
	return nil
}

func (s *scanner) inlineTable(depth int) *inlineTable {
	t := &inlineTable{open: s.at}
	s.at++
	for s.blank(); s.peek() != '}'; s.blank() {
		st := &statement{start: s.at}
		s.pair(st, depth)
		st.comma = s.separator('}')
		t.pairs = append(t.pairs, st)
	}
	t.close = s.at
	s.at++
	return t
}

// separator skips a comma and returns its offset, or -1 before the end.
func (s *scanner) separator(end byte) int {
	s.blank()
	switch s.peek() {
	case ',':
		s.at++
		return s.at - 1
	case end:
	default:
		s.fail()
	}
	return -1
}

// scalar skips a number, a boolean or a date, which may contain a space.
func (s *scanner) scalar() {
	start := s.at
	for s.at < len(s.text) && strings.IndexByte(",]}#\r\n", s.text[s.at]) < 0 {
		s.at++
	}
	for s.at > start && isSpace(s.text[s.at-1]) {
		s.at--
	}
	if s.at == start {
		s.fail()
	}
}

// key reads a dotted key.
func (s *scanner) key() (parts []string) {
	for {
		if len(parts) >= maxDepth {
			panic(&scanError{s.at, true})
		}
		parts = append(parts, s.name())
		s.spaces()
		if s.peek() != '.' {
			return parts
		}
		s.at++
		s.spaces()
	}
}

func (s *scanner) name() string {
	start := s.at
	if q := s.peek(); q == '"' || q == '\'' {
		s.lineString()
		raw := s.text[start:s.at]
		if q == '\'' || strings.IndexByte(raw, '\\') < 0 {
			return raw[1 : len(raw)-1]
		}
		// Escapes are left to the decoder, so that both read the same key.
		var v struct{ K string }
		if _, err := toml.Decode("K="+raw, &v); err != nil {
			s.at = start
			s.fail()
		}
		return v.K
	}
	for s.at < len(s.text) && isBare(s.text[s.at]) {
		s.at++
	}
	if s.at == start {
		s.fail()
	}
	return s.text[start:s.at]
}

func (s *scanner) anyString() {
	q := s.peek()
	if strings.HasPrefix(s.text[s.at:], strings.Repeat(string(q), 3)) {
		s.textString(q)
	} else {
		s.lineString()
	}
}

// lineString skips "…" or '…'.
func (s *scanner) lineString() {
	q := s.text[s.at]
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == q:
			s.at++
			return
		case c == '\n':
			s.fail()
		case c == '\\' && q == '"':
			s.at++
		}
	}
	s.at = len(s.text)
	s.fail()
}

// textString skips a string of three quotes, before whose end two more may
// stand.
func (s *scanner) textString(q byte) {
	s.at += 3
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c != q {
			s.at++
			if c == '\\' && q == '"' {
				s.at++
			}
			continue
		}
		quotes := 1
		for s.at+quotes < len(s.text) && s.text[s.at+quotes] == q {
			quotes++
		}
		s.at += min(quotes, 5)
		if quotes >= 3 {
			return
		}
	}
	s.at = len(s.text)
	s.fail()
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) expect(c byte) {
	if s.peek() != c {
		s.fail()
	}
	s.at++
}

func (s *scanner) spaces() {
	for isSpace(s.peek()) {
		s.at++
	}
}

func (s *scanner) comment() {
	if s.peek() == '#' {
		for s.at < len(s.text) && s.text[s.at] != '\n' {
			s.at++
		}
	}
}

func (s *scanner) newline() {
	if strings.HasPrefix(s.text[s.at:], "\r\n") {
		s.at++
	}
	if s.at < len(s.text) {
		s.expect('\n')
	}
}

// blank skips white space, newlines and comments.
func (s *scanner) blank() {
	for {
		switch c := s.peek(); {
		case isSpace(c), c == '\n', c == '\r':
			s.at++
		case c == '#':
			s.comment()
		default:
			return
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
