package tomledit

import (
	"cmp"
	"slices"
)

// closeKin is how many names a key must share with a dotted one to be written
// beside it: with one alone, both are in the same big table at most.
const closeKin = 2

// places returns the splices that may set the key, the best first. There are
// at most a few for each name of the path.
func (e *edit) places(value string) []splice {
	if p, ok := e.find(e.path); ok {
		if p.pair != nil {
			old := e.text[p.pair.value:p.pair.end]
			return []splice{{p.pair.value, p.pair.end, inStyleOf(old, value)}}
		}
		// An inline table is closed: there is no other place.
		return []splice{e.intoInline(p.inline, assignment(p.rest, value))}
	}
	out := e.inOwnTable(value)
	near, far := e.besideDotted(value)
	out = append(out, near...)
	out = append(out, e.underNewHeader(value)...)
	return append(out, far...)
}

func assignment(key []string, value string) string { return written(key) + " = " + basic(value) }

// parent is the table of the key.
func (e *edit) parent() []string { return e.path[:len(e.path)-1] }

// inOwnTable writes at the end of the section of the key's table.
func (e *edit) inOwnTable(value string) (out []splice) {
	for _, s := range e.sections {
		if !slices.Equal(s.path, e.parent()) {
			continue
		}
		at := s.end
		if s.header == nil && len(s.pairs) == 0 {
			at = s.tail // below what the document says of itself
		}
		out = append(out, e.newLine(at, e.pairIndent(s), assignment(e.path[len(s.path):], value)))
	}
	return out
}

// besideDotted writes behind dotted keys that share the first names, those with
// the most in common first. The far ones are the last resort.
func (e *edit) besideDotted(value string) (near, far []splice) {
	type kin struct {
		names int
		at    splice
	}
	var all []kin
	for _, s := range e.sections {
		if !hasPrefix(e.path, s.path) {
			continue
		}
		rest := e.path[len(s.path):]
		best, names := (*statement)(nil), 1
		for _, st := range s.pairs {
			if n := min(shared(st.key, rest), len(st.key)-1); n >= names {
				best, names = st, n
			}
		}
		if best != nil {
			space, _ := e.indent(best.start)
			all = append(all, kin{len(s.path) + names, e.newLine(best.lineEnd, space, assignment(rest, value))})
		}
	}
	slices.SortStableFunc(all, func(a, b kin) int { return cmp.Compare(b.names, a.names) })
	least := closeKin
	for _, s := range e.sections {
		least = max(least, shared(s.path, e.parent())) // a header that is nearer leads
	}
	for _, k := range all {
		if k.names >= least {
			near = append(near, k.at)
		} else {
			far = append(far, k.at)
		}
	}
	return near, far
}

// underNewHeader opens the key's table behind the last section of the nearest
// kin, or at the end.
func (e *edit) underNewHeader(value string) (out []splice) {
	if len(e.parent()) == 0 {
		return nil
	}
	for n := len(e.parent()); n > 0; n-- {
		for _, s := range slices.Backward(e.sections) {
			if s.header == nil || !hasPrefix(s.path, e.path[:n]) {
				continue
			}
			space, _ := e.indent(s.header.start)
			out = append(out, e.newSection(s.tail, space, e.pairIndent(s), value))
			break
		}
	}
	return append(out, e.newSection(e.lastLine(), "", "", value))
}

// newLine writes a line at an offset where one begins, or at the end of a text
// without a last newline, which then stays without.
func (e *edit) newLine(at int, indent, line string) splice {
	if e.midLine(at) {
		return splice{at, at, e.eol + indent + line}
	}
	return splice{at, at, indent + line + e.eol}
}

// newSection writes a header and the key, with an empty line before if
// anything stands before.
func (e *edit) newSection(at int, indent, pairIndent, value string) splice {
	lines := indent + "[" + written(e.parent()) + "]" + e.eol +
		pairIndent + assignment(e.path[len(e.path)-1:], value)
	switch {
	case e.midLine(at):
		return splice{at, at, e.eol + e.eol + lines}
	case at > e.body:
		return splice{at, at, e.eol + lines + e.eol}
	}
	return splice{at, at, lines + e.eol}
}

// midLine reports whether an offset follows something other than a newline.
func (d *document) midLine(at int) bool { return at > d.body && d.text[at-1] != '\n' }

// pairIndent is how far the pairs of a section are indented.
func (d *document) pairIndent(s *section) string {
	at := d.body
	if s.header != nil {
		at = s.header.start
	}
	if n := len(s.pairs); n > 0 {
		at = s.pairs[n-1].start
	}
	space, _ := d.indent(at)
	return space
}

// intoInline writes a pair at the end of an inline table.
func (d *document) intoInline(t *inlineTable, pair string) splice {
	if len(t.pairs) == 0 {
		if t.close == t.open+1 {
			pair += " "
		}
		return splice{t.open + 1, t.open + 1, " " + pair}
	}
	last := t.pairs[len(t.pairs)-1]
	indent, first := d.indent(last.start)
	if !first || d.thisLine(last.start) <= t.open {
		return splice{last.end, last.end, ", " + pair}
	}
	// One pair a line. The comment behind the last stays with it, and the new
	// one gets a comma if the last has one.
	if last.comma >= 0 {
		if next, ok := d.restIsComment(last.comma + 1); ok {
			return splice{next, next, indent + pair + "," + d.eol}
		}
	} else if next, ok := d.restIsComment(last.end); ok {
		return splice{last.end, next, "," + d.text[last.end:next] + indent + pair + d.eol}
	}
	return splice{last.end, last.end, "," + d.eol + indent + pair}
}
