package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Bounds of what is told about a changed definition.
const (
	maxSentences     = 10
	maxSentenceBytes = 200
	maxQuotedBytes   = 64 // of one name or value in a sentence
)

// DescribeChange says in words how a tool's definition, as Definition made it,
// became another: for a person who allowed the one and is asked about the
// other. The sentences are single lines of at most 200 bytes in which names and
// values of the server are quoted, and they are at most ten, the most dangerous
// first; the last may say how many more there are. There is none if, and only
// if, the definitions have the same hash. Of one that is not known, nil, only
// the fact is told.
func DescribeChange(prev, next json.RawMessage) []string {
	was, is := canonical(prev), canonical(next)
	if bytes.Equal(was, is) {
		return nil
	}
	var c changes
	before, ok1 := parseObject(was)
	after, ok2 := parseObject(is)
	if ok1 && ok2 {
		c.tool(before, after)
	}
	if told := c.told(); told != nil {
		return told
	}
	return []string{"the definition changed"}
}

// A danger ranks changes, the worst first.
type danger int

const (
	worse    danger = iota // the tool itself says that it does more harm
	claims                 // it says that it does less, so that fewer people are asked
	wider                  // it takes more than it took
	texts                  // the model is told something else
	narrower               // it takes less
	other
	dangers
)

// changes collects sentences. Of each rank those that may be told are kept.
type changes struct {
	ranks [dangers][]string
	n     int
}

func (c *changes) add(d danger, format string, args ...any) {
	c.n++
	if len(c.ranks[d]) < maxSentences {
		c.ranks[d] = append(c.ranks[d], cut(fmt.Sprintf(format, args...), maxSentenceBytes))
	}
}

// told returns the sentences, nil if there are none.
func (c *changes) told() []string {
	all := slices.Concat(c.ranks[:]...)
	if c.n <= maxSentences {
		return all
	}
	const before = maxSentences - 1
	return append(all[:before:before], fmt.Sprintf("and %d more changes", c.n-before))
}

func (c *changes) tool(before, after object) {
	pairs(before, after, func(key string, was, is []byte) {
		switch key {
		case "annotations":
			c.annotations(was, is)
		case "description":
			c.add(texts, "the description %s", happened(was, is))
		case "inputSchema":
			c.input(was, is)
		default:
			c.add(other, "the %s %s", word(key), happened(was, is))
		}
	})
}

// hints are the annotations that say how dangerous a tool is: the value that
// is the worse, and what MCP takes for granted where there is none.
var hints = map[string]struct{ worse, absent string }{
	"destructiveHint": {"true", "true"},
	"readOnlyHint":    {"false", "false"},
	"openWorldHint":   {"true", "true"},
	"idempotentHint":  {"false", "false"},
}

func (c *changes) annotations(was, is []byte) {
	before, _ := parseObject(was)
	after, _ := parseObject(is)
	told := c.n
	pairs(before, after, func(key string, was, is []byte) {
		hint, ok := hints[key]
		switch {
		case key == "title":
			c.add(texts, "the title %s", happened(was, is))
			return
		case !ok:
			c.add(other, "the annotation %s %s", quote(key), happened(was, is))
			return
		}
		meant := func(raw []byte) string {
			if isTrue(raw) || isFalse(raw) {
				return string(raw)
			}
			return hint.absent
		}
		d := other
		if meant(was) != meant(is) {
			d = claims
			if meant(is) == hint.worse {
				d = worse
			}
		}
		switch {
		case was == nil:
			c.add(d, "%s: not set → %s", key, shown(is))
		case is == nil:
			c.add(d, "%s was removed (it was %s)", key, shown(was))
		default:
			c.add(d, "%s: %s → %s", key, shown(was), shown(is))
		}
	})
	if c.n == told { // {} and nothing
		c.add(other, "the annotations changed")
	}
}

// pairs calls visit for each key whose values differ in two canonical objects,
// in order; a value that is not there is nil.
func pairs(before, after object, visit func(key string, was, is []byte)) {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].key < after[0].key:
			visit(before[0].key, before[0].val, nil)
			before = before[1:]
		case len(before) == 0 || after[0].key < before[0].key:
			visit(after[0].key, nil, after[0].val)
			after = after[1:]
		default:
			if !bytes.Equal(before[0].val, after[0].val) {
				visit(after[0].key, before[0].val, after[0].val)
			}
			before, after = before[1:], after[1:]
		}
	}
}

// happened says what became of a value.
func happened(was, is []byte) string {
	switch {
	case was == nil:
		return "was added"
	case is == nil:
		return "was removed"
	}
	return "changed"
}

// shown returns a value as it may stand in a sentence.
func shown(raw []byte) string {
	switch rawjson.Kind(raw) {
	case '"':
		s, _ := rawjson.String(raw)
		return quote(s)
	case '{', '[':
		return kindWord(raw)
	}
	return cut(string(raw), maxQuotedBytes) // a number can have many digits
}

// word returns a keyword of a schema as it is, and what only looks like one
// quoted.
func word(s string) string {
	for _, c := range []byte(s) {
		if (c|0x20 < 'a' || 'z' < c|0x20) && c != '$' {
			return quote(s)
		}
	}
	if s == "" || len(s) > maxQuotedBytes/2 {
		return quote(s)
	}
	return s
}

// quote returns a text of a server in quotes, bounded. What can't be seen, or
// changes how the rest looks, is written as an escape: whoever reads it shall
// see that it is there.
func quote(s string) string {
	const noInk = "\u034f\u115f\u1160\u2800\u3164\uffa0" // letters and marks that show nothing
	out := []byte{'"'}
	for _, r := range s {
		at := len(out)
		if strings.ContainsRune(noInk, r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			escaped := strconv.Quote(string(r))
			out = append(out, escaped[1:len(escaped)-1]...)
		}
		if len(out) > maxQuotedBytes-len(`…"`) {
			out = append(out[:at], "…"...)
			break
		}
	}
	return string(append(out, '"'))
}

// cut bounds a text, on a character's boundary.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := max - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
