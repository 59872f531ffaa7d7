package elicit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

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
	if p.work += len(raw) + stepWork; p.work > maxSchemaWork {
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

// settle is resolve for a field: alternatives are settled too. They are
// returned if they are choices; one that remains when null is taken out is the
// field itself. Of several a field without a type of its own gets the first
// that a form can show: its answers are answers to the whole.
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
