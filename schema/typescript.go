package schema

import (
	"fmt"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// commentWidth is where lines of a comment are broken, in characters.
const commentWidth = 96

// TypeScript renders m as a module of types: one for each named type, maps
// from methods to params and results, and the lines that carry them.
func TypeScript(m *Model) []byte {
	w := &writer{}
	w.line("// " + generated)
	w.line("//")
	w.line("// The protocol between an editor and mcp-sidecar, version %s: one JSON-RPC 2.0 message a line.", m.Version)
	w.line("// Ignore members that you don't know, and expect new words in the unions of strings: both come with")
	w.line("// a minor version.")
	w.methodMap("Requests that the editor sends, by method.", "EditorRequests", m.messages(protocol.FromEditor, false))
	w.methodMap("Requests that the sidecar sends and the editor answers, by method.", "SidecarRequests", m.messages(protocol.FromSidecar, false))
	w.line("")
	w.comment("", "All requests, by method.")
	w.line("export interface Methods extends EditorRequests, SidecarRequests {}")
	w.methodMap("Notifications that the editor sends: the params by method.", "EditorNotifications", m.messages(protocol.FromEditor, true))
	w.methodMap("Notifications that the sidecar sends: the params by method.", "SidecarNotifications", m.messages(protocol.FromSidecar, true))
	w.text(envelopes)
	w.errors(m)
	for _, t := range m.Types {
		w.line("")
		w.typ(t)
	}
	return []byte(w.String())
}

// envelopes does not depend on the model.
const envelopes = `
/** A request of one of the methods of a map. */
export type RequestOf<Map> = {
  [M in keyof Map]: { jsonrpc: "2.0"; id: AnyID; method: M; params: Map[M] extends { params: infer P } ? P : never };
}[keyof Map];

/** A notification of one of the methods of a map. */
export type NotificationOf<Map> = {
  [M in keyof Map]: { jsonrpc: "2.0"; method: M; params: Map[M] };
}[keyof Map];

/** The reply to a request that was carried out. */
export interface SuccessResponse<M extends keyof Methods = keyof Methods> {
  jsonrpc: "2.0";
  id: AnyID;
  result: Methods[M]["result"];
}

/** The reply to a request that failed. The id is null when the request's own could not be read. */
export interface ErrorResponse {
  jsonrpc: "2.0";
  id: AnyID | null;
  error: ErrorObject;
}

/** One line that an editor sends. */
export type EditorMessage =
  | RequestOf<EditorRequests>
  | NotificationOf<EditorNotifications>
  | SuccessResponse<keyof SidecarRequests>
  | ErrorResponse;

/** One line that the sidecar sends. */
export type SidecarMessage =
  | RequestOf<SidecarRequests>
  | NotificationOf<SidecarNotifications>
  | SuccessResponse<keyof EditorRequests>
  | ErrorResponse;
`

// writer writes TypeScript.
type writer struct{ strings.Builder }

func (w *writer) text(s string) { w.WriteString(s) }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// comment writes a JSDoc comment, on one line if it fits.
func (w *writer) comment(indent, doc string) {
	if doc == "" {
		return
	}
	doc = strings.ReplaceAll(doc, "*/", "*\\/")
	lines := wrap(doc, commentWidth-len(indent))
	if len(lines) == 1 {
		w.line("%s/** %s */", indent, lines[0])
		return
	}
	w.line("%s/**", indent)
	for _, l := range lines {
		w.line("%s", strings.TrimRight(indent+" * "+l, " "))
	}
	w.line("%s */", indent)
}

func (w *writer) methodMap(doc, name string, list []*Method) {
	w.line("")
	w.comment("", doc)
	w.line("export interface %s {", name)
	for _, x := range list {
		w.comment("  ", x.Doc)
		switch {
		case x.Notification:
			w.line("  %q: %s;", x.Name, x.Params.Name)
		case x.Result == nil:
			w.line("  %q: { params: %s; result: null };", x.Name, x.Params.Name)
		default:
			w.line("  %q: { params: %s; result: %s };", x.Name, x.Params.Name, x.Result.Name)
		}
	}
	w.line("}")
}

func (w *writer) errors(m *Model) {
	w.line("")
	w.comment("", "Why a request failed. An editor's own errors may have any code, and no data.")
	w.line("export interface ErrorObject {")
	w.comment("  ", "An ErrorCode in an error of the sidecar.")
	w.line("  code: number;")
	w.line("  message: string;")
	w.comment("  ", "Always there in an error of the sidecar. Switch on its kind.")
	w.line("  data?: %s;", m.ErrorData.Name)
	w.line("}")
	var codes []string
	for _, c := range m.codes() {
		codes = append(codes, fmt.Sprint(c))
	}
	w.line("")
	w.comment("", "The codes of the sidecar's errors. One code has several kinds.")
	w.line("export type ErrorCode = %s;", strings.Join(codes, " | "))
	w.line("")
	w.comment("", "The code of each error kind, and whether the same request may succeed later. Code null: the kind only occurs in notifications and status rows.")
	w.line("export interface ErrorKinds {")
	for _, k := range m.Kinds {
		code := "null"
		if k.Code != 0 {
			code = fmt.Sprint(k.Code)
		}
		w.line("  %s: { code: %s; retryable: %t };", k.Kind, code, k.Retryable)
	}
	w.line("}")
}

func (w *writer) typ(t *Type) {
	w.comment("", t.Doc)
	switch t.Form {
	case Text:
		w.line("export type %s = string;", t.Name)
	case Union:
		var shapes []string
		for _, s := range t.Shapes {
			shapes = append(shapes, tsShape(s))
		}
		w.line("export type %s = %s;", t.Name, strings.Join(shapes, " | "))
	case Enum:
		w.enum(t)
	case Object:
		if len(t.Fields) == 0 {
			w.line("export interface %s {", t.Name)
			w.line("  [member: string]: unknown;")
			w.line("}")
			return
		}
		w.line("export interface %s {", t.Name)
		for _, f := range t.Fields {
			w.comment("  ", t.fieldDoc(f))
			optional, null := "", ""
			if !f.Required {
				optional = "?"
			}
			if f.Nullable && f.Shape.Form != Any {
				null = " | null"
			}
			w.line("  %s%s: %s%s;", f.Name, optional, tsShape(f.Shape), null)
		}
		w.line("}")
	}
}

func (w *writer) enum(t *Type) {
	plain, documented := []string{}, false
	for _, word := range t.Words {
		plain = append(plain, fmt.Sprintf("%q", word.Value))
		documented = documented || word.Doc != ""
	}
	if one := fmt.Sprintf("export type %s = %s;", t.Name, strings.Join(plain, " | ")); !documented && len(one) <= commentWidth+4 {
		w.line("%s", one)
		return
	}
	w.line("export type %s =", t.Name)
	for i, word := range t.Words {
		w.comment("  ", word.Doc)
		end := ""
		if i == len(t.Words)-1 {
			end = ";"
		}
		w.line("  | %q%s", word.Value, end)
	}
}

func tsShape(s *Shape) string {
	switch s.Form {
	case Named:
		return s.Type.Name
	case String:
		return "string"
	case Bool:
		return "boolean"
	case Integer, Number:
		return "number"
	case List:
		return tsShape(s.Elem) + "[]"
	case Map:
		return "Record<string, " + tsShape(s.Elem) + ">"
	}
	return "unknown"
}

// fieldDoc is the comment of f, with the condition under which an optional
// field is there if the comment does not say it itself.
func (t *Type) fieldDoc(f Field) string {
	c, ok := t.condition(f.Name)
	if !ok || strings.Contains(f.Doc, " is there ") {
		return f.Doc
	}
	return strings.TrimSpace(f.Doc + fmt.Sprintf(" Always there when `%s` is `%s`.", c.Field, c.Word))
}

// wrap breaks text into lines of at most width characters, and keeps an empty
// line between paragraphs.
func wrap(text string, width int) []string {
	var lines []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if lines != nil {
			lines = append(lines, "")
		}
		line := ""
		for _, word := range strings.Fields(p) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
