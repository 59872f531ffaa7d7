package upstream

import (
	"context"
	"errors"
)

// A refresh is one that callers wait for.
type refresh struct {
	done chan struct{} // closed by the supervisor
	err  error         // set before
}

// Refresh makes new what an authorization may have changed. Over HTTP the
// server is reached anew, with headers resolved afresh: http_headers_helper is
// run again, and there is another session. Over stdio the process goes on. In
// either case the tools are listed again, and the owner is told if they are
// others. Requests that run on the old connection go on there.
//
// If it fails, all stays as it was. Callers that come before it has begun share
// one.
func (c *Client) Refresh(ctx context.Context) error {
	c.mu.Lock()
	r := c.wanted
	if r == nil {
		r = &refresh{done: make(chan struct{})}
		c.wanted = r
	}
	c.mu.Unlock()
	select {
	case c.fresh <- struct{}{}:
	default:
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.done:
		return ErrServerGone
	}
}

// refresh carries out a refresh that is wanted and returns the connection to go
// on with. Only the supervisor calls it.
func (c *Client) refresh(conn wire) wire {
	c.mu.Lock()
	r := c.wanted
	c.wanted = nil
	c.mu.Unlock()
	if r == nil {
		return conn
	}
	defer close(r.done)
	old, ok := conn.(*httpWire)
	if !ok {
		r.err = c.listAgain(conn)
		return conn
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.server.StartupTimeout, errStartLimit)
	defer cancel()
	at, status := stageHandshake, c.Status()
	next, err := c.attempt(ctx, &status, &at, nil)
	if err != nil {
		if errors.Is(context.Cause(ctx), errStartLimit) {
			err = errStartLimit
		}
		c.log.Warn().Str("error", c.redact(oneLine(err.Error()))).Msg("connecting anew")
		r.err = err
		return conn
	}
	c.mu.Lock()
	c.wire = next
	c.mu.Unlock()
	c.replaceStatus(func(s *Status) {
		status.State = s.State
		*s = status
	})
	c.retired.Go(func() { old.retire(c.ctx) }) // ends with its last request
	return next
}
