package tomledit

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Set returns doc with the key at path set to a string. Every other byte is
// kept, and so are the quotes of a value that is replaced. If the key has that
// value already, the result is doc itself.
//
// On error, which is always an [*Error], doc is to be left as it is.
func Set(doc []byte, path []string, value string) ([]byte, error) {
	e, err := begin("setting ", doc, path, value)
	if err != nil {
		return nil, err
	}
	old, depth := look(e.tree, path)
	if depth == len(path) {
		if old == any(value) {
			return doc, nil
		}
		if !isSingle(old) {
			return nil, e.inTheWay(depth)
		}
	} else if _, ok := old.(map[string]any); !ok {
		return nil, e.inTheWay(depth)
	}
	return e.first(e.places(value), []map[string]any{with(e.tree, path, value)})
}

// Unset returns doc without the key at path, which must have a single value.
// The key's line goes, with the comment on it; so does the [header] of its own
// table if nothing else stands under it, no comment either. An inline table
// that becomes empty stays. Without such a key the result is doc itself, and
// false.
//
// On error, which is always an [*Error], doc is to be left as it is.
func Unset(doc []byte, path []string) ([]byte, bool, error) {
	e, err := begin("removing ", doc, path, "")
	if err != nil {
		return nil, false, err
	}
	old, depth := look(e.tree, path)
	if depth < len(path) {
		return doc, false, nil
	}
	if !isSingle(old) {
		return nil, false, e.inTheWay(depth)
	}
	// Without its last key a table may be gone, too, and the one around it.
	wanted := []map[string]any{without(e.tree, path)}
	for n := len(path) - 1; n > 0; n-- {
		last := wanted[len(wanted)-1]
		if left, _ := look(last, path[:n]); len(left.(map[string]any)) > 0 {
			break
		}
		wanted = append(wanted, without(last, path[:n]))
	}
	out, err := e.first(e.removals(), wanted)
	return out, err == nil, err
}

// edit is one call of Set or Unset.
type edit struct {
	*document
	meaning
	doing string
	path  []string
	sound bool // the document was
}

// begin looks at the arguments and reads the document.
func begin(verb string, doc []byte, path []string, value string) (*edit, error) {
	e := &edit{doing: verb + written(path), path: path}
	if len(path) == 0 || len(path) > maxDepth || !utf8.ValidString(strings.Join(path, "")+value) {
		e.doing = strings.TrimSpace(verb) + " a key"
		return nil, e.failure(ErrArgument, 0, "its name or its value is not UTF-8, is empty or nested too deeply", "write it by hand")
	}
	text := string(doc)
	if !utf8.ValidString(text) {
		line := lineNumber(text, len(validStart(text)))
		return nil, e.failure(ErrSyntax, line, "there are bytes that are not UTF-8", "save the document as UTF-8")
	}
	d, problem := newDocument(text)
	if problem != nil && problem.tooDeep {
		return nil, e.failure(ErrSyntax, lineNumber(text, problem.offset), "the nesting is too deep", "write it flatter")
	}
	if problem != nil {
		return nil, e.notTOML(lineNumber(text, problem.offset))
	}
	e.document, e.sound = d, sound(d)
	var err error
	if e.meaning, err = decode(text); err != nil {
		var at toml.ParseError
		_ = errors.As(err, &at) // no line is known otherwise
		return nil, e.notTOML(at.Position.Line)
	}
	return e, nil
}

// validStart returns what comes before the first byte that is not UTF-8.
func validStart(text string) string {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return text[:at]
}

// first returns the result of the first splice that is proven.
func (e *edit) first(splices []splice, wanted []map[string]any) ([]byte, error) {
	for _, s := range splices {
		if out, ok := e.prove(s, wanted); ok {
			return []byte(out), nil
		}
	}
	line := 0
	for n := len(e.path); n > 0 && line == 0; n-- {
		line = e.lineOf(e.path[:n])
	}
	return nil, e.failure(ErrNoPlace, line, "there is no place where only this key would change", "edit it by hand")
}

// isSingle reports whether a decoded value is no table and no list.
func isSingle(value any) bool {
	switch value.(type) {
	case map[string]any, []map[string]any, []any:
		return false
	}
	return true
}

// inTheWay says that the first depth names of the path lead to something that
// cannot be edited.
func (e *edit) inTheWay(depth int) error {
	key := e.path[:depth]
	value, _ := look(e.tree, key)
	what := "a single value"
	switch value.(type) {
	case map[string]any:
		what = "a table"
	case []map[string]any, []any:
		what = "a list"
	}
	if depth == len(e.path) {
		return e.failure(ErrInTheWay, e.lineOf(key), "it is "+what+", not a single value", "remove it by hand first")
	}
	return e.failure(ErrInTheWay, e.lineOf(key), written(key)+" is "+what+", not a table", "make it a table by hand first")
}

func (e *edit) notTOML(line int) error {
	return e.failure(ErrSyntax, line, "the document is not valid TOML", "correct it first")
}

func (e *edit) failure(cause error, line int, message, hint string) error {
	return &Error{Cause: cause, Doing: e.doing, Line: line, Message: message, Hint: hint}
}

// A Reading is what a document means.
type Reading struct{ tree map[string]any }

// Read decodes a document. The error says that it is no TOML.
func Read(doc []byte) (Reading, error) {
	m, err := decode(strings.TrimPrefix(string(doc), "\ufeff"))
	return Reading{m.tree}, err
}

// Get returns the string at path, false if there is none.
func (r Reading) Get(path ...string) (string, bool) {
	value, depth := look(r.tree, path)
	text, ok := value.(string)
	return text, ok && depth == len(path)
}
