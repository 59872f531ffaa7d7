package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

type term string

// oneOf is shaped like protocol.OneOf.
type oneOf[S any] json.RawMessage

func (o oneOf[S]) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("null"), nil
	}
	return o, nil
}

type inner struct {
	Word  term   `json:"word,omitzero"`
	Count *int64 `json:"count,omitzero"`
}

type wire struct {
	Text     string                     `json:"text"`
	Maybe    string                     `json:"maybe,omitzero"`
	Flag     bool                       `json:"flag,omitempty"`
	N        int64                      `json:"n"`
	F        float64                    `json:"f"`
	List     []string                   `json:"list"`
	Omitted  []string                   `json:"omitted,omitempty"`
	Kept     []string                   `json:"kept,omitzero"`
	Map      map[term]inner             `json:"map"`
	Raw      json.RawMessage            `json:"raw,omitzero"`
	RawMap   map[string]json.RawMessage `json:"rawMap,omitempty"`
	RawList  []json.RawMessage          `json:"rawList,omitzero"`
	Union    oneOf[int]                 `json:"union,omitzero"`
	Inner    inner                      `json:"inner"`
	InnerPtr *inner                     `json:"innerPtr"`
	Bytes    []byte                     `json:"bytes,omitempty"`
	Any      any                        `json:"any,omitempty"`
	Number   json.Number                `json:"number,omitempty"`
	Skipped  string                     `json:"-"`
	Untagged uint8
	hidden   int
}

func reference(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// What the small language can say comes out as encoding/json writes it,
// without escaping for HTML.
func TestMarshalAsEncodingJSON(t *testing.T) {
	n := int64(-3)
	type tree struct {
		Name string           `json:"name"`
		Kids []tree           `json:"kids,omitempty"`
		By   map[string]*tree `json:"by,omitempty"`
	}
	type quoted struct {
		N int64 `json:"n,string"`
	}
	type zeroer struct {
		At time.Time `json:"at,omitzero"`
		In struct {
			At time.Time `json:"at"`
		} `json:"in"`
	}
	type embedding struct {
		inner
		Word string `json:"word"`
	}
	for _, v := range []any{
		nil, true, "a<b>&c\u2028\x7f\x01\t\"\\\xff", int64(math.MinInt64), uint64(math.MaxUint64), 0.0, math.Copysign(0, -1), 1e21, 1e20, 1e-7, 1.5e-9, 123456789.125, float32(1e-7),
		[]string(nil), []string{}, map[string]int64(nil), map[string]int64{"b": 1, "a": 2, "": 3, "<": 4}, (*inner)(nil), &inner{}, struct{}{},
		wire{hidden: 1}, &wire{hidden: 1},
		wire{Text: "é日本", Maybe: "x", Flag: true, N: -5, F: 2.5, List: []string{"a", "b"}, Omitted: []string{}, Kept: []string{},
			Map: map[term]inner{"z": {Word: "w"}, "a": {Count: &n}}, Raw: json.RawMessage(`{"z":1.0}`), RawMap: map[string]json.RawMessage{"k": json.RawMessage(`[1]`)},
			RawList: []json.RawMessage{json.RawMessage(`1`), nil}, Union: oneOf[int](`"x"`), InnerPtr: &inner{Count: &n}, Bytes: []byte("hi"),
			Any: map[string]any{"x": []any{1, "two", nil}}, Number: "12", Skipped: "no", Untagged: 9},
		tree{Name: "root", Kids: []tree{{Name: "kid"}}, By: map[string]*tree{"me": {Name: "x"}}},
		quoted{7}, zeroer{}, zeroer{At: time.Unix(1, 0).UTC()}, embedding{Word: "w"}, [2]int{1, 2}, map[int]string{2: "b", 10: "a"}, time.Unix(0, 0).UTC(), json.Number("1.0"),
	} {
		got, err := Marshal(v)
		if want := reference(t, v); err != nil || string(got) != want {
			t.Errorf("Marshal(%#v)\n got %s, %v\nwant %s", v, got, err, want)
		}
	}
}

// Raw members are copied: not compacted, not escaped, not reordered; on one
// line; null when empty.
func TestMarshalKeepsRawBytes(t *testing.T) {
	type raws struct {
		A json.RawMessage   `json:"a"`
		B oneOf[string]     `json:"b"`
		C []json.RawMessage `json:"c"`
		D any               `json:"d"`
	}
	const odd = `{"z":12345678901234567890, "a":1.0,"h":"<b>&","s":"\ud800"}`
	v := raws{A: json.RawMessage(odd), B: oneOf[string](odd), C: []json.RawMessage{nil, {}, json.RawMessage("{\r\n  \"a b\": [1,\n 2]\t}")},
		D: map[string]any{"r": json.RawMessage(odd)}}
	got, err := Marshal(&v)
	want := `{"a":` + odd + `,"b":` + odd + `,"c":[null,null,{"a b":[1,2]}],"d":{"r":` + odd + `}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	for _, v := range []any{json.RawMessage(odd), oneOf[int](odd)} {
		if got, err := Marshal(v); err != nil || string(got) != odd {
			t.Errorf("Marshal(%T) = %s, %v", v, got, err)
		}
	}
	if got, err := Append([]byte("x"), json.RawMessage(nil)); err != nil || string(got) != "xnull" {
		t.Errorf("an empty message is %s, %v", got, err)
	}
}

// Parts gives the bytes of Append; big raw members are not copied.
func TestParts(t *testing.T) {
	big := json.RawMessage(`"` + strings.Repeat("<x>", BigRaw) + `"`)
	wrapped := json.RawMessage("[\n" + string(big) + "]")
	type result struct {
		A json.RawMessage   `json:"a"`
		B []json.RawMessage `json:"b"`
		C string            `json:"c"`
	}
	for _, v := range []any{nil, 1, big, result{A: big, B: []json.RawMessage{json.RawMessage("1"), big, wrapped}, C: "end"}, result{A: json.RawMessage("1")}} {
		want, err := Append([]byte("head"), v)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := Parts([]byte("head"), v)
		if got := bytes.Join(parts, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("Parts(%T) joined is %d bytes, %v, want %d", v, len(got), err, len(want))
		}
		for i, p := range parts {
			if shared := len(p) == len(big) && &p[0] == &big[0]; len(p) == len(big) && !shared || shared && i == len(parts)-1 {
				t.Errorf("part %d of %T: shared=%v", i, v, shared)
			}
		}
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

// What has no JSON is an error, and Append leaves dst as it was.
func TestMarshalErrors(t *testing.T) {
	type loop struct {
		Next *loop `json:"next"`
		Any  any   `json:"any,omitzero"`
	}
	round := &loop{}
	round.Next = round
	byAny := &loop{}
	byAny.Any = byAny
	for _, v := range []any{math.NaN(), math.Inf(1), make(chan int), []any{failing{}}, round, byAny, map[string]any{"f": func() {}}} {
		got, err := Append([]byte("kept"), v)
		if err == nil || string(got) != "kept" {
			t.Errorf("Append(%T) = %.40q, %v", v, got, err)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", "1234567", "12345678", "123456789\"", "tab\there", "\x00\x1f\x7f", "<>&", "\u2028é\u2029", "a\xffb", "日本", "\b\f\r\n\\"} {
		if got, want := string(AppendString([]byte("x"), s)), "x"+reference(t, s); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{`"a"`: "a", ` "\u00e9\n\/" `: "é\n/", `"\ud83d\ude00"`: "😀", `"\ud83dx"`: "\uFFFDx", `"\ud83d\u0041"`: "\uFFFDA", `""`: ""} {
		if got, ok := String([]byte(in)); !ok || got != want {
			t.Errorf("String(%s) = %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{``, `1`, `"a`, `"a"b`, "\"\xff\"", `"\x"`, "\"\n\""} {
		if got, ok := String([]byte(in)); ok {
			t.Errorf("String(%s) = %q, want none", in, got)
		}
	}
}

func TestSingleLine(t *testing.T) {
	same := []byte(`{ "a" : "b c" }`)
	if got := SingleLine(same); &got[0] != &same[0] {
		t.Error("a single line was copied")
	}
	for in, want := range map[string]string{
		"{\n \"a\" : \"b \\\" c\"\r\n}": `{"a":"b \" c"}`,
		"\"never closed\n":              `"never closed`,
		"\"\\\n":                        `"\`,
	} {
		if got := string(SingleLine([]byte(in))); got != want {
			t.Errorf("SingleLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzMarshal(f *testing.F) {
	f.Add("a", "b<\u2028", int64(1), 1.5, true, []byte(`{"a": 1}`))
	f.Add("\xff\xfe", "", int64(-1), 1e-9, false, []byte(nil))
	f.Add("é\"\\\n", "<>&", int64(0), 1e300, false, []byte("[1,\n2]"))
	f.Fuzz(func(t *testing.T, a, b string, n int64, x float64, flag bool, raw []byte) {
		if len(raw) > 0 && Valid(raw) != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		if len(raw) == 0 {
			raw = nil
		}
		v := wire{Text: a, Maybe: b, Flag: flag, N: n, F: x, List: []string{b, a}, Map: map[term]inner{term(a): {Word: term(b)}, term(b): {Count: &n}},
			Raw: raw, Union: oneOf[int](raw), RawList: []json.RawMessage{raw}, Any: []any{x, a}, Untagged: uint8(n)}
		got, err := Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := Valid(got); err != nil || bytes.ContainsAny(got, "\r\n") {
			t.Fatalf("not one line of JSON: %s, %v", got, err)
		}
		var g, w any
		if json.Unmarshal(got, &g) != nil || json.Unmarshal([]byte(reference(t, v)), &w) != nil || !reflect.DeepEqual(g, w) {
			t.Fatalf("got  %s\nwant %s", got, reference(t, v))
		}
		if raw != nil && !bytes.Contains(got, append([]byte(`"raw":`), SingleLine(raw)...)) {
			t.Fatalf("raw bytes changed: %q in %s", raw, got)
		}
	})
}

func BenchmarkMarshalWire(b *testing.B) {
	v := &wire{Text: "some text that is long enough to matter", List: []string{"a", "b"}, Raw: json.RawMessage(`{"a":1}`), Inner: inner{Word: "x"}}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = Append(buf[:0], v)
	}
}
