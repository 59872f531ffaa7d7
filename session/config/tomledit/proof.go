package tomledit

import (
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/BurntSushi/toml"
)

// meaning is what the decoder reads in a text.
type meaning struct {
	tree map[string]any
	keys []toml.Key // in the order of the text
}

// decode runs the decoder. It panics on some broken input instead of
// returning an error, which is the text's fault.
func decode(text string) (m meaning, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the decoder gave up")
		}
	}()
	m.tree = map[string]any{}
	md, err := toml.Decode(text, &m.tree)
	m.keys = md.Keys()
	return m, err
}

// splice replaces text[from:to].
type splice struct {
	from, to int
	text     string
}

// prove applies a splice and returns the new text if it means one of wanted,
// all keys of which come in the order they had, and is sound if it was.
func (e *edit) prove(s splice, wanted []map[string]any) (string, bool) {
	out := e.text[:s.from] + s.text + e.text[s.to:]
	after, err := decode(out)
	if err != nil || !slices.ContainsFunc(wanted, func(w map[string]any) bool { return same(after.tree, w) }) {
		return "", false
	}
	fewer, more := e.meaning.keys, after.keys
	if len(fewer) > len(more) {
		fewer, more = more, fewer
	}
	if !inOrder(fewer, more) {
		return "", false
	}
	d, problem := newDocument(out)
	return out, problem == nil && (!e.sound || sound(d))
}

// inOrder reports whether all of some come in all, in this order.
func inOrder(some, all []toml.Key) bool {
	for _, key := range all {
		if len(some) > 0 && slices.Equal(some[0], key) {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// same compares decoded values, where NaN is NaN and a date has a kind.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case []map[string]any:
		b, ok := b.([]map[string]any)
		return ok && slices.EqualFunc(a, b, func(a, b map[string]any) bool { return same(a, b) })
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case time.Time:
		// Local dates and times are told by the name of their location.
		b, ok := b.(time.Time)
		return ok && a.Equal(b) && a.Location().String() == b.Location().String() && a.Format(time.RFC3339Nano) == b.Format(time.RFC3339Nano)
	}
	return reflect.DeepEqual(a, b)
}

// look follows path through the tables of a tree. depth counts the names that
// lead to something; the value is what the last of them leads to.
func look(tree map[string]any, path []string) (value any, depth int) {
	value = tree
	for i, name := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return value, i
		}
		next, ok := table[name]
		if !ok {
			return value, i
		}
		value = next
	}
	return value, len(path)
}

// with returns the tree with one value more or another one.
func with(tree map[string]any, path []string, value any) map[string]any {
	out := maps.Clone(tree)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) > 1 {
		below, _ := tree[path[0]].(map[string]any)
		value = with(below, path[1:], value)
	}
	out[path[0]] = value
	return out
}

// without returns the tree without the value at path, which is there.
func without(tree map[string]any, path []string) map[string]any {
	out := maps.Clone(tree)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	out[path[0]] = without(tree[path[0]].(map[string]any), path[1:])
	return out
}
