package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// The protocol eras of a scripted server.
const (
	eraModern = "2026-07-28" // no session: server/discover, questions in results
	eraLegacy = "2025-11-25" // the newest one with initialize
)

// maxRepeatedTools bounds "repeat".
const maxRepeatedTools = 10_000

// serverSpec is what server/NAME.json says of a server; see the package
// comment. Everything raw reaches the wire as the bytes of the script.
type serverSpec struct {
	Era          string            `json:"era"`
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Instructions string            `json:"instructions"`
	Capabilities json.RawMessage   `json:"capabilities"`
	Tools        []json.RawMessage `json:"tools"`
	// Pages replace Tools (a null page is null on the wire); Cursors are what comes with each page.
	Pages   [][]json.RawMessage `json:"pages"`
	Cursors []string            `json:"cursors"`
	// Repeat makes so many tools "tool-1" … out of nothing, for large lists.
	Repeat int `json:"repeat"`
	// Endless gives every page a new cursor.
	Endless bool               `json:"endless"`
	Methods map[string]replies `json:"methods"`
	Start   startSpec          `json:"start"`
	// Stream makes an HTTP server answer calls with event streams even where
	// one object would do.
	Stream bool `json:"stream"`

	calls map[string]replies // by tool
}

// startSpec is how a server behaves before it serves.
type startSpec struct {
	Delay  duration `json:"delay"`
	Stdout []string `json:"stdout"` // lines, with the escapes of raw
	Stderr []string `json:"stderr"`
	Exit   *int     `json:"exit"`   // ends at once with this code
	Silent bool     `json:"silent"` // reads, never answers
	Probe  string   `json:"probe"`  // what happens on server/discover: "exit", "silent", "" for an answer
	List   string   `json:"list"`   // the same for tools/list: "silent"
	// Times bounds how many starts behave so; 0 means all.
	Times int `json:"times"`
	// Status is what an HTTP server answers with instead of serving.
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
}

// reply is how a request is answered. The members take effect in this order.
type reply struct {
	Write    []string          `json:"write"`  // lines on stdout, with the escapes of raw
	Stderr   []string          `json:"stderr"` // lines
	Progress []progressStep    `json:"progress"`
	Tools    []json.RawMessage `json:"tools"` // from now on these are listed, and that is announced
	Elicit   []json.RawMessage `json:"elicit"`
	Delay    duration          `json:"delay"`
	Hold     bool              `json:"hold"`  // until "server NAME: release"
	Crash    *int              `json:"crash"` // ends with this code
	Hang     bool              `json:"hang"`  // never answers

	Text    *string         `json:"text"` // a result with one text; $answer and $params stand for what came
	IsError bool            `json:"isError"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// progressStep is a notifications/progress, sent after a delay.
type progressStep struct {
	After    duration        `json:"after"`
	Progress json.RawMessage `json:"progress"`
	Total    json.RawMessage `json:"total"`
	Message  string          `json:"message"`
}

// replies are used one after the other; the last one stays.
type replies []reply

// UnmarshalJSON takes one reply or a list.
func (r *replies) UnmarshalJSON(b []byte) error {
	if rawjson.Kind(b) == '[' {
		var list []reply
		if err := strict(b, &list); err != nil {
			return err
		}
		*r = list
		return nil
	}
	var one reply
	if err := strict(b, &one); err != nil {
		return err
	}
	*r = replies{one}
	return nil
}

// nth returns the reply to the request after n others.
func (r replies) nth(n int) reply {
	if len(r) == 0 {
		return reply{}
	}
	return r[min(n, len(r)-1)]
}

// duration is a time.Duration in the words of Go.
type duration time.Duration

// UnmarshalJSON reads "1m30s".
func (d *duration) UnmarshalJSON(b []byte) error {
	s, ok := rawjson.String(b)
	if !ok {
		return fmt.Errorf("%s is no duration such as \"1m30s\"", b)
	}
	v, err := time.ParseDuration(s)
	*d = duration(v)
	return err
}

// strict decodes b and refuses members that mean nothing.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func parseServerSpec(name string, data []byte) (*serverSpec, error) {
	if err := rawjson.Valid(data); err != nil {
		return nil, err
	}
	s := &serverSpec{calls: map[string]replies{}}
	if err := strict(data, s); err != nil {
		return nil, err
	}
	if s.Era == "" {
		s.Era = eraModern
	}
	if s.Name == "" {
		s.Name = name
	}
	if s.Version == "" {
		s.Version = "1.0.0"
	}
	if s.Capabilities == nil {
		s.Capabilities = json.RawMessage(`{"tools":{"listChanged":true}}`)
	}
	if s.Tools == nil {
		s.Tools = []json.RawMessage{}
	}
	if s.Repeat > maxRepeatedTools {
		return nil, fmt.Errorf("repeat: more than %d", maxRepeatedTools)
	}
	for i := range s.Repeat {
		s.Tools = append(s.Tools, json.RawMessage(fmt.Sprintf(`{"name":"tool-%d"}`, i+1)))
	}
	if s.Pages == nil {
		s.Pages = [][]json.RawMessage{s.Tools}
	}
	for _, page := range s.Pages {
		if err := s.prepare(page); err != nil {
			return nil, err
		}
	}
	for _, answers := range s.calls {
		for _, r := range answers {
			if err := s.prepare(r.Tools); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// prepare takes the replies out of a list of tools, and fills in the schema
// that a tool must have.
func (s *serverSpec) prepare(tools []json.RawMessage) error {
	for i, raw := range tools {
		if rawjson.Kind(raw) != '{' {
			continue // a broken entry, on purpose
		}
		name, answers, tool, err := splitTool(raw)
		if err != nil {
			return err
		}
		tools[i] = tool
		if _, known := s.calls[name]; !known || answers != nil {
			s.calls[name] = answers
		}
	}
	return nil
}

// splitTool returns a tool without the members that are the script's own:
// "reply", and "bare", which keeps it from getting a schema.
func splitTool(raw json.RawMessage) (name string, answers replies, tool json.RawMessage, err error) {
	out := []byte{'{'}
	schema := false
	err = rawjson.Object(raw, func(key, value []byte) error {
		switch string(key) {
		case "reply":
			return json.Unmarshal(value, &answers)
		case "bare":
			schema = string(value) == "true"
			return nil
		case "name":
			name, _ = rawjson.String(value)
		case "inputSchema":
			schema = true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, string(key)), ':')
		out = append(out, value...)
		return nil
	})
	if err != nil {
		return "", nil, nil, fmt.Errorf("tool %q: %w", name, err)
	}
	if !schema {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `"inputSchema":{"type":"object"}`...)
	}
	return name, answers, rawjson.SingleLine(append(out, '}')), nil
}
