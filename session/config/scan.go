package config

import (
	"errors"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxDepth bounds how deep tables, arrays and dotted keys may nest. A real
// configuration needs six; the decoder recurses, so something must stop it.
const maxDepth = 64

// scanError is a place where the scanner could not go on. tooDeep tells the
// bound from a mistake of syntax, about which the decoder speaks better.
type scanError struct {
	offset  int
	msg     string
	tooDeep bool
}

func (e *scanError) Error() string { return e.msg }

// scan finds where each key of a TOML text is written. The decoder keeps no
// positions, so the text is read a second time, by the lexical rules alone:
// scan accepts all that the decoder accepts, and more (FuzzScan). visit, when
// not nil, is told each statement's whole path and the offset of its last part.
//
// On error the positions found so far are returned too.
func scan(src string, visit func(path []string, offset int)) (*positions, error) {
	out := newPositions(src)
	err := catchScan(func() {
		p := &scanner{s: src, out: out, visit: visit}
		p.document()
	})
	return out, err
}

func catchScan(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *scanError:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// isTooDeep reports whether the scanner stopped at maxDepth.
func isTooDeep(err error) bool {
	var se *scanError
	return errors.As(err, &se) && se.tooDeep
}

type keyPart struct {
	name   string
	offset int
}

type scanner struct {
	s     string
	i     int
	out   *positions
	visit func([]string, int)
	// element is the array element that statements belong to, nil outside of
	// [[…]].
	element []string
}

func (p *scanner) fail(msg string)    { panic(&scanError{offset: p.i, msg: msg}) }
func (p *scanner) tooDeep(offset int) { panic(&scanError{offset, "nested too deeply", true}) }

func (p *scanner) document() {
	var table []string
	for {
		p.blank()
		if p.i >= len(p.s) {
			return
		}
		if p.s[p.i] == '[' {
			p.i++
			array := p.peek() == '['
			if array {
				p.i++
			}
			p.ws()
			parts := p.dotted()
			p.expect(']')
			if array {
				p.expect(']')
			}
			table, p.element = p.place(nil, parts), nil
			if array {
				p.element = p.out.addElement(table, parts[len(parts)-1].offset)
			}
		} else {
			p.keyValue(table)
		}
		p.ws()
		p.comment()
		p.endOfLine()
	}
}

// place records the parts of one key under table and returns the whole path.
func (p *scanner) place(table []string, parts []keyPart) []string {
	path := table
	for i, part := range parts {
		if len(path) >= maxDepth {
			p.tooDeep(part.offset)
		}
		path = child(path, part.name)
		p.out.put(path, part.offset, i < len(parts)-1)
	}
	if p.visit != nil {
		p.visit(path, parts[len(parts)-1].offset)
	}
	return path
}

func (p *scanner) keyValue(table []string) {
	parts := p.dotted()
	path := p.place(table, parts)
	if p.element != nil {
		p.out.put(child(p.element, parts[0].name), parts[0].offset, len(parts) > 1)
	}
	p.ws()
	p.expect('=')
	p.ws()
	p.value(path, 0)
}

// value skips one value; the keys of inline tables are placed under path. An
// array adds to the depth though it adds no key.
func (p *scanner) value(path []string, arrays int) {
	if len(path)+arrays > maxDepth {
		p.tooDeep(p.i)
	}
	switch p.peek() {
	case '"', '\'':
		p.anyString()
	case '[':
		p.i++
		for i := 0; ; i++ {
			p.blank()
			if p.peek() == ']' {
				p.i++
				return
			}
			if arrays == 0 && p.peek() == '{' {
				p.out.put(child(path, elementPart(i)), p.i, false)
			}
			p.value(path, arrays+1)
			p.separator(']')
		}
	case '{':
		p.i++
		for {
			p.blank()
			if p.peek() == '}' {
				p.i++
				return
			}
			inner := p.place(path, p.dotted())
			p.ws()
			p.expect('=')
			p.ws()
			p.value(inner, arrays)
			p.separator('}')
		}
	default: // number, boolean or date (which may contain a blank)
		start := p.i
		for p.i < len(p.s) && strings.IndexByte(",]}#\r\n", p.s[p.i]) < 0 {
			p.i++
		}
		for p.i > start && (p.s[p.i-1] == ' ' || p.s[p.i-1] == '\t') {
			p.i--
		}
		if p.i == start {
			p.fail("expected a value")
		}
	}
}

func (p *scanner) separator(end byte) {
	p.blank()
	switch p.peek() {
	case ',':
		p.i++
	case end:
	default:
		p.fail("expected a comma or the end of the list")
	}
}

func (p *scanner) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *scanner) expect(c byte) {
	if p.i >= len(p.s) || p.s[p.i] != c {
		p.fail("expected '" + string(c) + "'")
	}
	p.i++
}

func (p *scanner) ws() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
	}
}

func (p *scanner) comment() {
	if p.peek() == '#' {
		for p.i < len(p.s) && p.s[p.i] != '\n' {
			p.i++
		}
	}
}

func (p *scanner) endOfLine() {
	if strings.HasPrefix(p.s[p.i:], "\r\n") {
		p.i++
	}
	if p.i < len(p.s) {
		p.expect('\n')
	}
}

// blank skips white space, newlines and comments.
func (p *scanner) blank() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		case '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *scanner) dotted() (parts []keyPart) {
	for {
		start := p.i
		parts = append(parts, keyPart{p.simpleKey(), start})
		p.ws()
		if p.peek() != '.' {
			return parts
		}
		if len(parts) > maxDepth {
			p.tooDeep(start)
		}
		p.i++
		p.ws()
	}
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func (p *scanner) simpleKey() string {
	start := p.i
	switch p.peek() {
	case '"', '\'':
		p.oneLineString()
		raw := p.s[start:p.i]
		if raw[0] == '\'' || strings.IndexByte(raw, '\\') < 0 {
			return raw[1 : len(raw)-1]
		}
		// Escapes are left to the decoder, so that both read the same key.
		var v struct{ K string }
		if _, err := toml.Decode("K="+raw, &v); err != nil {
			p.fail("bad escape in a key")
		}
		return v.K
	}
	for p.i < len(p.s) && isBare(p.s[p.i]) {
		p.i++
	}
	if p.i == start {
		p.fail("expected a key")
	}
	return p.s[start:p.i]
}

func (p *scanner) anyString() {
	q := p.s[p.i]
	if strings.HasPrefix(p.s[p.i:], strings.Repeat(string(q), 3)) {
		p.manyLineString(q)
	} else {
		p.oneLineString()
	}
}

func (p *scanner) oneLineString() {
	q := p.s[p.i]
	p.i++
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == q:
			p.i++
			return
		case c == '\n':
			p.fail("newline in a string")
		case c == '\\' && q == '"':
			p.i++
		}
		p.i++
	}
	p.fail("a string is not closed")
}

func (p *scanner) manyLineString(q byte) {
	p.i += 3
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c == '\\' && q == '"' {
			p.i += 2
			continue
		}
		if c != q {
			p.i++
			continue
		}
		quotes := 0
		for p.i+quotes < len(p.s) && p.s[p.i+quotes] == q {
			quotes++
		}
		if quotes < 3 {
			p.i += quotes
			continue
		}
		p.i += min(quotes, 5) // up to two quotes may stand before the end
		return
	}
	p.i = len(p.s)
	p.fail("a string is not closed")
}
