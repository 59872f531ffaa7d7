package binding

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A Binding is the exact catalogue of tools that a model is shown in one step.
// Freeze makes it; it never changes, and what it returns must not be changed.
type Binding struct {
	value protocol.Binding // without ID, ThreadID, Revision, CreatedAtMs
	flat  map[string]int   // flat name -> index in value.Tools
	// tools are what value.Tools were made of, in the same order.
	tools []*Tool
}

func newBinding(v protocol.Binding, tools []*Tool) *Binding {
	b := &Binding{value: v, flat: make(map[string]int, len(v.Tools)), tools: tools}
	for i := range v.Tools {
		b.flat[v.Tools[i].Flat] = i
	}
	return b
}

// Fingerprint is the hex SHA-256 of format, tools and namespaces: equal for
// bindings that are the same to a model and to a person. What is pending and
// what was left out have no part in it.
func (b *Binding) Fingerprint() string { return b.value.Fingerprint }

// Tools are all tools, by server and raw name.
func (b *Binding) Tools() []protocol.BoundTool { return b.value.Tools }

// Specs is the finished list for a provider's tools parameter.
func (b *Binding) Specs() []json.RawMessage { return b.value.Specs }

// Named returns the binding as an editor is told it. Totals.SchemaBytes and
// ApproxTokens are of what the model is shown: the direct tools, the latter
// with their namespaces.
func (b *Binding) Named(id protocol.BindingID, thread protocol.ThreadID, revision, createdAtMs int64) protocol.Binding {
	v := b.value
	v.ID, v.ThreadID, v.Revision, v.CreatedAtMs = id, thread, revision, createdAtMs
	return v
}

// Tool returns the tool with a raw identity.
func (b *Binding) Tool(server protocol.ServerName, tool protocol.ToolName) (*protocol.BoundTool, bool) {
	i, ok := b.find(server, tool)
	if !ok {
		return nil, false
	}
	return &b.value.Tools[i], true
}

// Definition returns what a tool was when it was frozen; nil if there is none
// with this raw identity.
func (b *Binding) Definition(server protocol.ServerName, tool protocol.ToolName) json.RawMessage {
	i, ok := b.find(server, tool)
	if !ok {
		return nil
	}
	return b.tools[i].Definition()
}

func (b *Binding) find(server protocol.ServerName, tool protocol.ToolName) (int, bool) {
	return slices.BinarySearchFunc(b.value.Tools, tool, func(t protocol.BoundTool, want protocol.ToolName) int {
		return cmp.Or(cmp.Compare(t.Server, server), cmp.Compare(t.Tool, want))
	})
}

// Lookup returns the tool that a model's call names, hidden ones included.
//
// namespace is "" where the call has none. Beside the names of the binding it
// takes the spellings in which calls are known to come back: namespace and
// name joined by "__", ".", "/", ":" or nothing, the flat name beside its own
// namespace, a namespace that kept a separator at its end, a "functions."
// before it, and another case. None of them can mean two tools: if it could,
// it is not taken.
func (b *Binding) Lookup(namespace, name string) (*protocol.BoundTool, bool) {
	flat := name
	if namespace != "" {
		flat = namespace + nameSeparator + name
	}
	if i, ok := b.flat[flat]; ok && (namespace == "" || b.value.Tools[i].Namespace == namespace) {
		return &b.value.Tools[i], true
	}
	found := -1
	for i := range b.value.Tools {
		if !spells(&b.value.Tools[i], namespace, name) {
			continue
		}
		if found >= 0 {
			return nil, false
		}
		found = i
	}
	if found < 0 {
		return nil, false
	}
	return &b.value.Tools[found], true
}

// separators join a namespace and a name in calls that come back.
var separators = []string{nameSeparator, ".", "/", ":", ""}

func spells(t *protocol.BoundTool, namespace, name string) bool {
	if namespace == "" {
		return joins(t, name) || joins(t, strings.TrimPrefix(name, "functions."))
	}
	namespace = strings.TrimPrefix(namespace, "functions.")
	for _, sep := range separators {
		if n, ok := strings.CutSuffix(namespace, sep); ok && strings.EqualFold(n, t.Namespace) {
			return strings.EqualFold(name, t.Name) || joins(t, name)
		}
	}
	return false
}

// joins reports whether text is t's namespace and name, joined.
func joins(t *protocol.BoundTool, text string) bool {
	n := len(t.Namespace)
	if len(text) < n+len(t.Name) || !strings.EqualFold(text[:n], t.Namespace) {
		return false
	}
	for _, sep := range separators {
		if rest, ok := strings.CutPrefix(text[n:], sep); ok && strings.EqualFold(rest, t.Name) {
			return true
		}
	}
	return false
}

// maxNearest bounds the names that an error offers.
const maxNearest = 5

// Nearest returns up to five callable flat names that may be meant by a call
// that Lookup does not know, the nearest first.
func (b *Binding) Nearest(namespace, name string) []string {
	var flats []string
	for i := range b.value.Tools {
		if b.value.Tools[i].Exposure == protocol.ExposureDirect {
			flats = append(flats, b.value.Tools[i].Flat)
		}
	}
	if namespace != "" {
		name = namespace + nameSeparator + name
	}
	return nearest(name, flats, maxNearest)
}
