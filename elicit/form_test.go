package elicit

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// closedSchema returns Codex's schema for requestedSchema: what its clients
// can decode.
var closedSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	data, err := os.ReadFile("../schema/testdata/codex/McpServerElicitationRequestParams.json")
	if err != nil {
		return nil, err
	}
	var whole struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	root := map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "definitions": whole.Definitions,
		"allOf": []any{map[string]any{"$ref": "#/definitions/McpElicitationSchema"}},
	}
	text, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

func fitsClosedSchema(t *testing.T, schema json.RawMessage) error {
	t.Helper()
	closed, err := closedSchema()
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		return err
	}
	return closed.Validate(v)
}

// The check itself can fail: what Codex refuses is refused.
func TestClosedSchemaIsClosed(t *testing.T) {
	for schema, ok := range map[string]bool{
		`{"type":"object","properties":{}}`:                                               true,
		`{"type":"object","properties":{},"title":"T"}`:                                   false,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`:            false,
		`{"type":"object","properties":{"a":{"enum":["x"]}}}`:                             false,
		`{"type":"object","properties":{"a":{}}}`:                                         false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`: false,
	} {
		if err := fitsClosedSchema(t, json.RawMessage(schema)); (err == nil) != ok {
			t.Errorf("%s: %v, want ok %v", schema, err, ok)
		}
	}
}

// Each property comes out in the closed shape. Where an entry has no want it
// passes as it is.
func TestParseFormProperties(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"string":                 {`{"type":"string","title":"T","description":"D","format":"email","minLength":1,"maxLength":9,"default":"a@b"}`, ``},
		"order stays":            {`{"maxLength":9,"default":"x","type":"string"}`, ``},
		"number":                 {`{"type":"number","minimum":-1.50,"maximum":1e3,"default":1.0}`, ``},
		"integer":                {`{"type":"integer","minimum":0,"default":9007199254740993}`, ``},
		"boolean":                {`{"type":"boolean","default":true}`, ``},
		"enum":                   {`{"type":"string","enum":["a","b"],"default":"b"}`, ``},
		"enumNames":              {`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, ``},
		"oneOf":                  {`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"a"}`, ``},
		"array enum":             {`{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2,"default":["a"]}`, ``},
		"array anyOf":            {`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`, ``},
		"array oneOf (O091)":     {`{"type":"array","items":{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]}}`, `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]}}`},
		"array enum, no type":    {`{"items":{"enum":["a"]}}`, `{"type":"array","items":{"type":"string","enum":["a"]}}`},
		"anyOf":                  {`{"anyOf":[{"const":"a","title":"A"},{"const":"b"}]}`, `{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]}`},
		"oneOf, no type (O083)":  {`{"oneOf":[{"const":"low","title":"Low"}]}`, `{"type":"string","oneOf":[{"const":"low","title":"Low"}]}`},
		"enum, no type":          {`{"enum":["a"]}`, `{"type":"string","enum":["a"]}`},
		"const":                  {`{"const":"a"}`, `{"type":"string","enum":["a"]}`},
		"enum with null":         {`{"enum":["a",null,"b","a"],"enumNames":["A","N","B","A"]}`, `{"type":"string","enum":["a","b"]}`},
		"enumNames too few":      {`{"type":"string","enum":["a","b"],"enumNames":["A"]}`, `{"type":"string","enum":["a","b"]}`},
		"unknown keywords":       {`{"type":"string","x-order":1,"examples":["a"],"$comment":"c","readOnly":false,"pattern":"^a"}`, `{"type":"string"}`},
		"unknown format":         {`{"type":"string","format":"hostname"}`, `{"type":"string"}`},
		"optional":               {`{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}],"default":null,"title":"T"}`, `{"title":"T","type":"string","maxLength":3}`},
		"type list":              {`{"type":["null","integer"],"minimum":1}`, `{"type":"integer","minimum":1}`},
		"several types":          {`{"anyOf":[{"type":"object"},{"type":"integer"},{"type":"string"}]}`, `{"type":"integer"}`},
		"typed alternatives":     {`{"type":"string","anyOf":[{"format":"email"},{"format":"uri"}]}`, `{"type":"string"}`},
		"told by minimum":        {`{"minimum":1}`, `{"type":"number","minimum":1}`},
		"told by default":        {`{"default":false}`, `{"type":"boolean","default":false}`},
		"told by number":         {`{"default":5}`, `{"type":"number","default":5}`},
		"anything":               {`{"title":"T"}`, `{"type":"string","title":"T"}`},
		"true":                   {`true`, `{"type":"string"}`},
		"allOf":                  {`{"allOf":[{"type":"string"},{"maxLength":2}],"default":"a"}`, `{"default":"a","type":"string","maxLength":2}`},
		"exclusive bounds":       {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `{"type":"number","minimum":0,"maximum":1}`},
		"numbers to choose from": {`{"type":"integer","enum":[1,2,3],"default":2}`, `{"type":"integer","default":2,"description":"(one of 1, 2, 3)"}`},
		"described numbers":      {`{"description":"How many","enum":[1.5,2]}`, `{"type":"number","description":"How many (one of 1.5, 2)"}`},
		"constant boolean":       {`{"const":true}`, `{"type":"boolean","description":"(one of true)"}`},
		"wrong annotations":      {`{"type":"string","title":5,"description":null,"minLength":-1,"maxLength":1.0,"default":7}`, `{"type":"string","maxLength":1}`},
		"bound not a number":     {`{"type":"number","minimum":"1","maximum":1e999}`, `{"type":"number"}`},
		"default out of reach":   {`{"type":"integer","minimum":5,"default":1}`, `{"type":"integer","minimum":5}`},
		"default no choice":      {`{"type":"string","enum":["a"],"default":"z"}`, `{"type":"string","enum":["a"]}`},
		"deceiving texts":        {`{"type":"string","title":"a\u202eb","description":"c\u0000\nd","oneOf":[{"const":"x","title":"y\u2066"}]}`, `{"type":"string","title":"ab","description":"c d","oneOf":[{"const":"x","title":"y"}]}`},
		"type doubled":           {`{"type":"boolean","type":"string"}`, `{"type":"string"}`},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = c.in
			}
			form, err := ParseForm(json.RawMessage(`{"type":"object","properties":{"p":` + c.in + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			if whole := `{"type":"object","properties":{"p":` + want + `}}`; string(form.Schema()) != whole {
				t.Errorf("got  %s\nwant %s", form.Schema(), whole)
			}
			if err := fitsClosedSchema(t, form.Schema()); err != nil {
				t.Errorf("Codex's clients refuse %s: %v", form.Schema(), err)
			}
		})
	}
}

// The whole loses what only annotates, and keeps the order of its fields.
func TestParseFormWhole(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"absent":        {``, `{"type":"object","properties":{}}`},
		"null":          {`null`, `{"type":"object","properties":{}}`},
		"empty":         {`{}`, `{"type":"object","properties":{}}`},
		"no properties": {`{"type":"object","properties":null,"required":null}`, `{"type":"object","properties":{}}`},
		"annotations": {`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Form","description":"d","additionalProperties":false,"type":"object",
			"properties":{"z":{"type":"string"},"a":{"type":"boolean"},"":{"type":"number"}},"required":["a","z","ghost","a"]}`,
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"},"":{"type":"number"}},"required":["z","a"]}`},
		"references (O086)": {`{"type":"object","properties":{"s":{"$ref":"#/$defs/S","default":"b"},"t":{"$ref":"#/definitions/a~1b"}},"$defs":{"S":{"enum":["a","b"],"type":"string"}},"definitions":{"a/b":{"$ref":"#/$defs/S"}}}`,
			`{"type":"object","properties":{"s":{"default":"b","enum":["a","b"],"type":"string"},"t":{"enum":["a","b"],"type":"string"}}}`},
		"referenced root":      {`{"$ref":"#/$defs/F","$defs":{"F":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		"combined root":        {`{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`},
		"alternatives at root": {`{"properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"choices by reference": {`{"properties":{"a":{"oneOf":[{"$ref":"#/$defs/L"},{"$ref":"#/$defs/H"}]}},"$defs":{"L":{"const":"l","title":"Low"},"H":{"const":"h"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"l","title":"Low"},{"const":"h","title":"h"}]}}}`},
		"line breaks": {"{\r\n \"properties\": {\n  \"a b\": { \"type\": \"string\" }\n }\n}", `{"type":"object","properties":{"a b":{"type":"string"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			form, err := ParseForm(json.RawMessage(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(form.Schema()) != c.want {
				t.Errorf("got  %s\nwant %s", form.Schema(), c.want)
			}
			if err := fitsClosedSchema(t, form.Schema()); err != nil {
				t.Errorf("Codex's clients refuse %s: %v", form.Schema(), err)
			}
		})
	}
}

// What can't be shown is an error that names the place.
func TestParseFormErrors(t *testing.T) {
	const p = "/requestedSchema/properties/p"
	property := func(s string) string { return `{"type":"object","properties":{"p":` + s + `}}` }
	many := `"x":{},`
	for i := range maxFields {
		many += `"` + strings.Repeat("f", i+1) + `":{},`
	}
	for in, pointer := range map[string]string{
		`[]`:                            "/requestedSchema",
		`"x"`:                           "/requestedSchema",
		`{"a":`:                         "/requestedSchema",
		`false`:                         "/requestedSchema",
		`{"type":"array"}`:              "/requestedSchema/type",
		`{"type":"string"}`:             "/requestedSchema/type",
		`{"properties":[]}`:             "/requestedSchema/properties",
		`{"properties":{"a/b~":false}}`: "/requestedSchema/properties/a~1b~0",
		property(`{"type":"object"}`):   p,
		property(`{"properties":{}}`):   p,
		property(`5`):                   p,
		property(`{"type":"file"}`):     p + "/type",
		property(`{"type":"null"}`):     "",
		property(`{"enum":[]}`):         p + "/enum",
		property(`{"enum":[null]}`):     p + "/enum",
		property(`{"enum":"a"}`):        p + "/enum",
		property(`{"enum":["a",1]}`):    p + "/enum",
		property(`{"enum":[{}]}`):       p + "/enum",
		property(`{"oneOf":5}`):         p + "/oneOf",
		property(`{"type":"array"}`):    p + "/items",
		property(`{"type":"array","items":{"type":"string"}}`):                                       p + "/items",
		property(`{"type":"array","items":{"enum":[1]}}`):                                            p + "/items",
		property(`{"$ref":"#/$defs/none"}`):                                                          p + "/$ref",
		property(`{"$ref":"https://example.test/s.json"}`):                                           p + "/$ref",
		property(`{"$ref":5}`):                                                                       p + "/$ref",
		property(`{"$ref":"#/properties/p"}`):                                                        p,
		property(`{"$ref":"#"}`):                                                                     p,
		property(`{` + strings.TrimSuffix(many, ",") + `}`):                                          p,
		`{"allOf":[{"properties":{` + strings.TrimSuffix(many, ",") + `}},{"properties":{"y":{}}}]}`: "/requestedSchema/properties",
		`{"properties":{` + strings.TrimSuffix(many, ",") + `}}`:                                     "/requestedSchema/properties",
		`{"title":"` + strings.Repeat("x", maxSchemaBytes) + `"}`:                                    "/requestedSchema",
		property(`{"enum":[` + options(maxOptions+1) + `]}`):                                         p + "/enum",
	} {
		_, err := ParseForm(json.RawMessage(in))
		if pointer == "" {
			if err != nil {
				t.Errorf("%.80s: %v", in, err)
			}
			continue
		}
		var e *SchemaError
		if !errors.As(err, &e) || e.Pointer != pointer || !strings.Contains(e.Error(), e.Problem) {
			t.Errorf("%.80s: %v, want an error at %s", in, err, pointer)
		}
	}
}

// References that double at every step are given up in time.
func TestParseFormReferencesThatMultiply(t *testing.T) {
	const levels = maxSchemaDepth/2 - 1 // a level is a reference and a combination
	bomb := `{"properties":{"p":{"$ref":"#/$defs/d0"}},"$defs":{`
	for i := range levels {
		next := `{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"}`
		bomb += `"d` + strconv.Itoa(i) + `":{"allOf":[` + strings.Repeat(next+",", 9) + next + `]},`
	}
	bomb += `"d` + strconv.Itoa(levels) + `":{}}}`
	var e *SchemaError
	if _, err := ParseForm(json.RawMessage(bomb)); !errors.As(err, &e) || !strings.Contains(e.Problem, "too many references") {
		t.Errorf("got %.200v", err)
	}
}

func options(n int) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i))
	}
	return strings.Trim(string(appendStrings(nil, list)), "[]")
}

const exampleForm = `{"type":"object","properties":{
	"name":{"type":"string","minLength":2,"maxLength":4},
	"mail":{"type":"string","format":"email"},
	"site":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},
	"at":{"type":"string","format":"date-time"},
	"code":{"type":"string","pattern":"^[A-Z]+$"},
	"age":{"type":"integer","minimum":0,"maximum":9007199254740993},
	"share":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},
	"sure":{"type":"boolean"},
	"size":{"type":"string","enum":["s","m"]},
	"level":{"oneOf":[{"const":"low","title":"Low"}]},
	"tags":{"type":"array","items":{"enum":["a","b","c"]},"minItems":1,"maxItems":2,"uniqueItems":true},
	"count":{"enum":[1,2]},
	"yes":{"const":true},
	"a/b":{"type":"string"}
},"required":["name"]}`

// An answer is checked against the form; the error has the pointer and never
// the answer.
func TestValidate(t *testing.T) {
	form, err := ParseForm(json.RawMessage(exampleForm))
	if err != nil {
		t.Fatal(err)
	}
	for in, pointer := range map[string]string{
		`{"name":"ab"}`:             "-",
		`{"name":"日本語だ"}`:           "-",
		`{"name":"日本語だよ"}`:          "/name",
		`{"name":"a"}`:              "/name",
		`{"name":5}`:                "/name",
		`{"name":null}`:             "/name",
		`{}`:                        "/name",
		``:                          "/name",
		`null`:                      "/name",
		`[]`:                        "",
		`"x"`:                       "",
		`{"name":"ab"`:              "",
		`{"name":"ab","name":"cd"}`: "/name",
		`{"name":"ab","extra":"x","more":["y"],"n":1.5}`: "-",
		`{"name":"ab","extra":{}}`:                       "/extra",
		`{"name":"ab","extra":["x",1]}`:                  "/extra/1",
		`{"name":"ab","a/b":1}`:                          "/a~1b",
		`{"name":"ab","age":null}`:                       "-",
	} {
		check(t, form, in, pointer)
	}
	for field, values := range map[string]struct{ good, bad []string }{
		"mail":  {[]string{`"a@b"`, `"a.b+c@d.example"`, `"ü@b.test"`, `"\"a@b\"@c.test"`}, []string{`""`, `"a"`, `"@b"`, `"a@"`, `"a b@c"`, `"a@b..c"`, `"a@.b"`, `"a@b\n"`, `5`}},
		"site":  {[]string{`"https://a.test/x?y#z"`, `"mailto:a@b"`, `"urn:x:y"`, `"x+1.-:é"`}, []string{`""`, `"a"`, `"/x"`, `":x"`, `"1a:x"`, `"a b:x"`, `"https://a b"`, `"x:"`, `"x:<"`}},
		"day":   {[]string{`"2024-02-29"`, `"2000-02-29"`, `"2023-12-31"`, `"0000-01-01"`}, []string{`"2023-02-29"`, `"1900-02-29"`, `"2023-13-01"`, `"2023-00-01"`, `"2023-04-31"`, `"2023-1-1"`, `"2023/01/01"`, `"２０２３-01-01"`, `""`, `"2023-01-0a"`}},
		"at":    {[]string{`"2024-02-29T23:59:60Z"`, `"2024-01-01t00:00:00z"`, `"2024-01-01T00:00:00.123456789+14:00"`, `"2024-01-01T00:00:00-00:30"`}, []string{`"2024-01-01"`, `"2024-01-01 00:00:00Z"`, `"2024-01-01T24:00:00Z"`, `"2024-01-01T00:60:00Z"`, `"2024-01-01T00:00:61Z"`, `"2024-01-01T00:00:00"`, `"2024-01-01T00:00:00.Z"`, `"2024-01-01T00:00:00+1:00"`, `"2024-01-01T00:00:00+24:00"`, `"2024-01-01T00:00:0Z"`, `"2024-01-01T00.00.00Z"`}},
		"code":  {[]string{`"ABC"`}, []string{`"abc"`, `""`}},
		"age":   {[]string{`0`, `1.0`, `1e3`, `9007199254740993`}, []string{`-1`, `1.5`, `"1"`, `true`, `9007199254740994`, `1e400`, `-0.5`}},
		"share": {[]string{`0.5`, `1e-9`}, []string{`0`, `1`, `0.0`, `"0.5"`}},
		"sure":  {[]string{`true`, `false`}, []string{`"true"`, `1`}},
		"size":  {[]string{`"s"`}, []string{`"S"`, `"x"`, `["s"]`, `""`}},
		"level": {[]string{`"low"`}, []string{`"Low"`, `0`}},
		"tags":  {[]string{`["a"]`, `["c","b"]`}, []string{`[]`, `["a","b","c"]`, `["a","a"]`, `"a"`, `{}`}},
		"count": {[]string{`1`, `2.0`}, []string{`3`, `"1"`}},
		"yes":   {[]string{`true`}, []string{`false`}},
	} {
		for _, v := range values.good {
			check(t, form, `{"name":"ab","`+field+`":`+v+`}`, "-")
		}
		for _, v := range values.bad {
			check(t, form, `{"name":"ab","`+field+`":`+v+`}`, "/"+field)
		}
	}
	for list, at := range map[string]string{`["x"]`: "0", `["a",1]`: "1", `["a","b","x"]`: "2", `[null]`: "0", `[["a"]]`: "0", `["a",{}]`: "1"} {
		check(t, form, `{"name":"ab","tags":`+list+`}`, "/tags/"+at)
	}
	secret, err := ParseForm(json.RawMessage(oneField))
	if err != nil {
		t.Fatal(err)
	}
	if err := secret.Validate(json.RawMessage(`{"name":["hunter2"]}`)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error quotes the answer: %v", err)
	}
}

func check(t *testing.T, form *Form, content, pointer string) {
	t.Helper()
	err := form.Validate(json.RawMessage(content))
	var e *AnswerError
	switch {
	case pointer == "-":
		if err != nil {
			t.Errorf("%s: %v", content, err)
		}
	case !errors.As(err, &e) || e.Pointer != pointer || e.Problem == "" || !strings.Contains(e.Error(), e.Pointer):
		t.Errorf("%s: %v, want an error at %q", content, err, pointer)
	}
}

// A server that forbids other fields gets none.
func TestValidateClosedForm(t *testing.T) {
	form, err := ParseForm(json.RawMessage(`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	check(t, form, `{"b":"x"}`, "/b")
	check(t, form, `{"a":"x"}`, "-")
}

// O092: defaults of every kind reach the editor, and stand in for what the
// answer leaves out; what it says keeps its bytes.
func TestFillDefaults(t *testing.T) {
	form, err := ParseForm(json.RawMessage(`{"properties":{"s":{"type":"string","default":"x"},"n":{"type":"number","default":1.0},"i":{"type":"integer","default":12345678901234567890},
		"b":{"type":"boolean","default":false},"e":{"enum":["a","b"],"default":"b"},"m":{"type":"array","items":{"enum":["a"]},"default":["a"]},"none":{"type":"string"}},"required":["s"]}`))
	if err != nil {
		t.Fatal(err)
	}
	all := `"s":"x","n":1.0,"i":12345678901234567890,"b":false,"e":"b","m":["a"]`
	for in, want := range map[string]string{
		``:                            `{` + all + `}`,
		`null`:                        `{` + all + `}`,
		`{}`:                          `{` + all + `}`,
		`{"e":"a","s":null,"z":5.00}`: `{"e":"a","z":5.00,"s":"x","n":1.0,"i":12345678901234567890,"b":false,"m":["a"]}`,
		`{ "s":"","n":0,"i":1,"b":true,"e":"a","m":[] }`:                    `{ "s":"","n":0,"i":1,"b":true,"e":"a","m":[] }`,
		"{\n\"s\":\"y z\",\"n\":0,\"i\":1,\"b\":true,\"e\":\"a\",\"m\":[]}": `{"s":"y z","n":0,"i":1,"b":true,"e":"a","m":[]}`,
		`[1]`:  `[1]`,
		`{"s"`: `{"s"`,
	} {
		got := form.FillDefaults(json.RawMessage(in))
		if string(got) != want {
			t.Errorf("FillDefaults(%s)\n got %s\nwant %s", in, got, want)
		}
	}
	if err := form.Validate(form.FillDefaults(nil)); err != nil {
		t.Errorf("the defaults are no answer: %v", err)
	}
}

// A null member is a field left out, with or without defaults.
func TestWithoutNulls(t *testing.T) {
	for in, want := range map[string]string{
		``:                                    `{}`,
		` null`:                               `{}`,
		`{}`:                                  `{}`,
		`{"a":null}`:                          `{}`,
		`{ "a" : null , "b" : [null]}`:        `{"b":[null]}`,
		`{ "b" : 1.0 }`:                       `{ "b" : 1.0 }`,
		"{\"a\":null,\n\"b\":{\n\"c\":null}}": `{"b":{"c":null}}`,
		`[null]`:                              `[null]`,
		`{"a":null`:                           `{"a":null`,
	} {
		if got := WithoutNulls(json.RawMessage(in)); string(got) != want {
			t.Errorf("WithoutNulls(%s)\n got %s\nwant %s", in, got, want)
		}
	}
}

// checkShown requires that the texts of a form are fit to be shown: on one
// line, bounded, without characters that deceive the eye.
func checkShown(t *testing.T, schema []byte) {
	t.Helper()
	whole, _ := parseObject(schema)
	properties, _ := parseObject(whole.get("properties"))
	for _, property := range properties {
		spec, _ := parseObject(property.value)
		items, _ := parseObject(spec.get("items"))
		texts := map[string]int{}
		for key, max := range map[string]int{"title": maxTitle, "description": maxDescription} {
			if text, ok := rawjson.String(spec.get(key)); ok {
				texts[text] = max
			}
		}
		for _, name := range stringList(spec.get("enumNames")) {
			texts[name] = maxTitle
		}
		for _, list := range [][]byte{spec.get("oneOf"), items.get("anyOf")} {
			_ = rawjson.Array(list, func(_ int, choice []byte) error {
				o, _ := parseObject(choice)
				title, _ := rawjson.String(o.get("title"))
				texts[title] = maxTitle
				return nil
			})
		}
		for text, max := range texts {
			if Clean(text, max) != text {
				t.Errorf("%q of %s is not fit to be shown", text, property.key)
			}
		}
	}
}

// Texts of a server, wherever they are, are fit to be shown.
func TestFormTexts(t *testing.T) {
	const text = `"Line one\nline two\u202e\u0007\u200b `
	long := text + strings.Repeat("x", 3*maxDescription) + `"`
	form, err := ParseForm(json.RawMessage(`{"properties":{
		"a":{"type":"string","title":` + long + `,"description":` + long + `},
		"b":{"enum":["x","y"],"enumNames":[` + long + `,` + text + `"],"description":` + text + `"},
		"c":{"oneOf":[{"const":"x","title":` + long + `}]},
		"d":{"items":{"anyOf":[{"const":"x","title":` + text + `"}]}},
		"e":{"enum":[1,0.` + strings.Repeat("1", 2*maxDescription) + `],"description":` + long + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	checkShown(t, form.Schema())
	checkKept(t, form, `{}`)
	if got := string(fieldSpec(form, "b")); !strings.Contains(got, `,"Line one line two"]`) || !strings.Contains(got, `"description":"Line one line two"`) {
		t.Errorf("got %s", got)
	}
}

// Whatever a server sends as a form is an error or a form that Codex's clients
// can decode, on one line, at rest, whose defaults are an answer; and no
// content makes the check fail.
func FuzzForm(f *testing.F) {
	f.Add(exampleForm, `{"name":"ab","tags":["a"],"age":1.0}`)
	f.Add(`{"type":"object","properties":{"s":{"$ref":"#/$defs/S"}},"$defs":{"S":{"enum":["a","b"],"type":"string","default":"a"}}}`, `{"s":"b"}`)
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"array","items":{"oneOf":[{"const":"x"}]}},{"type":"null"}],"default":["x"]}}}`, `{"a":["x"],"a":null}`)
	f.Add(`{"allOf":[{"properties":{"p":{"type":["integer","null"],"exclusiveMaximum":1e400,"default":0}}}],"required":["p"]}`, `null`)
	f.Add("{\"properties\":{\"\":{\"title\":\"\\u202e\",\"minLength\":1e2,\n\"format\":\"date\"}}}", `{"":"2024-02-29"}`)
	f.Add(`{"$ref":"#"}`, ``)
	f.Fuzz(func(t *testing.T, schema, content string) {
		form, err := ParseForm(json.RawMessage(schema))
		if err != nil {
			var e *SchemaError
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := fitsClosedSchema(t, form.Schema()); err != nil || strings.ContainsAny(string(form.Schema()), "\r\n") {
			t.Fatalf("%s became %s: %v", schema, form.Schema(), err)
		}
		checkKept(t, form, content)
		checkShown(t, form.Schema())
		var e *AnswerError
		if err := form.Validate(form.FillDefaults(nil)); err != nil && (!errors.As(err, &e) || e.Problem != "is required") {
			t.Fatalf("defaults of %s are no answer: %v", form.Schema(), err)
		}
	})
}
