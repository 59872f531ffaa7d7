package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// rounds sends a request and, as long as the server needs input (MCP
// 2026-07-28, multi round-trip requests), answers and sends it again. What
// failed for want of an authorization is sent again once; see authorized.
func (c *Client) rounds(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	first, asked := params, false
	for n := 0; n < MaxRounds; {
		conn, result, err := c.send(ctx, method, params)
		if err != nil {
			if conn == nil { // it never went out
				if gone := (*protocol.Error)(nil); n > 0 && errors.As(err, &gone) {
					return nil, c.lostMidway(method)
				}
				return nil, err
			}
			told := c.callError(ctx, conn, method, err)
			if n > 0 && errors.Is(told, ErrNotRun) {
				return nil, c.lostMidway(method)
			}
			if asked || ctx.Err() != nil {
				return nil, told
			}
			if again, err := c.authorized(ctx, err, told); !again {
				return nil, err
			}
			if err := recheck(ctx); err != nil {
				return nil, err
			}
			asked = true
			continue
		}
		if !conn.modern() {
			return result, nil
		}
		need, err := parseRound(result)
		if err != nil {
			return nil, c.protocolFault("%s: %v", method, err)
		}
		if need == nil {
			return result, nil
		}
		responses, err := c.fulfil(ctx, need.requests)
		if err != nil {
			return nil, err
		}
		// requestState goes back byte for byte, and only when there was one.
		params = withMembers(first, responses, need.state)
		n++
	}
	return nil, protocol.Errorf(protocol.KindProtocolError, "server %q asked back more than %d times in one %s", c.server.Name, MaxRounds, method).
		WithServer(protocol.ServerName(c.server.Name))
}

// send sends a request on the connection that there is, which it returns unless
// there is none. What was not run because its connection had been replaced goes
// out on the new one.
func (c *Client) send(ctx context.Context, method string, params json.RawMessage) (wire, json.RawMessage, error) {
	for {
		conn, gone := c.live()
		if gone != nil {
			return nil, nil, gone
		}
		result, err := conn.request(ctx, method, params)
		if err == nil || ctx.Err() != nil || !errors.Is(err, errRetired) && !errors.Is(err, streamable.ErrSessionLost) {
			return conn, result, err
		}
		if now, _ := c.live(); now == nil || now == conn {
			return conn, nil, err
		}
		if err := recheck(ctx); err != nil {
			return nil, nil, err
		}
	}
}

// lostMidway is the error of a request whose server was lost after it had asked
// back. The last round was not run, but the one before was: nobody knows what
// the server had done.
func (c *Client) lostMidway(method string) error {
	ctx, cancel := context.WithTimeout(c.ctx, tellPatience)
	defer cancel()
	_ = c.AwaitLost(ctx) // the owner is told before; late, the error is still right
	return protocol.Errorf(protocol.KindAmbiguousDelivery, "server %q was lost after it had asked back; %s may or may not have taken effect", c.server.Name, method).
		WithServer(protocol.ServerName(c.server.Name))
}

// recheck asks the call of ctx whether it may be sent again.
func recheck(ctx context.Context) error {
	for _, f := range callOf(ctx) {
		if f.Recheck != nil {
			return f.Recheck()
		}
	}
	return nil
}

// round is what a result of type input_required asks for.
type round struct {
	requests []inputRequest // in the order in which they came
	state    json.RawMessage
}

type inputRequest struct {
	key    string
	method string
	params json.RawMessage
}

var errResultType = errors.New("unknown result type")

// parseRound returns nil for a complete result.
func parseRound(result json.RawMessage) (*round, error) {
	var kind string
	var requests, state json.RawMessage
	err := rawjson.Object(result, func(key, value []byte) error {
		switch string(key) {
		case "resultType":
			kind, _ = rawjson.String(value)
			if kind == "" {
				kind = "?"
			}
		case "inputRequests":
			requests = value
		case "requestState":
			state = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch kind {
	case "", "complete":
		return nil, nil
	case "input_required":
	default:
		return nil, errResultType
	}
	r := &round{state: state}
	if requests == nil || rawjson.Kind(requests) == 'n' {
		return r, nil
	}
	err = rawjson.Object(requests, func(key, value []byte) error {
		in := inputRequest{key: string(key)}
		err := rawjson.Object(value, func(k, v []byte) error {
			switch string(k) {
			case "method":
				in.method, _ = rawjson.String(v)
			case "params":
				in.params = v
			}
			return nil
		})
		r.requests = append(r.requests, in)
		return err
	})
	return r, err
}

// fulfil answers every request of a round, all at the same time.
func (c *Client) fulfil(ctx context.Context, requests []inputRequest) (json.RawMessage, error) {
	if requests == nil {
		return nil, nil
	}
	for _, r := range requests {
		if r.method != methodElicit { // nobody is asked in vain
			return nil, c.protocolFault("the server needs %q, which was not offered to it", r.method)
		}
	}
	answers := make([]json.RawMessage, len(requests))
	errs := make([]error, len(requests))
	var all sync.WaitGroup
	for i, r := range requests {
		all.Go(func() {
			answers[i], errs[i] = c.question(ctx, r.params, callOf(ctx), true)
			var refusal *jsonrpc.Error
			if errors.As(errs[i], &refusal) { // there is no way to answer with an error
				answers[i], errs[i] = json.RawMessage(`{"action":"decline"}`), nil
			}
		})
	}
	all.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause // and the answers, which are no person's, are not sent
	}
	out := []byte{'{'}
	for i, r := range requests {
		if err := errs[i]; err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, r.key)
		out = append(out, ':')
		out = append(out, answers[i]...)
	}
	return append(out, '}'), nil
}
