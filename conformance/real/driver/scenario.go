package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A scenario is one play of the suite.
type scenario struct {
	name     string
	revision string // of MCP; "" when the suite does not say
	context  struct {
		// ToolCalls are the calls that http-custom-headers wants to see.
		ToolCalls []struct {
			Name      protocol.ToolName `json:"name"`
			Arguments json.RawMessage   `json:"arguments"`
		} `json:"toolCalls"`
	}
}

// nothing is a call's arguments, or an answer, without members.
var nothing = struct{}{}

// play does what the scenario wants to see.
func (s scenario) play(ctx context.Context, e *editor) error {
	b, err := e.tools(ctx)
	if err != nil {
		return err
	}
	switch s.name {
	case "initialize", "request-metadata", "json-schema-ref-no-deref":
		return nil // the handshake and the list are all
	case "tools_call":
		return e.tool(ctx, b, "add_numbers", map[string]int{"a": 5, "b": 3})
	case "elicitation-sep1034-client-defaults":
		return e.tool(ctx, b, "test_client_elicitation_defaults", nothing)
	case "sse-retry":
		return e.tool(ctx, b, "test_reconnection", nothing)
	case "sep-2322-client-request-state":
		return errors.Join(
			e.tool(ctx, b, "test_mrtr_echo_state", nothing),
			e.tool(ctx, b, "test_mrtr_no_state", nothing),
			e.tool(ctx, b, "test_mrtr_unrelated", nothing),
			e.tool(ctx, b, "test_mrtr_no_result_type", nothing))
	case "http-standard-headers":
		return s.standardHeaders(ctx, e, b)
	case "http-custom-headers":
		for _, c := range s.context.ToolCalls {
			if err := e.tool(ctx, b, c.Name, c.Arguments); err != nil {
				return err
			}
		}
		return nil
	case "http-invalid-tool-headers":
		for _, t := range b.Tools {
			if err := e.tool(ctx, b, t.Tool, map[string]string{"region": "us-west1"}); err != nil {
				return err
			}
		}
		return nil
	case "json-schema-2020-12-preservation":
		return s.echoSchema(ctx, e, b)
	}
	if isAuth(s.name) {
		return e.tool(ctx, b, "test-tool", nothing)
	}
	return fmt.Errorf("the driver does not know the scenario %q", s.name)
}

func isAuth(name string) bool { return len(name) > 5 && name[:5] == "auth/" }

// standardHeaders calls the first tool and reads the first resource and
// prompt.
func (s scenario) standardHeaders(ctx context.Context, e *editor, b *protocol.Binding) error {
	if len(b.Tools) == 0 {
		return errors.New("there is no tool")
	}
	if err := e.tool(ctx, b, b.Tools[0].Tool, nothing); err != nil {
		return err
	}
	var resources struct {
		Resources []struct {
			URI string `json:"uri"`
		} `json:"resources"`
	}
	if err := e.Call(ctx, "mcpServer/resource/list", protocol.ResourceListParams{ThreadID: e.thread, Server: serverName}, &resources); err != nil {
		return err
	}
	if len(resources.Resources) == 0 {
		return errors.New("there is no resource")
	}
	uri := resources.Resources[0].URI
	if err := e.Call(ctx, "mcpServer/resource/read", protocol.ResourceReadParams{ThreadID: e.thread, Server: serverName, URI: uri}, nil); err != nil {
		return err
	}
	var prompts struct {
		Prompts []struct {
			Name string `json:"name"`
		} `json:"prompts"`
	}
	if err := e.Call(ctx, "mcpServer/prompt/list", protocol.PromptListParams{ThreadID: e.thread, Server: serverName}, &prompts); err != nil {
		return err
	}
	if len(prompts.Prompts) == 0 {
		return errors.New("there is no prompt")
	}
	return e.Call(ctx, "mcpServer/prompt/get", protocol.PromptGetParams{ThreadID: e.thread, Server: serverName, Name: prompts.Prompts[0].Name}, nil)
}

// echoSchema sends the server the input schema that the sidecar knows of it.
func (s scenario) echoSchema(ctx context.Context, e *editor, b *protocol.Binding) error {
	for _, t := range b.Tools {
		if t.Tool != "json_schema_2020_12_tool" {
			continue
		}
		var spec struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(t.Spec, &spec); err != nil {
			return err
		}
		return e.tool(ctx, b, "json_schema_echo", map[string]json.RawMessage{"schema": spec.InputSchema})
	}
	return errors.New("the tool with the schema is not in the binding")
}

// answer plays the person: every approval is given, every form is sent off as
// it is, but where the scenario has a field to fill in.
func (s scenario) answer(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method != protocol.ElicitationRequest.Name {
		return nil, &client.ReplyError{Code: int64(protocol.CodeMethodNotFound), Message: "no method " + method}
	}
	var q struct {
		Meta struct {
			Kind string `json:"codex_approval_kind"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, err
	}
	content := `{}`
	if q.Meta.Kind == "" && s.name == "sep-2322-client-request-state" {
		content = `{"confirmed":true}`
	}
	return protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: json.RawMessage(content)}, nil
}
