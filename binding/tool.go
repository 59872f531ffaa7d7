package binding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Bounds of one entry of tools/list.
const (
	// MaxToolBytes bounds an entry as the server wrote it. The largest of the
	// captured catalogues has 84 kB.
	MaxToolBytes = 1 << 20
	// MaxToolNameBytes bounds a raw name. MCP advises 128 characters.
	MaxToolNameBytes = 1024
)

// emptySchema stands for a missing input schema.
const emptySchema = `{"type":"object","properties":{}}`

// A Tool is one tool as its server offers it. ParseTool makes it; it is
// immutable.
type Tool struct {
	Name protocol.ToolName
	// Title is the tool's own, else that of its annotations; "" if neither.
	Title       string
	Description string
	// InputSchema is the schema as it came: an object or a boolean. It is nil
	// if the server gave none.
	InputSchema json.RawMessage
	// OutputSchema is the schema as it came, nil if there is none. It is not
	// looked into: unions, dangling references and unknown dialects pass.
	OutputSchema json.RawMessage
	// Hints are the annotations of the right type.
	Hints protocol.Hints
	// Annotations and Meta are objects as they came, nil if absent.
	Annotations json.RawMessage
	Meta        json.RawMessage
	// Raw is the whole entry on one line.
	Raw json.RawMessage
	// Notes tell what was ignored or assumed in reading the entry.
	Notes []protocol.SpecChange

	made *derived
}

// derived is what follows from a Tool alone, worked out once.
type derived struct {
	hash string
	// input is the input schema as providers take it, anthropic the same for
	// that one, which is stricter about property names.
	input, anthropic shapedSchema
	ui               json.RawMessage
	forModel         bool
	// dropped are the members of Raw that typed readers would choke on.
	dropped []string
}

func (t *Tool) derived() *derived {
	if t.made != nil {
		return t.made
	}
	return derive(t, nil)
}

func derive(t *Tool, dropped []string) *derived {
	d := &derived{hash: definitionHash(t), input: shapeInput(t.InputSchema), forModel: true, dropped: dropped}
	d.anthropic = shapeForAnthropic(d.input)
	if meta, ok := parseObject(t.Meta); ok {
		if ui := meta.get("ui"); ui != nil && rawjson.Kind(ui) != 'n' {
			d.ui = ui
			d.forModel = forModel(ui)
		}
	}
	return d
}

// forModel reports whether a _meta.ui (MCP Apps) lets the model see its tool:
// unless there is a visibility, an array, that lacks "model".
func forModel(ui []byte) bool {
	o, _ := parseObject(ui)
	visibility := o.get("visibility")
	if rawjson.Kind(visibility) != '[' {
		return true
	}
	words, _ := stringsOf(visibility)
	return slices.Contains(words, "model")
}

// ParseTool reads one entry of tools/list. It is lenient about everything a
// call can do without and tells it in Notes: a missing, null or boolean input
// schema, descriptions, titles and annotations of the wrong type. The error
// says why an entry is of no use: it is not an object, has no usable name, an
// input schema that is no schema, or is over a bound. It does not quote the
// entry.
func ParseTool(item json.RawMessage) (*Tool, error) {
	t, _, err := parseTool(item)
	return t, err
}

// An entryError says why an entry is of no use.
type entryError struct {
	path   string // JSON pointer into the entry
	reason string
}

func (e *entryError) Error() string { return e.reason }

// parseTool also returns the raw name, if there is one, of an entry that is of
// no use.
func parseTool(item json.RawMessage) (*Tool, protocol.ToolName, error) {
	if len(item) > MaxToolBytes {
		return nil, "", &entryError{"", fmt.Sprintf("the entry is over %d bytes", MaxToolBytes)}
	}
	raw := bytes.TrimSpace(rawjson.SingleLine(item))
	o, ok := parseObject(raw)
	if !ok {
		if err := rawjson.Valid(raw); err != nil {
			return nil, "", &entryError{"", "the entry is not JSON"}
		}
		return nil, "", &entryError{"", "the entry is " + kindWord(raw) + ", not an object"}
	}
	name, err := toolName(o.get("name"))
	if err != nil {
		return nil, "", err
	}
	r := toolReader{tool: &Tool{Name: name, Raw: raw}}
	for _, m := range o {
		if err := r.member(m.key, m.val); err != nil {
			return nil, name, err
		}
	}
	if r.tool.InputSchema == nil {
		r.note("/inputSchema", "missing; any arguments are allowed")
	}
	if r.tool.Title == "" {
		r.tool.Title = r.tool.Hints.Title
	}
	r.tool.made = derive(r.tool, r.dropped)
	return r.tool, name, nil
}

func toolName(raw []byte) (protocol.ToolName, error) {
	if raw == nil {
		return "", &entryError{"/name", "the tool has no name"}
	}
	name, ok := rawjson.String(raw)
	switch {
	case !ok:
		return "", &entryError{"/name", "the tool's name is " + kindWord(raw) + ", not a string"}
	case name == "":
		return "", &entryError{"/name", "the tool's name is empty"}
	case len(name) > MaxToolNameBytes:
		return "", &entryError{"/name", fmt.Sprintf("the tool's name is over %d bytes", MaxToolNameBytes)}
	case strings.ContainsRune(name, utf8.RuneError) && loneSurrogate(raw):
		// Such a name can't be sent back as it was.
		return "", &entryError{"/name", "the tool's name is not Unicode text"}
	}
	return protocol.ToolName(name), nil
}

// loneSurrogate reports whether U+FFFD in a decoded string stands for half a
// surrogate pair, not for itself.
func loneSurrogate(raw []byte) bool {
	lower := bytes.ToLower(raw)
	own := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(lower, []byte(`\ufffd`))
	name, _ := rawjson.String(raw)
	return strings.Count(name, "\uFFFD") > own
}

type toolReader struct {
	tool    *Tool
	dropped []string
}

func (r *toolReader) note(path, change string) {
	r.tool.Notes = append(r.tool.Notes, protocol.SpecChange{Path: path, Change: change})
}

// ignore notes a member of the wrong type.
func (r *toolReader) ignore(key string, val []byte, want string) {
	r.note("/"+key, "ignored: it is "+kindWord(val)+", not "+want)
	r.dropped = append(r.dropped, key)
}

func (r *toolReader) member(key string, val []byte) error {
	t := r.tool
	switch key {
	case "title", "description":
		s, ok := rawjson.String(val)
		if !ok {
			r.ignore(key, val, "a string")
			return nil
		}
		if key == "title" {
			t.Title = s
		} else {
			t.Description = s
		}
	case "inputSchema":
		switch rawjson.Kind(val) {
		case '{', 't', 'f':
			t.InputSchema = val
		case 'n':
		default:
			return &entryError{"/inputSchema", "the input schema is " + kindWord(val) + ", not a schema"}
		}
	case "outputSchema":
		switch rawjson.Kind(val) {
		case '{':
			t.OutputSchema = val
		default:
			r.ignore(key, val, "an object")
		}
	case "_meta":
		if rawjson.Kind(val) != '{' {
			r.ignore(key, val, "an object")
			return nil
		}
		t.Meta = val
	case "annotations":
		hints, ok := parseObject(val)
		if !ok {
			r.ignore(key, val, "an object")
			return nil
		}
		t.Annotations = val
		for _, h := range hints {
			r.hint(h.key, h.val)
		}
	}
	return nil
}

func (r *toolReader) hint(key string, val []byte) {
	h := &r.tool.Hints
	var flag **bool
	switch key {
	case "title":
		s, ok := rawjson.String(val)
		if !ok {
			r.badHint(key, val, "a string")
		}
		h.Title = s
		return
	case "readOnlyHint":
		flag = &h.ReadOnly
	case "destructiveHint":
		flag = &h.Destructive
	case "idempotentHint":
		flag = &h.Idempotent
	case "openWorldHint":
		flag = &h.OpenWorld
	default:
		return
	}
	switch rawjson.Kind(val) {
	case 't', 'f':
		b := isTrue(val)
		*flag = &b
	default:
		r.badHint(key, val, "a boolean")
	}
}

func (r *toolReader) badHint(key string, val []byte, want string) {
	r.note("/annotations/"+key, "ignored: it is "+kindWord(val)+", not "+want)
	if !slices.Contains(r.dropped, "annotations/"+key) {
		r.dropped = append(r.dropped, "annotations/"+key)
	}
}

// A Catalog is what one server offers, as its last list gave it. It is
// immutable.
type Catalog struct {
	// Tools are in the server's order, with different raw names.
	Tools []Tool
	// Omitted are the entries that are of no use.
	Omitted []protocol.OmittedTool
	// Truncated: the list went over a bound; what was read is kept.
	Truncated bool

	byName map[protocol.ToolName]int
}

// ReasonDoubled is the reason in Omitted for a tool whose raw name an earlier
// one of the same list has.
const ReasonDoubled = "an earlier tool of the server has the same name"

// ParseCatalog reads the entries of a tools/list, all pages in order, one by
// one: an entry that is of no use costs itself and is in Omitted with the
// reason; of tools with one raw name the first counts.
func ParseCatalog(server protocol.ServerName, items []json.RawMessage, truncated bool) *Catalog {
	c := &Catalog{
		Tools:     make([]Tool, 0, len(items)),
		Truncated: truncated,
		byName:    make(map[protocol.ToolName]int, len(items)),
	}
	omit := func(name protocol.ToolName, path, reason string) {
		c.Omitted = append(c.Omitted, protocol.OmittedTool{Server: server, Tool: name, Path: path, Reason: reason})
	}
	for i, item := range items {
		t, name, err := parseTool(item)
		if err != nil {
			path, reason := "", err.Error()
			var e *entryError
			if errors.As(err, &e) {
				path = e.path
			}
			if name == "" {
				reason = fmt.Sprintf("entry %d of the list: %s", i+1, reason)
			}
			omit(name, path, reason)
			continue
		}
		if _, ok := c.byName[name]; ok {
			omit(name, "", ReasonDoubled)
			continue
		}
		c.byName[name] = len(c.Tools)
		c.Tools = append(c.Tools, *t)
	}
	return c
}

// Tool returns the tool with a raw name.
func (c *Catalog) Tool(name protocol.ToolName) (*Tool, bool) {
	if c == nil {
		return nil, false
	}
	if i, ok := c.byName[name]; ok {
		return &c.Tools[i], true
	}
	return nil, false
}

// Nearest returns up to five raw names of the catalogue that may be meant by a
// name that it does not have, the nearest first.
func (c *Catalog) Nearest(name protocol.ToolName) []string {
	if c == nil {
		return nil
	}
	names := make([]string, len(c.Tools))
	for i := range c.Tools {
		names[i] = string(c.Tools[i].Name)
	}
	return nearest(string(name), names, maxNearest)
}
