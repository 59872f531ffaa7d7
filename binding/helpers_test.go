package binding

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

var update = flag.Bool("update", false, "write the golden files")

var formats = []protocol.SpecFormat{
	protocol.FormatOpenAIResponses, protocol.FormatOpenAIChat, protocol.FormatAnthropic, protocol.FormatGemini, protocol.FormatMCP,
}

// catalogOf parses entries written as Go strings.
func catalogOf(server string, items ...string) *Catalog {
	var raw []json.RawMessage
	for _, i := range items {
		raw = append(raw, json.RawMessage(i))
	}
	return ParseCatalog(protocol.ServerName(server), raw, false)
}

// serverOf is a server with plain tools of these names.
func serverOf(name string, tools ...string) Server {
	var items []string
	for _, t := range tools {
		items = append(items, plainTool(t))
	}
	return Server{Name: protocol.ServerName(name), Catalog: catalogOf(name, items...)}
}

func plainTool(name string) string {
	quoted, _ := json.Marshal(name)
	return `{"name":` + string(quoted) + `,"description":"Does it.","inputSchema":{"type":"object","properties":{}}}`
}

// readCatalog reads a captured catalogue as a server of that name.
func readCatalog(t testing.TB, path, name string) Server {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Instructions string            `json:"instructions"`
		Tools        []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return Server{
		Name:         protocol.ServerName(name),
		Instructions: file.Instructions,
		Catalog:      ParseCatalog(protocol.ServerName(name), file.Tools, false),
	}
}

// captured returns every captured catalogue, and the odd one.
func captured(t testing.TB) []Server {
	t.Helper()
	paths, err := filepath.Glob("testdata/catalogs/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captured catalogues: %v", err)
	}
	servers := []Server{readCatalog(t, "testdata/odd.json", "odd")}
	for _, p := range paths {
		servers = append(servers, readCatalog(t, p, strings.TrimSuffix(filepath.Base(p), ".json")))
	}
	return servers
}

func freeze(format protocol.SpecFormat, servers ...Server) *Binding {
	return Freeze(Input{Servers: servers, Model: protocol.ModelSettings{Format: format}})
}

// flats returns the flat names of the binding, by raw name where one server
// is enough.
func flats(b *Binding) []string {
	var out []string
	for _, t := range b.Tools() {
		out = append(out, t.Flat)
	}
	return out
}

// flatOf returns the flat name of a tool.
func flatOf(t testing.TB, b *Binding, server, tool string) string {
	t.Helper()
	bound, ok := b.Tool(protocol.ServerName(server), protocol.ToolName(tool))
	if !ok {
		t.Fatalf("%s/%s is not bound", server, tool)
	}
	return bound.Flat
}

func rawList(items ...string) []json.RawMessage {
	var list []json.RawMessage
	for _, i := range items {
		list = append(list, json.RawMessage(i))
	}
	return list
}
