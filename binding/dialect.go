package binding

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// MaxInstructionsBytes bounds a server's instructions where they describe its
// namespace.
const MaxInstructionsBytes = 512 << 10

// A dialect writes specifications for one model.
type dialect struct {
	format protocol.SpecFormat
	// namespaces: functions are grouped, and called by namespace and name.
	namespaces bool
}

func dialectOf(m protocol.ModelSettings) dialect {
	d := dialect{format: m.Format}
	if d.format == "" {
		d.format = protocol.FormatOpenAIResponses
	}
	d.namespaces = d.format == protocol.FormatOpenAIResponses && (m.Namespaces == nil || *m.Namespaces)
	return d
}

// A specification is a tool in a dialect.
type specification struct {
	spec        []byte
	schemaBytes int
	changes     []protocol.SpecChange
}

// spec writes t under its callable names.
func (d dialect) spec(t *Tool, name, flat string) specification {
	made := t.derived()
	input := made.input
	callable := flat
	switch d.format {
	case protocol.FormatMCP:
		return mcpSpec(t, flat)
	case protocol.FormatAnthropic:
		input = made.anthropic
	case protocol.FormatOpenAIResponses:
		if d.namespaces {
			callable = name
		}
	case protocol.FormatOpenAIChat, protocol.FormatGemini:
	}
	out := specification{schemaBytes: len(input.schema)}
	if len(t.Notes)+len(input.changes) > 0 {
		out.changes = append(append(out.changes, t.Notes...), input.changes...)
	}
	description, change := describeTool(t, input.note)
	if description == "" && d.format == protocol.FormatGemini {
		// Gemini wants one.
		description, change = "The tool "+string(t.Name)+".", "made from the name"
	}
	if change != "" {
		out.changes = append(out.changes, protocol.SpecChange{Path: "/description", Change: change})
	}

	spec := make([]byte, 0, len(input.schema)+len(description)+len(description)/8+len(callable)+128)
	function := func() {
		spec = append(spec, `"name":`...)
		spec = rawjson.AppendString(spec, callable)
		if description != "" {
			spec = append(spec, `,"description":`...)
			spec = rawjson.AppendString(spec, description)
		}
	}
	switch d.format {
	case protocol.FormatOpenAIResponses:
		spec = append(spec, `{"type":"function",`...)
		function()
		spec = append(spec, `,"strict":false,"parameters":`...)
		spec = append(append(spec, input.schema...), '}')
	case protocol.FormatOpenAIChat:
		spec = append(spec, `{"type":"function","function":{`...)
		function()
		spec = append(spec, `,"parameters":`...)
		spec = append(append(spec, input.schema...), `}}`...)
	case protocol.FormatAnthropic:
		spec = append(spec, '{')
		function()
		spec = append(spec, `,"input_schema":`...)
		spec = append(append(spec, input.schema...), '}')
	case protocol.FormatGemini:
		spec = append(spec, '{')
		function()
		spec = append(spec, `,"parametersJsonSchema":`...)
		spec = append(append(spec, input.schema...), '}')
	case protocol.FormatMCP: // above
	}
	out.spec = spec
	return out
}

// describeTool returns the description for a model: the tool's own, else its
// title, and what its schema can't say. change says how it differs from the
// tool's, "" if it does not.
func describeTool(t *Tool, note string) (description, change string) {
	description = t.Description
	if strings.TrimSpace(description) == "" {
		if description = t.Title; description != "" {
			change = "the title, as there is no description"
		}
	}
	if note != "" {
		description = joinNotes(description, note)
		change = "what the schema can't say added"
	}
	return description, change
}

// mcpSpec is the tool as its server gave it, under its flat name, without the
// members that typed readers of MCP choke on.
func mcpSpec(t *Tool, flat string) specification {
	o, _ := parseObject(t.Raw)
	made := t.derived()
	out := specification{changes: t.Notes, schemaBytes: len(t.InputSchema)}
	o, _ = o.each(func(m member) ([]byte, bool) {
		for _, d := range made.dropped {
			if m.key == d {
				return nil, false
			}
		}
		switch m.key {
		case "name":
			return rawjson.AppendString(nil, flat), true
		case "annotations":
			hints, ok := parseObject(m.val)
			hints, changed := hints.each(func(h member) ([]byte, bool) {
				for _, d := range made.dropped {
					if "annotations/"+h.key == d {
						return nil, false
					}
				}
				return h.val, true
			})
			if ok && changed {
				return hints.bytes(), true
			}
		}
		return m.val, true
	})
	if schema, ok := parseObject(t.InputSchema); !ok || string(schema.get("type")) != `"object"` {
		// MCP wants a root of that type.
		input := made.input
		o = o.with("inputSchema", input.schema)
		out.schemaBytes = len(input.schema)
		out.changes = append(append([]protocol.SpecChange(nil), t.Notes...), input.changes...)
	}
	out.spec = o.bytes()
	return out
}

// list returns the finished list of direct tools for a provider's parameter.
// Tools and namespaces are in the same order of servers.
func (d dialect) list(tools []protocol.BoundTool, namespaces []protocol.Namespace) []json.RawMessage {
	list := []json.RawMessage{}
	switch {
	case d.namespaces:
		for _, n := range namespaces {
			// The tools of one namespace stand together.
			end := 0
			for end < len(tools) && tools[end].Namespace == n.Name {
				end++
			}
			if spec := namespaceSpec(n, tools[:end]); spec != nil {
				list = append(list, spec)
			}
			tools = tools[end:]
		}
	case d.format == protocol.FormatGemini:
		// All functions are one tool there.
		if spec := wrap(`{"functionDeclarations":[`, tools, `]}`); spec != nil {
			list = append(list, spec)
		}
	default:
		for i := range tools {
			if tools[i].Exposure == protocol.ExposureDirect {
				list = append(list, tools[i].Spec)
			}
		}
	}
	return list
}

// wrap returns the direct ones of the tools as the elements of an array between
// head and tail; nil if there are none.
func wrap(head string, tools []protocol.BoundTool, tail string) []byte {
	size, some := len(head)+len(tail), false
	for i := range tools {
		if tools[i].Exposure == protocol.ExposureDirect {
			size += len(tools[i].Spec) + 1
			some = true
		}
	}
	if !some {
		return nil
	}
	spec := append(make([]byte, 0, size), head...)
	for i := range tools {
		if tools[i].Exposure == protocol.ExposureDirect {
			if len(spec) > len(head) {
				spec = append(spec, ',')
			}
			spec = append(spec, tools[i].Spec...)
		}
	}
	return append(spec, tail...)
}

// namespaceSpec returns a namespace with the direct ones of its tools, nil if
// there are none.
func namespaceSpec(n protocol.Namespace, tools []protocol.BoundTool) []byte {
	description := cutText(strings.TrimSpace(n.Instructions), MaxInstructionsBytes)
	if description == "" {
		description = "Tools in the " + n.Name + " namespace."
	}
	head := append(make([]byte, 0, len(description)+128), `{"type":"namespace","name":`...)
	head = rawjson.AppendString(head, n.Name)
	head = append(head, `,"description":`...)
	head = rawjson.AppendString(head, description)
	head = append(head, `,"tools":[`...)
	return wrap(string(head), tools, `]}`)
}

// cutText returns at most n bytes of s, to the start of a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
