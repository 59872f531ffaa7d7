package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var texts = []string{
	``, ` `, `null`, `nul`, `nulL`, ` true `, `fals`, `false x`, `0`, `-0`, `01`, `-`, `1.`, `1.5`, `1e`, `1e+`, `1E-5`, `.5`, `+1`, `1x`,
	`12345678901234567890`, `""`, `"a`, `"a"b`, `"\"`, `"\\"`, `"\u12"`, `"\u12G4"`, `"\ud800"`, `"\ud83d\ude00"`, `"\x"`, `"é"`, "\"\xff\"",
	"\"abcdefgh\xff\"", "\"abcdefghijklmnop\x00\"", "\"a\nb\"", "\"0123456\"", "\"01234567\"", "\"012345678\\n\"", `"日本語日本語日本語"`, "\"\xed\xa0\x80\"",
	`[]`, `[ ]`, `[1,]`, `[,]`, `[1 2]`, `[1`, `[`, `]`, `[}`, `{]`, `{}`, `{ }`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1}}`,
	`{"a":[1,{"b":null}],"c":"d"}`, "\t{\r\n\"a\" : 1 , \"a\":2 }\n", "\ufeff{}", `[[[]],[{}]]`, `{"":""}`, `{"\u0061":1}`, "[\"\x1f\"]", "\x00", `"<>&` + "\u2028" + `"`,
	`[[1],{"a":[]},"x",-1.5e3,true,false,null]`, "\"\x7f\"", `"ends with \`, `{"a":"b`, `[tru`, "\u00a0[]", "[1\v]",
}

func valid(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

// Valid accepts what encoding/json and the UTF-8 check accept, nothing else.
func TestValid(t *testing.T) {
	for _, s := range texts {
		if err := Valid([]byte(s)); (err == nil) != valid([]byte(s)) {
			t.Errorf("Valid(%q) = %v, want valid=%v", s, err, valid([]byte(s)))
		}
	}
}

// The place of a fault is the byte that is wrong.
func TestSyntaxErrorOffset(t *testing.T) {
	for s, want := range map[string]int{
		`{"a":1,}`: 7, `[1 2]`: 3, `"a`: 2, "\"abcdefghij\xffk\"": 11, `[1]]`: 3, `{"a" 1}`: 5, `[nulx]`: 4, `[1.x]`: 3, `["\q"]`: 3, `["\u12x4"]`: 6, ``: 0,
	} {
		var e *SyntaxError
		if err := Valid([]byte(s)); !errors.As(err, &e) || e.Offset != want {
			t.Errorf("Valid(%q) = %v, want offset %d", s, err, want)
		}
	}
}

// Nesting up to MaxDepth is fine; beyond it is an error and no overflow, in
// every door.
func TestDepth(t *testing.T) {
	for _, c := range []struct{ open, shut string }{{"[", "]"}, {`{"a":`, "}"}, {`[{"b":`, "}]"}} {
		unit := strings.Count(c.open, "[") + strings.Count(c.open, "{")
		deep := func(n int) []byte {
			return []byte(strings.Repeat(c.open, n/unit) + "1" + strings.Repeat(c.shut, n/unit))
		}
		if err := Valid(deep(MaxDepth)); err != nil {
			t.Errorf("%s at MaxDepth: %v", c.open, err)
		}
		if err := Valid(deep(MaxDepth + unit)); err == nil {
			t.Errorf("%s beyond MaxDepth is accepted", c.open)
		}
		ignore := func([]byte, []byte) error { return nil }
		if c.open[0] == '{' {
			if err := Object(deep(MaxDepth), ignore); err != nil {
				t.Errorf("Object at MaxDepth: %v", err)
			}
			if err := Object(deep(MaxDepth+unit), ignore); err == nil {
				t.Error("Object beyond MaxDepth is accepted")
			}
		}
	}
	if err := Valid(bytes.Repeat([]byte("["), 50_000_000)); err == nil {
		t.Error("a depth bomb is accepted")
	}
}

// Object hands out members in order, keys without escapes, values as the
// input's own bytes without white space around them.
func TestObject(t *testing.T) {
	data := []byte(` { "z" : 12345678901234567890 , "a":1.0,"h":"<b>&","\u0061\n\ud83d\ude00\ud800":[ 1 ] , "a":null } `)
	var got []string
	err := Object(data, func(k, v []byte) error {
		if len(v) > 0 && (&v[0] != &data[bytes.Index(data, v)] && !bytes.Equal(v, data[bytes.Index(data, v):][:len(v)])) {
			t.Errorf("%s is no part of the input", v)
		}
		got = append(got, string(k)+"="+string(v))
		return nil
	})
	want := []string{"z=12345678901234567890", "a=1.0", `h="<b>&"`, "a\n😀\uFFFD=[ 1 ]", "a=null"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	stop := errors.New("stop")
	n := 0
	if err := Object(data, func(_, _ []byte) error { n++; return stop }); err != stop || n != 1 {
		t.Errorf("the visitor's error came back as %v after %d visits", err, n)
	}
	var cut []string
	err = Object([]byte(`{"id":12,"n":34`), func(k, v []byte) error { cut = append(cut, string(k)+"="+string(v)); return nil })
	if want := []string{"id=12"}; err == nil || !slices.Equal(cut, want) {
		t.Errorf("of a text cut off in a number came %q, %v, want %q", cut, err, want)
	}
	for _, s := range texts {
		err := Object([]byte(s), func(_, _ []byte) error { return nil })
		if want := valid([]byte(s)) && Kind([]byte(s)) == '{'; (err == nil) != want {
			t.Errorf("Object(%q) = %v, want ok=%v", s, err, want)
		}
	}
}

func TestArray(t *testing.T) {
	var got []string
	err := Array([]byte(` [ 1 ,"a", {"b":[]},[ ] ] `), func(i int, v []byte) error {
		got = append(got, fmt.Sprintf("%d %s", i, v))
		return nil
	})
	if want := []string{`0 1`, `1 "a"`, `2 {"b":[]}`, `3 [ ]`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	stop := errors.New("stop")
	if err := Array([]byte(`[1,2]`), func(int, []byte) error { return stop }); err != stop {
		t.Errorf("the visitor's error came back as %v", err)
	}
	for _, s := range texts {
		err := Array([]byte(s), func(int, []byte) error { return nil })
		if want := valid([]byte(s)) && Kind([]byte(s)) == '['; (err == nil) != want {
			t.Errorf("Array(%q) = %v, want ok=%v", s, err, want)
		}
	}
}

func TestKind(t *testing.T) {
	for s, want := range map[string]byte{` {`: '{', "\n[": '[', `"`: '"', `-1`: '0', `7`: '0', `true`: 't', `false`: 'f', `null`: 'n', ``: 0, ` `: 0, `x`: 0, `+1`: 0} {
		if got := Kind([]byte(s)); got != want {
			t.Errorf("Kind(%q) = %q, want %q", s, got, want)
		}
	}
}

// Reading allocates nothing.
func TestNoAllocs(t *testing.T) {
	data := []byte(`{"jsonrpc":"2.0","id":7,"method":"thread/tool/call","params":{"a":[1,2.5,"é",{"b":null}]}}`)
	n := 0
	if a := testing.AllocsPerRun(100, func() {
		if Valid(data) != nil || Object(data, func(k, v []byte) error { n += len(k) + len(v); return nil }) != nil {
			t.Error("invalid")
		}
	}); a != 0 {
		t.Errorf("%v allocs, want 0", a)
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := valid(data)
		if err := Valid(data); (err == nil) != want {
			t.Fatalf("Valid = %v, want valid=%v", err, want)
		}
		seen := map[string][]byte{}
		err := Object(data, func(k, v []byte) error {
			if !json.Valid(v) {
				t.Fatalf("member %q is invalid: %q", k, v)
			}
			seen[string(k)] = v
			return nil
		})
		if (err == nil) != (want && Kind(data) == '{') {
			t.Fatalf("Object = %v, want valid=%v", err, want)
		}
		if err == nil {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			if len(m) != len(seen) {
				t.Fatalf("members %q, want %q", seen, m)
			}
			for k, v := range m {
				if !bytes.Equal(seen[k], v) {
					t.Fatalf("member %q is %q, want %q", k, seen[k], v)
				}
			}
		}
		err = Array(data, func(int, []byte) error { return nil })
		if (err == nil) != (want && Kind(data) == '[') {
			t.Fatalf("Array = %v, want valid=%v", err, want)
		}
		s, ok := String(data)
		if ok != (want && Kind(data) == '"') {
			t.Fatalf("String = %v, want valid=%v", ok, want)
		}
		if ok {
			var std string
			if err := json.Unmarshal(data, &std); err != nil || s != std {
				t.Fatalf("String = %q, want %q", s, std)
			}
		}
		line := SingleLine(data)
		if bytes.ContainsAny(line, "\r\n") {
			t.Fatalf("SingleLine left a line break: %q", line)
		}
		if want && bytes.ContainsAny(data, "\r\n") {
			var std bytes.Buffer
			if err := json.Compact(&std, data); err != nil || !bytes.Equal(std.Bytes(), line) {
				t.Fatalf("SingleLine = %q, want %q", line, std.Bytes())
			}
		}
	})
}

// Ten megabytes in one string: what a tool's result with an image looks like.
func BenchmarkValidBigString(b *testing.B) {
	data := []byte(`{"content":[{"type":"image","data":"` + strings.Repeat("QUJDREVGR0hJSktM", 10<<16) + `"}]}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if Valid(data) != nil {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkValidUnicodeString(b *testing.B) {
	data := []byte(`["` + strings.Repeat("Grüße aus 東京! ", 1<<18) + `"]`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if Valid(data) != nil {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkValidStructured(b *testing.B) {
	data := []byte("[" + strings.Repeat(`{"name":"tool_name","description":"Does a thing, and\nanother","schema":{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","minimum":-12.5}},"required":["path"]},"on":true},`, 5000) + "null]")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if Valid(data) != nil {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkObjectSmall(b *testing.B) {
	data := []byte(`{"jsonrpc":"2.0","id":7,"method":"thread/tool/call","params":{"threadId":"t-1","bindingId":"b-1","name":"read_file","arguments":{"path":"/home/me/project/main.go","limit":100},"callId":"call_0123456789abcdef"}}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if Object(data, func(k, v []byte) error { n += len(v); return nil }) != nil {
			b.Fatal("invalid")
		}
	}
}
