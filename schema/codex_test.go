package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A codexShape is one shape that we share with Codex.
type codexShape struct {
	method, file string
	text         []byte
	ours         reflect.Type
	// reads: Codex's side reads it, so ours must fit Codex's schema.
	// Otherwise Codex's side sends it, and we must understand it.
	reads bool
}

// codexShapes returns the shapes of testdata/codex whose methods are in the
// table. A method whose work comes later is not in the table yet.
func codexShapes(t *testing.T) []codexShape {
	t.Helper()
	dir := filepath.Join("testdata", "codex")
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var index map[string]struct {
		From           protocol.Side
		Params, Result *string
	}
	if err := json.Unmarshal(read("index.json"), &index); err != nil {
		t.Fatal(err)
	}
	var shapes []codexShape
	for _, row := range protocol.Methods {
		entry, ok := index[row.Name]
		if !ok {
			continue
		}
		if entry.From != row.From || row.Notification != (entry.Result == nil) {
			t.Errorf("%s: ours is from the %s (notification: %t), Codex's differs", row.Name, row.From, row.Notification)
		}
		if entry.Params != nil {
			shapes = append(shapes, codexShape{row.Name, *entry.Params, read(*entry.Params), row.Params, row.From == protocol.FromSidecar})
		}
		if entry.Result != nil {
			shapes = append(shapes, codexShape{row.Name, *entry.Result, read(*entry.Result), row.Result, row.From == protocol.FromEditor})
		}
	}
	if len(shapes) < 20 {
		t.Fatalf("only %d shapes are shared with Codex", len(shapes))
	}
	return shapes
}

func (s codexShape) validator(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(s.text, schema); err != nil {
		t.Fatalf("%s: %v", s.file, err)
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", s.file, err)
	}
	return r
}

func validate(r *jsonschema.Resolved, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return r.Validate(v)
}

// What a client of Codex reads (results, notifications, questions) fits
// Codex's own schema, with all that is optional and with nothing of it, with
// every word and shape.
func TestCodexReadsWhatWeSend(t *testing.T) {
	count := 0
	for _, s := range codexShapes(t) {
		if !s.reads {
			continue
		}
		r := s.validator(t)
		for _, sample := range samples(t, s.ours) {
			count++
			if err := validate(r, sample); err != nil {
				t.Errorf("%s: %s does not fit Codex's %s: %v", s.method, sample, s.file, err)
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d samples", count)
	}
}

// What a client of Codex sends decodes into our types, keeps every member that
// both know, and fits our own schema.
func TestWeReadWhatCodexSends(t *testing.T) {
	count := 0
	for _, s := range codexShapes(t) {
		if s.reads {
			continue
		}
		codex := s.validator(t)
		for _, sample := range codexSamples(t, s.text) {
			count++
			if err := validate(codex, sample); err != nil {
				t.Fatalf("%s: the sample %s is not Codex's: %v", s.file, sample, err) // a fault of this test
			}
			v := reflect.New(s.ours)
			if err := json.Unmarshal(sample, v.Interface()); err != nil {
				t.Errorf("%s: decoding %s: %v", s.method, sample, err)
				continue
			}
			kept, err := marshal(v.Elem())
			if err != nil {
				t.Fatal(err)
			}
			if lost := lost(s.ours, s.ours.Name(), decode(t, sample), decode(t, kept)); lost != nil {
				t.Errorf("%s: %s became %s: lost %s", s.method, sample, kept, lost)
			}
			if err := fits(t, typeName(s.ours), sample); err != nil {
				t.Errorf("%s: %s does not fit our %s: %v", s.method, sample, typeName(s.ours), err)
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d samples", count)
	}
}

// Every required member of Codex's shapes that a client reads is required in
// ours: a client may rely on it.
func TestCodexRequirementsAreOurs(t *testing.T) {
	m := model(t)
	for _, s := range codexShapes(t) {
		if !s.reads {
			continue
		}
		var codex struct{ Required []string }
		if err := json.Unmarshal(s.text, &codex); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(m.Types, func(x *Type) bool { return x.Name == typeName(s.ours) })
		ours := m.Types[i]
		if ours.Form == Union { // one shape: MCP's own
			ours = ours.Shapes[0].Type
		}
		for _, name := range codex.Required {
			if !slices.ContainsFunc(ours.Fields, func(f Field) bool { return f.Name == name && f.Required }) {
				t.Errorf("%s: Codex requires %s, %s does not", s.method, name, ours.Name)
			}
		}
	}
}

// lost returns the places of in that t has a member for, and that out has not
// or has changed. What is null, false, empty or 0 may be absent in out.
func lost(t reflect.Type, where string, in, out any) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, union := shapesOf(t)
	object, ok := in.(map[string]any)
	if !ok || union || t.Kind() != reflect.Struct {
		if reflect.DeepEqual(in, out) {
			return nil
		}
		return []string{where}
	}
	var list []string
	kept, _ := out.(map[string]any)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		value, sent := object[name]
		if !sent || value == nil || reflect.ValueOf(value).IsZero() {
			continue
		}
		list = append(list, lost(t.Field(i).Type, where+"."+name, value, kept[name])...)
	}
	return list
}

// The comparison above notices what it is for.
func TestLost(t *testing.T) {
	params := reflect.TypeFor[protocol.InitializeParams]()
	for _, x := range []struct {
		in, out string
		want    []string
	}{
		{`{"clientInfo":{"name":"a","version":"1"},"theirs":1}`, `{"clientInfo":{"name":"a","version":"1"}}`, nil},
		{`{"clientInfo":{"name":"a","version":"1"}}`, `{"clientInfo":{"name":"b"}}`, []string{"P.clientInfo.name", "P.clientInfo.version"}},
		{`{"capabilities":{"experimentalApi":false,"optOutNotificationMethods":["x"]}}`, `{"capabilities":{}}`, []string{"P.capabilities.optOutNotificationMethods"}},
		{`{"config":{"a":1}}`, `{"config":{"a":2}}`, []string{"P.config"}},
	} {
		if got := lost(params, "P", decode(t, []byte(x.in)), decode(t, []byte(x.out))); !slices.Equal(got, x.want) {
			t.Errorf("%s and %s: lost %q, want %q", x.in, x.out, got, x.want)
		}
	}
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// codexSamples makes values that fit a schema of testdata/codex: with all
// optional members and with none, each of these in all variants (so with all
// but one, and with one only, too).
func codexSamples(t *testing.T, text []byte) [][]byte {
	t.Helper()
	root := decode(t, text).(map[string]any)
	seen := map[string]bool{}
	var list [][]byte
	for _, full := range []bool{false, true} {
		variants(func(pick func(int) int) {
			g := codexSampler{root, full, pick}
			v, err := g.value(root, "")
			if err != nil {
				t.Fatal(err)
			}
			s, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if !seen[string(s)] {
				seen[string(s)] = true
				list = append(list, s)
			}
		})
	}
	return list
}

// codexSampler understands what the schemas of testdata/codex use.
type codexSampler struct {
	root map[string]any
	full bool
	pick func(int) int
}

func (g codexSampler) value(schema any, name string) (any, error) {
	if schema == true {
		return map[string]any{"any": json.Number("12345678901234567890")}, nil
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: %v is no schema", name, schema)
	}
	if r, ok := s["$ref"].(string); ok {
		definitions, _ := g.root["definitions"].(map[string]any)
		return g.value(definitions[strings.TrimPrefix(r, "#/definitions/")], name)
	}
	if list, ok := s["allOf"].([]any); ok && len(list) == 1 {
		return g.value(list[0], name)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := s[k].([]any); ok && s["properties"] == nil {
			return g.value(list[g.pick(len(list))], name)
		}
	}
	if words, ok := s["enum"].([]any); ok {
		return words[g.pick(len(words))], nil
	}
	typ := s["type"]
	if list, ok := typ.([]any); ok {
		typ = list[g.pick(len(list))]
	}
	switch typ {
	case nil:
		return map[string]any{}, nil
	case "null":
		return nil, nil
	case "string":
		if name == "cwd" {
			return "/home/me/project", nil
		}
		return "some " + name, nil
	case "boolean":
		return g.pick(2) == 0, nil
	case "integer", "number":
		return json.Number("3"), nil
	case "array":
		v, err := g.value(s["items"], name)
		return []any{v}, err
	case "object":
		return g.object(s, name)
	}
	return nil, fmt.Errorf("%s: type %v", name, typ)
}

func (g codexSampler) object(s map[string]any, name string) (any, error) {
	o := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(k)) && (g.pick(2) == 0) != g.full {
			continue
		}
		v, err := g.value(properties[k], k)
		if err != nil {
			return nil, err
		}
		o[k] = v
	}
	if open := s["additionalProperties"]; g.full && open != nil && open != false {
		v, err := g.value(open, name)
		if err != nil {
			return nil, err
		}
		o["some_key"] = v
	}
	return o, nil
}
