package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

const (
	dialect  = "https://json-schema.org/draft/2020-12/schema"
	bundleID = "https://github.com/mcp-sidecar/mcp-sidecar/schema/published/sidecar.schema.json"

	// generated opens each file that is not JSON.
	generated = "Generated from package protocol by \"go run ./schema/gen\". DO NOT EDIT."
)

// JSONSchema renders m as one JSON Schema document, draft 2020-12. The document
// itself matches one line that either side sends; $defs has every named type,
// an envelope for every message, and EditorMessage and SidecarMessage for the
// lines of one side. A word of an enum that has a meaning of its own has it in
// x-enumDescriptions.
func JSONSchema(m *Model) ([]byte, error) {
	var defs object
	for _, t := range m.Types {
		defs.set(t.Name, typeSchema(t))
	}
	for _, x := range m.Methods {
		defs.set(x.envelope(), envelopeSchema(x))
		if !x.Notification {
			defs.set(x.stem()+"Response", responseSchema(x))
		}
	}
	defs.set("ErrorObject", errorSchema(m))
	defs.set("ErrorResponse", object{
		{"description", "The reply to a request that failed. The id is null when the request's own could not be read."},
		{"type", "object"},
		{"properties", object{{"jsonrpc", version}, {"id", object{{"anyOf", []any{idSchema, null}}}}, {"error", ref("ErrorObject")}}},
		{"required", []string{"id", "error"}},
	})
	defs.set("Response", object{
		{"description", "The reply to a request that was carried out. What result holds, the method of the request says."},
		{"type", "object"},
		{"properties", object{{"jsonrpc", version}, {"id", idSchema}, {"result", true}}},
		{"required", []string{"id", "result"}},
	})
	defs.set("EditorMessage", lineSchema(m, protocol.FromEditor, "One line that an editor sends."))
	defs.set("SidecarMessage", lineSchema(m, protocol.FromSidecar, "One line that the sidecar sends."))
	for i, d := range defs {
		for _, other := range defs[:i] {
			if d.name == other.name {
				return nil, fmt.Errorf("schema: rendering JSON Schema: two definitions are called %s", d.name)
			}
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object{
		{"$schema", dialect},
		{"$id", bundleID},
		{"title", "mcp-sidecar protocol " + m.Version},
		{"description", "One line of the protocol between an editor and mcp-sidecar. " + generated},
		{"anyOf", []any{ref("EditorMessage"), ref("SidecarMessage")}},
		{"$defs", defs},
	})
	if err != nil {
		return nil, fmt.Errorf("schema: rendering JSON Schema: %w", err)
	}
	return out.Bytes(), nil
}

var (
	version  = object{{"const", "2.0"}}
	null     = object{{"type", "null"}}
	idSchema = object{{"type", []string{"string", "integer"}}}
)

func ref(name string) object { return object{{"$ref", "#/$defs/" + name}} }

func typeSchema(t *Type) object {
	s := object{{"description", t.Doc}}
	switch t.Form {
	case Text:
		s.set("type", "string")
	case Enum:
		var words []string
		var meanings object
		for _, w := range t.Words {
			words = append(words, w.Value)
			if w.Doc != "" {
				meanings.set(w.Value, w.Doc)
			}
		}
		s.set("type", "string")
		s.set("enum", words)
		if meanings != nil {
			s.set("x-enumDescriptions", meanings)
		}
	case Union:
		var shapes []any
		for _, a := range t.Shapes {
			shapes = append(shapes, shapeSchema(a, false))
		}
		s.set("anyOf", shapes)
	case Object:
		s.set("type", "object")
		properties, required := object{}, []string(nil)
		for _, f := range t.Fields {
			p := shapeSchema(f.Shape, f.Nullable)
			if f.Doc != "" {
				p = append(object{{"description", f.Doc}}, p...)
			}
			properties.set(f.Name, p)
			if f.Required {
				required = append(required, f.Name)
			}
		}
		s.set("properties", properties)
		if required != nil {
			s.set("required", required)
		}
		var rules []any
		for _, c := range t.Conditions {
			rules = append(rules, object{
				{"if", object{{"properties", object{{c.Field, object{{"const", c.Word}}}}}}},
				{"then", object{{"required", c.Requires}}},
			})
		}
		if rules != nil {
			s.set("allOf", rules)
		}
	}
	return s
}

func shapeSchema(s *Shape, nullable bool) object {
	var o object
	base := ""
	switch s.Form {
	case Any:
		return o
	case Named:
		if nullable {
			return object{{"anyOf", []any{ref(s.Type.Name), null}}}
		}
		return ref(s.Type.Name)
	case String:
		base = "string"
	case Bool:
		base = "boolean"
	case Number:
		base = "number"
	case Integer:
		base = "integer"
		o.set("format", "int64")
	case List:
		base = "array"
		o.set("items", elemSchema(s.Elem))
	case Map:
		base = "object"
		o.set("additionalProperties", elemSchema(s.Elem))
	}
	if nullable {
		return append(object{{"type", []string{base, "null"}}}, o...)
	}
	return append(object{{"type", base}}, o...)
}

func elemSchema(s *Shape) any {
	if s.Form == Any {
		return true
	}
	return shapeSchema(s, false)
}

// envelopeSchema is the line that carries a request or notification. A line of
// the sidecar always has jsonrpc; an editor may leave it out, and params too
// when nothing in them is required.
func envelopeSchema(x *Method) object {
	properties := object{{"jsonrpc", version}}
	required := []string{"method"}
	if x.From == protocol.FromSidecar {
		required = []string{"jsonrpc", "method", "params"}
	} else if slices.ContainsFunc(x.Params.Fields, func(f Field) bool { return f.Required }) {
		required = append(required, "params")
	}
	if !x.Notification {
		if x.From == protocol.FromSidecar {
			properties.set("id", ref("RequestID"))
		} else {
			properties.set("id", idSchema)
		}
		required = append(required, "id")
	}
	properties.set("method", object{{"const", x.Name}})
	properties.set("params", ref(x.Params.Name))
	return object{{"description", x.Doc}, {"type", "object"}, {"properties", properties}, {"required", required}}
}

func responseSchema(x *Method) object {
	result := null
	if x.Result != nil {
		result = ref(x.Result.Name)
	}
	return object{
		{"description", "The reply to " + x.Name + "."},
		{"type", "object"},
		{"properties", object{{"jsonrpc", version}, {"id", idSchema}, {"result", result}}},
		{"required", []string{"id", "result"}},
	}
}

// errorSchema takes any code: the codes of an editor's errors are its own.
func errorSchema(m *Model) object {
	var codes []string
	for _, c := range m.codes() {
		codes = append(codes, fmt.Sprint(c))
	}
	data := append(object{{"description", "Always there in an error of the sidecar."}}, ref(m.ErrorData.Name)...)
	return object{
		{"description", "Why a request failed. The sidecar's codes are " + strings.Join(codes, ", ") + "; switch on data.kind."},
		{"type", "object"},
		{"properties", object{
			{"code", object{{"type", "integer"}, {"format", "int64"}}},
			{"message", object{{"type", "string"}}},
			{"data", data},
		}},
		{"required", []string{"code", "message"}},
	}
}

// codes returns the codes of the kinds in the order of the table.
func (m *Model) codes() []protocol.Code {
	var codes []protocol.Code
	for _, k := range m.Kinds {
		if k.Code != 0 && !slices.Contains(codes, k.Code) {
			codes = append(codes, k.Code)
		}
	}
	return codes
}

func lineSchema(m *Model, side protocol.Side, description string) object {
	var lines []any
	for _, notifications := range []bool{false, true} {
		for _, x := range m.messages(side, notifications) {
			lines = append(lines, ref(x.envelope()))
		}
	}
	return object{{"description", description}, {"anyOf", append(lines, ref("Response"), ref("ErrorResponse"))}}
}

// object is a JSON object that keeps its order.
type object []member

type member struct {
	name  string
	value any
}

func (o *object) set(name string, value any) { *o = append(*o, member{name, value}) }

// MarshalJSON writes the members in order, and < > & as they are.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := e.Encode(m.name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
