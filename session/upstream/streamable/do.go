package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A sender calls the SDK's function for a method. The params are the least that
// the SDK must see; what goes out is Exchange.Params. They are made anew for
// each call, as the SDK writes into them.
type sender func(ctx context.Context, s *mcp.ClientSession, params json.RawMessage) error

// senders holds the methods of all protocol versions.
var senders = map[string]sender{
	"tools/call": func(ctx context.Context, s *mcp.ClientSession, params json.RawMessage) error {
		// The arguments are there for Mcp-Param headers alone.
		p := &mcp.CallToolParams{Name: text(params, "name")}
		if a := rawjson.Member(params, "arguments"); rawjson.Kind(a) == '{' {
			p.Arguments = json.RawMessage(a)
		}
		_, err := s.CallTool(ctx, p)
		return err
	},
	"tools/list": func(ctx context.Context, s *mcp.ClientSession, params json.RawMessage) error {
		// The cursor keeps the pages apart in the SDK's memory of annotated tools.
		_, err := s.ListTools(ctx, &mcp.ListToolsParams{Cursor: text(params, "cursor")})
		return err
	},
	"resources/list": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		_, err := s.ListResources(ctx, &mcp.ListResourcesParams{})
		return err
	},
	"resources/templates/list": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		_, err := s.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{})
		return err
	},
	"resources/read": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		// One URI for all: the SDK keeps an entry for each, for ever.
		_, err := s.ReadResource(ctx, &mcp.ReadResourceParams{})
		return err
	},
	"prompts/list": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		_, err := s.ListPrompts(ctx, &mcp.ListPromptsParams{})
		return err
	},
	"prompts/get": func(ctx context.Context, s *mcp.ClientSession, params json.RawMessage) error {
		_, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: text(params, "name")})
		return err
	},
	"completion/complete": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		_, err := s.Complete(ctx, &mcp.CompleteParams{})
		return err
	},
}

// sessionSenders holds the methods that ended with 2026-07-28.
var sessionSenders = map[string]sender{
	"ping": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		return s.Ping(ctx, &mcp.PingParams{})
	},
	"logging/setLevel": func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		//lint:ignore SA1019 servers of the older protocol have no other way
		return s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{})
	},
	"resources/subscribe": func(ctx context.Context, s *mcp.ClientSession, params json.RawMessage) error {
		return s.Subscribe(ctx, &mcp.SubscribeParams{URI: text(params, "uri")})
	},
	"resources/unsubscribe": func(ctx context.Context, s *mcp.ClientSession, params json.RawMessage) error {
		return s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: text(params, "uri")})
	},
}

// text returns the string member of a valid JSON object, or "".
func text(object []byte, key string) string {
	s, _ := rawjson.String(rawjson.Member(object, key))
	return s
}

// Do calls method with params, a JSON object (nil is {}), and returns the raw
// result, which is the caller's to keep. session must have been connected
// through a client of NewClient. x, if not nil, must be new; it tells more
// about the exchange and is sealed when Do returns.
//
// The error is a *jsonrpc.Error, its data as it came, if the server answered
// with one; it wraps [ErrSessionLost], or is a [StatusError],
// [TransportError], [StreamLostError], [ResultTooLargeError] or [RedirectError];
// or it is that of ctx, of Options.Headers or of Options.Authorize.
//
// Every result is a result: an unknown resultType, or input_required, is the
// caller's to act on. So connect with MultiRoundTripOptions.Disabled or not,
// it makes no difference here.
//
// A method that ended with 2026-07-28 is refused with code -32601 on a session
// of that version, unsent. resources/subscribe and unsubscribe are carried by
// subscriptions/listen there, and their result is {}.
func Do(ctx context.Context, session *mcp.ClientSession, method string, params json.RawMessage, x *Exchange) (json.RawMessage, error) {
	if x == nil {
		x = &Exchange{}
	}
	defer x.Seal()
	if params == nil {
		params = json.RawMessage("{}")
	}
	if err := rawjson.Object(params, func(_, _ []byte) error { return nil }); err != nil {
		return nil, fmt.Errorf("%s: params: %w", method, err)
	}
	send, ok := senders[method]
	if !ok {
		if send, ok = sessionSenders[method]; !ok {
			send = customSender(method)
		} else if r := session.InitializeResult(); r != nil && r.ProtocolVersion >= statelessVersion {
			if method == "ping" || method == "logging/setLevel" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " does not exist in protocol version " + r.ProtocolVersion}
			}
			// The stream of notifications outlives this call and has no Exchange.
			if err := send(unattributed(ctx), session, params); err != nil {
				return nil, Cause(err)
			}
			return json.RawMessage("{}"), nil
		}
	}
	x.Params = params
	err := send(WithExchange(ctx, x), session, params)
	x.Seal()
	switch {
	case x.Err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case x.Err != nil:
		return nil, x.Err
	case x.Result != nil:
		return x.Result, nil
	case x.Error != nil:
		e := readError(x.Error)
		return nil, &jsonrpc.Error{Code: e.code, Message: e.message, Data: e.data}
	case err != nil:
		return nil, Cause(err)
	}
	return nil, errors.New(method + ": the session was not connected through this package")
}

// customParams and customResult are the least that the SDK can send and read.
type customParams struct{ mcp.ParamsBase }
type customResult struct{ mcp.ResultBase }

// Allow lets Do send a method that the SDK does not know, such as tasks/get, on
// the sessions of client. A method that the SDK knows is an error.
func Allow(client *mcp.Client, method string) error {
	return mcp.AddSendingCustomMethod[*customParams, *customResult](client, method)
}

// customSender sends a method made known with Allow.
func customSender(method string) sender {
	return func(ctx context.Context, s *mcp.ClientSession, _ json.RawMessage) error {
		_, err := mcp.CallCustomMethod[*customParams, *customResult](ctx, s, method, &customParams{})
		return err
	}
}
