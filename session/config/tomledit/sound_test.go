package tomledit

import "testing"

// Each table has one definition. The decoder does not mind most of the second
// ones, so that only this check keeps an edit from making them.
func TestSound(t *testing.T) {
	for doc, want := range map[string]bool{
		"a.b = 1\na.c = 2\n":                   true,
		"[a.b]\nx = 1\n[a]\ny = 2\n":           true,
		"[a]\nb.c = 1\n[a.b.d]\nx = 1\n":       true, // a table below a dotted one
		"[[a]]\nx = 1\n[a.b]\n[[a]]\n[a.b]\n":  true,
		"a = { b.c = 1, b.d = { e = 1 } }\n":   true,
		"a = [{ b = 1 }, { b = 1 }]\n":         true,
		"[a]\n[a]\n":                           false,
		"a.b = 1\n[a]\nc = 1\n":                false,
		"[a]\nb.c = 1\n[a.b]\nd = 1\n":         false,
		"[a.b]\nx = 1\n[a]\nb.y = 2\n":         false,
		"[a.b.c]\nx = 1\n[a]\nb.y = 1\n":       false,
		"a = {}\n[a.b]\nc = 1\n":               false,
		"a = { b = 1 }\na.c = 2\n":             false,
		"a = { b = {}, b.c = 1 }\n":            false,
		"a.b = { c = 1 }\n[a.b.d]\nx = 1\n":    false,
		"a = []\n[[a]]\n":                      false,
		"[a.b]\n[[a]]\n":                       false,
		"[[a]]\n[a]\n":                         false,
		"a = 1\na.b = 1\n":                     false,
		"a = 1\na = 1\n":                       false,
		"[a]\n[b]\na.c = 1\n[b.a]\n":           false,
		"a = [1, { b = 1 }]\n[a.c]\nd = true ": false,
	} {
		d, problem := newDocument(doc)
		if problem != nil {
			t.Fatalf("%q: offset %d", doc, problem.offset)
		}
		if got := sound(d); got != want {
			t.Errorf("%q: got %v, want %v", doc, got, want)
		}
	}
}

// An edit that the decoder lets pass, but that defines a table a second time,
// is no edit.
func TestProofNeedsSoundness(t *testing.T) {
	e, err := begin("setting ", []byte("a.b.c = 1\n"), []string{"a", "b", "k"}, "v")
	if err != nil {
		t.Fatal(err)
	}
	wanted := []map[string]any{with(e.tree, e.path, "v")}
	header, beside := splice{10, 10, "[a.b]\nk = 'v'\n"}, splice{10, 10, "a.b.k = 'v'\n"}
	if out, ok := e.prove(header, wanted); ok {
		t.Errorf("taken: %q", out)
	}
	if _, ok := e.prove(beside, wanted); !ok {
		t.Error("refused: a dotted key beside its kin")
	}
	for name, s := range map[string]splice{
		"another key":   {10, 10, "a.b.k = 'v'\nx = 1\n"},
		"another value": {0, 10, "a.b.c = 2\na.b.k = 'v'\n"},
		"another order": {0, 10, "a.b.k = 'v'\na.b.d = 1\n"},
		"no TOML":       {10, 10, "a.b.k = v\n"},
	} {
		if out, ok := e.prove(s, wanted); ok {
			t.Errorf("%s is taken: %q", name, out)
		}
	}
}

// The order of the keys is part of the proof.
func TestProofNeedsOrder(t *testing.T) {
	e, err := begin("setting ", []byte("a = 1\nb = 2\n"), []string{"k"}, "v")
	if err != nil {
		t.Fatal(err)
	}
	if out, ok := e.prove(splice{0, 12, "b = 2\na = 1\nk = 'v'\n"}, []map[string]any{with(e.tree, e.path, "v")}); ok {
		t.Errorf("taken: %q", out)
	}
}
