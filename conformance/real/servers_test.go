package real

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// three is the configuration of all reference servers; the files and the
// memory are in folder.
func three(t *testing.T, folder string) map[string]any {
	memory := stdio(t, "memory")
	memory["env"] = map[string]string{"MEMORY_FILE_PATH": filepath.Join(folder, "memory.jsonl")}
	return map[string]any{
		string(everything): stdio(t, "everything"),
		"files":            stdio(t, "filesystem", folder),
		"memory":           memory,
	}
}

// realFolder is a new folder, without links in its path: the server compares
// paths.
func realFolder(t *testing.T) string {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Every tool of the reference servers is in the catalogue of every dialect,
// under a name that the provider takes, and with an object as its schema.
func TestCatalogues(t *testing.T) {
	needServers(t)
	e := open(t, three(t, realFolder(t)))
	offered := 0
	for _, s := range e.status() {
		offered += len(s.Tools)
	}
	for format, name := range map[protocol.SpecFormat]*regexp.Regexp{
		protocol.FormatOpenAIResponses: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
		protocol.FormatOpenAIChat:      regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
		protocol.FormatAnthropic:       regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
		protocol.FormatGemini:          regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`),
		protocol.FormatMCP:             regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,128}$`),
	} {
		b := e.freeze(fmt.Sprintf(`{"format":%q}`, format))
		if len(b.Tools) != offered || offered < 30 || len(b.Omitted) != 0 || len(b.Pending) != 0 || b.Totals.Direct != int64(offered) {
			t.Errorf("%s: %d tools of %d, omitted %v, pending %v", format, len(b.Tools), offered, b.Omitted, b.Pending)
		}
		specs := specsOf(t, format, b.Specs)
		if len(specs) != offered {
			t.Errorf("%s: %d specs for %d tools", format, len(specs), offered)
		}
		for _, tool := range b.Tools {
			schema, ok := specs[tool.Flat]
			if !ok || !name.MatchString(tool.Flat) {
				t.Errorf("%s: tool %s of %s is called %q; in the specs: %v", format, tool.Tool, tool.Server, tool.Flat, ok)
				continue
			}
			if decode[struct{ Type string }](t, schema).Type != "object" {
				t.Errorf("%s: %s has the schema %s", format, tool.Flat, schema)
			}
		}
	}
	e.close()
}

// specsOf maps the flat names in a provider's list to the input schemas.
func specsOf(t *testing.T, format protocol.SpecFormat, list []json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	type function struct {
		Type, Name                                                  string
		Parameters, ParametersJSONSchema, InputSchema, Input_Schema json.RawMessage
		Function                                                    json.RawMessage
		Tools, FunctionDeclarations                                 []json.RawMessage
	}
	specs := map[string]json.RawMessage{}
	add := func(name string, schema json.RawMessage) {
		if _, twice := specs[name]; twice {
			t.Errorf("%s: two tools are called %s", format, name)
		}
		specs[name] = schema
	}
	for _, raw := range list {
		f := decode[function](t, raw)
		switch format {
		case protocol.FormatOpenAIResponses:
			if f.Type != "namespace" {
				t.Errorf("%s: %.100s", format, raw)
			}
			for _, raw := range f.Tools {
				inner := decode[function](t, raw)
				add(f.Name+"__"+inner.Name, inner.Parameters)
			}
		case protocol.FormatOpenAIChat:
			inner := decode[function](t, f.Function)
			add(inner.Name, inner.Parameters)
		case protocol.FormatAnthropic:
			add(f.Name, f.Input_Schema)
		case protocol.FormatGemini:
			for _, raw := range f.FunctionDeclarations {
				inner := decode[function](t, raw)
				add(inner.Name, inner.ParametersJSONSchema)
			}
		case protocol.FormatMCP:
			add(f.Name, f.InputSchema)
		}
	}
	return specs
}

// A tool that its server calls destructive asks for an approval, one that only
// reads does not; both do what they say.
func TestFilesystem(t *testing.T) {
	needServers(t)
	folder := realFolder(t)
	e := open(t, map[string]any{"files": stdio(t, "filesystem", folder)})
	b := e.freeze(`{"format":"anthropic"}`)
	path := filepath.Join(folder, "hällo.txt")
	arguments, err := json.Marshal(map[string]string{"path": path, "content": "one\ntwo"})
	if err != nil {
		t.Fatal(err)
	}
	r := e.tool(b, "files", "write_file", string(arguments))
	if r.Approval != (protocol.Approval{Decision: protocol.ApprovalAllowed, Source: protocol.SourcePerson}) || !slices.Equal(e.approved(), []protocol.ToolName{"write_file"}) {
		t.Errorf("write_file: approval %+v; asked for %v", r.Approval, e.approved())
	}
	if written, err := os.ReadFile(path); err != nil || string(written) != "one\ntwo" {
		t.Errorf("the file is %q, %v", written, err)
	}
	r = e.tool(b, "files", "read_text_file", string(arguments))
	if r.Approval != (protocol.Approval{Decision: protocol.ApprovalAllowed, Source: protocol.SourceAnnotations}) || len(e.approved()) != 1 {
		t.Errorf("read_text_file: approval %+v; asked for %v", r.Approval, e.approved())
	}
	if got := text(r); !strings.Contains(got, "one\ntwo") {
		t.Errorf("read_text_file says %q", got)
	}
	// Outside of its folder the server refuses, and the model reads that.
	outside, err := json.Marshal(map[string]string{"path": filepath.Dir(folder)})
	if err != nil {
		t.Fatal(err)
	}
	if r := e.end(e.begin(b, "files", "list_directory", string(outside), "")); r.Reason != protocol.ReasonToolError || !strings.Contains(text(r), "denied") {
		t.Errorf("outside: %s, %s: %s", r.Status, r.Reason, text(r))
	}
	e.close()
}

// What is remembered in one call is there in the next.
func TestMemory(t *testing.T) {
	needServers(t)
	folder := realFolder(t)
	e := open(t, map[string]any{"memory": three(t, folder)["memory"]})
	b := e.freeze(`{"format":"openai-responses"}`)
	e.tool(b, "memory", "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["wrote the first program"]}]}`)
	r := e.tool(b, "memory", "read_graph", `{}`)
	result := decode[struct {
		StructuredContent struct {
			Entities []struct{ Name string }
		}
	}](t, r.Result)
	if len(result.StructuredContent.Entities) != 1 || result.StructuredContent.Entities[0].Name != "Ada" || !strings.Contains(text(r), "wrote the first program") {
		t.Errorf("read_graph gives %s and says %q", r.Result, text(r))
	}
	if _, err := os.Stat(filepath.Join(folder, "memory.jsonl")); err != nil {
		t.Errorf("the server did not get its variable: %v", err)
	}
	e.close()
}

// A server gets the core variables and those of its own entry, and no secret
// of the sidecar's.
func TestEnvironment(t *testing.T) {
	needServers(t)
	config := stdio(t, "everything")
	config["env"] = map[string]string{"FOR_THE_SERVER": "yes"}
	e := open(t, map[string]any{string(everything): config})
	r := e.tool(e.freeze(`{"format":"mcp"}`), everything, "get-env", `{}`)
	content := decode[struct{ Content []struct{ Text string } }](t, r.Result).Content
	if len(content) != 1 {
		t.Fatalf("get-env gives %s", r.Result)
	}
	env := decode[map[string]string](t, []byte(content[0].Text))
	if env["FOR_THE_SERVER"] != "yes" || env["PATH"] == "" {
		t.Errorf("its own variable is %q, PATH %q", env["FOR_THE_SERVER"], env["PATH"])
	}
	if strings.Contains(string(r.Result), "for-the-sidecar-only") || strings.Contains(string(r.Result), "MCP_SIDECAR_HOME") {
		t.Errorf("the server sees what is the sidecar's: %q", slices.Sorted(maps.Keys(env)))
	}
	if runtime.GOOS == "windows" {
		e.close()
		return // the list of core variables is long there, and node adds to it
	}
	core := []string{"HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "TERM", "TMPDIR", "TZ", "FOR_THE_SERVER",
		"MCP_SIDECAR_TREE",        // by which the sidecar finds what a server started
		"__CF_USER_TEXT_ENCODING", // macOS adds it
	}
	network := regexp.MustCompile(`(?i)^(LC_.*|XDG_.*|.*_PROXY|NPM_CONFIG_NOPROXY|SSL_CERT_(FILE|DIR)|.*CA_(BUNDLE|CERTS?|INFO)|GIT_SSL_CAINFO|CARGO_HTTP_CAINFO|NPM_CONFIG_CAFILE|PIP_CERT|DENO_CERT)$`)
	for name := range env {
		if !slices.Contains(core, name) && !network.MatchString(name) {
			t.Errorf("the server gets %s", name)
		}
	}
	e.close()
}

// All three servers end with the sidecar, also while one of them waits for a
// person's answer, when it does not end by itself at the end of its input. That
// holds at the end of the sidecar's input, and when it is killed.
func TestNothingIsLeft(t *testing.T) {
	needServers(t)
	for name, end := range map[string]func(*editor){
		"EOF":    func(e *editor) { _ = e.CloseInput() },
		"killed": func(e *editor) { e.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, three(t, realFolder(t)), "--drain-timeout", "1s")
			asked := make(chan struct{})
			e.onQuestion(func(ctx context.Context, _ protocol.ElicitationRequestParams) (protocol.ElicitationRequestResult, error) {
				close(asked)
				<-ctx.Done()
				return protocol.ElicitationRequestResult{}, ctx.Err()
			})
			e.begin(e.freeze(`{"format":"gemini"}`), everything, "trigger-elicitation-request", `{}`, "")
			select {
			case <-asked:
			case <-within(t).Done():
				t.Fatal("the server asked nothing")
			}
			left := e.watch()
			if len(left) != 3 {
				t.Errorf("%d servers have processes", len(left))
			}
			end(e)
			select {
			case <-e.Done():
			case <-within(t).Done():
				t.Error("the sidecar does not end")
			}
			if name == "EOF" && e.ExitCode() != 0 {
				t.Errorf("exit code %d", e.ExitCode())
			}
			e.gone(left)
		})
	}
}
