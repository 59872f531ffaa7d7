package binding

import (
	"bytes"
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// maxSchemaDepth bounds how deep schemas are nested in schemas; what is deeper
// becomes {}. The deepest of the captured catalogues has a third of it.
const maxSchemaDepth = 64

// A repair makes a schema well formed by draft 2020-12 without narrowing it.
//
// Most keywords are positive: with a wider subschema the whole is wider. So a
// malformed keyword is dropped and a subschema that is none becomes {}. Under
// not, if, oneOf and contains that would be wrong; there a change that is not
// an equivalence drops the keyword (oneOf becomes anyOf). The same holds for
// unevaluatedProperties and unevaluatedItems, which look at what other
// keywords have seen.
type repair struct {
	root    []byte
	changes []protocol.SpecChange
	// widened: some change is no equivalence.
	widened bool
	// cautious: widened will be true. A reference under a negative keyword may
	// lead to what was widened, and unevaluated keywords go.
	cautious bool
	// refs says of each reference that was met whether it leads somewhere.
	refs     map[string]bool
	resolver *resolver
	// moves are pointers that the last pass changed, moving those that this
	// one does.
	moves, moving []move
	// rootIsObject: the root has become narrower for what is no object, so
	// that references to it must go.
	rootIsObject bool
}

// A move is a JSON pointer's new value.
type move struct{ from, to string }

// tell records a change at a place of the schema.
func (r *repair) tell(at *pointer, change string) {
	r.changes = append(r.changes, protocol.SpecChange{Path: at.String(), Change: change})
}

// widen records a change that is no equivalence.
func (r *repair) widen(at *pointer, change string) {
	r.widened = true
	r.tell(at, change)
}

var delicate = [][]byte{
	[]byte(`"unevaluated`), []byte(`"not"`), []byte(`"if"`), []byte(`"oneOf"`), []byte(`"maxContains"`),
}

// maxPasses bounds how often a schema is gone through again because a change
// may have taken the target of a reference away.
const maxPasses = 8

// run repairs the schema raw, an object, and keeps its bytes if it is well
// formed.
func (r *repair) run(raw []byte) []byte {
	for range maxPasses {
		out := r.pass(raw)
		if bytes.Equal(out, raw) || !bytes.Contains(out, []byte(`"$ref"`)) {
			return out
		}
		raw = out
		r.moves, r.moving = r.moving, nil
	}
	return raw
}

// pass goes through the schema once; again, cautiously, if that turns out to
// be called for.
func (r *repair) pass(raw []byte) []byte {
	r.root, r.refs, r.resolver = raw, nil, newResolver(raw)
	told := len(r.changes)
	out, _ := r.schema(raw, nil, 0)
	if r.widened && !r.cautious && slices.ContainsFunc(delicate, func(word []byte) bool { return bytes.Contains(raw, word) }) {
		r.cautious = true
		r.changes, r.moving = r.changes[:told], nil
		out, _ = r.schema(raw, nil, 0)
	}
	return out
}

// schema returns the schema raw repaired; wider reports whether it accepts
// more than before.
func (r *repair) schema(raw []byte, at *pointer, depth int) (_ []byte, wider bool) {
	switch rawjson.Kind(raw) {
	case 't':
		r.tell(at, "true: written as {}")
		return []byte("{}"), false
	case 'f':
		r.tell(at, `false: written as {"not":{}}`)
		return []byte(`{"not":{}}`), false
	case '{':
	default:
		r.widen(at, "not a schema: anything is allowed")
		return []byte("{}"), true
	}
	if depth == maxSchemaDepth {
		if string(raw) == "{}" {
			return raw, false
		}
		r.widen(at, "nested too deep: anything is allowed")
		return []byte("{}"), true
	}
	o, ok := parseObject(raw)
	if !ok {
		r.widen(at, "not a schema: anything is allowed")
		return []byte("{}"), true
	}
	n := node{repair: r, at: at, depth: depth, before: o, after: o}
	for _, m := range o {
		if !slices.Contains(n.gone, m.key) { // taken away with another keyword
			n.keyword(m.key, m.val)
		}
	}
	if n.wantsItems() {
		r.tell(at, "array without items: empty items added")
		n.set("items", []byte("{}"))
	}
	if !n.changed {
		return raw, false
	}
	return n.after.bytes(), n.wider
}

// A node is one schema object under repair.
type node struct {
	*repair
	at            *pointer
	depth         int
	before, after object
	changed       bool // after is not before
	wider         bool // after accepts more
	gone          []string
}

func (n *node) set(key string, val []byte) {
	n.after = n.after.with(key, val)
	n.changed = true
}

// drop takes a keyword away for a reason; that never narrows.
func (n *node) drop(key, why string) {
	n.widen(n.at.child(key), "dropped: "+why)
	n.remove(key)
	n.wider = true
}

// remove takes away a keyword that says nothing.
func (n *node) remove(keys ...string) {
	n.after = n.after.without(keys...)
	n.gone = append(n.gone, keys...)
	n.changed = true
}

// wantsItems reports whether the node may be an array and does not say of
// what, which OpenAI and Gemini refuse.
func (n *node) wantsItems() bool {
	if n.after.get("items") != nil {
		return false
	}
	t := n.after.get("type")
	if s, ok := rawjson.String(t); ok {
		return s == "array"
	}
	list, _ := stringsOf(t)
	return slices.Contains(list, "array")
}

// child repairs the subschema of a keyword, or an element of it, in place.
func (n *node) child(val []byte, path ...string) (_ []byte, wider bool) {
	at := n.at
	for _, p := range path {
		at = at.child(p)
	}
	return n.schema(val, at, n.depth+1)
}

// follow takes over a repaired value.
func (n *node) follow(key string, old, val []byte, wider bool) {
	if !bytes.Equal(old, val) {
		n.set(key, val)
	}
	n.wider = n.wider || wider
}

// unsure reports whether a subschema may have been widened through a
// reference.
func (n *node) unsure(val []byte) bool {
	return n.cautious && (bytes.Contains(val, []byte(`"$ref"`)) || bytes.Contains(val, []byte(`"$dynamicRef"`)))
}

func (n *node) keyword(key string, val []byte) {
	switch key {
	case "type":
		n.typeWord(val)
	case "properties":
		n.properties(val)
	case "patternProperties", "$defs", "definitions", "dependentSchemas":
		n.table(key, val)
	case "dependencies":
		n.dependencies(val)
	case "items":
		n.items(val)
	case "then", "else", "propertyNames", "contentSchema":
		out, wider := n.child(val, key)
		n.follow(key, val, out, wider)
	case "additionalProperties", "additionalItems":
		n.orBoolean(key, val)
	case "unevaluatedProperties", "unevaluatedItems":
		if n.cautious {
			n.drop(key, "it would be narrower than before beside the other changes")
			return
		}
		n.orBoolean(key, val)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		n.list(key, val)
	case "not", "if", "contains":
		n.negative(key, val)
	case "required":
		n.names(key, val)
	case "dependentRequired":
		n.nameLists(key, val)
	case "$ref", "$dynamicRef":
		n.ref(key, val)
	case "exclusiveMinimum", "exclusiveMaximum":
		n.exclusive(key, val)
	default:
		n.scalar(key, val)
	}
}

func (n *node) orBoolean(key string, val []byte) {
	if isTrue(val) || isFalse(val) {
		return
	}
	out, wider := n.child(val, key)
	n.follow(key, val, out, wider)
}
