package binding

import (
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// maxQuotedWord bounds a server's word that a change quotes.
const maxQuotedWord = 32

var schemaTypes = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

func (n *node) typeWord(val []byte) {
	at := n.at.child("type")
	if s, ok := rawjson.String(val); ok {
		if slices.Contains(schemaTypes, s) {
			return
		}
		if lower := strings.ToLower(s); slices.Contains(schemaTypes, lower) {
			// A checker may have taken the word for a type that nothing has.
			n.widen(at, "written in lower case")
			n.set("type", rawjson.AppendString(nil, lower))
			n.wider = true
			return
		}
		n.drop("type", string(rawjson.AppendString(nil, clip(s, maxQuotedWord)))+" is no type of JSON Schema")
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
		n.widen(at, "each type once, in lower case")
		n.set("type", stringsBytes(once))
		n.wider = true
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
