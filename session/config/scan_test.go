package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// Every key is found where it is written, in each of TOML's spellings.
func TestPositions(t *testing.T) {
	src := strings.Join([]string{
		`# comment = "not a key"`,         // 1
		`top = """`,                       // 2
		`fake = 1`,                        // 3
		`[fake]`,                          // 4
		`""""`,                            // 5
		`[mcp_servers.a]`,                 // 6
		`  command = "x" # command = "y"`, // 7
		`"quoted key" = 'it''s'`,          // 8 (two strings: see below)
		`env.FOO = "1"`,                   // 9
		`args = [ "a", # ]`,               // 10
		`  'b' ]`,                         // 11
		`tools = { "Ä.b" = { approval_mode = "auto" }, c.d = 1 }`, // 12
		`[mcp_servers."b.c" . d]`,                                 // 13
		`x = 1979-05-27 07:32:00`,                                 // 14
		`[[list]]`,                                                // 15
		`k = 1`,                                                   // 16
		`[[list]]`,                                                // 17
		`k = 2`,                                                   // 18
		`[[list]]`,                                                // 19
		`sub.k = [{}, {}]`,                                        // 20
		`[list.other]`,                                            // 21
		`k = 3`,                                                   // 22
		`[last]`,                                                  // 23
		`inline = [ {a = 1},`,                                     // 24
		` [{}, {}, {}], {`,                                        // 25
		`a = 2 } ]`,                                               // 26
	}, "\r\n")
	src = strings.Replace(src, `'it''s'`, `'its'`, 1)
	if _, err := decode(src); err != nil {
		t.Fatalf("the test's own text does not decode: %v", err)
	}
	where, err := scan(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path         string
		line, column int
	}{
		{"top", 2, 1},
		{"fake", 0, 0},
		{"mcp_servers", 6, 2},
		{"mcp_servers.a", 6, 14},
		{"mcp_servers.a.command", 7, 3},
		{`mcp_servers.a."quoted key"`, 8, 1},
		{"mcp_servers.a.env", 9, 1},
		{"mcp_servers.a.env.FOO", 9, 5},
		{"mcp_servers.a.args", 10, 1},
		{`mcp_servers.a.tools."Ä.b"`, 12, 11},
		{`mcp_servers.a.tools."Ä.b".approval_mode`, 12, 21},
		{"mcp_servers.a.tools.c.d", 12, 49},
		{`mcp_servers."b.c"`, 13, 14},
		{`mcp_servers."b.c".d`, 13, 22},
		{`mcp_servers."b.c".d.x`, 14, 1},
		{`list."[0]"`, 15, 3},
		{`list."[0]".k`, 16, 1},
		{`list."[1]"`, 17, 3},
		{`list."[1]".k`, 18, 1},
		{`list."[2]".sub`, 20, 1},
		{`list."[2]".other`, 19, 3},
		{`last.inline."[0]"`, 24, 12},
		{`last.inline."[0]".a`, 24, 12},
		{`last.inline."[2]"`, 25, 16},
		{"list", 15, 3},
		{"list.k", 16, 1},
	} {
		path, ok := parseDotted(c.path)
		if !ok {
			t.Fatalf("bad path %s", c.path)
		}
		if line, column := where.find(path); line != c.line || column != c.column {
			t.Errorf("%s is at %d:%d, want %d:%d", c.path, line, column, c.line, c.column)
		}
	}
}

// A table's own header is a better place than a sub-table that comes first.
func TestPositionPrefersTheOwnHeader(t *testing.T) {
	where, err := scan("[a.b.c]\nx=1\n[a.b]\ny=1\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := where.find([]string{"a", "b"}); line != 3 {
		t.Errorf("a.b is at line %d, want 3", line)
	}
}

// Written and read back, a dotted key is the same path.
func TestFormatKey(t *testing.T) {
	for _, path := range [][]string{
		{"a"}, {"a", "b-c_1"}, {"a.b", "c d"}, {"", "x"}, {`q"\`, "ü"}, {"\n\t\r\x00\u2028", "\U0001f600", "\U000e0001"},
	} {
		s := formatKey(path)
		got, ok := parseDotted(s)
		if !ok || !slices.Equal(got, path) {
			t.Errorf("formatKey(%q) = %s, reads back as %q, %v", path, s, got, ok)
		}
	}
}

// FuzzScan proves that the scanner and the decoder see the same document:
// what the decoder accepts the scanner accepts, finding the same statements in
// the same order, each at a place where that key is written.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"", "a=1", "a.b.c = 1\n[x.y]\nz={q=1,r.s=2}\n[[t]]\n[[t]]\nk=[{a=1},{a=2}]",
		"\"a\\u00e9\" = 1", "a='''x''''", "a=\"\"\"\\\"\"\"\"", "a = 1 # c\r\n", "[ a . \"b\" ]\n", "a=[\n1, # ]\n2,]", "a = { x = 1,\n y = 2, }",
		"a=1979-05-27 07:32:00\n", "[a]\n[a.b]\n[[a.c]]\n", "''=1", "a=\"\\x41\\e\"", "a = inf\nb = -nan", "[[a.b]]\nc.d=1\n[a.b.e]\nf=1",
		strings.Repeat("[", 100), "a=" + strings.Repeat("{b=", 80),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if msg, _, _ := unreadable([]byte(src)); msg != "" || strings.HasPrefix(src, byteOrderMark) || len(src) > maxFile {
			return
		}
		type found struct {
			key    string
			offset int
		}
		var seen []found
		where, scanErr := scan(src, func(path []string, offset int) { seen = append(seen, found{formatKey(path), offset}) })
		if isTooDeep(scanErr) {
			return
		}
		tree := map[string]any{}
		md, err := func() (md toml.MetaData, err error) {
			defer func() {
				if r := recover(); r != nil {
					err = errPanic
				}
			}()
			return toml.Decode(src, &tree)
		}()
		if err != nil {
			return
		}
		if scanErr != nil {
			t.Fatalf("the decoder accepts what the scanner refuses: %v", scanErr)
		}
		keys := md.Keys()
		if len(keys) != len(seen) {
			t.Fatalf("decoder has %d keys, scanner %d\n%q\n%v", len(keys), len(seen), keys, seen)
		}
		for i, k := range keys {
			if formatKey(k) != seen[i].key {
				t.Fatalf("key %d: decoder %s, scanner %s", i, formatKey(k), seen[i].key)
			}
			p := &scanner{s: src, i: seen[i].offset}
			if name := p.simpleKey(); name != k[len(k)-1] {
				t.Fatalf("at offset %d stands %q, not %q", seen[i].offset, name, k[len(k)-1])
			}
			if line, column := where.find(k); line < 1 || column < 1 {
				t.Fatalf("no position for %s", formatKey(k))
			}
		}
	})
}

type panicError struct{}

func (panicError) Error() string { return "the decoder panicked" }

var errPanic = panicError{}
