package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Call sends a request and waits for the reply. params is marshaled as
// package rawjson does it; nil leaves it out. result takes the reply's result:
// a *json.RawMessage takes the bytes of the wire, nil takes nothing. An error
// of the sidecar is a *ReplyError. When ctx ends first the sidecar is told, and
// ctx's cause returned; to see what it then replies, use Go.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	p, err := c.Go(method, params)
	if err != nil {
		return err
	}
	return p.call(ctx, result)
}

// CallRaw is Call with params and result as the bytes of the wire. params must
// be JSON on one line; nil leaves it out.
func (c *Client) CallRaw(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p, err := c.GoRaw(method, params)
	if err != nil {
		return nil, err
	}
	var result json.RawMessage
	err = p.call(ctx, &result)
	return result, err
}

// Go sends a request and does not wait for the reply.
func (c *Client) Go(method string, params any) (*Pending, error) {
	return c.start(method, func(dst []byte) ([]byte, error) { return appendParams(dst, params) })
}

// GoRaw is Go with params as JSON on one line; nil leaves it out.
func (c *Client) GoRaw(method string, params json.RawMessage) (*Pending, error) {
	return c.start(method, func(dst []byte) ([]byte, error) { return appendRaw(dst, params), nil })
}

func (c *Client) start(method string, params func([]byte) ([]byte, error)) (*Pending, error) {
	p := &Pending{client: c, done: make(chan struct{})}
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return nil, c.ended
	}
	c.lastID++
	p.id = c.lastID
	c.calls[p.id] = p
	c.mu.Unlock()
	err := c.send(func(dst []byte) ([]byte, error) {
		dst = append(dst, `{"jsonrpc":"2.0","id":`...)
		dst = strconv.AppendInt(dst, p.id, 10)
		dst = append(dst, `,"method":`...)
		dst, err := params(rawjson.AppendString(dst, method))
		return append(dst, '}'), err
	})
	if err != nil {
		c.forget(p.id)
		return nil, fmt.Errorf("client: sending %s: %w", method, err)
	}
	return p, nil
}

// Notify sends a notification. params is marshaled; nil leaves it out.
func (c *Client) Notify(method string, params any) error {
	return c.notify(method, func(dst []byte) ([]byte, error) { return appendParams(dst, params) })
}

// NotifyRaw is Notify with params as JSON on one line; nil leaves it out.
func (c *Client) NotifyRaw(method string, params json.RawMessage) error {
	return c.notify(method, func(dst []byte) ([]byte, error) { return appendRaw(dst, params), nil })
}

func (c *Client) notify(method string, params func([]byte) ([]byte, error)) error {
	err := c.send(func(dst []byte) ([]byte, error) {
		dst = append(dst, `{"jsonrpc":"2.0","method":`...)
		dst, err := params(rawjson.AppendString(dst, method))
		return append(dst, '}'), err
	})
	if err != nil {
		return fmt.Errorf("client: sending %s: %w", method, err)
	}
	return nil
}

func appendParams(dst []byte, params any) ([]byte, error) {
	if params == nil {
		return dst, nil
	}
	return rawjson.Append(append(dst, `,"params":`...), params)
}

func appendRaw(dst []byte, params json.RawMessage) []byte {
	if params == nil {
		return dst
	}
	return append(append(dst, `,"params":`...), params...)
}

// forget gives a call up and reports whether it was open.
func (c *Client) forget(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.calls[id]
	delete(c.calls, id)
	return open
}

// A Pending is a request on its way. Its methods may be called from any
// goroutine.
type Pending struct {
	client *Client
	id     int64

	done   chan struct{}   // closed by whoever takes the call out of calls
	result json.RawMessage // set before done is closed, like err
	err    error
}

// Done is closed when there is a reply, or can be none any more.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Cancel tells the sidecar that the request became pointless. It is still
// answered.
func (p *Pending) Cancel() error {
	return p.client.NotifyRaw(protocol.MethodCancelRequest, append(strconv.AppendInt([]byte(`{"id":`), p.id, 10), '}'))
}

// Wait waits for the reply; see Call for result. When ctx ends first it returns
// ctx's cause and tells the sidecar nothing.
func (p *Pending) Wait(ctx context.Context, result any) error {
	select {
	case <-p.done:
		return p.into(result)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// call is Wait for somebody who gives the request up with ctx.
func (p *Pending) call(ctx context.Context, result any) error {
	select {
	case <-p.done:
		return p.into(result)
	case <-ctx.Done():
	}
	if !p.client.forget(p.id) {
		<-p.done // the reply is being handed over
		return p.into(result)
	}
	_ = p.Cancel() // ctx's cause says more than a sidecar that is gone
	return context.Cause(ctx)
}

func (p *Pending) into(result any) error {
	if p.err != nil || result == nil {
		return p.err
	}
	if raw, ok := result.(*json.RawMessage); ok {
		*raw = p.result
		return nil
	}
	if err := json.Unmarshal(p.result, result); err != nil {
		return fmt.Errorf("client: reading the result of request %d: %w", p.id, err)
	}
	return nil
}
