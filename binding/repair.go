package binding

import (
	"bytes"
	"slices"
	"strings"

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

var schemaTypes = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

func (n *node) typeWord(val []byte) {
	at := n.at.child("type")
	if s, ok := rawjson.String(val); ok {
		if slices.Contains(schemaTypes, s) {
			return
		}
		if lower := strings.ToLower(s); slices.Contains(schemaTypes, lower) {
			n.tell(at, "written in lower case")
			n.set("type", rawjson.AppendString(nil, lower))
			return
		}
		n.drop("type", "no type of JSON Schema")
		return
	}
	list, all := stringsOf(val)
	var once []string
	for _, s := range list {
		s = strings.ToLower(s)
		if !slices.Contains(schemaTypes, s) {
			all = false
			break
		}
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	switch {
	case !all || len(once) == 0:
		n.drop("type", "no list of types of JSON Schema")
	case !slices.Equal(list, once):
		n.tell(at, "each type once, in lower case")
		n.set("type", stringsBytes(once))
	}
}

// properties drops members that are no schemas, such as a misplaced required
// list, where that does not shut them out.
func (n *node) properties(val []byte) {
	o, ok := parseObject(val)
	if !ok {
		n.drop("properties", "it is "+kindWord(val)+", not an object")
		n.open("additionalProperties")
		return
	}
	more := n.before.get("additionalProperties")
	open := (more == nil || isTrue(more)) && (n.cautious || !bytes.Contains(n.root, []byte(`"unevaluatedProperties"`)))
	out, changed := o.each(func(m member) ([]byte, bool) {
		switch rawjson.Kind(m.val) {
		case '{', 't', 'f':
		default:
			if open {
				n.widen(n.at.child("properties").child(m.key), "dropped: it is "+kindWord(m.val)+", not a schema")
				n.wider = true
				return nil, false
			}
		}
		s, wider := n.child(m.val, "properties", m.key)
		n.wider = n.wider || wider
		return s, true
	})
	if changed {
		n.set("properties", out.bytes())
	}
}

// open takes away what closes an object or array when the keyword that says
// what is in it is of no use.
func (n *node) open(key string) {
	if n.before.get(key) != nil {
		n.drop(key, "what it adds to is dropped")
	}
}

func (n *node) table(key string, val []byte) {
	o, ok := parseObject(val)
	if !ok {
		n.drop(key, "it is "+kindWord(val)+", not an object")
		if key == "patternProperties" {
			n.open("additionalProperties")
		}
		return
	}
	n.members(key, o)
}

// dependencies is of draft 7: schemas or lists of names.
func (n *node) dependencies(val []byte) {
	o, ok := parseObject(val)
	if !ok {
		n.drop("dependencies", "it is "+kindWord(val)+", not an object")
		return
	}
	for _, m := range o {
		if rawjson.Kind(m.val) == '[' {
			if list, all := stringsOf(m.val); !all || repeats(list) {
				n.drop("dependencies", "a list in it is not of different names")
				return
			}
		}
	}
	n.members("dependencies", o)
}

// members repairs the members of a keyword's value that are no lists of names.
func (n *node) members(key string, o object) {
	out, changed := o.each(func(m member) ([]byte, bool) {
		if key == "dependencies" && rawjson.Kind(m.val) == '[' {
			return m.val, true
		}
		s, wider := n.child(m.val, key, m.key)
		n.wider = n.wider || wider
		return s, true
	})
	if changed {
		n.set(key, out.bytes())
	}
}

// items may be a list in drafts up to 2019-09: a tuple, now prefixItems, with
// additionalItems for the rest, now items.
func (n *node) items(val []byte) {
	if rawjson.Kind(val) != '[' {
		out, wider := n.child(val, "items")
		n.follow("items", val, out, wider)
		return
	}
	if n.before.get("prefixItems") != nil {
		n.drop("items", "a list, beside prefixItems")
		return
	}
	tuple, _ := parseArray(val)
	for i, e := range tuple {
		s, wider := n.child(e, "items", pointerIndex(i))
		tuple[i] = s
		n.wider = n.wider || wider
	}
	n.tell(n.at.child("items"), "a list: written as prefixItems")
	rest := n.before.get("additionalItems")
	at := n.at.String()
	n.remove("items", "additionalItems")
	if len(tuple) > 0 {
		n.set("prefixItems", arrayBytes(tuple))
		n.moving = append(n.moving, move{at + "/items/", at + "/prefixItems/"})
	}
	if rest != nil {
		s, wider := n.child(rest, "additionalItems")
		n.set("items", s)
		n.wider = n.wider || wider
		n.moving = append(n.moving, move{at + "/additionalItems", at + "/items"})
	}
}

func pointerIndex(i int) string { return (&pointer{}).index(i).key }

func (n *node) list(key string, val []byte) {
	elems, ok := parseArray(val)
	if !ok || len(elems) == 0 {
		n.drop(key, "no list of schemas")
		if key == "prefixItems" {
			n.open("items")
		}
		return
	}
	wider, changed := false, false
	for i, e := range elems {
		s, w := n.child(e, key, pointerIndex(i))
		changed = changed || !bytes.Equal(s, e)
		wider = wider || w || key == "oneOf" && n.unsure(e)
		elems[i] = s
	}
	n.wider = n.wider || wider
	switch {
	case wider && key == "oneOf" && n.before.get("anyOf") == nil:
		n.widen(n.at.child(key), "written as anyOf, as an alternative is wider than before")
		for i, m := range n.after {
			if m.key == "oneOf" {
				n.after = slices.Clone(n.after)
				n.after[i] = member{"anyOf", arrayBytes(elems)}
			}
		}
		n.changed = true
		at := n.at.String()
		n.moving = append(n.moving, move{at + "/oneOf/", at + "/anyOf/"})
	case wider && key == "oneOf":
		n.drop(key, "an alternative is wider than before")
	case changed:
		n.set(key, arrayBytes(elems))
	}
}

// negative handles the keywords whose subschema, made wider, would narrow.
func (n *node) negative(key string, val []byte) {
	out, wider := n.child(val, key)
	if !wider && !n.unsure(val) {
		n.follow(key, val, out, false)
		return
	}
	switch key {
	case "contains":
		// More may match: the least number is met, the greatest may not be.
		n.follow(key, val, out, true)
		if n.before.get("maxContains") != nil {
			n.drop("maxContains", "contains is wider than before")
		}
	case "if":
		n.drop("if", "it would be narrower than before")
		n.remove("then", "else")
	default:
		n.drop(key, "it would be narrower than before")
	}
}

func repeats(list []string) bool {
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		if seen[s] {
			return true
		}
		seen[s] = true
	}
	return false
}

// names is required: a list of different names.
func (n *node) names(key string, val []byte) {
	list, all := stringsOf(val)
	if all && !repeats(list) {
		return
	}
	if rawjson.Kind(val) != '[' {
		n.drop(key, "it is "+kindWord(val)+", not a list of names")
		return
	}
	if all {
		n.tell(n.at.child(key), "each name once")
	} else {
		n.widen(n.at.child(key), "what is no name dropped")
		n.wider = true
	}
	seen := make(map[string]bool, len(list))
	var once []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			once = append(once, s)
		}
	}
	n.set(key, stringsBytes(once))
}

func (n *node) nameLists(key string, val []byte) {
	o, ok := parseObject(val)
	for _, m := range o {
		list, all := stringsOf(m.val)
		ok = ok && all && !repeats(list)
	}
	if !ok {
		n.drop(key, "no lists of different names")
	}
}

// exclusive bounds were booleans beside minimum and maximum in draft 4.
func (n *node) exclusive(key string, val []byte) {
	switch {
	case rawjson.Kind(val) == '0':
	case isFalse(val):
		n.tell(n.at.child(key), "false: dropped, it says nothing")
		n.remove(key)
	case isTrue(val):
		inclusive := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[key]
		bound := n.before.get(inclusive)
		if rawjson.Kind(bound) != '0' {
			n.drop(key, "a boolean without a bound")
			return
		}
		n.tell(n.at.child(key), "true: written as a number")
		n.set(key, bound)
		n.remove(inclusive)
	default:
		n.drop(key, "it is "+kindWord(val)+", not a number")
	}
}

// scalar handles the keywords with a plain value. Others are not known and
// pass.
func (n *node) scalar(key string, val []byte) {
	kind := rawjson.Kind(val)
	switch key {
	case "title", "description", "$comment":
		if kind != '"' {
			n.tell(n.at.child(key), "dropped: it is "+kindWord(val)+", not a string")
			n.remove(key)
		}
	case "format", "pattern", "contentEncoding", "contentMediaType", "$schema", "$id", "$anchor", "$dynamicAnchor":
		if kind != '"' {
			n.drop(key, "it is "+kindWord(val)+", not a string")
		}
	case "examples":
		if kind != '[' {
			n.tell(n.at.child(key), "dropped: it is "+kindWord(val)+", not a list")
			n.remove(key)
		}
	case "deprecated", "readOnly", "writeOnly":
		if kind != 't' && kind != 'f' {
			n.tell(n.at.child(key), "dropped: it is "+kindWord(val)+", not a boolean")
			n.remove(key)
		}
	case "uniqueItems":
		if kind != 't' && kind != 'f' {
			n.drop(key, "it is "+kindWord(val)+", not a boolean")
		}
	case "enum":
		if elems, ok := parseArray(val); !ok || len(elems) == 0 {
			n.drop(key, "no list of values")
		}
	case "minimum", "maximum":
		if kind != '0' {
			n.drop(key, "it is "+kindWord(val)+", not a number")
		}
	case "multipleOf":
		if kind != '0' || val[0] == '-' || !strings.ContainsAny(mantissa(val), "123456789") {
			n.drop(key, "no number above 0")
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		if kind != '0' || !count(val) {
			n.drop(key, "no count")
		}
	}
}

// mantissa returns the digits of a number before its exponent.
func mantissa(num []byte) string {
	s, _, _ := strings.Cut(strings.ToLower(string(num)), "e")
	return s
}

// count reports whether a number is written as an integer, not negative.
func count(num []byte) bool {
	whole, fraction, _ := strings.Cut(string(num), ".")
	return strings.Trim(whole, "0123456789") == "" && strings.Trim(fraction, "0") == ""
}
