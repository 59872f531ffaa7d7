package binding

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

func TestInputSchemasAreShaped(t *testing.T) {
	const plain = `{"type":"object","properties":{}}`
	deep := strings.Repeat(`{"items":`, maxSchemaDepth+5) + `{"type":"string"}` + strings.Repeat("}", maxSchemaDepth+5)
	for _, tt := range []struct {
		name, in, want string
		path           string // of one change; "-" if there is none
		note           string // a part of it
	}{
		{"plain", plain, plain, "-", ""},
		{"bytes are kept", `{ "type":"object",  "properties":{"a":{"type":"number","maximum":12345678901234567890,"default":1.0,"x":"<>&\u00e9"}}}`,
			`{ "type":"object",  "properties":{"a":{"type":"number","maximum":12345678901234567890,"default":1.0,"x":"<>&\u00e9"}}}`, "-", ""},
		{"true", `true`, plain, "/inputSchema", ""},
		{"false", `false`, plain, "/inputSchema", ""},
		{"empty", `{}`, plain, "/inputSchema", ""},
		{"no properties", `{"type":"object","x":1}`, `{"type":"object","x":1,"properties":{}}`, "/inputSchema", ""},
		{"no type", `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, "/inputSchema", ""},
		{"nullable root", `{"type":["object","null"],"properties":{}}`, plain, "/inputSchema/type", ""},
		{"another root", `{"type":"string"}`, plain, "/inputSchema/type", ""},
		{"boolean property", `{"type":"object","properties":{"a":true,"b":false}}`,
			`{"type":"object","properties":{"a":{},"b":{"not":{}}}}`, "/inputSchema/properties/a", ""},
		{"booleans that stay", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":true}`,
			`{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}},"additionalProperties":true}`, "-", ""},
		{"array without items", `{"type":"object","properties":{"a":{"type":"array"},"b":{"type":["array","null"]}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":["array","null"],"items":{}}}}`, "/inputSchema/properties/b", ""},
		{"no type of JSON Schema", `{"type":"object","properties":{"n":{"type":"int","minimum":1}}}`,
			`{"type":"object","properties":{"n":{"minimum":1}}}`, "/inputSchema/properties/n/type", ""},
		{"upper case", `{"type":"OBJECT","properties":{"n":{"type":"STRING"}}}`,
			`{"type":"object","properties":{"n":{"type":"string"}}}`, "/inputSchema/properties/n/type", ""},
		{"unknown among types", `{"type":"object","properties":{"n":{"type":["string","any"]}}}`,
			`{"type":"object","properties":{"n":{}}}`, "/inputSchema/properties/n/type", ""},
		{"doubled types", `{"type":"object","properties":{"n":{"type":["string","string"]}}}`,
			`{"type":"object","properties":{"n":{"type":["string"]}}}`, "/inputSchema/properties/n/type", ""},
		{"required among properties", `{"type":"object","properties":{"coin":{"type":"string"},"required":["coin"]}}`,
			`{"type":"object","properties":{"coin":{"type":"string"}}}`, "/inputSchema/properties/required", ""},
		{"required among closed properties", `{"type":"object","properties":{"coin":{"type":"string"},"required":["coin"]},"additionalProperties":false}`,
			`{"type":"object","properties":{"coin":{"type":"string"},"required":{}},"additionalProperties":false}`, "/inputSchema/properties/required", ""},
		{"required of draft 3", `{"type":"object","properties":{"a":{"type":"string","required":true}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, "/inputSchema/properties/a/required", ""},
		{"exclusive bounds of draft 4", `{"type":"object","properties":{"a":{"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}}`,
			`{"type":"object","properties":{"a":{"exclusiveMinimum":0,"maximum":9}}}`, "/inputSchema/properties/a/exclusiveMinimum", ""},
		{"tuple of draft 7", `{"type":"object","properties":{"q":{"type":"array","items":[{"type":"string"}],"additionalItems":{"$ref":"#/properties/q/items/0"}}}}`,
			`{"type":"object","properties":{"q":{"type":"array","prefixItems":[{"type":"string"}],"items":{"$ref":"#/properties/q/prefixItems/0"}}}}`, "/inputSchema/properties/q/items", ""},
		{"reference to nowhere", `{"type":"object","properties":{"a":{"$ref":"#/$defs/No","description":"d"},"b":{"$ref":"https://example.com/b"}}}`,
			`{"type":"object","properties":{"a":{"description":"d"},"b":{}}}`, "/inputSchema/properties/b/$ref", ""},
		{"recursive reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}`, "-", ""},
		{"reference with escapes", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A~1b%20c"}},"$defs":{"A/b c":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A~1b%20c"}},"$defs":{"A/b c":{"type":"string"}}}`, "-", ""},
		{"anchor", `{"type":"object","properties":{"a":{"$ref":"#it"}},"$defs":{"x":{"$anchor":"it"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#it"}},"$defs":{"x":{"$anchor":"it"}}}`, "-", ""},
		{"what a wider not would shut out", `{"type":"object","properties":{"a":{"not":{"type":"int"}}}}`,
			`{"type":"object","properties":{"a":{}}}`, "/inputSchema/properties/a/not", ""},
		{"what a wider oneOf would shut out", `{"type":"object","properties":{"a":{"oneOf":[{"type":"int"},{"type":"string"}]}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{},{"type":"string"}]}}}`, "/inputSchema/properties/a/oneOf", ""},
		{"unevaluated beside a change", `{"type":"object","properties":{"a":{"type":"int"}},"unevaluatedProperties":false}`,
			`{"type":"object","properties":{"a":{}}}`, "/inputSchema/unevaluatedProperties", ""},
		{"what a wider contains would shut out", `{"type":"object","properties":{"a":{"contains":{"type":"int"},"maxContains":1}}}`,
			`{"type":"object","properties":{"a":{"contains":{}}}}`, "/inputSchema/properties/a/maxContains", ""},
		{"what a wider if would shut out", `{"type":"object","if":{"required":"a"},"then":{"required":["b"]},"else":{"required":["c"]}}`,
			`{"type":"object","properties":{}}`, "/inputSchema/if", ""},
		{"what is closed around nothing", `{"type":"object","properties":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{}}`, "/inputSchema/additionalProperties", ""},
		{"items after nothing", `{"type":"object","properties":{"a":{"prefixItems":{},"items":{"type":"string"}}}}`,
			`{"type":"object","properties":{"a":{}}}`, "/inputSchema/properties/a/items", ""},
		{"patterns that are none", `{"type":"object","properties":{},"patternProperties":null,"additionalProperties":{"type":"string"}}`,
			`{"type":"object","properties":{}}`, "/inputSchema/patternProperties", ""},
		{"a reference under not to what is wider now", `{"type":"object","properties":{"a":{"not":{"$ref":"#/$defs/d"}}},"$defs":{"d":{"type":"int"}}}`,
			`{"type":"object","properties":{"a":{}},"$defs":{"d":{}}}`, "/inputSchema/properties/a/not", ""},
		{"a reference under oneOf to a root that is wider now", `{"type":"object","properties":{"a":{"oneOf":[{"$ref":"#"},{"type":"object"}]}},"not":{"required":["b"]}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"object"}]}}}`, "/inputSchema/properties/a/oneOf", ""},
		{"upper case under not", `{"type":"object","properties":{"a":{"not":{"type":"OBJECT"}}}}`,
			`{"type":"object","properties":{"a":{}}}`, "/inputSchema/properties/a/not", ""},
		{"allOf where one only describes", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"description":"d"}}}]}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`, "/inputSchema/allOf", ""},
		{"too deep", `{"type":"object","properties":{"a":` + deep + `}}`, "", "", ""},

		{"oneOf at the root", `{"oneOf":[{"type":"object","properties":{"kind":{"const":"f"},"path":{"type":"string"}},"required":["kind","path"],"additionalProperties":false},{"type":"object","properties":{"kind":{"const":"u"},"url":{"type":"string"}},"required":["kind"],"additionalProperties":false}]}`,
			`{"type":"object","properties":{"kind":{"enum":["f","u"]},"path":{"type":"string"},"url":{"type":"string"}},"required":["kind"],"additionalProperties":false}`,
			"/inputSchema/oneOf", `exactly one of these (? marks optional ones): {kind: "f", path} or {kind: "u", url?}`},
		{"an open alternative", `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"number"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{}]},"b":{"anyOf":[{"type":"number"},{}]}}}`,
			"/inputSchema/anyOf", "at least one of these"},
		{"either is required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, "/inputSchema/anyOf", "{a} or {b}"},
		{"allOf at the root", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"minLength":1},"b":{}}}]}`,
			`{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"minLength":1}]},"b":{}},"required":["a"]}`, "/inputSchema/allOf", ""},
		{"reference at the root", `{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"n":{"$ref":"#/definitions/A"}},"required":["n"],"additionalProperties":false}}}`,
			`{"type":"object","definitions":{"A":{"type":"object","properties":{"n":{"$ref":"#/definitions/A"}},"required":["n"],"additionalProperties":false}},"properties":{"n":{"$ref":"#/definitions/A"}},"required":["n"],"additionalProperties":false}`,
			"/inputSchema/$ref", ""},
		{"an alternative that is no object", `{"anyOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"null"}]}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`, "/inputSchema/anyOf", ""},
		{"not and enum at the root", `{"type":"object","properties":{"a":{}},"not":{"required":["a"]},"enum":[{"b":1}]}`,
			`{"type":"object","properties":{"a":{}}}`, "/inputSchema/not", `one of [{"b":1}]`},
		{"a reference into what was merged", `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},{"properties":{"b":{"$ref":"#/oneOf/0/properties/a"}},"required":["b"],"additionalProperties":false}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"additionalProperties":false}`, "/inputSchema/properties/b/$ref", "{a} or {b}"},
		{"a reference to a root that is narrower now", `{"properties":{"a":{"$ref":"#"}}}`,
			`{"type":"object","properties":{"a":{}}}`, "/inputSchema/properties/a/$ref", ""},
		{"circles", `{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#"}]}}}`, "", "/inputSchema/$ref", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := shapeInput(json.RawMessage(tt.in))
			if tt.want != "" && string(got.schema) != tt.want {
				t.Errorf("got  %s\nwant %s", got.schema, tt.want)
			}
			var paths []string
			for _, c := range got.changes {
				paths = append(paths, c.Path)
			}
			switch {
			case tt.path == "-" && len(paths) > 0:
				t.Errorf("changes at %q, want none", paths)
			case tt.path != "-" && tt.path != "" && !strings.Contains("\n"+strings.Join(paths, "\n")+"\n", "\n"+tt.path+"\n"):
				t.Errorf("changes at %q, want one at %q", paths, tt.path)
			}
			if !strings.Contains(got.note, tt.note) || tt.note == "" && got.note != "" {
				t.Errorf("note %q, want %q in it", got.note, tt.note)
			}
			if again := shapeInput(got.schema); string(again.schema) != string(got.schema) {
				t.Errorf("shaped again it is other:\n%s\n%s", got.schema, again.schema)
			}
			checkWellFormed(t, got.schema)
		})
	}
}

// checkWellFormed fails unless another implementation takes the schema.
func checkWellFormed(t rapid.TB, raw []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s is no schema: %v", raw, err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s can't be resolved: %v", raw, err)
	}
	return r
}

func TestAnthropicPropertyNames(t *testing.T) {
	in := `{"type":"object","properties":{"filter[a]":{"type":"string"},"ok.1-x_":{"$ref":"#/properties/filter%5Ba%5D"}},"required":["filter[a]"],"additionalProperties":false}`
	got := shapeForAnthropic(shapeInput(json.RawMessage(in)))
	want := `{"type":"object","properties":{"ok.1-x_":{"$ref":"#/patternProperties/%5Efilter%5C%5Ba%5C%5D$"}},"required":["filter[a]"],"additionalProperties":false,"patternProperties":{"^filter\\[a\\]$":{"type":"string"}}}`
	if string(got.schema) != want {
		t.Errorf("got  %s\nwant %s", got.schema, want)
	}
	if !strings.Contains(got.note, `"filter[a]"`) {
		t.Errorf("the description says %q", got.note)
	}
	r := checkWellFormed(t, got.schema)
	for args, valid := range map[string]bool{
		`{"filter[a]":"x","ok.1-x_":"y"}`: true, `{"filter[a]":1}`: false, `{"ok.1-x_":"y"}`: false,
		`{"filter[a]":"x","ok.1-x_":1}`: false, `{"filter[a]":"x","more":1}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(args), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != valid {
			t.Errorf("%s: %v, want valid %v", args, err, valid)
		}
	}
}

// drawSchema makes schemas that touch every repair. References that could go
// in circles on one value stand below a member only: the validator that the
// test relies on follows those for ever.
func drawSchema(t *rapid.T, depth int, below bool) any {
	leaf := []any{
		map[string]any{}, true, false,
		map[string]any{"type": "string"}, map[string]any{"type": "integer", "minimum": 1},
		map[string]any{"type": []any{"string", "null"}}, map[string]any{"type": "array"},
		map[string]any{"const": "a"}, map[string]any{"enum": []any{"a", 1}},
	}
	if below {
		leaf = append(leaf, map[string]any{"$ref": "#/$defs/d"}, map[string]any{"$ref": "#"})
	}
	if rapid.IntRange(0, 2).Draw(t, "malformed") == 0 {
		leaf = []any{
			map[string]any{"type": "int"}, map[string]any{"minLength": "1"}, map[string]any{"enum": "a"},
			map[string]any{"$ref": "#/$defs/none"}, map[string]any{"minimum": 1, "exclusiveMinimum": true},
			map[string]any{"type": "OBJECT"}, map[string]any{"required": true, "type": "string"},
		}
	}
	if depth == 0 {
		return rapid.SampledFrom(leaf).Draw(t, "leaf")
	}
	sub := func() any { return drawSchema(t, depth-1, below) }
	member := func() any { return drawSchema(t, depth-1, true) }
	list := func() []any { return []any{sub(), sub()} }
	s := map[string]any{}
	for range rapid.IntRange(1, 3).Draw(t, "keywords") {
		switch rapid.IntRange(0, 15).Draw(t, "keyword") {
		case 0, 1, 2:
			props := map[string]any{}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "x[y]"}), 1, 3, rapid.ID[string]).Draw(t, "names") {
				props[name] = member()
			}
			s["properties"] = props
		case 3:
			s["required"] = rapid.SliceOfNDistinct(rapid.SampledFrom([]any{"a", "b"}), 0, 2, rapid.ID[any]).Draw(t, "required")
		case 4:
			s["additionalProperties"] = rapid.SampledFrom([]any{false, map[string]any{"type": "string"}}).Draw(t, "more")
		case 5:
			s["oneOf"] = list()
		case 6:
			s["anyOf"] = list()
		case 7:
			s["allOf"] = list()
		case 8:
			s["not"] = sub()
		case 9:
			s["if"], s["then"], s["else"] = sub(), sub(), sub()
		case 10:
			s["type"] = rapid.SampledFrom([]any{"object", []any{"object", "null"}}).Draw(t, "type")
		case 11:
			s["items"] = member()
		case 12:
			s["contains"], s["maxContains"] = member(), 1
		case 13:
			s["unevaluatedProperties"] = false
		case 14:
			s["patternProperties"] = map[string]any{"^a": member()}
		case 15:
			s["dependentSchemas"] = map[string]any{"a": sub()}
		}
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "scalar") == 0 {
		return rapid.SampledFrom([]any{"a", "b", 1.0, 0.0, nil, true}).Draw(t, "value")
	}
	if rapid.IntRange(0, 3).Draw(t, "array") == 0 {
		return []any{drawValue(t, depth-1), drawValue(t, depth-1)}
	}
	return drawArguments(t, depth)
}

func drawArguments(t *rapid.T, depth int) map[string]any {
	o := map[string]any{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "x[y]"}), 0, 4, rapid.ID[string]).Draw(t, "members") {
		o[name] = drawValue(t, depth-1)
	}
	return o
}

// Whatever arguments a server's schema accepts, the shaped one accepts; and
// that one is always well formed.
func TestShapingNeverNarrows(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		root, ok := drawSchema(t, 3, false).(map[string]any)
		if !ok {
			t.Skip("a boolean")
		}
		root["$defs"] = map[string]any{"d": drawSchema(t, 1, false)}
		if rapid.Bool().Draw(t, "typed") {
			root["type"] = "object"
		}
		raw, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		shaped := shapeInput(raw)
		after := checkWellFormed(t, shaped.schema)
		anthropic := checkWellFormed(t, shapeForAnthropic(shaped).schema)
		lintSchema(t, shaped.schema)

		var before jsonschema.Schema
		if json.Unmarshal(raw, &before) != nil {
			return
		}
		was, err := before.Resolve(nil)
		if err != nil {
			return // it accepts nothing that could be lost
		}
		for range 8 {
			args := drawArguments(t, 3)
			if was.Validate(args) != nil {
				continue
			}
			accepted++
			if err := after.Validate(args); err != nil {
				t.Fatalf("%v was valid for\n%s\nbut not for\n%s\n%v", args, raw, shaped.schema, err)
			}
			if err := anthropic.Validate(args); err != nil {
				t.Fatalf("%v was valid for\n%s\nbut not for Anthropic's: %v", args, raw, err)
			}
		}
	})
	if accepted == 0 {
		t.Error("no arguments were valid: nothing was tested")
	}
}
