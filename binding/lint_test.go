package binding

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// The linter refuses what a provider would refuse, as far as it is known: it
// is written from the providers' rules, not from the code it checks.

var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func keys(t rapid.TB, raw []byte, allowed ...string) map[string]json.RawMessage {
	t.Helper()
	var o map[string]json.RawMessage
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		t.Fatalf("%.200s is no object: %v", raw, err)
	}
	for k := range o {
		if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+k+" ") {
			t.Fatalf("unknown member %q in %.200s", k, raw)
		}
	}
	return o
}

func text(t rapid.TB, raw []byte) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%.100q is no string: %v", raw, err)
	}
	return s
}

// lintSchema holds for OpenAI, Anthropic and Gemini alike.
func lintSchema(t rapid.TB, raw []byte) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatalf("%s is no object: %v", raw, err)
	}
	if root["type"] != "object" {
		t.Fatalf("the root is no object: %s", raw)
	}
	if _, ok := root["properties"].(map[string]any); !ok {
		t.Fatalf("object schema missing properties: %s", raw)
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if _, ok := root[k]; ok {
			t.Fatalf("the root has %s: %s", k, raw)
		}
	}
	lintNode(t, root)
}

// lintNode looks into every subschema for arrays without items and booleans
// where typed readers want objects.
func lintNode(t rapid.TB, n any) {
	t.Helper()
	s, ok := n.(map[string]any)
	if !ok {
		t.Fatalf("%v stands where a schema object should", n)
	}
	array := s["type"] == "array"
	if list, ok := s["type"].([]any); ok {
		for _, w := range list {
			array = array || w == "array"
		}
	}
	if _, ok := s["items"].(map[string]any); array && !ok {
		t.Fatalf("array schema missing items: %v", s)
	}
	for k, v := range s {
		switch k {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			for _, sub := range v.(map[string]any) {
				lintNode(t, sub)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for _, sub := range v.([]any) {
				lintNode(t, sub)
			}
		case "items", "not", "if", "then", "else", "contains", "propertyNames":
			lintNode(t, v)
		}
	}
}

func lintOpenAIFunction(t rapid.TB, raw []byte, maxName int, strict bool, check func(schema []byte)) string {
	t.Helper()
	f := keys(t, raw, "type", "name", "description", "strict", "parameters")
	name := text(t, f["name"])
	if !openAIName.MatchString(name) || len(name) > maxName {
		t.Fatalf("name %q", name)
	}
	if d, ok := f["description"]; ok && text(t, d) == "" {
		t.Fatalf("%s has an empty description", name)
	}
	if strict && string(f["strict"]) != "false" {
		t.Fatalf("%s: strict is %s; absent means true there", name, f["strict"])
	}
	lintSchema(t, f["parameters"])
	check(f["parameters"])
	return name
}

func lint(t rapid.TB, format protocol.SpecFormat, specs []json.RawMessage) (tools int) {
	t.Helper()
	return lintWith(t, format, specs, func(raw []byte) { checkWellFormed(t, raw) })
}

// lintShape is lint without another implementation's word on schemas.
func lintShape(t rapid.TB, format protocol.SpecFormat, specs []json.RawMessage) (tools int) {
	t.Helper()
	return lintWith(t, format, specs, func([]byte) {})
}

func lintWith(t rapid.TB, format protocol.SpecFormat, specs []json.RawMessage, check func(schema []byte)) (tools int) {
	t.Helper()
	names := map[string]bool{}
	unique := func(name string) {
		if names[name] {
			t.Fatalf("%q twice", name)
		}
		names[name] = true
		tools++
	}
	for _, spec := range specs {
		if strings.ContainsAny(string(spec), "\n\r") {
			t.Fatalf("more than a line: %.200s", spec)
		}
		switch format {
		case protocol.FormatOpenAIResponses:
			var kind struct{ Type string }
			if err := json.Unmarshal(spec, &kind); err != nil {
				t.Fatal(err)
			}
			if kind.Type == "function" {
				unique(lintOpenAIFunction(t, spec, 128, true, check))
				continue
			}
			n := keys(t, spec, "type", "name", "description", "tools")
			namespace := text(t, n["name"])
			if kind.Type != "namespace" || !openAIName.MatchString(namespace) || text(t, n["description"]) == "" {
				t.Fatalf("bad namespace: %.200s", spec)
			}
			var list []json.RawMessage
			if err := json.Unmarshal(n["tools"], &list); err != nil || len(list) == 0 {
				t.Fatalf("namespace %q has no tools: %v", namespace, err)
			}
			for _, f := range list {
				unique(namespace + "\x00" + lintOpenAIFunction(t, f, 128-2-len(namespace), true, check))
			}
		case protocol.FormatOpenAIChat:
			o := keys(t, spec, "type", "function")
			if text(t, o["type"]) != "function" {
				t.Fatalf("type %s", o["type"])
			}
			unique(lintOpenAIFunction(t, o["function"], 64, false, check))
		case protocol.FormatAnthropic:
			o := keys(t, spec, "name", "description", "input_schema")
			name := text(t, o["name"])
			if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`).MatchString(name) {
				t.Fatalf("name %q", name)
			}
			unique(name)
			lintSchema(t, o["input_schema"])
			check(o["input_schema"]) // it must be of draft 2020-12
			var s struct{ Properties map[string]any }
			if err := json.Unmarshal(o["input_schema"], &s); err != nil {
				t.Fatal(err)
			}
			for k := range s.Properties {
				if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(k) {
					t.Fatalf("%s: property keys should match: %q", name, k)
				}
			}
		case protocol.FormatGemini:
			o := keys(t, spec, "functionDeclarations")
			var list []json.RawMessage
			if err := json.Unmarshal(o["functionDeclarations"], &list); err != nil || len(list) == 0 {
				t.Fatalf("no declarations: %v", err)
			}
			for _, d := range list {
				f := keys(t, d, "name", "description", "parametersJsonSchema")
				name := text(t, f["name"])
				if !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`).MatchString(name) {
					t.Fatalf("name %q", name)
				}
				if text(t, f["description"]) == "" {
					t.Fatalf("%s has no description", name)
				}
				unique(name)
				lintSchema(t, f["parametersJsonSchema"])
				check(f["parametersJsonSchema"])
			}
		case protocol.FormatMCP:
			// The schema of MCP, as typed readers know it.
			o, ok := parseObject(spec) // names of members are exact
			if !ok {
				t.Fatalf("no object: %.200s", spec)
			}
			var tool struct {
				Name, Title, Description string
				InputSchema              map[string]any
				OutputSchema, Meta       map[string]any
			}
			for key, to := range map[string]any{
				"name": &tool.Name, "title": &tool.Title, "description": &tool.Description, "inputSchema": &tool.InputSchema,
				"outputSchema": &tool.OutputSchema, "_meta": &tool.Meta,
			} {
				val := o.get(key)
				if val == nil {
					continue
				}
				if err := json.Unmarshal(val, to); err != nil || string(val) == "null" {
					t.Fatalf("%s of %.200s: %v", key, spec, err)
				}
			}
			if val := o.get("annotations"); val != nil {
				hints, ok := parseObject(val)
				for _, h := range hints {
					switch h.key {
					case "title":
						text(t, h.val)
					case "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint":
						ok = ok && (isTrue(h.val) || isFalse(h.val))
					}
				}
				if !ok {
					t.Fatalf("bad annotations: %.200s", spec)
				}
			}
			if tool.InputSchema["type"] != "object" || !regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`).MatchString(tool.Name) {
				t.Fatalf("bad tool: %.200s", spec)
			}
			unique(tool.Name)
		}
	}
	return tools
}

// Every dialect takes what comes of every captured catalogue, alone and all
// together, with and without namespaces and prefixes.
func TestProvidersTakeWhatIsEmitted(t *testing.T) {
	servers := captured(t)
	no := false
	for _, format := range formats {
		t.Run(string(format), func(t *testing.T) {
			for _, model := range []protocol.ModelSettings{{Format: format}, {Format: format, Namespaces: &no}} {
				all := Freeze(Input{Servers: servers, Model: model})
				if got := lint(t, format, all.Specs()); int64(got) != all.value.Totals.Direct || got == 0 {
					t.Errorf("%d tools listed, want %d", got, all.value.Totals.Direct)
				}
			}
			for _, s := range servers {
				s.Rules.NoPrefix = true
				lint(t, format, freeze(format, s).Specs())
			}
		})
	}
}

func TestFlatResponsesHaveNoNamespaces(t *testing.T) {
	no := false
	b := Freeze(Input{Servers: []Server{serverOf("docs", "t")}, Model: protocol.ModelSettings{Namespaces: &no}})
	want := `{"type":"function","name":"mcp__docs__t","description":"Does it.","strict":false,"parameters":{"type":"object","properties":{}}}`
	if got := string(b.Specs()[0]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
