package conformance

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// nodeKind says what a node is.
type nodeKind int

const (
	literal  nodeKind = iota // a number, true, false or null, as its bytes
	str                      // a string; in a pattern "..." inside it stands for any text
	array                    //
	object                   //
	anything                 // _
	variable                 // $name
)

// A node is a JSON value, or a pattern for one.
type node struct {
	kind    nodeKind
	text    string // literal: the bytes; str: the decoded string; variable: the name
	members []member
	items   []node
	// more: further members or items are allowed ("..." at the end).
	more bool
	// loose: the items may be anywhere, in this order ("..." at the start).
	loose bool
}

type member struct {
	key   string
	value node
}

// get returns the value of a member.
func (n *node) get(key string) (node, bool) {
	for _, m := range n.members {
		if m.key == key {
			return m.value, true
		}
	}
	return node{}, false
}

// parseValue reads a JSON value, parsePattern a pattern.
func parseValue(text string) (node, error)   { return parseNode(text, false) }
func parsePattern(text string) (node, error) { return parseNode(text, true) }

func parseNode(text string, pattern bool) (node, error) {
	p := nodeParser{text: text, pattern: pattern}
	n, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	p.space()
	if p.at < len(text) {
		return node{}, p.errorf("unexpected %.20q after the value", text[p.at:])
	}
	return n, nil
}

// maxDepth bounds the nesting of values in a script.
const maxDepth = 200

type nodeParser struct {
	text    string
	at      int
	pattern bool
}

func (p *nodeParser) errorf(format string, args ...any) error {
	return fmt.Errorf("column %d: %s", p.at+1, fmt.Sprintf(format, args...))
}

func (p *nodeParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips s if it comes next.
func (p *nodeParser) take(s string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *nodeParser) value(depth int) (node, error) {
	p.space()
	switch {
	case depth > maxDepth:
		return node{}, p.errorf("nested more than %d deep", maxDepth)
	case p.at == len(p.text):
		return node{}, p.errorf("a value is missing")
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		if err != nil {
			return node{}, err
		}
		if name, ok := variableName(s); ok && p.pattern {
			return node{kind: variable, text: name}, nil
		}
		return node{kind: str, text: s}, nil
	}
	end := p.at
	for end < len(p.text) && strings.IndexByte(" \t\r\n,:]}", p.text[end]) < 0 {
		end++
	}
	word := p.text[p.at:end]
	name, isVariable := variableName(word)
	switch {
	case p.pattern && word == "_":
		p.at = end
		return node{kind: anything}, nil
	case p.pattern && isVariable:
		p.at = end
		return node{kind: variable, text: name}, nil
	case word == "" || rawjson.Valid([]byte(word)) != nil:
		return node{}, p.errorf("%.20q is no value", p.text[p.at:])
	}
	p.at = end
	return node{kind: literal, text: word}, nil
}

func (p *nodeParser) str() (string, error) {
	for i := p.at + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			s, ok := rawjson.String([]byte(p.text[p.at : i+1]))
			if !ok {
				return "", p.errorf("%.40s is no string", p.text[p.at:i+1])
			}
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.errorf("a string does not end")
}

func (p *nodeParser) object(depth int) (node, error) {
	n := node{kind: object}
	p.at++
	if p.take("}") {
		return n, nil
	}
	for {
		if p.pattern && p.take("...") {
			n.more = true
			p.take(",")
			if !p.take("}") {
				return n, p.errorf("... must come last in an object")
			}
			return n, nil
		}
		p.space()
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return n, p.errorf("a key is missing")
		}
		key, err := p.str()
		if err != nil {
			return n, err
		}
		if !p.take(":") {
			return n, p.errorf("a colon is missing after %q", key)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.members = append(n.members, member{key, v})
		if p.take(",") {
			continue
		}
		if p.take("}") {
			return n, nil
		}
		return n, p.errorf("a comma or } is missing after the value of %q", key)
	}
}

func (p *nodeParser) array(depth int) (node, error) {
	n := node{kind: array}
	p.at++
	if p.take("]") {
		return n, nil
	}
	for first := true; ; first = false {
		if p.pattern && p.take("...") {
			n.more = true
			if p.take(",") {
				if !first {
					return n, p.errorf("... must come first or last in an array")
				}
				n.loose = true
				continue
			}
			if !p.take("]") {
				return n, p.errorf("a ] is missing after ...")
			}
			return n, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, v)
		if p.take(",") {
			continue
		}
		if p.take("]") {
			if n.loose {
				return n, p.errorf("an array that begins with ... must end with it")
			}
			return n, nil
		}
		return n, p.errorf("a comma or ] is missing")
	}
}

// variableName returns the name in "$name".
func variableName(s string) (string, bool) {
	if len(s) < 2 || s[0] != '$' || s[1] < 'a' || s[1] > 'z' {
		return "", false
	}
	for i := 2; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return "", false
		}
	}
	return s[1:], true
}

// String writes n as a script has it.
func (n node) String() string { return string(n.append(nil)) }

func (n node) append(b []byte) []byte {
	switch n.kind {
	case str:
		return rawjson.AppendString(b, n.text)
	case anything:
		return append(b, '_')
	case variable:
		return strconv.AppendQuote(b, "$"+n.text)
	case object:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(rawjson.AppendString(b, m.key), ':')
			b = m.value.append(b)
		}
		return n.tail(b, len(n.members), '}')
	case array:
		b = append(b, '[')
		if n.loose {
			b = append(b, "...,"...)
		}
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.append(b)
		}
		return n.tail(b, len(n.items), ']')
	case literal:
	}
	return append(b, n.text...)
}

func (n node) tail(b []byte, count int, end byte) []byte {
	if n.more {
		if count > 0 {
			b = append(b, ',')
		}
		b = append(b, "..."...)
	}
	return append(b, end)
}

// errUnbound is told of a variable in something that is sent.
var errUnbound = errors.New("is not bound yet")
