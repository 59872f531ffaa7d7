package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A shapedSchema is an input schema in a shape that providers take.
type shapedSchema struct {
	schema  json.RawMessage
	changes []protocol.SpecChange
	// note is what the description must tell instead; "" if nothing.
	note string
}

// maxChanges bounds the changes told of one schema.
const maxChanges = 32

// shapeInput returns a server's input schema (an object, a boolean, or nil for
// none) as a provider takes it: a root of type object with properties and
// without oneOf, anyOf, allOf, not, enum or $ref; below it only what is well
// formed by the JSON Schema draft 2020-12. It accepts whatever arguments the
// server's schema accepts. A schema that is so already keeps its bytes.
//
// Arguments are always objects, so what a root says about other types is
// without effect and may go.
func shapeInput(raw json.RawMessage) shapedSchema {
	switch rawjson.Kind(raw) {
	case '{':
	case 't', 'f':
		return shapedSchema{
			schema:  json.RawMessage(emptySchema),
			changes: []protocol.SpecChange{{Path: "/inputSchema", Change: string(raw) + ": any arguments are allowed"}},
		}
	default:
		return shapedSchema{schema: json.RawMessage(emptySchema)} // the reader has noted it
	}
	r := repair{}
	schema := r.run(raw)
	schema, note := r.fixRoot(schema)
	return shapedSchema{schema: schema, changes: r.told(), note: note}
}

// told returns the changes with their place in the tool, bounded.
func (r *repair) told() []protocol.SpecChange {
	var told []protocol.SpecChange
	for i, c := range r.changes {
		if i == maxChanges {
			return append(told, protocol.SpecChange{
				Path: "/inputSchema", Change: fmt.Sprintf("and %d more changes", len(r.changes)-i)})
		}
		told = append(told, protocol.SpecChange{Path: "/inputSchema" + c.Path, Change: c.Change})
	}
	return told
}

// fixRoot gives a well-formed schema the root that providers want.
func (r *repair) fixRoot(raw []byte) (_ []byte, note string) {
	o, ok := parseObject(raw)
	if !ok {
		return []byte(emptySchema), ""
	}
	changed := false
	if rootMerges(o) {
		o, note = r.mergeRoot(raw, o)
		changed = true
	}
	if t := o.get("type"); string(t) != `"object"` {
		if t != nil {
			r.tell(&pointer{key: "type"}, string(t)+`: written as "object", which arguments are`)
		} else {
			r.tell(nil, `type "object" added`)
			o = append(object{{"type", nil}}, o...)
		}
		o = o.with("type", []byte(`"object"`))
		r.rootIsObject = true
		changed = true
	}
	if o.get("properties") == nil {
		r.tell(nil, "empty properties added")
		o = o.with("properties", []byte("{}"))
		changed = true
	}
	if !changed {
		return raw, note
	}
	// References may lead to what was merged, and what was widened may matter
	// elsewhere.
	return r.run(o.bytes()), note
}

// anthropicKey is what Anthropic takes as the name of a first-level property.
var anthropicKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// shapeForAnthropic moves first-level properties with names that Anthropic
// refuses into patternProperties, where they mean the same and names are free.
func shapeForAnthropic(s shapedSchema) shapedSchema {
	o, _ := parseObject(s.schema)
	properties, _ := parseObject(o.get("properties"))
	out := shapedSchema{changes: append([]protocol.SpecChange(nil), s.changes...)}
	var odd []string
	var moved object
	var moves []move
	kept, changed := properties.each(func(p member) ([]byte, bool) {
		if anthropicKey.MatchString(p.key) {
			return p.val, true
		}
		odd = append(odd, p.key)
		pattern := "^" + quotePattern(p.key) + "$"
		moved = append(moved, member{pattern, p.val})
		from := (&pointer{key: "properties"}).child(p.key).String()
		moves = append(moves, move{from, (&pointer{key: "patternProperties"}).child(pattern).String()})
		if len(odd) <= maxChanges {
			out.changes = append(out.changes, protocol.SpecChange{
				Path: "/inputSchema" + from, Change: "moved to patternProperties: the provider refuses the name"})
		}
		return nil, false
	})
	if !changed {
		return s
	}
	patterns, _ := parseObject(o.get("patternProperties"))
	patterns, _ = patterns.each(func(p member) ([]byte, bool) {
		for i, m := range moved {
			if m.key == p.key { // both hold
				moved = slices.Delete(moved, i, i+1)
				return object{{"allOf", arrayBytes([][]byte{p.val, m.val})}}.bytes(), true
			}
		}
		return p.val, true
	})
	patterns = append(slices.Clone(patterns), moved...)
	o = o.with("properties", kept.bytes()).with("patternProperties", patterns.bytes())
	out.schema = o.bytes()
	out.note = joinNotes(s.note, "These parameters are described under patternProperties: "+wordList(odd)+".")
	if bytes.Contains(out.schema, []byte(`"$ref"`)) {
		r := repair{moves: moves} // references into the properties
		out.schema = r.run(out.schema)
		out.changes = append(out.changes, r.told()...)
	}
	return out
}

// quotePattern escapes what means something in a regular expression, in
// JavaScript's syntax and in Go's alike.
func quotePattern(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$/`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Bounds of what is told in a description.
const (
	maxNoteBytes  = 1000
	maxListedName = 64
)

// wordList joins names for a description: on one line, bounded.
func wordList(list []string) string {
	var b strings.Builder
	for i, w := range list {
		w = clip(w, maxListedName)
		if b.Len()+len(w) > maxNoteBytes {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(rawjson.AppendString(nil, w))
	}
	return b.String()
}

// clip cuts s to at most n bytes, at the start of a character, and marks it.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return cutText(s, n) + "…"
}

func joinNotes(notes ...string) string {
	var all []string
	for _, n := range notes {
		if n != "" {
			all = append(all, n)
		}
	}
	return strings.Join(all, "\n\n")
}
