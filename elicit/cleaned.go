package elicit

import (
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A writer writes a field's schema in the closed shape: of the members that
// came only those that the kind knows, in their order and, where they fit,
// with their bytes.
type writer struct {
	field   *field
	in      object
	choices *choices
	items   []byte
	// chosen: the choices are written.
	chosen bool
}

func (w *writer) schema() []byte {
	out := []byte{'{'}
	if w.in.get("type") == nil {
		out = appendText(out, "type", w.field.kind.typeWord())
	}
	described := false
	for _, m := range w.in {
		switch m.key {
		case "type":
			out = appendText(out, "type", w.field.kind.typeWord())
		case "title":
			out = appendClean(out, m, maxTitle)
		case "description":
			described = true
			out = w.description(out)
		case "default":
			if w.field.fallback != nil {
				out = appendMember(out, m.key, m.value)
			}
		default:
			out = w.specific(out, m)
		}
	}
	if !described {
		out = w.description(out)
	}
	return append(out, '}')
}

// appendClean appends a text as it came if it is fit to be shown.
func appendClean(out []byte, m member, max int) []byte {
	text, ok := rawjson.String(m.value)
	switch {
	case !ok:
		return out
	case Clean(text, max) == text:
		return appendMember(out, m.key, m.value)
	}
	return appendText(out, m.key, Clean(text, max))
}

// description appends the description. Choices that are no strings can't be
// listed in the closed shape; they are told here.
func (w *writer) description(out []byte) []byte {
	if w.choices == nil || !w.choices.numbers && !w.choices.booleans {
		if raw := w.in.get("description"); raw != nil {
			return appendClean(out, member{"description", raw}, maxDescription)
		}
		return out
	}
	const half = maxDescription/2 - len(" ()") // so that the whole is not cut when it is read again
	text, _ := rawjson.String(w.in.get("description"))
	if text = Clean(text, half); text != "" {
		text += " "
	}
	return appendText(out, "description", text+"("+Clean("one of "+strings.Join(w.choices.values, ", "), half)+")")
}

// specific appends a member that belongs to the field's kind.
func (w *writer) specific(out []byte, m member) []byte {
	switch w.field.kind {
	case kindString:
		switch m.key {
		case "format":
			if format, _ := rawjson.String(m.value); formats[format] != nil {
				return appendMember(out, m.key, m.value)
			}
		case "minLength", "maxLength":
			return appendCount(out, m)
		}
	case kindNumber, kindInteger:
		switch m.key {
		case "minimum", "maximum":
			if numberOf(m.value) != nil {
				return appendMember(out, m.key, m.value)
			}
		case "exclusiveMinimum":
			if numberOf(m.value) != nil && numberOf(w.in.get("minimum")) == nil {
				return appendMember(out, "minimum", m.value)
			}
		case "exclusiveMaximum":
			if numberOf(m.value) != nil && numberOf(w.in.get("maximum")) == nil {
				return appendMember(out, "maximum", m.value)
			}
		}
	case kindChoice:
		switch m.key {
		case "enum", "const", "oneOf", "anyOf":
			if w.chosen {
				return out
			}
			w.chosen = true
			if w.choices.titles != nil {
				return appendMember(out, "oneOf", w.choices.titled())
			}
			out = appendMember(out, "enum", appendStrings(nil, w.choices.values))
			if w.choices.names != nil {
				out = appendMember(out, "enumNames", appendStrings(nil, w.choices.names))
			}
		}
	case kindChoices:
		switch m.key {
		case "items":
			return appendMember(out, m.key, w.items)
		case "minItems", "maxItems":
			return appendCount(out, m)
		}
	case kindBoolean:
	}
	return out
}

func appendCount(out []byte, m member) []byte {
	if n, ok := count(m.value); ok {
		return appendMember(out, m.key, strconv.AppendInt(nil, n, 10))
	}
	return out
}
