package binding

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A member is one member of a raw JSON object.
type member struct {
	key string
	val []byte
}

// An object is a raw JSON object: its members in order, one for each key. Of
// doubled keys the last value counts, in the place of the first, as in most
// readers.
type object []member

// parseObject returns the members of raw; ok is false if raw is no object.
func parseObject(raw []byte) (_ object, ok bool) {
	if rawjson.Kind(raw) != '{' {
		return nil, false
	}
	var o object
	var seen map[string]int // made when a scan would take long
	err := rawjson.Object(raw, func(key, val []byte) error {
		i := -1
		if seen != nil {
			if at, ok := seen[string(key)]; ok {
				i = at
			}
		} else {
			i = slices.IndexFunc(o, func(m member) bool { return m.key == string(key) })
		}
		if i >= 0 {
			o[i].val = val
			return nil
		}
		o = append(o, member{string(key), val})
		const many = 32
		switch {
		case seen != nil:
			seen[string(key)] = len(o) - 1
		case len(o) == many:
			seen = make(map[string]int)
			for i, m := range o {
				seen[m.key] = i
			}
		}
		return nil
	})
	return o, err == nil
}

// parseArray returns the elements of raw; ok is false if raw is no array.
func parseArray(raw []byte) (elems [][]byte, ok bool) {
	if rawjson.Kind(raw) != '[' {
		return nil, false
	}
	err := rawjson.Array(raw, func(_ int, val []byte) error {
		elems = append(elems, val)
		return nil
	})
	return elems, err == nil
}

// get returns the value of key, nil if there is none.
func (o object) get(key string) []byte {
	for _, m := range o {
		if m.key == key {
			return m.val
		}
	}
	return nil
}

// with returns o with key set to val: in its place, or at the end.
func (o object) with(key string, val []byte) object {
	o = slices.Clone(o)
	for i, m := range o {
		if m.key == key {
			o[i].val = val
			return o
		}
	}
	return append(o, member{key, val})
}

// without returns o without the keys.
func (o object) without(keys ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(keys, m.key) })
}

// each returns o with every value as f returns it, without those f does not
// keep; changed is false, and the result o itself, if f changes nothing.
func (o object) each(f func(m member) (val []byte, keep bool)) (_ object, changed bool) {
	out := o
	for i, m := range o {
		val, keep := f(m)
		if !changed {
			if keep && bytes.Equal(val, m.val) {
				continue
			}
			changed = true
			out = append(make(object, 0, len(o)), o[:i]...)
		}
		if keep {
			out = append(out, member{m.key, val})
		}
	}
	return out, changed
}

// bytes returns o as JSON.
func (o object) bytes() []byte {
	n := 2
	for _, m := range o {
		n += len(m.key) + len(m.val) + 4
	}
	dst := append(make([]byte, 0, n), '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, m.key)
		dst = append(dst, ':')
		dst = append(dst, m.val...)
	}
	return append(dst, '}')
}

// arrayBytes returns elems as a JSON array.
func arrayBytes(elems [][]byte) []byte {
	dst := append([]byte{'['}, bytes.Join(elems, []byte{','})...)
	return append(dst, ']')
}

// stringsBytes returns list as a JSON array of strings.
func stringsBytes(list []string) []byte {
	dst := []byte{'['}
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, ']')
}

// stringsOf returns the elements of raw that are strings; all is false if raw
// is no array or has others.
func stringsOf(raw []byte) (list []string, all bool) {
	elems, all := parseArray(raw)
	for _, e := range elems {
		if s, ok := rawjson.String(e); ok {
			list = append(list, s)
		} else {
			all = false
		}
	}
	return list, all
}

// isTrue and isFalse compare a value with no white space around it.
func isTrue(raw []byte) bool  { return string(raw) == "true" }
func isFalse(raw []byte) bool { return string(raw) == "false" }

// kindWord names the kind of a JSON value, with its article.
func kindWord(raw []byte) string {
	switch rawjson.Kind(raw) {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '0':
		return "a number"
	}
	return "no JSON"
}

// A pointer is a JSON pointer (RFC 6901) as a list that grows at its end; nil
// is the whole document.
type pointer struct {
	parent *pointer
	key    string
}

func (p *pointer) child(key string) *pointer { return &pointer{p, key} }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// String returns the pointer as text.
func (p *pointer) String() string {
	if p == nil {
		return ""
	}
	return p.parent.String() + "/" + pointerEscapes.Replace(p.key)
}
