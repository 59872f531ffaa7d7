package elicit

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Limits of a server's form.
const (
	maxSchemaBytes   = 256 << 10 // as it came
	maxCleanedBytes  = 1 << 20   // after references were inlined
	maxFields        = 200
	maxOptions       = 1000     // choices of one field
	maxKeywords      = 200      // members of one schema
	maxSchemaDepth   = 32       // references and combinations inside each other
	maxSchemaWork    = 16 << 20 // bytes read while references are followed
	stepWork         = 256      // what a step counts beside its bytes
	maxPatternLength = 1 << 10
	maxPatternSize   = 4 << 10  // instructions of a compiled pattern
	maxPatternText   = 64 << 10 // bytes of an answer that a pattern is tried on
	maxShownNumber   = 64       // bytes of a number in an error
)

// A SchemaError says why a server's question can't be shown. Its text is meant
// for the server's author.
type SchemaError struct {
	// Pointer is a JSON pointer into the params of elicitation/create.
	Pointer string
	// Problem reads after the pointer: "must be …", "has no …".
	Problem string
}

// Error returns the place and the problem.
func (e *SchemaError) Error() string { return "elicitation: " + e.Pointer + " " + e.Problem }

// ParseForm reads a server's requestedSchema as it came and makes of it what an
// editor gets: an object schema with flat properties in their order, each in
// the closed shape of MCP's primitive schemas, which is also the one that
// Codex's clients accept.
//
// What only annotates is dropped (title and $schema of the whole, unknown
// keywords). Local references and single alternatives are inlined, an optional
// null is taken out, a missing type is told from the other keywords, choices
// come out as enum or as oneOf with titles, and defaults stay unless the field
// itself would refuse them. An absent or null schema is a form without fields.
// Nested objects, lists of free values, references that lead nowhere or in a
// circle, and forms over the limits are a *SchemaError.
func ParseForm(schema json.RawMessage) (*Form, error) {
	p := parser{root: schema}
	f, err := p.form(schema)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// A parser reads one schema; root is where local references point into.
type parser struct {
	root json.RawMessage
	// work counts the bytes that were read, again and again where references
	// say so; size counts those of the cleaned properties.
	work, size int
}

func (p *parser) form(schema json.RawMessage) (*Form, error) {
	const here = "/requestedSchema"
	if len(schema) > maxSchemaBytes {
		return nil, &SchemaError{here, "is larger than " + strconv.Itoa(maxSchemaBytes) + " bytes"}
	}
	if k := rawjson.Kind(schema); len(schema) == 0 || k == 'n' && rawjson.Valid(schema) == nil {
		schema = json.RawMessage(`{}`)
	}
	if err := rawjson.Valid(schema); err != nil {
		return nil, &SchemaError{here, "must be an object"}
	}
	root, err := p.resolve(here, schema, 0)
	if err != nil {
		return nil, err
	}
	if t, ok := typeWord(root); ok && t != "object" {
		return nil, &SchemaError{here + "/type", "must be object"}
	}
	f := &Form{byName: map[string]int{}, closed: string(root.get("additionalProperties")) == "false"}
	required := map[string]bool{}
	for _, name := range stringList(root.get("required")) {
		required[name] = true
	}
	var properties object
	if raw := root.get("properties"); raw != nil && rawjson.Kind(raw) != 'n' {
		if properties, err = parseObject(raw); err != nil {
			return nil, &SchemaError{here + "/properties", "must be an object"}
		}
	}
	if len(properties) > maxFields {
		return nil, &SchemaError{here + "/properties", "has more than " + strconv.Itoa(maxFields) + " fields"}
	}
	out := []byte{'{'}
	must := []byte{'['}
	for _, m := range properties {
		field, spec, err := p.field(here+"/properties/"+pointerToken(m.key), m.value)
		if err != nil {
			return nil, err
		}
		if p.size += len(spec); p.size > maxCleanedBytes {
			return nil, &SchemaError{here, "is too large once its references are inlined"}
		}
		field.name = m.key
		field.required = required[m.key]
		f.byName[m.key] = len(f.fields)
		f.fields = append(f.fields, *field)
		out = appendMember(out, m.key, spec)
		if field.required {
			if len(must) > 1 {
				must = append(must, ',')
			}
			must = rawjson.AppendString(must, m.key)
		}
	}
	whole := []byte(`{"type":"object"`)
	whole = appendMember(whole, "properties", append(out, '}'))
	if len(must) > 1 {
		whole = appendMember(whole, "required", append(must, ']'))
	}
	f.schema = rawjson.SingleLine(append(whole, '}'))
	return f, nil
}

// field reads one property and returns it with its cleaned schema.
func (p *parser) field(at string, raw []byte) (*field, []byte, error) {
	o, alternatives, err := p.settle(at, raw, 0)
	if err != nil {
		return nil, nil, err
	}
	choices, err := optionsOf(at, o, alternatives)
	if err != nil {
		return nil, nil, err
	}
	f := &field{}
	switch {
	case choices != nil && choices.numbers:
		f.kind = kindNumber
		if t, _ := typeWord(o); t == "integer" {
			f.kind = kindInteger
		}
	case choices != nil && choices.booleans:
		f.kind = kindBoolean
	case choices != nil:
		f.kind = kindChoice
	default:
		if f.kind, err = kindOf(at, o); err != nil {
			return nil, nil, err
		}
	}
	f.demands = demandsOf(f.kind, o, choices)
	w := writer{field: f, in: o, choices: choices}
	if f.kind == kindChoices {
		if w.items, err = p.items(at, o, f); err != nil {
			return nil, nil, err
		}
	}
	if def := o.get("default"); def != nil && rawjson.Kind(def) != 'n' {
		if _, problem := f.check(def); problem == "" {
			f.fallback = def
		}
	}
	return f, w.schema(), nil
}

// items reads the choices of a list and returns their cleaned schema.
func (p *parser) items(at string, o object, f *field) ([]byte, error) {
	at += "/items"
	raw := o.get("items")
	if raw == nil {
		return nil, &SchemaError{at, "is missing: a list must say what may be chosen"}
	}
	items, alternatives, err := p.settle(at, raw, 0)
	if err != nil {
		return nil, err
	}
	choices, err := optionsOf(at, items, alternatives)
	if err != nil {
		return nil, err
	}
	if choices == nil || choices.numbers || choices.booleans {
		return nil, &SchemaError{at, "must be a choice of strings (enum, or anyOf with const and title)"}
	}
	f.items = []demand{choiceDemand(choices.values)}
	if choices.titles == nil {
		return append(appendMember([]byte(`{"type":"string"`), "enum", appendStrings(nil, choices.values)), '}'), nil
	}
	return append(appendMember([]byte(`{`), "anyOf", choices.titled()), '}'), nil
}

// typeWord returns the first type that is not null, and whether there is one.
func typeWord(o object) (string, bool) {
	raw := o.get("type")
	if t, ok := rawjson.String(raw); ok {
		return t, t != "null"
	}
	for _, t := range stringList(raw) {
		if t != "null" {
			return t, true
		}
	}
	return "", false
}

// kindOf tells the kind of a field without choices, from its type or else from
// the other keywords. A field that accepts anything is offered as a text.
func kindOf(at string, o object) (kind, error) {
	t, ok := typeWord(o)
	if !ok {
		switch {
		case o.get("properties") != nil:
			t = "object"
		case o.get("items") != nil:
			t = "array"
		case o.get("minimum") != nil || o.get("maximum") != nil || o.get("exclusiveMinimum") != nil || o.get("exclusiveMaximum") != nil:
			t = "number"
		case rawjson.Kind(o.get("default")) == 't' || rawjson.Kind(o.get("default")) == 'f':
			t = "boolean"
		case rawjson.Kind(o.get("default")) == '0':
			t = "number"
		default:
			t = "string"
		}
	}
	switch t {
	case "string":
		return kindString, nil
	case "number":
		return kindNumber, nil
	case "integer":
		return kindInteger, nil
	case "boolean":
		return kindBoolean, nil
	case "array":
		return kindChoices, nil
	case "object":
		return 0, &SchemaError{at, "is an object: a form has flat fields only"}
	}
	return 0, &SchemaError{at + "/type", "must be string, number, integer, boolean or array"}
}

// count reads a non-negative whole number of 32 bits; anything else is none.
func count(raw []byte) (n int64, ok bool) {
	if rawjson.Kind(raw) != '0' {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || x < 0 || x > math.MaxUint32 {
		return 0, false
	}
	return int64(x), true
}

// stringList returns the strings of a list; anything else in it is left out.
func stringList(raw []byte) []string {
	var out []string
	_ = rawjson.Array(raw, func(_ int, v []byte) error {
		if s, ok := rawjson.String(v); ok {
			out = append(out, s)
		}
		return nil
	})
	return out
}

// pointerToken escapes a key for a JSON pointer (RFC 6901).
func pointerToken(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, ']')
}
