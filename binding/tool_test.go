package binding

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

func TestToolsAreReadLeniently(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name, in string
		want     Tool // the members that are compared
		notes    []string
	}{
		{"all", `{"name":"a","title":"T","description":"d","inputSchema":{"type":"object"},"outputSchema":{"anyOf":[{"type":"null"}]},
			"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"more":1},"_meta":{"x":1}}`,
			Tool{Name: "a", Title: "T", Description: "d", Hints: protocol.Hints{Title: "A", ReadOnly: &yes, Destructive: &no}}, nil},
		{"no schema", `{"name":"a"}`, Tool{Name: "a"}, []string{"/inputSchema missing; any arguments are allowed"}},
		{"null schema", `{"name":"a","inputSchema":null}`, Tool{Name: "a"}, []string{"/inputSchema missing; any arguments are allowed"}},
		{"boolean schema", `{"name":"a","inputSchema":false}`, Tool{Name: "a"}, nil},
		{"title of the annotations", `{"name":"a","inputSchema":{},"annotations":{"title":"A"}}`,
			Tool{Name: "a", Title: "A", Hints: protocol.Hints{Title: "A"}}, nil},
		{"wrong types", `{"name":"a","inputSchema":{},"title":1,"description":null,"outputSchema":true,"_meta":[],"annotations":"x"}`,
			Tool{Name: "a"}, []string{
				"/title ignored: it is a number, not a string", "/description ignored: it is null, not a string",
				"/outputSchema ignored: it is a boolean, not an object", "/_meta ignored: it is an array, not an object",
				"/annotations ignored: it is a string, not an object"}},
		{"hints of the wrong type are no hints", `{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"true","openWorldHint":null,"idempotentHint":true}}`,
			Tool{Name: "a", Hints: protocol.Hints{Idempotent: &yes}}, []string{
				"/annotations/readOnlyHint ignored: it is a string, not a boolean", "/annotations/openWorldHint ignored: it is null, not a boolean"}},
		{"other members' case is not guessed", `{"Name":"b","name":"a","inputSchema":{},"Description":"x"}`, Tool{Name: "a"}, nil},
		{"the last of doubled members", `{"name":"b","name":"a","inputSchema":{}}`, Tool{Name: "a"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseTool(json.RawMessage(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			have := Tool{Name: got.Name, Title: got.Title, Description: got.Description, Hints: got.Hints}
			if diff := cmp.Diff(tt.want, have, cmp.AllowUnexported(Tool{})); diff != "" {
				t.Error(diff)
			}
			var notes []string
			for _, n := range got.Notes {
				notes = append(notes, n.Path+" "+n.Change)
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" {
				t.Error(diff)
			}
			if bytes.ContainsAny(got.Raw, "\n\r") {
				t.Errorf("raw has more than one line: %s", got.Raw)
			}
		})
	}
}

func TestToolsThatAreOfNoUse(t *testing.T) {
	for in, want := range map[string]string{
		``:                                    "the entry is not JSON",
		`{`:                                   "the entry is not JSON",
		`null`:                                "the entry is null, not an object",
		`[]`:                                  "the entry is an array, not an object",
		`{}`:                                  "the tool has no name",
		`{"name":null}`:                       "the tool's name is null, not a string",
		`{"name":5}`:                          "the tool's name is a number, not a string",
		`{"name":""}`:                         "the tool's name is empty",
		`{"name":"\ud800"}`:                   "the tool's name is not Unicode text",
		`{"name":"a","inputSchema":[]}`:       "the input schema is an array, not a schema",
		`{"name":"a","inputSchema":"object"}`: "the input schema is a string, not a schema",
		`{"name":"` + strings.Repeat("n", MaxToolNameBytes+1) + `"}`:   "the tool's name is over 1024 bytes",
		`{"name":"a","x":"` + strings.Repeat("x", MaxToolBytes) + `"}`: "the entry is over 1048576 bytes",
	} {
		if _, err := ParseTool(json.RawMessage(in)); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v, want %q", in, err, want)
		}
	}
	if _, err := ParseTool(json.RawMessage(`{"name":"\ufffd�"}`)); err != nil {
		t.Errorf("a name that has U+FFFD itself: %v", err)
	}
}

func TestCatalogLosesBadEntriesOnly(t *testing.T) {
	c := catalogOf("s", `null`, plainTool("a"), `{"name":7}`, `{"name":"b","inputSchema":"x"}`, plainTool("a"), plainTool("c"))
	want := []protocol.OmittedTool{
		{Server: "s", Reason: "entry 1 of the list: the entry is null, not an object"},
		{Server: "s", Reason: "entry 3 of the list: the tool's name is a number, not a string", Path: "/name"},
		{Server: "s", Tool: "b", Reason: "the input schema is a string, not a schema", Path: "/inputSchema"},
		{Server: "s", Tool: "a", Reason: ReasonDoubled},
	}
	if diff := cmp.Diff(want, c.Omitted); diff != "" {
		t.Error(diff)
	}
	if len(c.Tools) != 2 {
		t.Errorf("%d tools, want 2", len(c.Tools))
	}
	if _, ok := c.Tool("c"); !ok {
		t.Error("c is not found")
	}
	for _, none := range []*Catalog{nil, c} {
		if _, ok := none.Tool("b"); ok {
			t.Error("b is found")
		}
	}
}

func TestDefinitionHash(t *testing.T) {
	hash := func(in string) string {
		tool, err := ParseTool(json.RawMessage(in))
		if err != nil {
			t.Fatal(err)
		}
		return tool.DefinitionHash()
	}
	base := hash(`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}},"annotations":{"readOnlyHint":true,"x":"é"}}`)
	if want := "cea641118477944d608dab32c19cded771883d09e154b7a08d90c7e22b8710f8"; base != want {
		t.Errorf("got %s, want %s", base, want)
	}
	for _, same := range []string{
		`{"annotations":{"x":"\u00e9","readOnlyHint":true},"inputSchema":{ "properties":{"n":{"maximum":1.0}},"type":"object"},"name":"\u0061","description":"d"}`,
		`{"title":"T","_meta":{},"name":"a","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}},"annotations":{"readOnlyHint":true,"x":"é"},"outputSchema":{}}`,
	} {
		if got := hash(same); got != base {
			t.Errorf("%s hashes as another tool", same)
		}
	}
	for _, other := range []string{
		`{"name":"b","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}},"annotations":{"readOnlyHint":true,"x":"é"}}`,
		`{"name":"a","description":"e","inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}},"annotations":{"readOnlyHint":true,"x":"é"}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":1}}},"annotations":{"readOnlyHint":true,"x":"é"}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}},"annotations":{"readOnlyHint":false,"x":"é"}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"n":{"maximum":1.0}}}}`,
	} {
		if hash(other) == base {
			t.Errorf("%s hashes as the same tool", other)
		}
	}
}

func FuzzParseTool(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"int"}}}}`))
	f.Add([]byte("{\n \"name\": \"a\\ud800\",\r\n \"inputSchema\": null }"))
	f.Add([]byte(`{"name":"a","inputSchema":{"oneOf":[{"$ref":"#"},{"$ref":"#/oneOf/1"}],"items":[1]}}`))
	f.Add([]byte(`{"name":"a","inputSchema":{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"required":["b","b"]}]}}},"annotations":{"title":1}}`))
	f.Add([]byte(`{"name":"a","inputSchema":{"properties":{"x[]":{"items":[true,false]},"y":{"not":{"type":1}}},"unevaluatedProperties":false}}`))
	f.Add([]byte(`{"name":"a","inputSchema":` + strings.Repeat(`{"not":`, 90) + `{}` + strings.Repeat(`}`, 91)))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		tool, err := ParseTool(in)
		if err != nil {
			return
		}
		again, err := ParseTool(tool.Raw)
		if err != nil || again.DefinitionHash() != tool.DefinitionHash() {
			t.Fatalf("read again it is other: %v", err)
		}
		server := Server{Name: "s", Catalog: ParseCatalog("s", []json.RawMessage{in}, false)}
		for _, format := range formats {
			b := freeze(format, server)
			if got := lintShape(t, format, b.Specs()); got != 1 {
				t.Fatalf("%s: %d tools", format, got)
			}
			for _, spec := range b.Specs() {
				if err := rawjson.Valid(spec); err != nil {
					t.Fatalf("%s: %v in %s", format, err, spec)
				}
			}
		}
	})
}
