package binding

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// maxTold is how deep changes are told of; what is deeper is told of the
// argument around it.
const maxTold = 8

// maxPathBytes bounds the name of an argument inside others; a sentence has
// less.
const maxPathBytes = 4 * maxQuotedBytes

// maxValues bounds the values that a sentence lists.
const maxValues = 3

// remarks are keywords that neither a server's check nor a model depends on.
var remarks = []string{"$schema", "$id", "$comment", "examples"}

func (c *changes) input(was, is []byte) {
	before, ok1 := parseObject(was)
	after, ok2 := parseObject(is)
	switch {
	case ok1 && ok2:
		c.arguments("", before, after, 0)
		pairs(before, after, func(key string, was, is []byte) {
			switch {
			case key == "properties", key == "required": // told already
			case key == "title", key == "description":
				c.add(texts, "the %s of the input schema %s", key, happened(was, is))
			case key == "additionalProperties" && isFalse(was):
				c.add(wider, "arguments that are not listed are accepted, too")
			case key == "additionalProperties" && isFalse(is):
				c.add(narrower, "arguments that are not listed are refused")
			case slices.Contains(remarks, key):
				c.add(other, "%s of the input schema %s", key, happened(was, is))
			default: // in $defs or allOf there can be anything
				c.add(wider, "%s of the input schema %s", word(key), happened(was, is))
			}
		})
	case !ok2 && !isFalse(is):
		c.add(wider, "any arguments are accepted")
	default:
		c.add(narrower, "the input schema %s", happened(was, is))
	}
}

// arguments compares the properties of two schemas of objects. at is the name
// of the argument that has them, "" for the arguments themselves.
func (c *changes) arguments(at string, before, after object, depth int) {
	told := c.n
	path := func(name string) string {
		if name = cut(name, maxPathBytes); at == "" {
			return name
		}
		return cut(at+"."+name, maxPathBytes)
	}
	must, needed := requiredBy(after), requiredBy(before)
	was, _ := parseObject(before.get("properties"))
	is, _ := parseObject(after.get("properties"))
	added := map[string]bool{}
	pairs(was, is, func(name string, was, is []byte) {
		switch {
		case was == nil && must[name]:
			c.add(wider, "new required argument %s%s", quote(path(name)), inBrackets(is))
		case was == nil:
			c.add(wider, "new argument %s%s", quote(path(name)), inBrackets(is))
		case is == nil:
			c.add(narrower, "argument %s was removed", quote(path(name)))
		default:
			c.argument(path(name), was, is, depth)
			return
		}
		added[name] = true // or gone: nothing else is to be said of it
	})
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if !must[name] && !added[name] {
			c.add(wider, "argument %s is no longer required", quote(path(name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(must)) {
		if !needed[name] && !added[name] {
			c.add(narrower, "argument %s is required now", quote(path(name)))
		}
	}
	if c.n > told {
		return
	}
	// What is left is {} for nothing, or another order.
	where := ""
	if at != "" {
		where = " in " + quote(at)
	}
	if !bytes.Equal(before.get("properties"), after.get("properties")) {
		c.add(other, "the list of arguments%s changed", where)
	}
	if !bytes.Equal(before.get("required"), after.get("required")) {
		c.add(other, "the list of required arguments%s changed", where)
	}
}

// argument compares two schemas of one argument.
func (c *changes) argument(name string, was, is []byte, depth int) {
	before, ok1 := parseObject(was)
	after, ok2 := parseObject(is)
	if !ok1 || !ok2 || depth == maxTold {
		c.add(wider, "argument %s changed", quote(name))
		return
	}
	nested := false
	var rest []string
	pairs(before, after, func(key string, was, is []byte) {
		switch key {
		case "description", "title":
			c.add(texts, "the %s of argument %s %s", key, quote(name), happened(was, is))
		case "default":
			c.add(texts, "the default of argument %s %s", quote(name), happened(was, is))
		case "type":
			c.typeOf(name, was, is)
		case "enum":
			c.choices(name, was, is)
		case "properties", "required":
			nested = true
		case "items":
			c.argument(name+"[]", was, is, depth+1)
		default:
			switch grows := limits[key]; {
			case grows == 0:
				rest = append(rest, key)
			case was != nil && (is == nil || moved(was, is) == grows):
				c.add(wider, "argument %s accepts more values: %s", quote(name), fromTo(key, was, is))
			case was == nil || moved(was, is) == -grows:
				c.add(narrower, "argument %s accepts fewer values: %s", quote(name), fromTo(key, was, is))
			default: // 1 and 1.0, or no numbers
				rest = append(rest, key)
			}
		}
	})
	if nested {
		c.arguments(name, before, after, depth+1)
	}
	if len(rest) > 0 {
		c.add(wider, "argument %s changed: %s", quote(name), list(rest, word))
	}
}

// limits are the keywords that bound values, with the direction in which a
// bound admits more.
var limits = map[string]int{
	"maximum": 1, "exclusiveMaximum": 1, "maxLength": 1, "maxItems": 1, "maxProperties": 1,
	"minimum": -1, "exclusiveMinimum": -1, "minLength": -1, "minItems": -1, "minProperties": -1,
}

// moved returns the direction in which a number went, 0 if none.
func moved(was, is []byte) int {
	x, err1 := strconv.ParseFloat(string(was), 64)
	y, err2 := strconv.ParseFloat(string(is), 64)
	switch {
	case err1 != nil || err2 != nil || x == y:
		return 0
	case x < y:
		return 1
	}
	return -1
}

func fromTo(key string, was, is []byte) string {
	switch {
	case was == nil:
		return key + " " + shown(is)
	case is == nil:
		return key + " " + shown(was) + " was removed"
	}
	return key + " " + shown(was) + " → " + shown(is)
}

func (c *changes) typeOf(name string, was, is []byte) {
	before, after := typesOf(was), typesOf(is)
	more := missing(after, before)
	switch {
	case len(after) == 0:
		c.add(wider, "argument %s accepts more values: any type", quote(name))
	case len(before) > 0 && len(more) > 0 && len(missing(before, after)) == 0:
		c.add(wider, "argument %s accepts more values: %s", quote(name), list(more, word))
	case len(before) > 0 && len(more) > 0:
		c.add(wider, "argument %s has another type: %s → %s", quote(name), list(before, word), list(after, word))
	default:
		c.add(narrower, "argument %s has a narrower type: %s", quote(name), list(after, word))
	}
}

// typesOf returns the types that a schema names, in one or in a list.
func typesOf(raw []byte) []string {
	if t, ok := rawjson.String(raw); ok {
		return []string{t}
	}
	types, _ := stringsOf(raw)
	return types
}

func (c *changes) choices(name string, was, is []byte) {
	before, ok1 := parseArray(was)
	after, ok2 := parseArray(is)
	texts := func(raw [][]byte) (out []string) {
		for _, v := range raw {
			out = append(out, string(v))
		}
		return out
	}
	more := missing(texts(after), texts(before))
	switch {
	case ok1 && !ok2:
		c.add(wider, "argument %s accepts more values: it had a list of choices", quote(name))
	case ok1 && len(more) > 0:
		c.add(wider, "argument %s accepts more values: %s", quote(name), list(more, func(s string) string { return shown([]byte(s)) }))
	default:
		c.add(narrower, "argument %s has other choices", quote(name))
	}
}

// missing returns what is in list and not in from.
func missing(list, from []string) []string {
	known := make(map[string]bool, len(from))
	for _, s := range from {
		known[s] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return known[s] })
}

// list words a list for a sentence.
func list(all []string, word func(string) string) string {
	var out []string
	for i, s := range all {
		if i == maxValues {
			out = append(out, "…")
			break
		}
		out = append(out, cut(word(s), maxQuotedBytes/2))
	}
	return strings.Join(out, ", ")
}

// inBrackets returns the type of a schema, if it names one.
func inBrackets(schema []byte) string {
	o, _ := parseObject(schema)
	types := typesOf(o.get("type"))
	if len(types) == 0 {
		return ""
	}
	return " (" + list(types, word) + ")"
}

func requiredBy(schema object) map[string]bool {
	names, _ := stringsOf(schema.get("required"))
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}
