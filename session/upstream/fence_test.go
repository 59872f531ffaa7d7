package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// panicking is an owner with a fault.
type panicking struct{ silent }

func (panicking) Question(context.Context, elicit.Question) (elicit.Answer, error) { panic("a fault") }

// A fault in what a server's question or notification sets off costs that one,
// not the process.
func TestFence(t *testing.T) {
	log := zerolog.Nop()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	c := &Client{server: &config.Server{Name: "s"}, offer: Questions{Form: true}, owner: panicking{}, log: &log, ctx: ctx, cancel: cancel,
		status: Status{State: protocol.ServerStarting}}
	_, err := c.question(ctx, json.RawMessage(`{"message":"m","requestedSchema":{"type":"object","properties":{}}}`), nil, false)
	var refusal *jsonrpc.Error
	if !errors.As(err, &refusal) || refusal.Code != jsonrpc.CodeInternalError {
		t.Errorf("got %v", err)
	}
	call := c.calls.add(Call{Token: "k", Progress: func(Progress) { panic("a fault") }})
	if !c.notification("notifications/progress", json.RawMessage(`{"progressToken":"k","progress":1}`)) {
		t.Error("the notification went on to the SDK")
	}
	c.calls.remove(call, nil) // its lock is free
}
