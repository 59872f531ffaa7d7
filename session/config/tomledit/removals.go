package tomledit

import (
	"slices"
	"strings"
)

// removals returns the splices that may remove the key, the best first.
func (e *edit) removals() []splice {
	p, ok := e.find(e.path)
	switch {
	case !ok || p.pair == nil:
		return nil
	case p.inline != nil:
		return e.outOfInline(p.inline, slices.Index(p.inline.pairs, p.pair))
	}
	lines := e.lines(e.thisLine(p.pair.start), p.pair.lineEnd)
	if section, ok := e.wholeSection(p.section); ok {
		return []splice{section, lines}
	}
	return []splice{lines}
}

// lines removes whole lines. If the last of them has no newline, the one
// before loses its own.
func (d *document) lines(from, to int) splice {
	if d.midLine(to) && from > d.body {
		from--
		if from > d.body && d.text[from-1] == '\r' {
			from--
		}
	}
	return splice{from, to, ""}
}

// wholeSection removes a section of the key's own table that holds nothing
// else, with the empty line that sets it apart. A comment at it keeps it.
func (e *edit) wholeSection(s *section) (splice, bool) {
	if s.header == nil || len(s.pairs) != 1 || len(s.pairs[0].key) != 1 || s.tail > s.end {
		return splice{}, false
	}
	only := s.pairs[0]
	around := e.text[s.header.end:only.start] + e.text[only.end:only.lineEnd]
	if strings.Contains(around, "#") {
		return splice{}, false
	}
	from, to := e.thisLine(s.header.start), s.end
	if from == e.body {
		rest := strings.TrimLeft(e.text[to:], " \t\r\n")
		if rest != "" {
			to = e.thisLine(len(e.text) - len(rest))
		}
		return splice{from, to, ""}, true
	}
	before := e.thisLine(from - 1)
	switch line := strings.TrimSpace(e.text[before:from]); {
	case line == "":
		from = before
	case line[0] == '#':
		return splice{}, false
	}
	return e.lines(from, to), true
}

// outOfInline removes one pair of an inline table with one comma, and no
// comment but the one behind it on its own line.
func (d *document) outOfInline(t *inlineTable, i int) (out []splice) {
	p, text := t.pairs[i], d.text
	only, last := len(t.pairs) == 1, i == len(t.pairs)-1
	past := p.end // past the comma, if it follows at once
	if p.comma >= 0 && isBlank(text[p.end:p.comma]) {
		past = p.comma + 1
	}

	// A line of its own.
	_, first := d.indent(p.start)
	line := d.thisLine(p.start)
	if next, ok := d.restIsComment(past); ok && first && line > t.open {
		switch {
		case p.comma < 0 && !only:
			comma := t.pairs[i-1].comma
			out = append(out, splice{comma, next, text[comma+1 : line]})
		case p.comma < past:
			out = append(out, splice{line, next, ""})
		}
	}
	if only {
		return append(out, d.emptied(t, past))
	}
	// With the comma before it, or the one behind it.
	if i > 0 {
		if from := t.pairs[i-1].end; !strings.Contains(text[from:p.start], "#") {
			out = append(out, splice{from, p.end, ""})
		}
	}
	if !last {
		if to := t.pairs[i+1].start; !strings.Contains(text[p.end:to], "#") {
			out = append(out, splice{p.start, to, ""})
		}
		return append(out, splice{p.start, p.comma + 1, text[p.end:p.comma]})
	}
	comma := t.pairs[i-1].comma
	return append(out, splice{comma, p.end, text[comma+1 : p.start]})
}

// emptied removes the only pair of an inline table.
func (d *document) emptied(t *inlineTable, past int) splice {
	only := t.pairs[0]
	before, behind := d.text[t.open+1:only.start], d.text[past:t.close]
	switch {
	case isBlank(before) && isBlank(behind):
		return splice{t.open + 1, t.close, ""}
	case isBlank(before):
		return splice{t.open + 1, past, ""}
	}
	return splice{only.start, past, ""}
}
