package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

const (
	// firstBuffer is the memory a lineReader begins with.
	firstBuffer = 64 << 10
	// MaxLine bounds a line of the sidecar, in bytes; a longer one ends the
	// connection. It is well above what a server's longest message becomes.
	MaxLine = 256 << 20
)

// errLineTooLong ends a connection.
var errLineTooLong = fmt.Errorf("a line is longer than %d bytes", MaxLine)

// A lineReader cuts a stream into lines that have memory of their own.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int // buf[start:end] is read and not yet handed out
	err        error
}

// next returns a line without its line feed. The last one needs none.
func (l *lineReader) next() ([]byte, error) {
	scanned := l.start
	for {
		if i := bytes.IndexByte(l.buf[scanned:l.end], '\n'); i >= 0 {
			line := l.take(scanned + i)
			l.start++ // the line feed
			return line, nil
		}
		if l.err != nil {
			if l.start < l.end {
				return l.take(l.end), nil
			}
			return nil, l.err
		}
		if l.end == len(l.buf) {
			if err := l.grow(); err != nil {
				return nil, err
			}
		}
		scanned = l.end
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
	}
}

// take returns buf[start:end]. A line that fills most of buf takes the memory
// with it instead of being copied.
func (l *lineReader) take(end int) []byte {
	line := l.buf[l.start:end:end]
	if n := end - l.start; n < firstBuffer || n < len(l.buf)/2 {
		line = bytes.Clone(line)
		l.start = end
		return line
	}
	rest := l.buf[end:l.end]
	l.buf = make([]byte, max(firstBuffer, len(rest)))
	l.start, l.end = 0, copy(l.buf, rest)
	return line
}

// grow makes room behind what was read: by moving it, or with more memory.
func (l *lineReader) grow() error {
	used := l.buf[l.start:l.end]
	if len(used) > MaxLine {
		return errLineTooLong
	}
	if len(used) > len(l.buf)/2 || l.buf == nil {
		l.buf = make([]byte, max(firstBuffer, 2*len(l.buf)))
	}
	l.start, l.end = 0, copy(l.buf, used)
	return nil
}

// read hands over all that comes, then ends everything.
func (c *Client) read() {
	for {
		line, err := c.input.next()
		if err != nil {
			c.end(err)
			return
		}
		c.trace(In, line)
		c.take(line)
	}
}

// end refuses further calls and ends the open ones.
func (c *Client) end(cause error) {
	ended := &EndedError{cause}
	c.mu.Lock()
	c.ended = ended
	calls := c.calls
	c.calls = nil
	c.mu.Unlock()
	for _, p := range calls {
		p.err = ended
		close(p.done)
	}
	c.stop(ended)
}

// take handles one line.
func (c *Client) take(line []byte) {
	var id, method, params, result, failure []byte
	err := rawjson.Object(line, func(key, value []byte) error {
		switch string(key) {
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			params = value
		case "result":
			result = value
		case "error":
			failure = value
		}
		return nil
	})
	name, named := rawjson.String(method)
	switch {
	case err != nil || method != nil && !named:
		c.stray(line)
	case named && id != nil:
		c.serve(string(id), name, params)
	case named:
		c.news(name, params)
	case !c.reply(id, result, failure):
		c.stray(line)
	}
}

func (c *Client) stray(line []byte) {
	if c.opts.Stray != nil {
		c.opts.Stray(line)
	}
}

// reply ends the call that it belongs to.
func (c *Client) reply(id, result, failure []byte) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil || (result == nil) == (failure == nil) {
		return false
	}
	c.mu.Lock()
	p := c.calls[n]
	delete(c.calls, n)
	c.mu.Unlock()
	if p == nil {
		return false
	}
	p.result = result
	if failure != nil {
		e := &ReplyError{}
		if err := json.Unmarshal(failure, e); err != nil {
			e.Message = string(failure)
		}
		p.err = e
	}
	close(p.done)
	return true
}

// news handles a notification.
func (c *Client) news(method string, params json.RawMessage) {
	if method != protocol.MethodCancelRequest {
		if c.opts.Notification != nil {
			c.opts.Notification(method, params)
		}
		return
	}
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.requests[string(p.ID)]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// serve answers a request of the sidecar, which stays open until it is done.
func (c *Client) serve(id, method string, params json.RawMessage) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.requests[id] = cancel
	c.mu.Unlock()
	c.serving.Go(func() { // ends with the handler; ctx ends with the reader
		defer cancel()
		result, err := c.answer(ctx, method, params)
		c.mu.Lock()
		delete(c.requests, id)
		c.mu.Unlock()
		if errors.Is(err, ErrNoAnswer) {
			return
		}
		_ = c.send(func(dst []byte) ([]byte, error) { // fails when nobody reads any more
			return appendAnswer(dst, id, result, err)
		})
	})
}

func (c *Client) answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if c.opts.Request == nil {
		return nil, &ReplyError{Code: int64(protocol.CodeMethodNotFound), Message: "no method " + method}
	}
	result, err := c.opts.Request(ctx, method, params)
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrNoAnswer) {
		return nil, &ReplyError{Code: int64(protocol.CodeCancelled), Message: "cancelled"}
	}
	return result, err
}

func appendAnswer(dst []byte, id string, result any, err error) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	if err == nil {
		whole, fault := rawjson.Append(append(dst, `,"result":`...), result)
		if fault == nil {
			return append(whole, '}'), nil
		}
		err = fault
	}
	e := &ReplyError{Code: int64(protocol.CodeInternalError), Message: err.Error()}
	_ = errors.As(err, &e)
	whole, err := rawjson.Append(append(dst, `,"error":`...), e)
	return append(whole, '}'), err
}
