package tomledit

import "strings"

const byteOrderMark = "\uFEFF"

// document is a text with its statements, and the questions about its lines.
type document struct {
	text     string
	body     int    // past the byte order mark
	eol      string // the line ending that most lines have
	sections []*section
}

// section is a header and the pairs under it. The first has no header: its
// pairs stand before all headers.
type section struct {
	header *statement
	path   []string
	pairs  []*statement
	end    int // past the line of the last statement
	tail   int // past the comments that belong to the section, too
}

func newDocument(text string) (*document, *scanError) {
	d := &document{text: text, eol: "\n"}
	if strings.HasPrefix(text, byteOrderMark) {
		d.body = len(byteOrderMark)
	}
	if crlf := strings.Count(text, "\r\n"); crlf > 0 && crlf*2 >= strings.Count(text, "\n") {
		d.eol = "\r\n"
	}
	all, problem := scan(text, d.body)
	if problem != nil {
		return nil, problem
	}
	d.split(all)
	return d, nil
}

func (d *document) split(all []*statement) {
	current := &section{end: d.body}
	d.sections = []*section{current}
	for _, st := range all {
		if st.kind == pair {
			current.pairs = append(current.pairs, st)
			current.end = st.lineEnd
			continue
		}
		current = &section{header: st, path: st.key, end: st.lineEnd}
		d.sections = append(d.sections, current)
	}
	for _, s := range d.sections {
		s.tail = d.pastComments(s.end)
	}
}

// pastComments goes past the comment lines at an offset. A run of them that
// reaches the next statement without an empty line belongs to that, so it is
// not passed.
func (d *document) pastComments(from int) int {
	at := from
	for at < len(d.text) {
		next := d.nextLine(at)
		line := strings.TrimSpace(d.text[at:next])
		if line == "" {
			return at
		}
		if line[0] != '#' {
			return from
		}
		at = next
	}
	return at
}

// lastLine returns the end of the last line that is not blank, or the start.
func (d *document) lastLine() int {
	at := len(strings.TrimRight(d.text, " \t\r\n"))
	if at <= d.body {
		return d.body
	}
	return d.nextLine(at)
}

// nextLine returns the start of the line after the one at an offset, or the
// end.
func (d *document) nextLine(at int) int {
	if i := strings.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.text)
}

// thisLine returns the start of the line of an offset.
func (d *document) thisLine(at int) int {
	return max(d.body, strings.LastIndexByte(d.text[:at], '\n')+1)
}

// lineNumber counts lines from 1.
func (d *document) lineNumber(at int) int { return lineNumber(d.text, at) }

func lineNumber(text string, at int) int {
	return strings.Count(text[:max(0, min(at, len(text)))], "\n") + 1
}

// indent returns the white space that the line of an offset begins with, if
// nothing else stands before the offset.
func (d *document) indent(at int) (space string, first bool) {
	space = d.text[d.thisLine(at):at]
	if !isBlank(space) {
		return "", false
	}
	return space, true
}

// restIsComment reports whether white space and a comment are all that is left
// of a line, and where the next one starts. At the end of the text there is
// no next one.
func (d *document) restIsComment(at int) (next int, ok bool) {
	next = d.nextLine(at)
	rest := strings.TrimLeft(d.text[at:next], " \t")
	return next, strings.HasPrefix(rest, "#") || rest == "\n" || rest == "\r\n"
}

// isBlank reports whether s is white space within a line.
func isBlank(s string) bool { return strings.Trim(s, " \t") == "" }

// place is where a path leads to in a document.
type place struct {
	section *section
	inline  *inlineTable // the innermost inline table on the path, or nil
	rest    []string     // what is left of the path below inline
	pair    *statement   // the pair of the whole path, or nil
}

// find follows a path into pairs. Without a place, the path meets neither its
// own pair nor an inline table.
func (d *document) find(path []string) (place, bool) {
	for _, s := range d.sections {
		if !hasPrefix(path, s.path) {
			continue
		}
		if p, ok := descend(s.pairs, nil, path[len(s.path):]); ok {
			p.section = s
			return p, true
		}
	}
	return place{}, false
}

func descend(pairs []*statement, in *inlineTable, path []string) (place, bool) {
	for _, st := range pairs {
		if !hasPrefix(path, st.key) {
			continue
		}
		rest := path[len(st.key):]
		if len(rest) == 0 {
			return place{inline: in, rest: path, pair: st}, true
		}
		if st.inline != nil {
			return descend(st.inline.pairs, st.inline, rest)
		}
	}
	return place{inline: in, rest: path}, in != nil
}

// lineOf returns the line of the first statement that makes path what it is,
// or 0.
func (d *document) lineOf(path []string) int {
	for _, s := range d.sections {
		if s.header != nil && hasPrefix(s.path, path) {
			return d.lineNumber(s.header.start)
		}
		if at := offsetOf(s.pairs, s.path, path); at >= 0 {
			return d.lineNumber(at)
		}
	}
	return 0
}

func offsetOf(pairs []*statement, base, path []string) int {
	for _, st := range pairs {
		full := join(base, st.key)
		if hasPrefix(full, path) {
			return st.start
		}
		if st.inline != nil && hasPrefix(path, full) {
			if at := offsetOf(st.inline.pairs, full, path); at >= 0 {
				return at
			}
		}
	}
	return -1
}
