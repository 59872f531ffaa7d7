package elicit

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A Form is a server's form as an editor gets it, and the judge of the answers
// to it. It is made by ParseForm, is never changed, and may be used from any
// goroutine.
type Form struct {
	schema json.RawMessage
	fields []field
	// closed: the server takes no fields but its own.
	closed bool
}

// Schema returns the form's schema, on one line. It must not be written to.
func (f *Form) Schema() json.RawMessage { return f.schema }

// Empty reports whether there is nothing to fill in.
func (f *Form) Empty() bool { return len(f.fields) == 0 }

// An AnswerError says what is wrong with the content of an answer. It never
// quotes the answer.
type AnswerError struct {
	// Pointer is a JSON pointer into the content, "" for the whole.
	Pointer string
	// Problem reads after the pointer: "is required", "must be …".
	Problem string
}

// Error returns the place and the problem.
func (e *AnswerError) Error() string {
	if e.Pointer == "" {
		return "content " + e.Problem
	}
	return "content" + e.Pointer + " " + e.Problem
}

// Validate reports, as an *AnswerError, why content is not an answer to the
// form: the first problem in the order of the content, then the first missing
// field in the order of the form. Absent and null content is an empty object,
// a null member is a field left out. Fields that the form lacks may hold
// primitive values and lists of strings, unless the server forbids them.
// Validate what FillDefaults returns.
func (f *Form) Validate(content json.RawMessage) error {
	if isNothing(content) {
		content = json.RawMessage("{}")
	}
	given := map[string]bool{}
	var problem *AnswerError
	err := rawjson.Object(content, func(key, value []byte) error {
		name := string(key)
		what := ""
		switch i := slices.IndexFunc(f.fields, func(x field) bool { return x.name == name }); {
		case given[name]:
			what = "is given twice"
		case rawjson.Kind(value) == 'n':
			return nil
		case i >= 0:
			what = f.fields[i].check(value)
		case f.closed:
			what = "is no field of the form"
		default:
			what = checkUnknown(value)
		}
		given[name] = true
		if what != "" && problem == nil {
			problem = &AnswerError{Pointer: "/" + pointerToken(name), Problem: what}
		}
		return nil
	})
	if err != nil {
		return &AnswerError{Problem: "must be an object"}
	}
	if problem != nil {
		return problem
	}
	for _, x := range f.fields {
		if x.required && !given[x.name] {
			return &AnswerError{Pointer: "/" + pointerToken(x.name), Problem: "is required"}
		}
	}
	return nil
}

// FillDefaults returns content with the defaults of the fields that it leaves
// out, and without members that are null. What is there keeps its bytes and
// order. Absent and null content counts as an empty object; content that is
// not an object is returned as it is, for Validate to refuse.
func (f *Form) FillDefaults(content json.RawMessage) json.RawMessage {
	if isNothing(content) {
		content = json.RawMessage("{}")
	}
	out := []byte{'{'}
	given := map[string]bool{}
	changed := false
	err := rawjson.Object(content, func(key, value []byte) error {
		if rawjson.Kind(value) == 'n' {
			changed = true
			return nil
		}
		given[string(key)] = true
		out = appendMember(out, string(key), value)
		return nil
	})
	if err != nil {
		return content
	}
	for _, x := range f.fields {
		if x.fallback != nil && !given[x.name] {
			changed = true
			out = appendMember(out, x.name, x.fallback)
		}
	}
	if !changed {
		return rawjson.SingleLine(content)
	}
	return rawjson.SingleLine(append(out, '}'))
}

func isNothing(content json.RawMessage) bool {
	return len(content) == 0 || rawjson.Kind(content) == 'n' && rawjson.Valid(content) == nil
}

// checkUnknown checks a member that the form does not name by what MCP lets an
// answer hold.
func checkUnknown(value []byte) string {
	switch rawjson.Kind(value) {
	case '{':
		return "must not be an object"
	case '[':
		return checkStrings(value, func(string) string { return "" })
	}
	return ""
}

// A kind is the kind of a field.
type kind int

const (
	kindString kind = iota
	kindNumber
	kindInteger
	kindBoolean
	kindChoice  // one of a list
	kindChoices // some of a list
)

func (k kind) typeWord() string {
	switch k {
	case kindNumber:
		return "number"
	case kindInteger:
		return "integer"
	case kindBoolean:
		return "boolean"
	case kindChoices:
		return "array"
	case kindString, kindChoice:
	}
	return "string"
}

// A field is one field of a form.
type field struct {
	name     string
	kind     kind
	required bool
	// fallback is the default, nil for none.
	fallback []byte

	// minLength and maxLength bound the characters of a text and the number
	// of choices.
	minLength, maxLength int64
	format               string
	pattern              *regexp.Regexp

	// minimum … below are JSON numbers, nil for none.
	minimum, maximum, above, below []byte
	// numbers and booleans list the values allowed, if not all are.
	numbers, booleans [][]byte

	// options are the choices of kindChoice and kindChoices.
	options []string
	unique  bool
}

func newField() *field { return &field{maxLength: math.MaxInt64} }

// check returns what is wrong with a value, "" if nothing is.
func (f *field) check(value []byte) string {
	switch f.kind {
	case kindString:
		s, ok := rawjson.String(value)
		if !ok {
			return "must be a string"
		}
		return f.checkText(s)
	case kindNumber, kindInteger:
		return f.checkNumber(value)
	case kindBoolean:
		switch {
		case string(value) != "true" && string(value) != "false":
			return "must be true or false"
		case f.booleans != nil && !slices.ContainsFunc(f.booleans, func(b []byte) bool { return string(b) == string(value) }):
			return "must be " + string(f.booleans[0])
		}
		return ""
	case kindChoice:
		s, ok := rawjson.String(value)
		if !ok {
			return "must be a string"
		}
		return f.checkOption(s)
	case kindChoices:
		return f.checkChoices(value)
	}
	return "is of an unknown kind"
}

func (f *field) checkText(s string) string {
	switch n := int64(utf8.RuneCountInString(s)); {
	case n < f.minLength:
		return "must have at least " + strconv.FormatInt(f.minLength, 10) + " characters"
	case n > f.maxLength:
		return "must have at most " + strconv.FormatInt(f.maxLength, 10) + " characters"
	case f.format != "" && !formats[f.format](s):
		return "must be in the format " + f.format
	case f.pattern != nil && !f.pattern.MatchString(s):
		return "must match the pattern " + Clean(f.pattern.String(), maxPatternLength)
	}
	return ""
}

func (f *field) checkNumber(value []byte) string {
	if rawjson.Kind(value) != '0' || finite(value) == nil {
		return "must be a number"
	}
	if f.kind == kindInteger && !isWhole(value) {
		return "must be a whole number"
	}
	switch {
	case f.minimum != nil && compare(value, f.minimum) < 0:
		return "must be at least " + string(f.minimum)
	case f.maximum != nil && compare(value, f.maximum) > 0:
		return "must be at most " + string(f.maximum)
	case f.above != nil && compare(value, f.above) <= 0:
		return "must be more than " + string(f.above)
	case f.below != nil && compare(value, f.below) >= 0:
		return "must be less than " + string(f.below)
	case f.numbers != nil && !slices.ContainsFunc(f.numbers, func(n []byte) bool { return finite(n) != nil && compare(value, n) == 0 }):
		return "must be one of the choices"
	}
	return ""
}

func (f *field) checkOption(s string) string {
	if !slices.Contains(f.options, s) {
		return "must be one of the choices"
	}
	return ""
}

func (f *field) checkChoices(value []byte) string {
	var n int64
	seen := map[string]bool{}
	what := checkStrings(value, func(s string) string {
		n++
		if f.unique && seen[s] {
			return "must not repeat a choice"
		}
		seen[s] = true
		return f.checkOption(s)
	})
	switch {
	case what != "":
		return what
	case n < f.minLength:
		return "must have at least " + strconv.FormatInt(f.minLength, 10) + " choices"
	case n > f.maxLength:
		return "must have at most " + strconv.FormatInt(f.maxLength, 10) + " choices"
	}
	return ""
}

// checkStrings checks a list of strings, each by itself.
func checkStrings(value []byte, check func(string) string) string {
	what := ""
	err := rawjson.Array(value, func(_ int, v []byte) error {
		s, ok := rawjson.String(v)
		switch {
		case what != "":
		case !ok:
			what = "must be a list of strings"
		default:
			what = check(s)
		}
		return nil
	})
	if err != nil {
		return "must be a list of strings"
	}
	return what
}

// isWhole reports whether a JSON number is whole; 1.0 is (JSON Schema 2020-12,
// 6.1.1).
func isWhole(number []byte) bool {
	if !slices.ContainsFunc(number, func(c byte) bool { return c == '.' || c == 'e' || c == 'E' }) {
		return true
	}
	x, err := strconv.ParseFloat(string(number), 64)
	return err == nil && x == math.Trunc(x)
}

// compare compares JSON numbers: exactly as 64-bit integers where both are,
// else as floats.
func compare(a, b []byte) int {
	x, errX := strconv.ParseInt(string(a), 10, 64)
	y, errY := strconv.ParseInt(string(b), 10, 64)
	if errX == nil && errY == nil {
		return order(x, y)
	}
	u, _ := strconv.ParseFloat(string(a), 64)
	v, _ := strconv.ParseFloat(string(b), 64)
	return order(u, v)
}

func order[T int64 | float64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
