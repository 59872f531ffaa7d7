package session

import (
	"context"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
)

// ThreadToolCall implements protocol.Sidecar.
func (s *Session) ThreadToolCall(ctx context.Context, p *protocol.ThreadToolCallParams) (*protocol.ThreadToolCallResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	c, err := t.Call(ctx, thread.ModelCall{
		Binding: p.BindingID, Namespace: p.Namespace, Name: p.Name, Arguments: p.Arguments, Meta: p.Meta,
		CallID: p.CallID, TurnID: p.TurnID, Timeout: time.Duration(p.TimeoutMs) * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	o := c.Outcome
	if o.Status == protocol.CallCancelled && !o.Started {
		return nil, o.Err
	}
	return &protocol.ThreadToolCallResult{
		CallID: c.ID, Status: o.Status, Reason: o.Reason, Server: c.Server, Tool: c.Tool, Result: o.Result, Output: o.Output,
		Approval: o.Approval, DurationMs: o.Duration.Milliseconds(),
	}, nil
}

// ServerToolCall implements protocol.Sidecar.
func (s *Session) ServerToolCall(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
	t, err := s.thread(p.ThreadID)
	if err != nil {
		return nil, err
	}
	c, err := t.CallDirect(ctx, p.Server, p.Tool, p.Arguments, p.Meta)
	if err != nil {
		return nil, err
	}
	if c.Outcome.Err != nil {
		return nil, c.Outcome.Err
	}
	r := protocol.ServerToolCallResult(c.Outcome.Result)
	return &r, nil
}
