package streamable

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A call sends and returns the bytes that were given, in both eras, answered as
// JSON and as a stream.
func TestBytesSurvive(t *testing.T) {
	const (
		arguments = `{"z":12345678901234567890,"a":1.0,"h":"<b>&","u":"\u00e9\u2028","e":1e400}`
		params    = `{ "arguments" : ` + arguments + `, "name":"t", "_meta":{"progressToken":7,"x":1.0} , "later":[1.50] }`
		result    = `{"content":[{"type":"text","text":"<&>\u2028"},{"type":"video","n":1.0}],"structuredContent":{"id":9007199254740993,"e":1e400},"z":1,"a":2}`
	)
	for _, era := range []string{era25, era26} {
		for _, sse := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/sse=%v", era, sse), func(t *testing.T) {
				f := &fake{t: t, era: era, sse: sse, session: "s1"}
				f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, s seen) { f.result(w, s, result) })
				s := connectServer(t, f, Options{}, era, nil)
				x := &Exchange{}
				raw, err := callTool(t, s, params, x)
				if err != nil {
					t.Fatal(err)
				}
				if string(raw) != result {
					t.Errorf("result\n got %s\nwant %s", raw, result)
				}
				if x.Status != 200 || !x.Sent || x.Err != nil || x.Error != nil {
					t.Errorf("exchange = %+v", x)
				}
				sent := f.got("tools/call")[0]
				want := `{"jsonrpc":"2.0","id":` + sent.id + `,"method":"tools/call","params":` + params + `}`
				if era == era26 {
					var p struct {
						Meta map[string]json.RawMessage `json:"_meta"`
					}
					if err := json.Unmarshal([]byte(sent.params), &p); err != nil {
						t.Fatal(err)
					}
					if len(p.Meta) != 5 || string(p.Meta["x"]) != "1.0" || string(p.Meta[metaProtocolVersion]) != `"2026-07-28"` {
						t.Errorf("_meta = %v", p.Meta)
					}
					head := `{"jsonrpc":"2.0","id":` + sent.id + `,"method":"tools/call","params":{ "arguments" : ` + arguments + `, "name":"t", "_meta":{"progressToken":7,"x":1.0,`
					const tail = `} , "later":[1.50] }}`
					if len(sent.body) < len(head)+len(tail) || sent.body[:len(head)] != head || sent.body[len(sent.body)-len(tail):] != tail {
						t.Errorf("body\n got %s\nwant %s … %s", sent.body, head, tail)
					}
				} else if sent.body != want {
					t.Errorf("body\n got %s\nwant %s", sent.body, want)
				}
			})
		}
	}
}

// A result that is written on several lines comes out on one.
func TestResultOnOneLine(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, id string){
		"json": func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "\ufeff{\n \"id\": %s,\n \"result\": {\n  \"content\": [],\r\n \"n\": 1.0\n }\n}\n", id)
		},
		"sse": func(w http.ResponseWriter, id string) {
			emit(w, "data: {\"id\":"+id+",\ndata: \"result\":{\ndata: \"content\":[],\ndata: \"n\":1.0}}\n\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{t: t, era: era25}
			f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, s seen) { answer(w, s.id) })
			s := connect(t, f, Options{}, era25, nil)
			raw, err := callTool(t, s, `{"name":"t"}`, nil)
			if want := `{"content":[],"n":1.0}`; err != nil || string(raw) != want {
				t.Errorf("got %s, %v; want %s", raw, err, want)
			}
		})
	}
}

// Every method that Do knows works against the SDK's own server, stateful and
// stateless, in both eras, as JSON and as a stream.
func TestAgainstTheSDKsServer(t *testing.T) {
	for _, mode := range []struct {
		era             string
		stateless, json bool
	}{
		{era25, false, false}, {era25, false, true}, {era25, true, false}, {era25, true, true},
		{era26, true, false}, {era26, true, true},
	} {
		t.Run(fmt.Sprintf("%s/stateless=%v/json=%v", mode.era, mode.stateless, mode.json), func(t *testing.T) {
			h := sdkHandler(sdkServer(), &mcp.StreamableHTTPOptions{Stateless: mode.stateless, JSONResponse: mode.json})
			s := connectServer(t, h, Options{}, mode.era, nil)
			for _, c := range []struct{ method, params, want string }{
				{"tools/list", `{}`, `"name":"echo"`},
				{"tools/call", `{"name":"echo","arguments":{"z":12345678901234567890,"a":1.0,"h":"<b>&"}}`, `{\"z\":12345678901234567890,\"a\":1.0,\"h\":\"\u003cb\u003e\u0026\"}`}, // the server's own escapes
				{"tools/call", `{"name":"routed","arguments":{"region":"münchen","n":5}}`, `münchen`},
				{"resources/list", `{}`, `"uri":"test://one"`},
				{"resources/templates/list", `{}`, `"uriTemplate":"test://{id}"`},
				{"resources/read", `{"uri":"test://one"}`, `"text":"one"`},
				{"prompts/list", `{}`, `"name":"hello"`},
				{"prompts/get", `{"name":"hello","arguments":{"a":"b"}}`, `"text":"hi"`},
				{"completion/complete", `{"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"a","value":"x"}}`, `"values":["xyz"]`},
				{"ping", `{}`, `{}`},
				{"logging/setLevel", `{"level":"error"}`, `{}`},
			} {
				ctx, cancel := context.WithTimeout(context.Background(), bound)
				raw, err := Do(ctx, s, c.method, json.RawMessage(c.params), nil)
				cancel()
				if mode.era == era26 && (c.method == "ping" || c.method == "logging/setLevel") {
					if err == nil {
						t.Errorf("%s went out in %s", c.method, mode.era)
					}
					continue
				}
				if err != nil || !contains(string(raw), c.want) {
					t.Errorf("%s %s\n got %s, %v\nwant %s", c.method, c.params, raw, err, c.want)
				}
			}
		})
	}
}

// sdkHandler serves one SDK server.
func sdkHandler(s *mcp.Server, o *mcp.StreamableHTTPOptions) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
}

// sdkServer has something for every method.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"xyz"}}}, nil
		},
		//lint:ignore SA1019 the older protocol has it
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}},
	})
	echo := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	}
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, echo)
	s.AddTool(&mcp.Tool{Name: "routed", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}`)}, echo)
	s.AddResource(&mcp.Resource{URI: "test://one", Name: "one"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://one", Text: "one"}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://{id}", Name: "t"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "hello", Arguments: []*mcp.PromptArgument{{Name: "a"}}}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}}, nil
	})
	return s
}
