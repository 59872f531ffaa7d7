package tomledit_test

import (
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
)

// Whatever the document is, only the one key changes, twice is once, and what
// the decoder reads is not called broken.
func FuzzSet(f *testing.F) {
	for _, c := range setCases {
		f.Add([]byte(before(c.doc)), "x", "t", "approve")
		f.Add([]byte(after(c.doc)), "my server", "a.b", "it's")
	}
	f.Fuzz(func(t *testing.T, doc []byte, server, tool, value string) {
		path := mode(server, tool)
		want := map[string]any{}
		readable := func() (ok bool) {
			defer func() { ok = ok && recover() == nil }()
			_, err := toml.Decode(string(doc), &want)
			return err == nil && utf8.Valid(doc)
		}()
		out, err := tomledit.Set(doc, path, value)
		if err != nil {
			var e *tomledit.Error
			if !errors.As(err, &e) || out != nil {
				t.Fatalf("%q, %v", out, err)
			}
			if readable && e.Cause == tomledit.ErrSyntax && e.Message != "the nesting is too deep" {
				t.Fatalf("%v, but the decoder reads it\n%q", err, doc)
			}
			return
		}
		if !readable {
			t.Fatalf("not readable before, now %q", out)
		}
		put(want, path, value)
		if got := decode(t, string(out)); !equal(got, want) {
			t.Fatalf("%q\ngot  %v\nwant %v", out, got, want)
		}
		if again, err := tomledit.Set(out, path, value); err != nil || string(again) != string(out) {
			t.Fatalf("again: %v\n%q\n%q", err, out, again)
		}
		back, was, err := tomledit.Unset(out, path)
		if err != nil {
			return // it may have to be refused, such as for a doubled table
		}
		got := decode(t, string(back))
		if _, there, _ := meet(got, path); there || !was {
			t.Fatalf("still there, %v: %q", was, back)
		}
		put(got, path, value)
		if !equal(got, want) {
			t.Fatalf("unset changes more\n%q\n%q", out, back)
		}
	})
}

// equal compares without the dates and numbers that are not equal to
// themselves.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if v, ok := b[k]; !ok || !equal(a[k], v) {
				return false
			}
		}
		return true
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || a != a && b != b)
	}
	return reflect.DeepEqual(a, b) || reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Kind() == reflect.Slice
}
