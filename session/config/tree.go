package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// A node is one key of a merged configuration: a table, or a value with the
// place it came from. Nodes are never changed once a layer is read.
type node struct {
	table map[string]*node // nil unless this is a table
	value any              // string, int64, float64, bool, time.Time, []any, or a badNumber
	items []*node          // the elements of an array that holds a table, nil where null
	at    Origin
}

// badNumber is a JSON number that fits neither int64 nor float64.
type badNumber struct{}

func newTable(at Origin) *node { return &node{table: map[string]*node{}, at: at} }

func (n *node) isTable() bool { return n.table != nil }

// keys lists a table's keys in order.
func (n *node) keys() []string { return slices.Sorted(maps.Keys(n.table)) }

// kind names what a node holds, for messages.
func (n *node) kind() string {
	if n.isTable() {
		return "a table"
	}
	return kindOf(n.value)
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a number with a fraction"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	case []any:
		return "an array"
	case map[string]any:
		return "a table"
	case badNumber:
		return "a number that is out of range"
	}
	return "null"
}

// merge lays high over low: tables merge key by key, everything else is
// replaced. Neither argument changes.
func merge(low, high *node) *node {
	if low == nil || !low.isTable() || !high.isTable() {
		return high
	}
	out := &node{table: maps.Clone(low.table), at: high.at}
	for k, n := range high.table {
		out.table[k] = merge(low.table[k], n)
	}
	return out
}

// build turns a decoded value into nodes. where tells the origin of a path.
// A nil value (JSON null) gives nil: a key that is null is a key not given.
func build(v any, path []string, where func([]string) Origin) *node {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		n := newTable(where(path))
		for k, x := range v {
			if c := build(x, child(path, k), where); c != nil {
				n.table[k] = c
			}
		}
		return n
	default:
		n := &node{value: plain(v), at: where(path)}
		if list, ok := n.value.([]any); ok && slices.ContainsFunc(list, isMap) {
			for i, x := range list {
				n.items = append(n.items, build(x, child(path, elementPart(i)), where))
			}
		}
		return n
	}
}

func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// plain brings the decoders' types down to those that node.value lists.
func plain(v any) any {
	switch v := v.(type) {
	case []map[string]any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = plain(x)
		}
		return out
	case json.Number:
		return exact(v)
	}
	return v
}

// exact keeps a JSON integer an integer. Only a number written with a
// fraction or an exponent becomes a float.
func exact(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	} else if errors.Is(err, strconv.ErrRange) {
		return badNumber{}
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return badNumber{}
}

// parseJSON reads one JSON object into nodes. Empty input and null are an
// empty layer. A key of the object itself may be a dotted key, as a Codex
// client writes overrides; a plain key and a dotted one merge, the longer wins.
func parseJSON(raw json.RawMessage, layer Layer) (*node, error) {
	at := Origin{Layer: layer}
	root := newTable(at)
	if len(bytes.TrimSpace(raw)) == 0 {
		return root, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return root, errors.New("is not valid JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return root, errors.New("is followed by more text")
	}
	if v == nil {
		return root, nil
	}
	top, ok := v.(map[string]any)
	if !ok {
		return root, fmt.Errorf("must be an object, not %s", kindOf(plain(v)))
	}
	if tooDeep(v, maxDepth) {
		return root, errors.New("is nested too deeply")
	}
	type entry struct {
		path  []string
		value any
	}
	var entries []entry
	for k, x := range top {
		path := []string{k}
		if dotted, ok := parseDotted(k); ok {
			path = dotted
		}
		entries = append(entries, entry{path, x})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := len(a.path) - len(b.path); c != 0 {
			return c
		}
		return slices.Compare(a.path, b.path)
	})
	for _, e := range entries {
		n := build(e.value, e.path, func([]string) Origin { return at })
		if n != nil {
			root = merge(root, nest(e.path, n))
		}
	}
	return root, nil
}

// nest puts a node under a path of tables.
func nest(path []string, n *node) *node {
	for _, part := range slices.Backward(path) {
		t := newTable(n.at)
		t.table[part] = n
		n = t
	}
	return n
}

func tooDeep(v any, left int) bool {
	if left < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if tooDeep(x, left-1) {
				return true
			}
		}
	case []any:
		for _, x := range v {
			if tooDeep(x, left-1) {
				return true
			}
		}
	}
	return false
}
