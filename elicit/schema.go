package elicit

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
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
	maxSchemaWork    = 64 << 20 // bytes read while references are followed
	maxPatternLength = 1 << 10
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
	f := &Form{closed: string(root.get("additionalProperties")) == "false"}
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

// A member is one member of a schema object.
type member struct {
	key   string
	value []byte
}

// An object is a schema object: members in order, each key once.
type object []member

// parseObject reads an object; of a key given twice the last value counts, as
// with most readers.
func parseObject(raw []byte) (object, error) {
	var o object
	index := map[string]int{}
	err := rawjson.Object(raw, func(key, value []byte) error {
		if i, ok := index[string(key)]; ok {
			o[i].value = value
			return nil
		}
		index[string(key)] = len(o)
		o = append(o, member{string(key), value})
		return nil
	})
	return o, err
}

func (o object) get(key string) []byte {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// over returns o with the members of base that it lacks. Properties and names
// of required ones add up.
func (o object) over(base object) object {
	for _, m := range base {
		i := slices.IndexFunc(o, func(n member) bool { return n.key == m.key })
		switch {
		case i < 0:
			o = append(o, m)
		case m.key == "properties":
			mine, _ := parseObject(o[i].value)
			theirs, _ := parseObject(m.value)
			for _, property := range theirs {
				if len(mine) <= maxFields && mine.get(property.key) == nil {
					mine = append(mine, property)
				}
			}
			o[i].value = mine.bytes()
		case m.key == "required":
			o[i].value = appendStrings(nil, append(stringList(o[i].value), stringList(m.value)...))
		}
	}
	return o
}

func (o object) bytes() []byte {
	out := []byte{'{'}
	for _, m := range o {
		out = appendMember(out, m.key, m.value)
	}
	return append(out, '}')
}

func (o object) without(keys ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(keys, m.key) })
}

// resolve returns a schema as one object: its reference and the schemas of its
// allOf are merged in, the outer members winning.
func (p *parser) resolve(at string, raw []byte, depth int) (object, error) {
	if depth > maxSchemaDepth {
		return nil, &SchemaError{at, "refers to itself, or nests too deep"}
	}
	if p.work += len(raw); p.work > maxSchemaWork {
		return nil, &SchemaError{at, "takes too many references to read"}
	}
	switch string(raw) {
	case "true":
		return object{}, nil
	case "false":
		return nil, &SchemaError{at, "accepts nothing"}
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, &SchemaError{at, "must be an object"}
	}
	if len(o) > maxKeywords {
		return nil, &SchemaError{at, "has more than " + strconv.Itoa(maxKeywords) + " members"}
	}
	if ref := o.get("$ref"); ref != nil {
		target, err := p.lookup(at, ref)
		if err != nil {
			return nil, err
		}
		base, err := p.resolve(at, target, depth+1)
		if err != nil {
			return nil, err
		}
		o = o.without("$ref").over(base)
	}
	if all := o.get("allOf"); all != nil {
		parts, err := p.list(at+"/allOf", all, depth)
		if err != nil {
			return nil, err
		}
		o = o.without("allOf")
		for _, part := range parts {
			o = o.over(part)
		}
	}
	return o, nil
}

// primitive is resolve for a field: alternatives are settled too. They are
// returned if they are choices; one that remains when null is taken out is the
// field itself. Of several a field without a type of its own gets the first
// that a form can show: its answers are answers to the whole.
func (p *parser) primitive(at string, raw []byte) (o object, alternatives []object, err error) {
	return p.settle(at, raw, 0)
}

func (p *parser) settle(at string, raw []byte, depth int) (o object, alternatives []object, err error) {
	if o, err = p.resolve(at, raw, depth); err != nil {
		return nil, nil, err
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		list := o.get(word)
		if list == nil {
			continue
		}
		parts, err := p.list(at+"/"+word, list, depth)
		if err != nil {
			return nil, nil, err
		}
		parts = slices.DeleteFunc(parts, isNullSchema)
		if len(parts) > 0 && allConst(parts) {
			return o, parts, nil
		}
		o = o.without(word)
		_, typed := typeWord(o)
		switch {
		case len(parts) == 1:
			o = o.over(parts[0])
		case len(parts) > 1 && !typed:
			i := slices.IndexFunc(parts, func(o object) bool { _, err := kindOf(at, o); return err == nil })
			o = o.over(parts[max(i, 0)])
		}
	}
	return o, nil, nil
}

// list reads a list of schemas, each as one object.
func (p *parser) list(at string, raw []byte, depth int) ([]object, error) {
	var parts []object
	err := rawjson.Array(raw, func(i int, value []byte) error {
		if i >= maxOptions {
			return &SchemaError{at, "has more than " + strconv.Itoa(maxOptions) + " entries"}
		}
		part, _, err := p.settle(at+"/"+strconv.Itoa(i), value, depth+1)
		parts = append(parts, part)
		return err
	})
	if _, ok := err.(*rawjson.SyntaxError); ok {
		return nil, &SchemaError{at, "must be a list"}
	}
	return parts, err
}

// lookup finds what a local reference points at.
func (p *parser) lookup(at string, ref []byte) ([]byte, error) {
	at += "/$ref"
	s, ok := rawjson.String(ref)
	if !ok || s != "#" && !strings.HasPrefix(s, "#/") {
		return nil, &SchemaError{at, "must point into the schema itself (#/…)"}
	}
	p.work += len(p.root)
	value := []byte(p.root)
	for token := range strings.SplitSeq(strings.TrimPrefix(s, "#"), "/") {
		if token == "" && string(value) == string(p.root) {
			continue // the empty text before the first slash
		}
		o, err := parseObject(value)
		if err != nil {
			return nil, &SchemaError{at, "points at nothing"}
		}
		if value = o.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token)); value == nil {
			return nil, &SchemaError{at, "points at nothing"}
		}
	}
	return value, nil
}

func isNullSchema(o object) bool {
	t, ok := rawjson.String(o.get("type"))
	return ok && t == "null" || string(o.get("const")) == "null"
}

func allConst(parts []object) bool {
	return !slices.ContainsFunc(parts, func(o object) bool { return o.get("const") == nil })
}

// field reads one property and returns it with its cleaned schema.
func (p *parser) field(at string, raw []byte) (*field, []byte, error) {
	o, alternatives, err := p.primitive(at, raw)
	if err != nil {
		return nil, nil, err
	}
	f := newField()
	choices, err := optionsOf(at, o, alternatives)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case choices != nil && choices.numbers:
		f.kind = kindNumber
		if t, _ := typeWord(o); t == "integer" {
			f.kind = kindInteger
		}
		f.numbers = choices.raw
	case choices != nil && choices.booleans:
		f.kind = kindBoolean
		f.booleans = choices.raw
	case choices != nil:
		f.kind = kindChoice
		f.options = choices.values
	default:
		if f.kind, err = kindOf(at, o); err != nil {
			return nil, nil, err
		}
	}
	w := writer{field: f, in: o, choices: choices}
	if f.kind == kindChoices {
		if w.items, err = p.items(at, o, f); err != nil {
			return nil, nil, err
		}
	}
	f.readBounds(o)
	return f, w.schema(), nil
}

// items reads the choices of a list and returns their cleaned schema.
func (p *parser) items(at string, o object, f *field) ([]byte, error) {
	at += "/items"
	raw := o.get("items")
	if raw == nil {
		return nil, &SchemaError{at, "is missing: a list must say what may be chosen"}
	}
	items, alternatives, err := p.primitive(at, raw)
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
	f.options = choices.values
	if choices.titles == nil {
		return append(appendMember([]byte(`{"type":"string"`), "enum", appendStrings(nil, choices.values)), '}'), nil
	}
	return append(appendMember([]byte(`{`), "anyOf", choices.titled()), '}'), nil
}

// choices are what a field may be chosen from.
type choices struct {
	values []string
	// titles has one text for each value, or is nil.
	titles []string
	// raw has the values as they came, when they are numbers or booleans,
	// which the closed shape can't list.
	raw               [][]byte
	numbers, booleans bool
	// names has the raw enumNames of the older form, or is nil.
	names []byte
}

// titled returns the choices as a list of const and title.
func (c *choices) titled() []byte {
	out := []byte{'['}
	for i, v := range c.values {
		if i > 0 {
			out = append(out, ',')
		}
		o := appendText([]byte{'{'}, "const", v)
		out = append(append(out, appendText(o, "title", c.titles[i])...), '}')
	}
	return append(out, ']')
}

// optionsOf returns the choices of a schema, nil if it has none. alternatives
// are those that are constants.
func optionsOf(at string, o object, alternatives []object) (*choices, error) {
	c := &choices{}
	var values [][]byte
	switch {
	case o.get("enum") != nil:
		at += "/enum"
		err := rawjson.Array(o.get("enum"), func(_ int, v []byte) error {
			values = append(values, v)
			return nil
		})
		if err != nil {
			return nil, &SchemaError{at, "must be a list"}
		}
		if names := stringList(o.get("enumNames")); len(names) == len(values) && len(names) > 0 {
			c.names = o.get("enumNames")
		}
	case o.get("const") != nil:
		at += "/const"
		values = [][]byte{o.get("const")}
	case alternatives != nil:
		for _, alternative := range alternatives {
			title, ok := rawjson.String(alternative.get("title"))
			if !ok {
				title, _ = rawjson.String(alternative.get("const"))
			}
			values = append(values, alternative.get("const"))
			c.titles = append(c.titles, Clean(title, maxTitle))
		}
	default:
		return nil, nil
	}
	return c, c.take(at, values)
}

// take sorts the values into c: all strings, all numbers or all booleans. A
// null among them only says that the field is optional.
func (c *choices) take(at string, values [][]byte) error {
	kinds := map[byte]bool{}
	seen := map[string]bool{}
	titles := c.titles
	c.titles = nil
	for i, v := range values {
		k := rawjson.Kind(v)
		if k == 'n' {
			c.names = nil
			continue
		}
		if k == 't' {
			k = 'f'
		}
		kinds[k] = true
		s, _ := rawjson.String(v)
		if k != '"' {
			s = string(v)
		}
		if seen[s] {
			c.names = nil
			continue
		}
		seen[s] = true
		c.values = append(c.values, s)
		c.raw = append(c.raw, v)
		if titles != nil {
			c.titles = append(c.titles, titles[i])
		}
	}
	switch {
	case len(c.values) == 0:
		return &SchemaError{at, "offers nothing to choose"}
	case len(c.values) > maxOptions:
		return &SchemaError{at, "has more than " + strconv.Itoa(maxOptions) + " entries"}
	case len(kinds) > 1 || kinds['{'] || kinds['[']:
		return &SchemaError{at, "must have values of one primitive type"}
	}
	c.numbers, c.booleans = kinds['0'], kinds['f']
	return nil
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

// readBounds reads what the field's values must keep to, beyond its kind.
func (f *field) readBounds(o object) {
	switch f.kind {
	case kindString:
		f.minLength = count(o.get("minLength"), 0)
		f.maxLength = count(o.get("maxLength"), math.MaxInt64)
		if format, _ := rawjson.String(o.get("format")); formats[format] != nil {
			f.format = format
		}
		if pattern, ok := rawjson.String(o.get("pattern")); ok && len(pattern) <= maxPatternLength {
			// A pattern in a dialect that RE2 lacks is left to the server.
			f.pattern, _ = regexp.Compile(pattern)
		}
	case kindNumber, kindInteger:
		f.minimum = finite(o.get("minimum"))
		f.maximum = finite(o.get("maximum"))
		f.above = finite(o.get("exclusiveMinimum"))
		f.below = finite(o.get("exclusiveMaximum"))
	case kindChoices:
		f.minLength = count(o.get("minItems"), 0)
		f.maxLength = count(o.get("maxItems"), math.MaxInt64)
		f.unique = string(o.get("uniqueItems")) == "true"
	case kindBoolean, kindChoice:
	}
	if def := o.get("default"); def != nil && rawjson.Kind(def) != 'n' && f.check(def) == "" {
		f.fallback = def
	}
}

// count reads a non-negative whole number of 32 bits; anything else is absent.
func count(raw []byte, absent int64) int64 {
	if n, ok := wholeNumber(raw); ok && 0 <= n && n <= math.MaxUint32 {
		return n
	}
	return absent
}

func wholeNumber(raw []byte) (int64, bool) {
	if rawjson.Kind(raw) != '0' {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > math.MaxUint32 {
		return 0, false
	}
	return int64(x), true
}

// finite returns raw if it is a number that a float64 can hold, else nil.
func finite(raw []byte) []byte {
	if rawjson.Kind(raw) != '0' {
		return nil
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
		return nil
	}
	return raw
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
