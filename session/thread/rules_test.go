package thread

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A tool has only the arguments that its schema names unless that lets more in.
func TestArgumentsOf(t *testing.T) {
	for schema, want := range map[string]elicit.Arguments{
		`{"properties":{"a":{}}}`:                                           {Names: []string{"a"}},
		`{"properties":{"a":{}},"required":["b"]}`:                          {Names: []string{"a", "b"}},
		`{"type":"object","additionalProperties":false}`:                    {},
		`{"properties":{},"unevaluatedProperties":{"type":"string"}}`:       {Open: true},
		`{"properties":{},"unevaluatedProperties":false}`:                   {},
		`{"additionalProperties":true,"properties":{}}`:                     {Open: true},
		`{"additionalProperties":false,"patternProperties":{"^x":{}}}`:      {Open: true},
		`{"type":"object"}`:                                                 {Open: true},
		`[]`:                                                                {Open: true},
		`{"properties":[]}`:                                                 {Open: true},
		`{"$ref":"#/$defs/a","properties":{},"additionalProperties":false}`: {Open: true},
	} {
		if diff := cmp.Diff(want, argumentsOf(json.RawMessage(schema))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", schema, diff)
		}
	}
}

// A tool that was left out is there all the same, and of a list that was cut
// off nothing is known.
func TestDescribed(t *testing.T) {
	c := &binding.Catalog{
		Tools:   []binding.Tool{{Name: "a", InputSchema: json.RawMessage(`{"properties":{}}`)}},
		Omitted: []protocol.OmittedTool{{Tool: "a"}, {Tool: "b"}},
	}
	names, arguments := described(c)
	if diff := cmp.Diff([]protocol.ToolName{"a", "b"}, names); diff != "" || arguments["a"].Open || !arguments["b"].Open {
		t.Errorf("got %v, %v", names, arguments)
	}
	c.Truncated = true
	if names, arguments := described(c); names != nil || arguments != nil {
		t.Errorf("of a list that was cut off: %v, %v", names, arguments)
	}
}
