package tomledit_test

import (
	"errors"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
)

// What Unset takes away is marked ⟨…⟩, as in setCases.
func TestUnset(t *testing.T) {
	for _, c := range []struct{ name, doc string }{
		{"its line", "[a]\nb = 1\n⟨k = 'v' # why\n⟩# c\nd = 2\n"},
		{"its lines", "[a]\nb = 1\n⟨k = \"\"\"\n[a]\n\"\"\"\n⟩d = 2\n"},
		{"its table", "x = 1\n⟨\n[a]\nk = 'v'\n⟩\n[z]\n"},
		{"its table, first", "⟨[a]\nk = 'v'\n\n\n⟩[z]\n"},
		{"its table, alone", "⟨[a]\nk = 'v'\n⟩"},
		{"its table, indented and spaced", "x = 1\n\n⟨ \n  [a]\n\n    k = 'v'\n⟩"},
		{"its table, close", "x = 1\n⟨[a]\nk = 'v'\n⟩[z]\n"},
		{"its table, last, no newline", "\uFEFFx = 1⟨\r\n\r\n[a]\r\nk = 'v'⟩"},
		{"its table, with one below", "⟨[a]\nk = 'v'\n⟩[a.b]\nc = 1\n"},
		{"a table with another key", "[a]\n⟨k = 'v'\n⟩b = 1\n"},
		{"a table with a comment behind", "[a] # about a\n⟨k = 'v'\n⟩"},
		{"a table with a comment above", "# about a\n[a]\n⟨k = 'v'\n⟩"},
		{"a table with a comment within", "[a]\n# about k\n⟨k = 'v'\n⟩"},
		{"a table with a comment below", "[a]\n⟨k = 'v'\n⟩# b = 1\n\n[z]\n"},
		{"a table with a comment on the line", "[a]\n⟨k = 'v' # why\n⟩"},
		{"a table before the comment of the next", "x = 1\n⟨\n[a]\nk = 'v'\n⟩# about z\n[z]\n"},
		{"dotted", "a.b = 1\n⟨a.k = 'v'\n⟩z = 1\n"},
		{"dotted, alone", "⟨a.k = 'v'\n⟩"},
		{"inline, first", "a = { ⟨k = 'v', ⟩b = 1 }\n"},
		{"inline, between", "a = { b = 1⟨, k = 'v'⟩, c = 2 }\n"},
		{"inline, last", "a = { b = 1⟨, k = 'v'⟩ }\n"},
		{"inline, last with a comma", "a = {b = 1⟨,k = 'v'⟩,}\n"},
		{"inline, alone", "a = {⟨ k = 'v' ⟩}\n"},
		{"inline, alone with a comma", "a = {⟨k = 'v', ⟩}\n"},
		{"inline within a list's neighbour", "b = [{ k = 1 }]\na = { b = [1, 2]⟨, k = 'v'⟩ }\n"},
		{"inline, first line", "a = {\n⟨  k = 'v', # why\n⟩  b = 1, # b\n}\n"},
		{"inline, line between", "a = {\n  b = 1, # b\n⟨  k = 'v', # why\n⟩  # c\n  c = 1\n}\n"},
		{"inline, last line", "a = {\n  b = 1⟨,⟩ # b\n⟨  k = 'v' # why\n⟩}\n"},
		{"inline, last line with a comma", "a = {\n  b = 1, # b\n⟨  k = 'v', # why\n⟩}\n"},
		{"inline, only line", "a = {\n⟨  k = 'v',\n⟩}\n"},
		{"inline, comma in front", "a = {\n  b = 1\n  , c = 2⟨\n  , k = 'v'⟩\n}\n"},
		{"inline, between comments", "a = { b = 1, # b\n ⟨k = 'v', ⟩c = 2 }\n"},
		{"inline, last behind a comment", "a = { b = 1⟨,⟩ # b\n ⟨k = 'v'⟩ }\n"},
		{"inline, comment before its comma", "a = { ⟨k = 'v'⟩ # k\n ⟨,⟩ c = 2 }\n"},
		{"inline, dotted", "a = { b.c = 1⟨, k = 'v'⟩, b.d = 1 }\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, want := after(c.doc), before(c.doc)
			got, was, err := tomledit.Unset([]byte(in), []string{"a", "k"})
			if err != nil || !was || string(got) != want {
				t.Errorf("got %v, %v:\n%s\nwant:\n%s", was, err, got, want)
			}
			if _, was, err := tomledit.Unset(got, []string{"a", "k"}); was || err != nil {
				t.Errorf("again: %v, %v", was, err)
			}
		})
	}
}

// A key that is not there is no mistake, even where none could be.
func TestUnsetMissing(t *testing.T) {
	for _, doc := range []string{"", "a = 1\n", "[a]\nb = 1\n", "[[a]]\nk = 1\n", "a = [{ k = 1 }]\n"} {
		got, was, err := tomledit.Unset([]byte(doc), []string{"a", "k"})
		if was || err != nil || string(got) != doc {
			t.Errorf("%q: got %q, %v, %v", doc, got, was, err)
		}
	}
}

func TestUnsetRefusals(t *testing.T) {
	for doc, cause := range map[string]error{
		"[a.k]\nb = 1\n":           tomledit.ErrInTheWay,
		"a = { k = {} }\n":         tomledit.ErrInTheWay,
		"[a]\nk = [\n 1, # one\n]": tomledit.ErrInTheWay,
		"[[a.k]]\n":                tomledit.ErrInTheWay,
		"[a]\nk = ":                tomledit.ErrSyntax,
	} {
		if got, was, err := tomledit.Unset([]byte(doc), []string{"a", "k"}); got != nil || was || !errors.Is(err, cause) {
			t.Errorf("%q: got %q, %v, %v, want %v", doc, got, was, err, cause)
		}
	}
}
