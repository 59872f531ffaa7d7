package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// Reference renders m as a page of Markdown: each message with its params, its
// result and an example, then the types, the errors and the limits. An example
// is made from the Go types, so it is what the wire would show.
func Reference(m *Model) ([]byte, error) {
	p := &page{model: m, anchors: map[*Type]string{}}
	for _, t := range m.Types {
		p.anchors[t] = anchor(t.Name)
	}
	for _, x := range m.Methods {
		p.anchors[x.Params] = anchor(x.Name)
		if x.Result != nil {
			p.anchors[x.Result] = anchor(x.Name)
		}
	}
	p.anchors[m.ErrorData] = anchor("Errors")

	p.line("<!-- %s -->", generated)
	p.line("")
	p.line("# Protocol reference")
	p.line("")
	p.line("The protocol between an editor and mcp-sidecar, version %s.", m.Version)
	p.line("MCP revisions spoken to servers: %s.", strings.Join(m.MCPVersions, ", "))
	p.line("")
	p.WriteString(wireText)
	p.section("Lifetimes", m.Lifetimes)
	p.section("Order", m.MessageOrder)
	p.contents()
	for _, g := range groups {
		p.section(g.heading, "")
		for _, x := range m.messages(g.from, g.notifications) {
			// What both sides send is described once, where the editor does.
			if x.From != g.from {
				continue
			}
			if err := p.method(x); err != nil {
				return nil, err
			}
		}
	}
	p.types()
	if err := p.errors(); err != nil {
		return nil, err
	}
	p.limits()
	return []byte(p.String()), nil
}

const wireText = "Each message is one JSON-RPC 2.0 object on one line of UTF-8 that ends in `\\n`. The sidecar reads them from stdin and\n" +
	"writes them to stdout; stdout carries nothing else. Every request gets exactly one reply. Params that are left out equal\n" +
	"`{}`. Members that a side does not know are ignored, so additions break nobody; a closed list of words may grow with a\n" +
	"minor version. Where a table says *null or absent*, the two mean the same.\n" +
	"\n" +
	"The same as types: [`sidecar.d.ts`](sidecar.d.ts); as JSON Schema: [`sidecar.schema.json`](sidecar.schema.json).\n"

var groups = []struct {
	heading       string
	from          protocol.Side
	notifications bool
}{
	{"Requests from the editor", protocol.FromEditor, false},
	{"Notifications from the editor", protocol.FromEditor, true},
	{"Requests from the sidecar", protocol.FromSidecar, false},
	{"Notifications from the sidecar", protocol.FromSidecar, true},
}

// page writes the reference page.
type page struct {
	strings.Builder
	model   *Model
	anchors map[*Type]string // where a type is described
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(heading, body string) {
	p.line("\n## %s", heading)
	if body != "" {
		p.line("\n%s", body)
	}
}

func (p *page) contents() {
	p.section("Contents", "")
	for _, g := range groups {
		p.line("\n[%s](#%s)\n", g.heading, anchor(g.heading))
		for _, x := range p.model.messages(g.from, g.notifications) {
			p.line("- [`%s`](#%s)", x.Name, anchor(x.Name))
		}
	}
	p.line("\n[Types](#types) · [Errors](#errors) · [Limits](#limits)")
}

func (p *page) method(x *Method) error {
	p.line("\n### `%s`\n", x.Name)
	p.line("*%s*\n", manner(x))
	p.line("%s", x.Doc)
	p.block("Params", x.Params, x.Doc)
	switch {
	case x.Result != nil:
		p.block("Result", x.Result, x.Doc)
	case !x.Notification:
		p.line("\n**Result**: `null`.")
	}
	return p.example(x)
}

// manner says who sends x and when it is answered.
func manner(x *Method) string {
	switch {
	case x.Both:
		return "Notification from either side."
	case x.Notification && x.From == protocol.FromEditor:
		return "Notification from the editor."
	case x.Notification:
		return "Notification from the sidecar."
	case x.From == protocol.FromSidecar:
		return "Request from the sidecar; the editor answers when it can."
	case x.Order == protocol.Admitting:
		return "Request from the editor. The next line is looked at as soon as what it may name has been made."
	case x.Order == protocol.InOrder:
		return "Request from the editor, answered in order: before the next line is looked at."
	}
	return "Request from the editor, concurrent: answered when it is done, others go on meanwhile."
}

// block describes params or a result. shown is what the page has said already.
func (p *page) block(heading string, t *Type, shown string) {
	if strings.HasSuffix(shown, strings.TrimPrefix(t.Doc, t.Name)) {
		p.line("\n**%s**: `%s`.", heading, t.Name)
	} else {
		p.line("\n**%s**: %s", heading, t.sentence(t.Name))
	}
	p.body(t)
}

// body lists what t consists of.
func (p *page) body(t *Type) {
	switch t.Form {
	case Object:
		p.fields(t)
	case Enum:
		p.line("")
		for _, w := range t.Words {
			if w.Doc == "" {
				p.line("- `%s`", w.Value)
			} else {
				p.line("- `%s`: %s", w.Value, w.Doc)
			}
		}
	case Union:
		var shapes []string
		for _, s := range t.Shapes {
			shapes = append(shapes, p.shape(s))
		}
		p.line("\n%s", strings.Join(shapes, " or "))
	case Text:
		p.line("\nA string.")
	}
}

func (p *page) fields(t *Type) {
	if len(t.Fields) == 0 {
		return
	}
	p.line("\n| member | type | required | meaning |\n| --- | --- | --- | --- |")
	for _, f := range t.Fields {
		required, typ := "no", p.shape(f.Shape)
		switch c, conditional := t.condition(f.Name); {
		case f.Required && f.Nullable:
			required, typ = "yes", typ+" or null"
		case f.Required:
			required = "yes"
		case conditional:
			required = fmt.Sprintf("when `%s` is `%s`", c.Field, c.Word)
		case f.Nullable:
			required = "no, null or absent"
		}
		p.line("| `%s` | %s | %s | %s |", f.Name, typ, required, strings.ReplaceAll(strings.ReplaceAll(f.Doc, "|", "\\|"), "\n\n", "<br>"))
	}
}

// shape is a type expression with links.
func (p *page) shape(s *Shape) string {
	switch s.Form {
	case Named:
		return fmt.Sprintf("[%s](#%s)", s.Type.Name, p.anchors[s.Type])
	case List:
		return "list of " + p.shape(s.Elem)
	case Map:
		return "object of " + p.shape(s.Elem)
	case String:
		return "string"
	case Bool:
		return "boolean"
	case Integer:
		return "integer"
	case Number:
		return "number"
	}
	return "any JSON"
}

// example shows x as it goes over the wire.
func (p *page) example(x *Method) error {
	lines, err := exampleLines(x)
	if err != nil {
		return err
	}
	p.line("\n```json\n%s\n```", strings.Join(lines, "\n"))
	return nil
}

// exampleLines are a message and, for a request, its reply.
func exampleLines(x *Method) ([]string, error) {
	params, err := example.sample(x.params)
	if err != nil {
		return nil, err
	}
	if x.Notification {
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, x.Name, params)}, nil
	}
	id, result := "1", []byte("null")
	if x.From == protocol.FromSidecar {
		id = `"s-1"`
	}
	if x.result != nil {
		if result, err = example.sample(x.result); err != nil {
			return nil, err
		}
	}
	return []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, x.Name, params),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result),
	}, nil
}

// types describes the types that no message is described by.
func (p *page) types() {
	p.section("Types", "")
	list := slices.Clone(p.model.Types)
	slices.SortFunc(list, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range list {
		if p.anchors[t] != anchor(t.Name) {
			continue
		}
		p.line("\n### %s\n\n%s", t.Name, t.sentence(t.Name))
		p.body(t)
	}
}

func (p *page) errors() error {
	p.section("Errors", "An error of the sidecar has a code, a message for people, and data of type `ErrorData`. Switch on `data.kind`: the words\n"+
		"are stable, one code has several of them. *Retryable*: the same request may succeed later. What a model should read of a\n"+
		"call that went wrong is no error but a result of `thread/tool/call`, with a [Reason](#reason).")
	p.block("Data", p.model.ErrorData, "")
	data, err := example.sample(reflect.TypeFor[protocol.ErrorData]())
	if err != nil {
		return err
	}
	code := protocol.Errorf(protocol.KindUnknownThread, "").Code()
	p.line("\n```json\n"+`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no thread \"thread-9\" is open","data":%s}}`+"\n```", code, data)
	p.line("\n| kind | code | retryable | meaning |\n| --- | --- | --- | --- |")
	for _, k := range p.model.Kinds {
		code, retryable := "–", "no"
		if k.Code != 0 {
			code = fmt.Sprint(int64(k.Code))
		}
		if k.Retryable {
			retryable = "yes"
		}
		p.line("| `%s` | %s | %s | %s |", k.Kind, code, retryable, k.Meaning)
	}
	p.line("\nA kind without a code only occurs in notifications and status rows.")
	return nil
}

func (p *page) limits() {
	p.section("Limits", "The bounds in force are in the result of [`initialize`](#initialize), `capabilities.limits`.")
	p.line("\n| limit | value | set by |\n| --- | --- | --- |")
	for _, l := range Limits {
		setting := "–"
		if l.Setting != "" {
			setting = "`" + strings.ReplaceAll(l.Setting, ", ", "`, `") + "`"
		}
		p.line("| %s | %s | %s |", l.What, l, setting)
	}
}

// anchor is the fragment that a Markdown renderer gives a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}
