package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

const byteOrderMark = "\uFEFF"

// parseTOML reads one file into nodes. A file that does not parse gives an
// empty table and the Problem to show.
func parseTOML(data []byte, layer Layer, path string) (*node, *Problem) {
	empty := newTable(Origin{Layer: layer, Path: path})
	bad := func(line, column int, msg, hint string) (*node, *Problem) {
		return empty, &Problem{Origin: Origin{Layer: layer, Path: path, Line: line, Column: column}, Message: msg, Hint: hint}
	}
	if msg, line, column := unreadable(data); msg != "" {
		return bad(line, column, msg, "save the file as UTF-8")
	}
	src := strings.TrimPrefix(string(data), byteOrderMark)
	where, scanErr := scan(src, nil)
	if isTooDeep(scanErr) {
		line, column := where.lineColumn(offsetOf(scanErr))
		return bad(line, column, fmt.Sprintf("keys, tables and arrays are nested more than %d deep", maxDepth), "")
	}
	tree, err := decode(src)
	if err != nil {
		var pe toml.ParseError
		if !errors.As(err, &pe) {
			line, column := where.lineColumn(offsetOf(scanErr))
			return bad(line, column, "is not valid TOML", "")
		}
		line, column := where.lineColumn(pe.Position.Start)
		return bad(line, column, "is not valid TOML: "+withoutValues(pe.Message), hintFor(pe.Message))
	}
	root := build(tree, nil, func(key []string) Origin {
		line, column := where.find(key)
		return Origin{Layer: layer, Path: path, Line: line, Column: column}
	})
	return root, nil
}

// decode runs the TOML decoder. It panics on some broken input instead of
// returning an error (its own "BUG" checks); that is the file's fault, not a
// reason to end the process.
func decode(src string) (tree map[string]any, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the decoder gave up")
		}
	}()
	tree = map[string]any{}
	_, err = toml.Decode(src, &tree)
	return tree, err
}

func offsetOf(err error) int {
	var se *scanError
	if errors.As(err, &se) {
		return se.offset
	}
	return 0
}

// unreadable finds the encodings that TOML excludes, before the decoder
// describes them as syntax errors.
func unreadable(data []byte) (msg string, line, column int) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return "is UTF-16, but TOML files must be UTF-8", 1, 1
	}
	if head := data[:min(len(data), 4)]; bytes.IndexByte(head, 0) >= 0 {
		return "looks like UTF-16 without a mark, but TOML files must be UTF-8", 1, 1
	}
	if utf8.Valid(data) {
		return "", 0, 0
	}
	i := 0
	for i < len(data) {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	line, column = newPositions(string(data[:i])).lineColumn(i)
	return "has bytes that are not UTF-8", line, column
}

// withoutValues cleans a message of the decoder. It may quote a piece of a
// value; single characters and the names of doubled keys stay, the rest goes.
func withoutValues(msg string) string {
	if strings.HasPrefix(msg, "Key '") {
		return "k" + msg[1:]
	}
	if before, after, ok := strings.Cut(msg, " is out of range for "); ok && before != "" {
		return "a number is out of range for " + after
	}
	var b strings.Builder
	for i := 0; i < len(msg); {
		q := msg[i]
		if q != '\'' && q != '"' && q != '`' {
			b.WriteByte(q)
			i++
			continue
		}
		end := closingQuote(msg, i)
		inner := msg[i+1 : end]
		switch {
		case utf8.RuneCountInString(inner) <= 1, strings.HasPrefix(inner, `\`) && len(inner) == 2, strings.Trim(inner, `"'`) == "":
			b.WriteString(msg[i : end+1])
		default:
			b.WriteString("…")
		}
		i = end + 1
	}
	return strings.TrimSpace(lowerFirst(b.String()))
}

// closingQuote finds the last quote of the same kind, so that quotes within
// the quoted piece cannot end it early.
func closingQuote(msg string, start int) int {
	if end := strings.LastIndexByte(msg, msg[start]); end > start {
		// "'.' or ']'" holds several short pieces; take the nearest then.
		if near := strings.IndexByte(msg[start+1:], msg[start]); near == 1 {
			return start + 2
		}
		return end
	}
	return len(msg) - 1
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// hintFor adds what people usually did when the decoder says this.
func hintFor(msg string) string {
	switch {
	case strings.Contains(msg, "escape"), strings.Contains(msg, "hexadecimal digits after"):
		return `in "…" a backslash starts an escape; write a Windows path in '…' or with /`
	case strings.Contains(msg, "already been defined"), strings.Contains(msg, "already created"):
		return "keep one of the two; a table may be written only once"
	case strings.Contains(msg, "newline"):
		return "close the string on its line, or use three quotes"
	}
	return ""
}
