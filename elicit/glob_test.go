package elicit

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// FuzzGlob: a glob matches what the same expression does.
func FuzzGlob(f *testing.F) {
	for _, s := range [][2]string{{"a*b?c", "aXXbYc"}, {"*", ""}, {"", "x"}, {"a*a*a*b", "aaaaaaaaaa"}, {"?", "é"}, {"**x", "axx"}, {"[.]", "."}, {"\\*", "\\x"}, {"*\nx", "y\nx"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := newGlob(pattern).match(name)
		if !utf8.ValidString(pattern) || !utf8.ValidString(name) || strings.Contains(pattern, `\`) {
			return // it ends, and that is all; the expression below can't say it
		}
		expr := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		want := strings.Trim(pattern, "*") == "" || regexp.MustCompile(`(?s)\A`+strings.ReplaceAll(expr, "\n", `\n`)+`\z`).MatchString(name)
		if got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
	})
}

// FuzzPointer: the value at a pointer is the one that a decoder finds, and its
// reading is the same value without white space.
func FuzzPointer(f *testing.F) {
	for _, s := range [][2]string{{`{"a":{"b":[1,"x"]}}`, "/a/b/1"}, {`{"a":1,"a":[2]}`, "/a/0"}, {`[ {"~":"/" } ]`, "/0/~0"}, {`{"":{"":[]}}`, "//"}, {`"\u0000"`, "/"}, {`{"a":"\ud800"}`, "/a"}, {`{"a":{"b":"\"\\"}}`, "/a"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, doc, pointer string) {
		parts, wrong := parsePointer(pointer)
		if wrong != "" || rawjson.Valid([]byte(doc)) != nil {
			return
		}
		values, everywhere := lookup([]byte(doc), parts)
		if everywhere && len(values) == 0 {
			t.Fatal("everywhere, and no value")
		}
		var tree any
		if err := json.Unmarshal([]byte(doc), &tree); err != nil {
			return // deeper than the decoder goes
		}
		for _, v := range values {
			var a, b any
			if json.Unmarshal(v, &a) != nil || json.Unmarshal(compact(v), &b) != nil || !reflect.DeepEqual(a, b) {
				t.Fatalf("%s is compacted to %s", v, compact(v))
			}
			if len(readings(v)) == 0 {
				t.Fatalf("%s has no reading", v)
			}
		}
		for _, part := range parts {
			switch c := tree.(type) {
			case map[string]any:
				v, ok := c[part]
				if !ok {
					return
				}
				tree = v
			case []any:
				i, err := strconv.Atoi(part)
				if err != nil || strconv.Itoa(i) != part || i < 0 || i >= len(c) {
					return
				}
				tree = c[i]
			default:
				return
			}
		}
		for _, v := range values {
			var got any
			if json.Unmarshal(v, &got) == nil && reflect.DeepEqual(got, tree) {
				return
			}
		}
		if !utf8.ValidString(pointer) || strings.Contains(doc, `\u`) {
			return // a decoder reads keys without a spelling as U+FFFD
		}
		t.Fatalf("%q in %s is %q, and a decoder finds %v", pointer, doc, values, tree)
	})
}
