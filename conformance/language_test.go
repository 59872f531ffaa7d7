package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// A mistake in a script is told with its file and line, in an included file
// with both places.
func TestParseErrors(t *testing.T) {
	folder := fstest.MapFS{"bad.txt": {Data: []byte("# fine\n--> {\"id\":1}\n<-- {\n")}}
	for _, test := range []struct{ script, want string }{
		{"-- session --\neof\n", "x.txtar:1: a script begins with its promise"},
		{"P.\n", `x.txtar:1: the script has no file "session"`},
		{"P.\n-- sesion --\neof\n", `x.txtar:3: the file "sesion" means nothing here`},
		{"P.\n\n-- session --\neof\nfly\n", "x.txtar:5: fly: no such statement"},
		{"P.\n-- session --\n<-- {}\n", "x.txtar:3: <-- must follow something that is done"},
		{"P.\n-- session --\nnever x\n<-- {}\n", "x.txtar:4: <-- must follow something that is done"},
		{"P.\n-- session --\neof\n<-- {\"a\":}\n", `x.txtar:4: <--: column 6: "}" is no value`},
		{"P.\n-- session --\neof\n<-- {\"a\":1\n    ,\n", "x.txtar:4: <--: column 8: a key is missing"},
		{"P.\n-- session --\n--> [1]\n", "x.txtar:3: -->: want an object"},
		{"P.\n-- session --\nraw \\q\n", `x.txtar:3: raw: unknown escape \q`},
		{"P.\n-- session --\nraw \\xg0\n", "x.txtar:3: raw: want two digits"},
		{"P.\n-- session --\nraw \\{9999999999*xx}\n", "x.txtar:3: raw: want"},
		{"P.\n-- session --\nwait soon\n", "x.txtar:3: wait: time: invalid duration"},
		{"P.\n-- session --\nexpect-exit x\n", "x.txtar:3: expect-exit:"},
		{"P.\n-- session --\neof now\n", "x.txtar:3: eof: takes no words"},
		{"P.\n-- session --\nserver docs: exit 1\n", "x.txtar:3: there is no server/docs.json"},
		{"P.\n-- session --\nserver docs: dance\n", "x.txtar:3: server: dance: no such word"},
		{"P.\n-- session --\nserver docs\n", "x.txtar:3: server: want"},
		{"P.\n-- session --\ninclude none.txt\n", "x.txtar:3: include: open none.txt"},
		{"P.\n-- session --\ninclude bad.txt\n", "bad.txt:3: <--: column 2: a key is missing (included at x.txtar:3)"},
		{"P.\n-- server/docs.json --\n{\"tols\":[]}\n-- session --\neof\n", `x.txtar:3: server/docs.json: json: unknown field "tols"`},
		{"P.\n-- server/docs.json --\n{\"tools\":[{\"name\":\"x\",\"reply\":{\"txt\":1}}]}\n-- session --\neof\n", `x.txtar:3: server/docs.json: tool "x": json: unknown field "txt"`},
		{"P.\n-- limits --\n\nmax-lines 3\n-- session --\neof\n", "x.txtar:4: limits: max-lines: unknown"},
		{"P.\n-- env --\nA=1\nB\n-- session --\neof\n", `x.txtar:4: env: "B" is not KEY=value`},
	} {
		_, err := ParseScript("x.txtar", []byte(test.script), folder)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q:\n got %v\nwant %s", test.script, err, test.want)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		pattern, value string
		want           string // what the error says; "" for a match
	}{
		{`{"a":1,"b":[2]}`, `{"b":[2],"a":1}`, ""},
		{`{"a":1}`, `{"a":1,"b":2}`, `at the top: "b" is not expected: 2`},
		{`{"a":1,...}`, `{"a":1,"b":2}`, ""},
		{`{...}`, `{}`, ""},
		{`{"a":_}`, `{}`, `at the top: "a" is missing`},
		{`{"a":_}`, `{"a":null}`, ""},
		{`1.0`, `1`, "at the top: got 1, want 1.0"},
		{`12345678901234567890`, `12345678901234567891`, "at the top: got"},
		{`[1,...]`, `[1,2,3]`, ""},
		{`[1,...]`, `[]`, "at the top: got 0 items, want 1"},
		{`[...]`, `[]`, ""},
		{`[...,2,4,...]`, `[1,2,3,4]`, ""},
		{`[...,4,2,...]`, `[1,2,3,4]`, "at the top: no item is 2"},
		{`["a",_]`, `["a",{"x":1}]`, ""},
		{`["a"]`, `["b"]`, `at /0: got "b", want "a"`},
		{`"a...z"`, `"abcz"`, ""},
		{`"a...z"`, `"abc"`, "at the top"},
		{`"...b...b..."`, `"abcb"`, ""},
		{`"...b...b..."`, `"abc"`, "at the top"},
		{`"a...a"`, `"a"`, "at the top"},
		{`"a"`, `"\u0061"`, ""},
		{`{"x":"$v","y":"$v"}`, `{"x":[1],"y":[1]}`, ""},
		{`{"x":"$v","y":$v}`, `{"x":1,"y":2}`, "at /y: got 2, want $v, which is 1"},
		{`"$notAName-x"`, `"$notAName-x"`, ""},
		{`{"a":{"b":[{"c":true}]}}`, `{"a":{"b":[{"c":false}]}}`, "at /a/b/0/c: got false, want true"},
		{`null`, `"null"`, "at the top"},
	} {
		p, err := parsePattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		v, err := parseValue(test.value)
		if err != nil {
			t.Errorf("%s: %v", test.value, err)
			continue
		}
		_, err = match(p, v, nil)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("match(%s, %s) = %v, want %q", test.pattern, test.value, err, test.want)
		}
	}
	for _, bad := range []string{`{...,"a":1}`, `[1,...,2]`, `[...,1]`, `{"a"}`, `[1`, `"a`, `tru`, `_x`, `{"a":1}}`, ``, strings.Repeat("[", 300)} {
		if p, err := parsePattern(bad); err == nil {
			t.Errorf("parsePattern(%.20q) = %v", bad, p)
		}
	}
	if v, err := parseValue(`{"a":_}`); err == nil {
		t.Errorf("a value with a wildcard: %v", v)
	}
}

// Lines in any order are matched as a whole: a choice that makes another line
// impossible is taken back.
func TestMatchGroup(t *testing.T) {
	s, err := ParseScript("x", []byte("P.\n-- session --\neof\n<~~ {\"a\":\"$x\",...}\n<~~ {\"a\":\"$x\",\"b\":2}\n<~~ {\"a\":3}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayer(s, nil)
	lines := []string{`{"a":3}`, `{"a":1,"b":2}`, `{"a":1}`}
	values := make([]node, len(lines))
	for i, l := range lines {
		if values[i], err = parseValue(l); err != nil {
			t.Fatal(err)
		}
	}
	vars, err := p.matchAll(s.steps[0].want, lines, values)
	if err != nil || vars["x"].text != "1" {
		t.Errorf("matchAll = %v, %v", vars, err)
	}
	if _, err := p.matchAll(s.steps[0].want, lines[:2], values[:2]); err == nil {
		t.Error("a line is missing, and nothing said so")
	}
	if _, err := p.matchAll(s.steps[0].want[:2], lines, values); err == nil {
		t.Error("a line is too many, and nothing said so")
	}
}

func TestFill(t *testing.T) {
	vars := bindings{"t": {kind: str, text: "t-1"}, "n": {kind: literal, text: "7"}}
	got, err := vars.fill(`{"id":"$n","a":"$t","b":"x$t","c":"$/x","d":"$","e":1.0, "f":"\u0024t"}`)
	if want := `{"id":7,"a":"t-1","b":"x$t","c":"$/x","d":"$","e":1.0, "f":"\u0024t"}`; err != nil || got != want {
		t.Errorf("fill = %s, %v, want %s", got, err, want)
	}
	if _, err := vars.fill(`{"a":"$unknown"}`); err == nil {
		t.Error("an unbound variable was sent")
	}
}

func TestUnescape(t *testing.T) {
	got, err := unescape(`a\n\r\t\\\x00\xff\"\u0041\/\{3*ab}\{0*x}`)
	if want := "a\n\r\t\\\x00\xff\\\"\\u0041\\/ababab"; err != nil || string(got) != want {
		t.Errorf("unescape = %q, %v, want %q", got, err, want)
	}
}

// -update writes what came and keeps what still fits: wildcards, variables,
// arrows that match, comments.
func TestUpdate(t *testing.T) {
	const before = `P.
-- session --
--> {"id":1,"method":"thread/list"}
<-- {"id":1,"result":{"old":_,"same":"$x","list":[_,2],...}}
# A comment.
wait 1s
--> {"id":2,"method":"thread/list"}
eof
<-- {"method":"gone"}
<-- {"method":"kept","params":{"a":"$x",...}}
`
	const after = `P.
-- session --
--> {"id":1,"method":"thread/list"}
<-- {"id":1,"result":{"old":_,"same":"$x","list":[_,3],...}}
# A comment.
wait 1s
--> {"id":2,"method":"thread/list"}
<-- {"id":2,"result":{"thread":{"id":"$t",...},"startup":1,...}}
eof
<-- {"method":"kept","params":{"a":"$x",...}}
<-- {"id":"$q","method":"new","params":{"createdAt":_,"x":"$x"}}
`
	s, err := ParseScript("x.txtar", []byte(before), nil)
	if err != nil {
		t.Fatal(err)
	}
	var edits []edit
	p := newPlayer(s, nil)
	p.update = func(s *step, arrows []string) { edits = append(edits, edit{s, arrows}) }
	p.stage = &canned{out: [][]string{
		{`{"jsonrpc":"2.0","id":1,"result":{"old":1,"same":"abc","list":[1,3],"new":4}}`},
		nil,
		{`{"id":2,"result":{"thread":{"id":"t-1","more":1},"startup":1,"cwd":"y"}}`},
		{`{"method":"kept","params":{"a":"abc","b":2}}`, `{"id":"s-1","method":"new","params":{"createdAt":5,"x":"abc"}}`},
	}}
	if err := p.play(); err != nil {
		t.Fatal(err)
	}
	if got := apply(before, edits); got != after {
		t.Errorf("got:\n%s\nwant:\n%s", got, after)
	}
	again, err := ParseScript("x.txtar", []byte(after), nil)
	if err != nil {
		t.Fatal(err)
	}
	q := newPlayer(again, nil)
	q.stage = &canned{out: p.stage.(*canned).said}
	if err := q.play(); err != nil {
		t.Errorf("the script does not hold after its update: %v", err)
	}
}

// A script that does not hold says where, and what came instead.
func TestFailure(t *testing.T) {
	s, err := ParseScript("x.txtar", []byte("P.\n-- session --\nnever secret\neof\n<-- {\"a\":1}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		out  []string
		log  string
		want string
	}{
		{[]string{`{"a":1}`}, "", ""},
		{[]string{`{"a":1}`, `{"b":1}`}, "", "x.txtar:4: 1 lines too many came"},
		{nil, "", "x.txtar:4: x.txtar:5: a line is missing"},
		{[]string{`{"a":2}`}, "", "x.txtar:4: x.txtar:5: at /a: got 2, want 1"},
		{[]string{`hello`}, "", "x.txtar:4: the sidecar wrote what is no JSON"},
		{[]string{`{"a":1}`}, "a secret", `x.txtar:3: "secret" is in the log`},
	} {
		p := newPlayer(s, nil)
		p.stage = &canned{out: [][]string{test.out}, log: test.log}
		err := p.play()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.out, err, test.want)
		}
	}
}

// What is included is found beside the script, and every script has a promise
// of its own.
func TestPromises(t *testing.T) {
	promises := map[string]string{}
	scripts(t, func(t *testing.T, path string, s *Script) {
		if other := promises[s.Promise]; other != "" {
			t.Errorf("the promise is that of %s", other)
		}
		promises[s.Promise] = path
		for _, tag := range s.Tags {
			if tag != "process" {
				t.Errorf("unknown tag %q", tag)
			}
		}
	})
	if len(promises) < 60 {
		t.Errorf("%d scripts", len(promises))
	}
}

func FuzzParseScript(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths[:5] {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("P.\n-- server/a.json --\n{\"tools\":[null,{\"name\":\"x\",\"reply\":[{\"delay\":\"1s\"}]}]}\n-- session --\nserver a: got ...\nraw \\{3*x}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseScript("x", data, os.DirFS("testdata"))
		if err == nil && (s.Promise == "" || len(s.steps) == 0 && !strings.Contains(string(data), "session")) {
			t.Errorf("an empty script: %q", data)
		}
	})
}

// What a pattern is written as is the same pattern, and a value matches itself.
func FuzzPattern(f *testing.F) {
	f.Add(`{"a":[1,"x...",_,$v,...],"b":{...}}`)
	f.Add(`[...,1.0e3,"\u0000",...]`)
	f.Add(`"$name"`)
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parsePattern(text); err == nil {
			again, err := parsePattern(p.String())
			if err != nil || again.String() != p.String() {
				t.Errorf("%q is written as %q: %v", text, p, err)
			}
		}
		v, err := parseValue(text)
		if err != nil {
			return
		}
		if _, err := match(v, v, nil); err != nil {
			t.Errorf("%q does not match itself: %v", text, err)
		}
	})
}
