package stdio

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Call sends a request and returns its result as the bytes that came. params
// is JSON, sent as it is but for line breaks between its tokens, or nil for no
// params; it is not kept. The result is the caller's.
//
// Errors: the server's own as a *jsonrpc.Error with its data untouched;
// [*ResultTooLargeError] and [*MalformedResultError]; [*ClosedError] when the
// connection ends or has ended; the cause of ctx when it ends first. In the
// last case the server is sent notifications/cancelled, except for initialize,
// and nothing at all when the request had not begun to go out.
//
// It may be called by any number of goroutines.
func (c *Conn) Call(ctx context.Context, method string, params []byte) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := newFrame()
	p := &pending{method: method, answer: make(chan answer, 1), frame: f}
	id, err := c.registerOwn(p)
	if err != nil {
		return nil, err
	}
	f.buf = appendRequest(f.buf, id, method, params)
	if !c.direct(f) {
		if err := c.send(ctx, f); err != nil {
			c.takePending(id)
			return nil, err
		}
	}
	select {
	case a := <-p.answer:
		return a.result, a.err
	case <-ctx.Done():
	}
	if c.abandon(id) == nil { // it has just been taken, to be answered
		a := <-p.answer
		return a.result, a.err
	}
	cause := context.Cause(ctx)
	if !f.drop() && method != methodInitialize {
		c.cancelled(id, cause)
	}
	return nil, cause
}

// appendRequest appends a request and its newline.
func appendRequest(dst []byte, id int64, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendInt(dst, id)
	dst = append(dst, `,"method":`...)
	dst = rawjson.AppendString(dst, method)
	if len(params) > 0 {
		dst = append(dst, `,"params":`...)
		dst = append(dst, rawjson.SingleLine(params)...)
	}
	return append(dst, "}\n"...)
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
