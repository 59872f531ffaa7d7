package binding

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

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
		s, wider := n.child(e, "items", strconv.Itoa(i))
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
		s, w := n.child(e, key, strconv.Itoa(i))
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
