package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A Model is the contract as a tree that knows no output language.
type Model struct {
	// Version is the semantic version of the protocol.
	Version string
	// MCPVersions are the MCP revisions spoken to servers, newest first.
	MCPVersions []string
	// Methods are the messages in the order of protocol.Methods.
	Methods []*Method
	// Types are the named types in order of first use by Methods, then those
	// that only errors use.
	Types []*Type
	// ErrorData is the type of the data member of an error.
	ErrorData *Type
	// Kinds are the error kinds in the order of protocol.KindTable.
	Kinds []protocol.KindRow
	// Lifetimes and MessageOrder are the sections Lifetimes and Order of
	// protocol's package comment.
	Lifetimes, MessageOrder string
}

// A Method is one message of the contract.
type Method struct {
	Name string
	// From is who sends it. Both is set for the one that the other side sends
	// too ($/cancelRequest).
	From         protocol.Side
	Both         bool
	Notification bool
	Order        protocol.Order
	Doc          string
	Params       *Type
	// Result is nil for a notification, and for a request whose result is
	// null.
	Result *Type

	params, result reflect.Type
}

// Form is the form of a Type or of a Shape.
type Form int

// The forms. Object, Enum, Union and Text are those of named types; the others
// occur in shapes.
const (
	Object  Form = iota // members by name
	Enum                // one of some words
	Union               // one of some shapes
	Text                // a string with a name of its own
	Any                 // any JSON value
	String              // a string
	Bool                // true or false
	Integer             // a 64-bit integer
	Number              // a number
	List                // an array of Elem
	Map                 // an object whose members are all Elem
	Named               // a Type
)

// A Type is a type with a name.
type Type struct {
	Name string
	Doc  string
	Form Form // Object, Enum, Union or Text
	// Fields are the members of an Object.
	Fields []Field
	// Words are those of an Enum.
	Words []Word
	// Shapes are the alternatives of a Union.
	Shapes []*Shape
	// Conditions are rules of an Object beyond its fields.
	Conditions []Condition
	// Input and Output say which side sends the type: the editor, the
	// sidecar, or both.
	Input, Output bool
}

// A Field is a member of an Object.
type Field struct {
	Name     string // in JSON
	GoName   string
	Doc      string // may be empty: the name says it
	Shape    *Shape
	Required bool
	// Nullable fields may be null.
	Nullable bool
}

// A Word is a value of an Enum.
type Word struct {
	Value string
	Doc   string // may be empty
}

// A Shape is one use of a type.
type Shape struct {
	Form Form // Any or later
	Elem *Shape
	Type *Type
}

// A Condition says that a word of one member brings others along.
type Condition struct {
	Field, Word string
	Requires    []string
}

// conditions holds what Go types can't say. Codex's shapes make a union of each
// of these types.
var conditions = map[string][]Condition{
	"ElicitationRequestParams": {
		{"mode", "form", []string{"requestedSchema"}},
		{"mode", "url", []string{"url", "elicitationId"}},
	},
	"ThreadStatus":      {{"type", "active", []string{"activeFlags"}}},
	"ConfigLayerSource": {{"type", "user", []string{"file"}}},
}

// Build makes the model of the contract, with the sentences of c. It fails on
// what has no published form: a type outside the small language of package
// protocol, two types of one name, a message or type without a comment.
func Build(c *Comments) (*Model, error) {
	b := builder{comments: c, wire: wireNames(c), types: map[reflect.Type]*Type{}, names: map[string]bool{}}
	m := &Model{Version: protocol.Version, MCPVersions: protocol.MCPVersions, Kinds: protocol.KindTable,
		Lifetimes: c.sections["Lifetimes"], MessageOrder: c.sections["Order"]}
	if m.Lifetimes == "" || m.MessageOrder == "" {
		b.problem("the package comment has no section Lifetimes or Order")
	}
	for _, row := range protocol.Methods {
		m.Methods = append(m.Methods, b.method(row))
	}
	m.ErrorData = b.shape(reflect.TypeFor[protocol.ErrorData](), "ErrorData").Type
	m.Types = b.order
	if len(b.problems) > 0 {
		return nil, fmt.Errorf("schema: building the model: %s", strings.Join(b.problems, "; "))
	}
	for _, x := range m.Methods {
		markSides(x)
	}
	mark(m.ErrorData, func(t *Type) *bool { return &t.Output })
	for _, t := range m.Types {
		if !t.Input || t.Output {
			continue
		}
		for i := range t.Fields {
			if f := &t.Fields[i]; !f.Required {
				f.Nullable = true
			}
		}
	}
	return m, nil
}

type builder struct {
	comments *Comments
	wire     map[string]string // Go name -> name on the wire
	types    map[reflect.Type]*Type
	names    map[string]bool
	order    []*Type
	problems []string
}

func (b *builder) problem(format string, args ...any) {
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

func (b *builder) method(row protocol.Method) *Method {
	m := &Method{
		Name: row.Name, From: row.From, Both: row.Name == protocol.MethodCancelRequest,
		Notification: row.Notification, Order: row.Order,
		params: row.Params, result: row.Result,
	}
	m.Params = b.root(row.Params, row.Name+" params")
	if row.Result != nil {
		m.Result = b.root(row.Result, row.Name+" result")
	}
	// What no method of Sidecar serves is described by its params.
	m.Doc = prose(b.comments.methods[row.GoName], b.wire)
	if row.GoName == "" && m.Params != nil {
		m.Doc = m.Params.sentence(m.Name)
	}
	if m.Doc == "" {
		b.problem("%s has no comment", row.Name)
	}
	return m
}

// root is the named type of params or of a result.
func (b *builder) root(t reflect.Type, where string) *Type {
	s := b.shape(t, where)
	if s.Type == nil {
		b.problem("%s: %s has no name", where, t)
	}
	return s.Type
}

func (b *builder) shape(t reflect.Type, where string) *Shape {
	if t == reflect.TypeFor[json.RawMessage]() {
		return &Shape{Form: Any}
	}
	if _, ok := shapesOf(t); ok {
		return &Shape{Form: Named, Type: b.named(t, where)}
	}
	switch t.Kind() {
	case reflect.Struct:
		return &Shape{Form: Named, Type: b.named(t, where)}
	case reflect.String:
		if t.PkgPath() != "" {
			return &Shape{Form: Named, Type: b.named(t, where)}
		}
		return &Shape{Form: String}
	case reflect.Bool:
		return &Shape{Form: Bool}
	case reflect.Int64:
		return &Shape{Form: Integer}
	case reflect.Float64:
		return &Shape{Form: Number}
	case reflect.Pointer:
		return b.shape(t.Elem(), where)
	case reflect.Slice:
		return &Shape{Form: List, Elem: b.shape(t.Elem(), where+"[]")}
	case reflect.Map:
		return &Shape{Form: Map, Elem: b.shape(t.Elem(), where+"{}")}
	}
	b.problem("%s: %s is not in the small language of package protocol", where, t)
	return &Shape{Form: Any}
}

func (b *builder) named(t reflect.Type, where string) *Type {
	if n := b.types[t]; n != nil {
		return n
	}
	name := t.Name()
	shapes, union := shapesOf(t)
	if union {
		name = shapes.TypeName()
	}
	if b.names[name] {
		b.problem("%s: two types are called %s", where, name)
	}
	n := &Type{Name: name, Doc: prose(b.comments.types[name], b.wire), Conditions: conditions[name]}
	if n.Doc == "" {
		b.problem("%s: type %s has no comment", where, name)
	}
	b.types[t], b.names[name] = n, true
	b.order = append(b.order, n)
	switch words := wordsOf(t); {
	case union:
		n.Form = Union
		for _, a := range shapes.Alternatives() {
			n.Shapes = append(n.Shapes, b.shape(reflect.TypeOf(a), name))
		}
	case t.Kind() == reflect.Struct:
		n.Form = Object
		b.fields(n, t)
	case words != nil:
		n.Form = Enum
		for _, w := range words {
			n.Words = append(n.Words, Word{w, b.word(name, w)})
		}
	default:
		n.Form = Text
	}
	return n
}

// A memberField is a field of a struct that is a member of its JSON.
type memberField struct {
	reflect.StructField
	owner string // the type that has it
}

// membersOf returns the fields of a struct with those of embedded ones in
// their place, as encoding/json has them. Index leads to each from t.
func membersOf(t reflect.Type) []memberField {
	var out []memberField
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous {
			out = append(out, memberField{f, t.Name()})
			continue
		}
		for _, m := range membersOf(f.Type) {
			m.Index = append([]int{i}, m.Index...)
			out = append(out, m)
		}
	}
	return out
}

func (b *builder) fields(n *Type, t reflect.Type) {
	// A comment calls its neighbours by their Go names.
	wire := map[string]string{}
	members := membersOf(t)
	for _, f := range members {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		wire[f.Name] = name
	}
	for k, v := range b.wire {
		if wire[k] == "" {
			wire[k] = v
		}
	}
	for _, f := range members {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitzero" || o == "omitempty" })
		n.Fields = append(n.Fields, Field{
			Name: name, GoName: f.Name, Doc: prose(b.comments.fields[f.owner+"."+f.Name], wire),
			Shape: b.shape(f.Type, n.Name+"."+name), Required: !optional,
			Nullable: f.Type.Kind() == reflect.Pointer && !optional,
		})
	}
}

func (b *builder) word(typeName, word string) string {
	if typeName == "Kind" {
		for _, r := range protocol.KindTable {
			if string(r.Kind) == word {
				return r.Meaning
			}
		}
	}
	for _, c := range b.comments.constants[typeName] {
		if c.value == word {
			return prose(c.doc, b.wire)
		}
	}
	return ""
}

// shapesOf returns the alternatives of a protocol.OneOf.
func shapesOf(t reflect.Type) (protocol.Shapes, bool) {
	o, ok := reflect.Zero(t).Interface().(interface{ Shapes() protocol.Shapes })
	if !ok {
		return nil, false
	}
	return o.Shapes(), true
}

// wordsOf returns the words of an enum, nil for other types.
func wordsOf(t reflect.Type) []string {
	if e, ok := reflect.Zero(t).Interface().(interface{ Values() []string }); ok {
		return e.Values()
	}
	return nil
}

// markSides notes on the types of m which side sends them.
func markSides(m *Method) {
	input, output := func(t *Type) *bool { return &t.Input }, func(t *Type) *bool { return &t.Output }
	params, result := input, output
	if m.From == protocol.FromSidecar {
		params, result = output, input
	}
	mark(m.Params, params)
	mark(m.Result, result)
	if m.Both {
		mark(m.Params, result)
	}
}

func mark(t *Type, side func(*Type) *bool) {
	if t == nil || *side(t) {
		return
	}
	*side(t) = true
	for _, f := range t.Fields {
		mark(f.Shape.named(), side)
	}
	for _, s := range t.Shapes {
		mark(s.named(), side)
	}
}

// sentence is the comment of t about something else: name takes the place of
// the type's at the beginning.
func (t *Type) sentence(name string) string {
	if rest, ok := strings.CutPrefix(t.Doc, t.Name+" "); ok {
		return "`" + name + "` " + rest
	}
	return t.Doc
}

// named returns the named type that s uses, at whatever depth, or nil.
func (s *Shape) named() *Type {
	for s.Elem != nil {
		s = s.Elem
	}
	return s.Type
}
