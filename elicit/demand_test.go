package elicit

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Errors say in words what is wrong and where, and quote nothing.
func TestAnswerErrors(t *testing.T) {
	form, err := ParseForm(json.RawMessage(exampleForm))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`7`:                           "/content must be an object",
		`{}`:                          "/content/name is required",
		`{"name":5}`:                  "/content/name must be a string",
		`{"name":"a"}`:                "/content/name must have at least 2 characters",
		`{"name":"abcde"}`:            "/content/name must have at most 4 characters",
		`{"mail":"x"}`:                "/content/mail must be in the format email",
		`{"code":"x"}`:                "/content/code must match the pattern ^[A-Z]+$",
		`{"age":"1"}`:                 "/content/age must be a number",
		`{"age":1e400}`:               "/content/age must be a number",
		`{"age":0.5}`:                 "/content/age must be a whole number",
		`{"age":-1}`:                  "/content/age must be at least 0",
		`{"age":9007199254740994}`:    "/content/age must be at most 9007199254740993",
		`{"share":0}`:                 "/content/share must be more than 0",
		`{"share":1}`:                 "/content/share must be less than 1",
		`{"sure":"true"}`:             "/content/sure must be true or false",
		`{"size":"x"}`:                "/content/size must be one of the choices",
		`{"tags":{}}`:                 "/content/tags must be a list",
		`{"tags":[]}`:                 "/content/tags must have at least 1 choice",
		`{"tags":["a","b","c"]}`:      "/content/tags must have at most 2 choices",
		`{"tags":["a","a"]}`:          "/content/tags must not repeat a choice",
		`{"tags":["a","x"]}`:          "/content/tags/1 must be one of the choices",
		`{"count":3}`:                 "/content/count must be one of the choices",
		`{"yes":false}`:               "/content/yes must be true",
		`{"a/b":1}`:                   "/content/a~1b must be a string",
		`{"other":{}}`:                "/content/other must not be an object",
		`{"name":"ab","name":"cd"}`:   "/content/name is given twice",
		"{\"o\\n\\u202ether\":[[1]]}": "/content/o ther/0 must be a string",
	} {
		err := form.Validate(json.RawMessage(in))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
	long := form.Validate(json.RawMessage(`{"` + strings.Repeat("x", 1<<20) + `":{}}`))
	if long == nil || len(long.Error()) > 400 {
		t.Errorf("an error of %d bytes", len(long.Error()))
	}
}

// Whole numbers of 64 bits are compared exactly, as bounds and as choices.
func TestNumbersAreExact(t *testing.T) {
	for _, c := range []struct {
		field     string
		good, bad []string
	}{
		{`{"type":"integer","minimum":9007199254740993}`, []string{"9007199254740993", "1e300", "18446744073709551615"}, []string{"9007199254740992", "0"}},
		{`{"type":"integer","exclusiveMinimum":9007199254740993}`, []string{"9007199254740994"}, []string{"9007199254740993"}},
		{`{"type":"number","exclusiveMaximum":-9007199254740993}`, []string{"-9007199254740994", "-1e300"}, []string{"-9007199254740993", "-9007199254740992", "0.5"}},
		{`{"type":"integer","maximum":18446744073709551615}`, []string{"18446744073709551615", "-5"}, []string{"1e20", "18446744073709551616"}},
		{`{"type":"integer","enum":[9007199254740993,18446744073709551615]}`, []string{"9007199254740993", "18446744073709551615"}, []string{"9007199254740992", "9007199254740994", "18446744073709551614"}},
		{`{"enum":[1,2.50,1e2]}`, []string{"1.0", "2.5", "100"}, []string{"2", "101"}},
	} {
		form, err := ParseForm(json.RawMessage(`{"properties":{"n":` + c.field + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.good {
			check(t, form, `{"n":`+n+`}`, "-")
		}
		for _, n := range c.bad {
			check(t, form, `{"n":`+n+`}`, "/n")
		}
	}
}

// Why some demands are not the library's: when this fails it has become
// better, and demand can become shorter.
func TestWhatTheLibraryCannotJudge(t *testing.T) {
	for name, c := range map[string]struct {
		schema jsonschema.Schema
		value  any
	}{
		"a bound is rounded": {jsonschema.Schema{Minimum: jsonschema.Ptr(float64(9007199254740993))}, int64(9007199254740992)},
		"formats annotate":   {jsonschema.Schema{Format: "email"}, "x"},
	} {
		if d := judged("", &c.schema); !d.met(c.value) {
			t.Errorf("%s: not any more", name)
		}
	}
}

// largest is the largest form there can be, 200 lists with 1000 choices, and
// the answer that chooses all of them.
func largest() (schema, answer string) {
	choice := func(i int) string { // two bytes
		const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
		return string([]byte{digits[i/36], digits[i%36]})
	}
	var list []string
	for i := range maxOptions {
		list = append(list, choice(i))
	}
	all := string(appendStrings(nil, list))
	schema, answer = `{"$defs":{"c":{"enum":`+all+`}},"properties":{`, `{`
	for i := range maxFields {
		sep := ","
		if i == 0 {
			sep = ""
		}
		schema += sep + `"` + choice(i) + `":{"items":{"$ref":"#/$defs/c"},"uniqueItems":true}`
		answer += sep + `"` + choice(i) + `":` + all
	}
	return schema + `}}`, answer + `}`
}

// The largest form and the largest patterns take no time that a person would
// notice; on an idle machine it is a tenth of a second, not five.
func TestLargeForms(t *testing.T) {
	schema, answer := largest()
	patterns := `{"properties":{`
	for i := range maxFields {
		patterns += `"` + strconv.Itoa(i) + `":{"pattern":"(` + strings.Repeat("a", maxPatternLength-30) + `){` + strconv.Itoa(i+1) + `,1000}"},`
	}
	patterns = strings.TrimSuffix(patterns, ",") + `}}`
	for name, c := range map[string]struct{ schema, answer string }{
		"choices":  {schema, answer},
		"patterns": {patterns, `{"0":"aaa"}`},
	} {
		began := time.Now()
		form, err := ParseForm(json.RawMessage(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		read := time.Since(began)
		if err := form.Validate(json.RawMessage(c.answer)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %v, of which reading %v", name, took, read)
		}
	}
}

func BenchmarkLargestForm(b *testing.B) {
	schema, answer := largest()
	form, err := ParseForm(json.RawMessage(schema))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ParseForm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseForm(json.RawMessage(schema)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Validate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := form.Validate(json.RawMessage(answer)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// drawField draws a field's schema, and drawValue a value that may or may not
// fit one.
func drawField(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		`{"type":"string"}`,
		`{"type":"string","minLength":1,"maxLength":3}`,
		`{"type":"string","minLength":2.0,"maxLength":1e1,"default":"ab"}`,
		`{"type":"string","maxLength":1,"default":"too long"}`,
		`{"type":"string","format":"date"}`,
		`{"type":"string","format":"email","maxLength":3}`,
		`{"type":"string","pattern":"^[a-c]*$"}`,
		`{"type":"string","pattern":"(?=a)"}`,
		`{"type":"number","minimum":-1.5,"maximum":2}`,
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`,
		`{"type":"integer","minimum":0,"default":1}`,
		`{"type":"integer","maximum":9007199254740993}`,
		`{"type":"integer","minimum":9007199254740993}`,
		`{"type":"integer"}`,
		`{"type":"boolean","default":true}`,
		`{"const":false}`,
		`{"enum":["a","b","é"],"default":"b"}`,
		`{"enum":["a",null]}`,
		`{"enum":["a","b"],"enumNames":["A","B"]}`,
		`{"enum":[1,2.5]}`,
		`{"oneOf":[{"const":"a","title":"A"},{"const":"b"}],"default":"a"}`,
		`{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}`,
		`{"type":"array","items":{"enum":["a","b","c"]},"minItems":1,"maxItems":2}`,
		`{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true,"default":["a"]}`,
		`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}`,
		`{"$ref":"#/$defs/d"}`,
		`true`,
	}).Draw(t, "field")
}

func drawValue(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `1.0`, `2`, `2.5`, `-1.5`, `0.5`, `1e1`, `1e-9`, `1e400`, `-7`,
		`9007199254740992`, `9007199254740993`, `9007199254740994`, `18446744073709551616`,
		`""`, `"a"`, `"b"`, `"é"`, `"\u00e9"`, `"ab"`, `"abcd"`, `"日本"`, `"a@b"`, `"2024-02-29"`, `"2023-02-29"`, `"1"`, `"\ud800"`,
		`[]`, `["a"]`, `["a","b"]`, `["a","a"]`, `["a","b","c"]`, `["x"]`, `[1]`, `[null]`, `[["a"]]`, `{}`, `{"a":1}`,
	}).Draw(t, "value")
}

func drawForm(t *rapid.T) (schema, content string) {
	var properties, required, members []string
	for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
		name := string(rune('p' + i))
		properties = append(properties, `"`+name+`":`+drawField(t))
		if rapid.Bool().Draw(t, "required") {
			required = append(required, `"`+name+`"`)
		}
		if rapid.IntRange(0, 4).Draw(t, "given") > 0 {
			members = append(members, `"`+name+`":`+drawValue(t))
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "more") == 0 {
		members = append(members, `"`+rapid.SampledFrom([]string{"p", "x"}).Draw(t, "name")+`":`+drawValue(t))
	}
	schema = `{"properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `],"$defs":{"d":{"type":"integer","maximum":1}}`
	if rapid.IntRange(0, 3).Draw(t, "closed") == 0 {
		schema += `,"additionalProperties":false`
	}
	return schema + `}`, `{` + strings.Join(members, ",") + `}`
}

// stricter are the problems of answers that fit the cleaned schema all the
// same, because the closed shape can't say, or the library does not check,
// what the server asked for.
var stricter = []string{
	"must be in the format ", "must match the pattern ", // annotations; not in the shape
	"must be more than ", "must be less than ", // exclusive bounds
	"must not repeat a choice", "is no field of the form",
	"must be true", "must be false", // and "must be one of the choices", for numbers
	"must be at least 9007199254740993", "must be at most 9007199254740993", // which the library rounds
}

// The library, given the cleaned schema as an editor may have it, and Validate
// come to the same, but for what is in stricter, null as "left out", a field
// that is given twice, exact numbers, and what fields beyond the form may hold.
func TestValidateAgreesWithTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, content := drawForm(t)
		form, err := ParseForm(json.RawMessage(schema))
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(form.Schema(), &s); err != nil {
			t.Fatalf("%s: %v", form.Schema(), err)
		}
		whole, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		if err != nil {
			t.Fatalf("%s: %v", form.Schema(), err)
		}
		ours := form.Validate(json.RawMessage(content))
		checkKept(t, form, content)
		once, _ := parseObject(WithoutNulls(json.RawMessage(content)))
		if string(once.bytes()) != string(WithoutNulls(json.RawMessage(content))) {
			if ours == nil {
				t.Fatalf("%s passes, with a field given twice", content)
			}
			return
		}
		var v any
		if json.Unmarshal(once.bytes(), &v) != nil {
			return // a number that no float64 holds: as another field it passes
		}
		theirs := whole.Validate(v)
		var e *AnswerError
		switch {
		case (ours == nil) == (theirs == nil):
		case ours == nil:
			if !strings.Contains(theirs.Error(), "9007199254740992") {
				t.Fatalf("%s\nby %s\npasses, but %v", content, form.Schema(), theirs)
			}
		case !errors.As(ours, &e):
			t.Fatalf("%T: %v", ours, ours)
		default:
			field, _, _ := strings.Cut(e.Pointer[1:], "/")
			spec := string(fieldSpec(form, field))
			known := spec == "" || e.Problem == "must be one of the choices" && strings.Contains(spec, "(one of ")
			for _, s := range stricter {
				known = known || strings.HasPrefix(e.Problem, s)
			}
			if !known {
				t.Fatalf("%s\nby %s\nis refused: %v", content, form.Schema(), ours)
			}
		}
	})
}

// fieldSpec returns the cleaned schema of a field, nil if the form has none of
// that name.
func fieldSpec(form *Form, name string) []byte {
	whole, _ := parseObject(form.Schema())
	properties, _ := parseObject(whole.get("properties"))
	return properties.get(name)
}

// checkKept requires what must hold of any form and any content: the cleaned
// schema is at rest, nulls and defaults change nothing that was an answer, and
// doing it twice is doing it once.
func checkKept(t rapid.TB, form *Form, content string) {
	again, err := ParseForm(form.Schema())
	if err != nil || string(again.Schema()) != string(form.Schema()) {
		t.Fatalf("%s is not at rest: %v", form.Schema(), err)
	}
	fits := form.Validate(json.RawMessage(content))
	for name, f := range map[string]func(json.RawMessage) json.RawMessage{"WithoutNulls": WithoutNulls, "FillDefaults": form.FillDefaults} {
		made := f(json.RawMessage(content))
		if rawjson.Valid([]byte(content)) == nil || content == "" {
			if err := rawjson.Valid(made); err != nil {
				t.Fatalf("%s(%s) = %s: %v", name, content, made, err)
			}
		}
		if err := form.Validate(made); fits == nil && err != nil {
			t.Fatalf("%s of the answer %s is none: %s: %v", name, content, made, err)
		}
		if twice := f(made); string(twice) != string(made) {
			t.Fatalf("%s is not at rest: %s, then %s", name, made, twice)
		}
	}
}
