package elicit

import (
	"encoding/json"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A Form is a server's form as an editor gets it, and the judge of the answers
// to it. It is made by ParseForm, is never changed, and may be used from any
// goroutine.
type Form struct {
	schema json.RawMessage
	fields []field
	// byName has the index of each field.
	byName map[string]int
	// closed: the server takes no fields but its own.
	closed bool
}

// Schema returns the form's schema, on one line. It must not be written to.
func (f *Form) Schema() json.RawMessage { return f.schema }

// Empty reports whether there is nothing to fill in.
func (f *Form) Empty() bool { return len(f.fields) == 0 }

// An AnswerError says what is wrong with an answer. It never quotes the answer.
type AnswerError struct {
	// Pointer is a JSON pointer into the content, "" for the whole; or, with
	// Meta, into the answer's _meta.
	Pointer string
	Meta    bool
	// Problem reads after the pointer: "is required", "must be …".
	Problem string
}

// Place is a JSON pointer into the answer.
func (e *AnswerError) Place() string {
	if e.Meta {
		return "/_meta" + e.Pointer
	}
	return "/content" + e.Pointer
}

// Error returns the place, fit to be shown, and the problem.
func (e *AnswerError) Error() string { return Clean(e.Place(), maxName) + " " + e.Problem }

// Validate reports, as an *AnswerError, why content is not an answer to the
// form: the first problem in the order of the content, then the first missing
// field in the order of the form. Absent and null content is an empty object,
// a null member is a field left out. Fields that the form lacks may hold
// primitive values and lists of strings, unless the server forbids them.
func (f *Form) Validate(content json.RawMessage) error {
	if isNothing(content) {
		content = json.RawMessage("{}")
	}
	given := map[string]bool{}
	var problem *AnswerError
	err := rawjson.Object(content, func(key, value []byte) error {
		name := string(key)
		at, what := "", ""
		switch i, known := f.byName[name]; {
		case problem != nil:
			return nil // but whether the rest is JSON has to be seen
		case rawjson.Kind(value) == 'n':
			return nil
		case given[name]:
			what = "is given twice"
		case known:
			at, what = f.fields[i].check(value)
		case f.closed:
			what = "is no field of the form"
		default:
			at, what = checkUnknown(value)
		}
		given[name] = true
		if what != "" {
			problem = &AnswerError{Pointer: "/" + pointerToken(name) + at, Problem: what}
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

// WithoutNulls returns content without the members that are null, which are
// fields left out: servers' validators take null for a value of the wrong
// type. What is there keeps its bytes and order. Absent and null content is an
// empty object; content that is not an object is returned as it is, for
// Validate to refuse.
func WithoutNulls(content json.RawMessage) json.RawMessage {
	if isNothing(content) {
		return json.RawMessage("{}")
	}
	out := []byte{'{'}
	null := false
	err := rawjson.Object(content, func(key, value []byte) error {
		if rawjson.Kind(value) == 'n' {
			null = true
		} else {
			out = appendMember(out, string(key), value)
		}
		return nil
	})
	switch {
	case err != nil:
		return content
	case !null:
		return rawjson.SingleLine(content)
	}
	return rawjson.SingleLine(append(out, '}'))
}

// FillDefaults returns content as WithoutNulls does, with the defaults of the
// fields that it leaves out at its end. An answer stays one.
func (f *Form) FillDefaults(content json.RawMessage) json.RawMessage {
	content = WithoutNulls(content)
	out := []byte{'{'}
	given := map[string]bool{}
	err := rawjson.Object(content, func(key, value []byte) error {
		given[string(key)] = true
		out = appendMember(out, string(key), value)
		return nil
	})
	if err != nil {
		return content
	}
	filled := false
	for _, x := range f.fields {
		if x.fallback != nil && !given[x.name] {
			filled = true
			out = appendMember(out, x.name, x.fallback)
		}
	}
	if !filled {
		return content
	}
	return rawjson.SingleLine(append(out, '}'))
}

func isNothing(content json.RawMessage) bool {
	return len(content) == 0 || rawjson.Kind(content) == 'n' && rawjson.Valid(content) == nil
}

// checkUnknown checks a member that the form does not name by what MCP lets an
// answer hold.
func checkUnknown(raw []byte) (at, problem string) {
	switch rawjson.Kind(raw) {
	case '{':
		return "", "must not be an object"
	case '[':
		return checkList(raw, []demand{isText})
	}
	return "", ""
}

// checkList checks the elements of a list, each by itself.
func checkList(raw []byte, demands []demand) (at, problem string) {
	_ = rawjson.Array(raw, func(i int, element []byte) error {
		if problem != "" {
			return nil
		}
		if problem = unmet(demands, valueOf(element)); problem != "" {
			at = "/" + strconv.Itoa(i)
		}
		return nil
	})
	return at, problem
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
	// demands are what a value has to meet; items are what each element of
	// kindChoices has to meet.
	demands, items []demand
}

// check returns what is wrong with a value, and where in it; "" if nothing is.
func (f *field) check(raw []byte) (at, problem string) {
	if f.kind == kindChoices && rawjson.Kind(raw) == '[' {
		if at, problem = checkList(raw, f.items); problem != "" {
			return at, problem
		}
	}
	return "", unmet(f.demands, valueOf(raw))
}
