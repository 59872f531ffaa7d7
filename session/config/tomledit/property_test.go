package tomledit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
	"pgregory.net/rapid"
)

func decode(t testing.TB, doc string) map[string]any {
	t.Helper()
	tree := map[string]any{}
	if _, err := toml.Decode(doc, &tree); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return tree
}

// writer draws a document: a tree of tables, each written in a style of its
// own, with comments that can be told apart.
type writer struct {
	*rapid.T
	b        strings.Builder
	eol      string
	comments int
	servers  []string // some that are there
	tools    []string
}

var names = []string{"x", "y", "my server", "a.b", "é", "x-y_1", "", `q"q`, "tools", "mcp_servers", "it's"}

func (w *writer) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(w.T, label)
}

func (w *writer) one(in int, label string) bool { return rapid.IntRange(1, in).Draw(w.T, label) == 1 }

func (w *writer) name(name string) string {
	bare := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_-1") == ""
	switch {
	case bare && !w.one(4, "quoted"):
		return name
	case !strings.Contains(name, "'") && w.one(2, "literal"):
		return "'" + name + "'"
	}
	return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
}

func (w *writer) dotted(key []string) string {
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = w.name(k)
	}
	return strings.Join(parts, w.pick("dot", ".", ".", " . "))
}

func (w *writer) comment() string {
	w.comments++
	return fmt.Sprintf("# c%d;%s", w.comments, w.pick("text", "", ` "[{`, " [mcp_servers.x]", " é = 'v'"))
}

func (w *writer) tail() string {
	if w.one(4, "tail") {
		return " " + w.comment() + w.eol
	}
	return w.eol
}

func (w *writer) blankLines() string {
	s := ""
	for range rapid.IntRange(0, 2).Draw(w.T, "blank") {
		s += w.pick("line", "", "", "  ")
		if w.one(2, "comment") {
			s += w.comment()
		}
		s += w.eol
	}
	return s
}

func (w *writer) single() string {
	return w.pick("value", "1", `"a # b"`, `'c'`, "true", "'''a"+w.eol+"'b'''''", `"""`+w.eol+"[h]"+w.eol+`k = "v"\"""""`,
		"1979-05-27 07:32:00", "1979-05-27T07:32:00Z", "-0.0", `"prompt"`, `"approve"`, "0x1F")
}

// value draws a single value or a list. It gives no list to an empty name: the
// decoder (v1.6.0) takes the table around it for a list then, and forgets what
// is in it. Such documents are mostly refused.
func (w *writer) value(name string) string {
	if name != "" && w.one(4, "list") {
		return w.pick("list", "[]", "[1, 2]", "["+w.eol+" 'a', # ]"+w.eol+" {b = 1},"+w.eol+"]", "[[], [1]]")
	}
	return w.single()
}

// tree is a table; order is that of its keys. Values that are not trees are
// drawn when they are written.
type tree struct {
	order []string
	below map[string]*tree
}

func (w *writer) tables(depth int, first ...string) *tree {
	t := &tree{below: map[string]*tree{}}
	all := append([]string{}, first...)
	for range rapid.IntRange(0, 2).Draw(w.T, "more") {
		all = append(all, w.pick("name", append(names, "approval_mode", "enabled", "command")...))
	}
	for _, name := range all {
		if _, ok := t.below[name]; ok {
			continue
		}
		t.order = append(t.order, name)
		t.below[name] = nil
		if depth > 0 && name != "approval_mode" && !w.one(30, "leaf") {
			next := []string{}
			switch depth {
			case 4:
				next = []string{w.pick("server", names...)}
				w.servers = append(w.servers, next...)
			case 3:
				next = []string{"tools"}
			case 2:
				next = []string{w.pick("tool", names...)}
				w.tools = append(w.tools, next...)
			case 1:
				next = []string{"approval_mode"}
			}
			t.below[name] = w.tables(depth-1, next[min(len(next), rapid.IntRange(0, 5).Draw(w.T, "fewer")/5):]...)
		}
	}
	return t
}

// section writes a table under its header, or at the top of the document.
func (w *writer) section(path []string, t *tree, indent string) {
	var later []string
	w.pairs(nil, t, indent, &later)
	for _, name := range later {
		below := append(append([]string{}, path...), name)
		w.b.WriteString(w.blankLines())
		inner := indent
		if w.one(6, "indent") {
			inner += "  "
		}
		if w.one(12, "list of tables") {
			fmt.Fprintf(&w.b, "%s[[%s]]%s%sn = 1%s", inner, w.dotted(below), w.tail(), inner, w.tail())
			continue
		}
		// A table that holds only tables needs no header.
		needed := len(t.below[name].order) == 0 || !w.one(3, "implied")
		for _, n := range t.below[name].order {
			needed = needed || t.below[name].below[n] == nil
		}
		if needed {
			fmt.Fprintf(&w.b, "%s[%s]%s", inner, w.dotted(below), w.tail())
			w.section(below, t.below[name], inner)
			continue
		}
		for _, n := range t.below[name].order {
			deeper := append(append([]string{}, below...), n)
			fmt.Fprintf(&w.b, "%s[ %s ]%s", inner, w.dotted(deeper), w.tail())
			w.section(deeper, t.below[name].below[n], inner)
		}
	}
}

// pairs writes the pairs of a table; those of later get headers.
func (w *writer) pairs(prefix []string, t *tree, indent string, later *[]string) {
	for _, name := range t.order {
		key := append(append([]string{}, prefix...), name)
		below := t.below[name]
		style := rapid.IntRange(0, 3).Draw(w.T, "style")
		switch {
		case below == nil:
			fmt.Fprintf(&w.b, "%s%s = %s%s", indent, w.dotted(key), w.value(name), w.tail())
		case style == 0:
			fmt.Fprintf(&w.b, "%s%s = %s%s", indent, w.dotted(key), w.inline(below, indent), w.tail())
		case style == 1 && len(below.order) > 0:
			w.pairs(key, below, indent, nil)
		case later != nil:
			*later = append(*later, name)
		default:
			fmt.Fprintf(&w.b, "%s%s = %s%s", indent, w.dotted(key), w.inline(below, indent), w.tail())
		}
		if w.one(6, "between") {
			w.b.WriteString(w.blankLines())
		}
	}
}

func (w *writer) inline(t *tree, indent string) string {
	lines := w.one(3, "lines")
	var parts []string
	for _, name := range t.order {
		switch below := t.below[name]; {
		case below == nil:
			parts = append(parts, w.name(name)+" = "+w.value(name))
		case len(below.order) == 1 && below.below[below.order[0]] == nil && w.one(2, "dotted"):
			parts = append(parts, w.dotted([]string{name, below.order[0]})+" = "+w.value(below.order[0]))
		default:
			parts = append(parts, w.name(name)+" = "+w.inline(below, indent+"  "))
		}
	}
	comma := w.one(3, "last comma") && len(parts) > 0
	if !lines {
		s := strings.Join(parts, ", ")
		if comma {
			s += ","
		}
		pad := w.pick("pad", "", " ")
		return "{" + pad + s + pad + "}"
	}
	s := "{" + w.tail()
	for i, p := range parts {
		s += indent + "  " + p
		if comma || i < len(parts)-1 {
			s += ","
		}
		s += w.tail()
	}
	return s + indent + "}"
}

func (w *writer) document() string {
	top := w.tables(4, "mcp_servers")
	w.b.WriteString(w.blankLines())
	w.section(nil, top, "")
	w.b.WriteString(w.blankLines())
	doc := w.b.String()
	if w.one(4, "cut") {
		doc = strings.TrimRight(doc, "\r\n")
	}
	if w.one(6, "mark") {
		doc = "\uFEFF" + doc
	}
	return doc
}

// meet follows a path and tells what is there.
func meet(tree map[string]any, path []string) (value any, there, possible bool) {
	for i, name := range path {
		v, ok := tree[name]
		if !ok {
			return nil, false, true
		}
		below, isTable := v.(map[string]any)
		if i == len(path)-1 {
			_, isList := v.([]any)
			_, isTables := v.([]map[string]any)
			return v, true, !isTable && !isList && !isTables
		}
		if !isTable {
			return nil, false, false
		}
		tree = below
	}
	return nil, false, true
}

// put sets or deletes (nil) a key of a tree; prune drops tables that are empty
// by that.
func put(tree map[string]any, path []string, value any) {
	if len(path) > 1 {
		below, ok := tree[path[0]].(map[string]any)
		if !ok {
			below = map[string]any{}
			tree[path[0]] = below
		}
		put(below, path[1:], value)
		return
	}
	if value == nil {
		delete(tree, path[0])
		return
	}
	tree[path[0]] = value
}

func prune(tree map[string]any, path []string) {
	if below, ok := tree[path[0]].(map[string]any); ok && len(path) > 1 {
		if prune(below, path[1:]); len(below) == 0 {
			delete(tree, path[0])
		}
	}
}

// within reports whether all bytes of a are in b in this order.
func within(a, b string) bool {
	for i := 0; i < len(b) && a != ""; i++ {
		if a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}

// In documents of any style, Set changes the one key and adds bytes only;
// Unset takes it away and leaves what was there.
func TestAnyDocument(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		w := &writer{T: r, eol: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "eol")}
		doc := w.document()
		path := mode(w.pick("my server", append(w.servers, "x", "é")...), w.pick("my tool", append(w.tools, "x", "it's")...))
		if w.one(4, "any key") {
			path = path[:rapid.IntRange(1, 5).Draw(r, "length")]
		}
		want := map[string]any{}
		if _, err := toml.Decode(doc, &want); err != nil {
			r.Fatalf("the writer's own document: %v\n%s", err, doc)
		}
		_, there, possible := meet(want, path)

		out, err := tomledit.Set([]byte(doc), path, "approve")
		if (err == nil) != possible {
			r.Fatalf("possible: %v, got %v\n%s", possible, err, doc)
		}
		if !possible {
			seen["refused"]++
			return
		}
		got := map[string]any{}
		if _, err := toml.Decode(string(out), &got); err != nil {
			r.Fatalf("%v\nbefore:\n%s\nafter:\n%s", err, doc, out)
		}
		put(want, path, "approve")
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("got %v\nwant %v\nbefore:\n%s\nafter:\n%s", got, want, doc, out)
		}
		if !there && !within(doc, string(out)) {
			r.Fatalf("bytes are lost\nbefore:\n%s\nafter:\n%s", doc, out)
		}
		for i := 1; i <= w.comments; i++ {
			if n := strings.Count(string(out), fmt.Sprintf("# c%d;", i)); n != 1 {
				r.Fatalf("comment %d is there %d times\nbefore:\n%s\nafter:\n%s", i, n, doc, out)
			}
		}
		if again, err := tomledit.Set(out, path, "approve"); err != nil || string(again) != string(out) {
			r.Fatalf("set again: %v\n%s", err, again)
		}

		back, was, err := tomledit.Unset(out, path)
		if err != nil || !was {
			r.Fatalf("unset: %v, %v\nof:\n%s", was, err, out)
		}
		got = map[string]any{}
		if _, err := toml.Decode(string(back), &got); err != nil {
			r.Fatalf("unset: %v\nof:\n%s\ngives:\n%s", err, out, back)
		}
		put(want, path, nil)
		prune(want, path)
		if prune(got, path); !reflect.DeepEqual(got, want) {
			r.Fatalf("unset: got %v\nwant %v\nof:\n%s\ngives:\n%s", got, want, out, back)
		}
		switch {
		case there:
			seen["replaced"]++
		case string(back) == doc:
			seen["given back"]++
		case excepted(doc, path):
			seen["excepted"]++
		default:
			r.Fatalf("unset does not give back:\n%s\nbut:\n%s\nfrom:\n%s", doc, back, out)
		}
	})
	t.Log(seen)
}

// excepted reports whether the nearest table was in the document without
// single values of its own, so that its header may end or it becomes {}.
func excepted(doc string, path []string) bool {
	tree := map[string]any{}
	if _, err := toml.Decode(doc, &tree); err != nil {
		return false
	}
	for n := len(path) - 1; n > 0; n-- {
		if v, there, _ := meet(tree, path[:n]); there {
			for _, value := range v.(map[string]any) {
				if _, _, single := meet(map[string]any{"": value}, []string{""}); single {
					return false
				}
			}
			return true
		}
	}
	return false
}
