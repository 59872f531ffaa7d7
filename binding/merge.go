package binding

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Providers refuse a root with alternatives. So they are merged: the
// properties of all, required what all require. That accepts what any of them
// does, and the alternatives are told in the tool's description.

// mergeWords are the keywords that a root may not have.
var mergeWords = []string{"oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref"}

func rootMerges(o object) bool {
	return slices.ContainsFunc(o, func(m member) bool { return slices.Contains(mergeWords, m.key) })
}

// maxMergeDepth bounds references and combinators that are followed from the
// root; deeper ones count as accepting everything.
const maxMergeDepth = 16

// More bounds of the same kind: schemas looked at, and members of one.
const (
	maxMergeSteps   = 200
	maxMergeMembers = 1000
)

// A shape is what a schema says of an object's members, or less.
type shape struct {
	props    []property
	required []string
	// closed: there are no members but props.
	closed bool
	// never: no object is accepted.
	never bool
}

type property struct {
	name   string
	schema []byte
	// any: schema accepts everything; it may still describe.
	any bool
}

func (s shape) find(name string) (property, bool) {
	for _, p := range s.props {
		if p.name == name {
			return p, true
		}
	}
	return property{}, false
}

// mergeRoot returns the members of a root o, which is raw, without mergeWords,
// and the text that says what was merged.
func (r *repair) mergeRoot(raw []byte, o object) (_ object, note string) {
	m := merger{resolver: newResolver(raw)}
	merged := m.flatten(raw, 0)
	for _, word := range mergeWords {
		if o.get(word) == nil {
			continue
		}
		change := "merged into the root's properties, which may accept more"
		switch word {
		case "not", "enum", "const":
			change = "dropped: a root may not have it"
		}
		r.widen(&pointer{key: word}, change)
	}
	m.steps = 0
	note = m.describe(raw)

	out := o.without(mergeWords...)
	if len(merged.props) > 0 || out.get("properties") != nil {
		var props object
		for _, p := range merged.props {
			props = append(props, member{p.name, p.schema})
		}
		out = out.with("properties", props.bytes())
	}
	if len(merged.required) > 0 {
		out = out.with("required", stringsBytes(merged.required))
	}
	if merged.closed && out.get("additionalProperties") == nil {
		out = out.with("additionalProperties", []byte("false"))
	}
	return out, note
}

// A merger flattens the parts of one root.
type merger struct {
	resolver *resolver
	refs     []string // being followed
	steps    int
}

// flatten returns what raw, a schema within the root, says of members.
func (m *merger) flatten(raw []byte, depth int) shape {
	o, ok := parseObject(raw)
	if !ok {
		return shape{never: isFalse(raw)}
	}
	s := own(o)
	if m.steps++; m.steps > maxMergeSteps || depth == maxMergeDepth {
		return s
	}
	if ref, ok := rawjson.String(o.get("$ref")); ok && !slices.Contains(m.refs, ref) {
		if target, ok := m.resolver.resolve(ref); ok {
			m.refs = append(m.refs, ref)
			s = both(s, m.flatten(target, depth+1))
			m.refs = m.refs[:len(m.refs)-1]
		}
	}
	parts, _ := parseArray(o.get("allOf"))
	for _, p := range parts {
		s = both(s, m.flatten(p, depth+1))
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		parts, _ := parseArray(o.get(word))
		if len(parts) == 0 {
			continue
		}
		var alternatives []shape
		if len(parts) > maxMergeSteps {
			continue
		}
		for _, p := range parts {
			if a := m.flatten(p, depth+1); !a.never {
				alternatives = append(alternatives, a)
			}
		}
		s = both(s, either(alternatives))
	}
	return s
}

// own returns what the keywords of o themselves say.
func own(o object) shape {
	s := shape{never: !mayBeObject(o.get("type"))}
	props, _ := parseObject(o.get("properties"))
	if len(props) > maxMergeMembers {
		return s
	}
	for _, p := range props {
		s.props = append(s.props, property{p.key, p.val, acceptsAll(p.val)})
	}
	if s.required, _ = stringsOf(o.get("required")); len(s.required) > maxMergeMembers {
		s.required = nil
	}
	s.closed = isFalse(o.get("additionalProperties")) && o.get("patternProperties") == nil
	return s
}

func mayBeObject(types []byte) bool {
	if word, ok := rawjson.String(types); ok {
		return word == "object"
	}
	list, _ := stringsOf(types)
	return len(list) == 0 || slices.Contains(list, "object")
}

// annotations are the keywords that don't refuse anything.
var annotations = []string{"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"}

func acceptsAll(schema []byte) bool {
	o, ok := parseObject(schema)
	return ok && len(o.without(annotations...)) == 0 || isTrue(schema)
}

// both returns the shape of what is accepted by a and by b.
func both(a, b shape) shape {
	out := shape{closed: a.closed || b.closed, never: a.never || b.never}
	for _, p := range a.props {
		if q, ok := b.find(p.name); ok {
			p = bothProperties(p, q)
		}
		out.props = append(out.props, p)
	}
	for _, p := range b.props {
		if _, ok := a.find(p.name); !ok {
			out.props = append(out.props, p)
		}
	}
	if len(out.props) > maxMergeMembers {
		out = shape{never: out.never}
	}
	out.required = slices.Clone(a.required)
	for _, name := range b.required {
		if len(out.required) < maxMergeMembers && !slices.Contains(out.required, name) {
			out.required = append(out.required, name)
		}
	}
	return out
}

func bothProperties(p, q property) property {
	switch {
	case bytes.Equal(p.schema, q.schema), q.any && !p.any:
		return p
	case p.any:
		return q
	}
	return property{name: p.name, schema: object{{"allOf", arrayBytes([][]byte{p.schema, q.schema})}}.bytes()}
}

// either returns a shape that accepts whatever one of the alternatives does.
func either(alternatives []shape) shape {
	if len(alternatives) == 0 {
		return shape{} // nothing was accepted; that can't be meant
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	out := shape{closed: true, required: slices.Clone(alternatives[0].required)}
	met := make(map[string]bool)
	for _, a := range alternatives {
		if len(out.props) > maxMergeMembers {
			return shape{}
		}
		out.closed = out.closed && a.closed
		out.required = slices.DeleteFunc(out.required, func(name string) bool { return !slices.Contains(a.required, name) })
		for _, p := range a.props {
			if !met[p.name] {
				met[p.name] = true
				out.props = append(out.props, eitherProperty(p.name, alternatives))
			}
		}
	}
	return out
}

// eitherProperty merges what the alternatives say of one member. One that
// leaves members open and does not name this one allows anything for it.
func eitherProperty(name string, alternatives []shape) property {
	var variants [][]byte
	out := property{name: name}
	for _, a := range alternatives {
		p, ok := a.find(name)
		switch {
		case ok:
			out.any = out.any || p.any
			if !slices.ContainsFunc(variants, func(v []byte) bool { return bytes.Equal(v, p.schema) }) {
				variants = append(variants, p.schema)
			}
		case !a.closed:
			out.any = true
		}
	}
	if all := []byte("{}"); out.any && !slices.ContainsFunc(variants, acceptsAll) {
		variants = append(variants, all)
	}
	switch {
	case len(variants) == 1:
		out.schema = variants[0]
	default:
		if out.schema = joinConstants(variants); out.schema == nil {
			out.schema = object{{"anyOf", arrayBytes(variants)}}.bytes()
		}
	}
	return out
}

// joinConstants returns one enum for variants that each allow one constant
// only, nil if there is another.
func joinConstants(variants [][]byte) []byte {
	var values [][]byte
	var types []byte
	for i, v := range variants {
		o, _ := parseObject(v)
		value, ok := constant(o)
		if !ok || len(o.without("const", "enum", "type")) > 0 {
			return nil
		}
		if i == 0 {
			types = o.get("type")
		} else if !bytes.Equal(types, o.get("type")) {
			return nil
		}
		values = append(values, value)
	}
	var o object
	if types != nil {
		o = object{{"type", types}}
	}
	return append(o, member{"enum", arrayBytes(values)}).bytes()
}

// constant returns the one value that a schema allows by const or enum.
func constant(o object) ([]byte, bool) {
	if c := o.get("const"); c != nil {
		return c, o.get("enum") == nil
	}
	values, _ := parseArray(o.get("enum"))
	if len(values) == 1 {
		return values[0], true
	}
	return nil, false
}

// maxConstant bounds a constant that is quoted in a description.
const maxConstant = 64

// describe tells the alternatives of a root: their members, the optional ones
// with a question mark, constants with their value.
func (m *merger) describe(raw []byte) string {
	o, _ := parseObject(raw)
	var notes []string
	for _, word := range []string{"oneOf", "anyOf"} {
		parts, _ := parseArray(o.get(word))
		if len(parts) > maxMergeSteps {
			continue
		}
		var told []string
		for _, p := range parts {
			a := m.flatten(p, 1)
			if a.never {
				continue
			}
			if text := describeShape(a); text != "{}" && !slices.Contains(told, text) {
				told = append(told, text)
			}
		}
		if len(told) < 2 {
			continue
		}
		intro := "The arguments must match at least one of these (? marks optional ones): "
		if word == "oneOf" {
			intro = "The arguments must match exactly one of these (? marks optional ones): "
		}
		notes = append(notes, clip(intro+strings.Join(told, " or "), maxNoteBytes))
	}
	if values := o.get("enum"); values != nil && len(values) <= maxNoteBytes {
		notes = append(notes, "The arguments must be one of "+string(values)+".")
	}
	return joinNotes(notes...)
}

func describeShape(s shape) string {
	var parts []string
	for _, p := range s.props {
		text := clip(p.name, maxListedName)
		if !slices.Contains(s.required, p.name) {
			text += "?"
		}
		o, _ := parseObject(p.schema)
		if value, ok := constant(o); ok && len(value) <= maxConstant {
			text += ": " + string(value)
		}
		parts = append(parts, text)
	}
	for _, name := range s.required {
		if _, ok := s.find(name); !ok {
			parts = append(parts, clip(name, maxListedName))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
