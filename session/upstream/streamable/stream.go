package streamable

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// Waits before a stream is opened again.
const (
	firstWait   = time.Second
	longestWait = time.Minute
	// healthy is the age at which a stream that closed was a good one, so that
	// the next wait is short again.
	healthy = 30 * time.Second
	// maxResumes bounds the attempts in a row to resume the stream of a call
	// without getting anything new.
	maxResumes = 5
	// drainTime is how long a stream may go on after the response.
	drainTime = time.Second
)

// wait returns how long to wait before attempt n (0 is the first): what the
// server asked for where the stream did well, else at least a growing time.
func wait(n int, hint time.Duration, hinted bool) time.Duration {
	if hinted && n == 0 {
		return hint
	}
	w := longestWait
	if n < 6 {
		w = firstWait << n
	}
	w = min(w, longestWait)
	w -= rand.N(w / 4)
	return max(w, hint)
}

// sleep waits for d or the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// appendEvent appends a message, which is on one line, as an event.
func appendEvent(b, message []byte) []byte {
	b = append(b, "data: "...)
	return append(append(b, message...), "\n\n"...)
}

// A stream is the body that the SDK reads for a POST that is answered with
// events. It reads one event of the server at a time, when the SDK asks for
// more, and keeps the ids to itself: where the server's stream breaks off it
// goes on with another, and the SDK sees one stream that ends after the response.
// It is read by one goroutine; Close may come from another.
type stream struct {
	c      *call
	ctx    context.Context
	cancel context.CancelFunc // ends the request under body

	body   io.ReadCloser
	events *eventReader
	out    []byte // what the SDK has not read yet
	ended  bool   // nothing follows out

	lastID string // of the last complete event that had one
	retry  time.Duration
	hinted bool
	tries  int // in a row that brought nothing new
}

func newStream(c *call, ctx context.Context, cancel context.CancelFunc, resp *http.Response) *stream {
	return &stream{c: c, ctx: ctx, cancel: cancel, body: resp.Body, events: newEventReader(resp.Body, c.t.limit)}
}

// Close ends the server's stream. A Read that waits returns.
func (s *stream) Close() error {
	s.cancel()
	return nil
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if s.ended {
			s.drain()
			return 0, io.EOF
		}
		s.out = nil // a large event is not kept
		if err := s.step(); err != nil {
			closeBody(s.body)
			s.cancel()
			return 0, err
		}
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// step reads one event. Its error is that of the context alone.
func (s *stream) step() error {
	ev, err := s.events.next()
	if err == nil {
		return s.event(ev)
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	closeBody(s.body)
	if err == io.EOF {
		err = nil
	}
	if s.c.stateless || s.lastID == "" {
		return s.lose(&StreamLostError{Method: s.c.method, Skipped: s.c.skipped, Err: err})
	}
	return s.resume(err)
}

// event handles one event of the server.
func (s *stream) event(ev event) error {
	if ev.hasRetry {
		s.retry, s.hinted = ev.retry, true
	}
	if ev.tooLarge {
		return s.lose(&ResultTooLargeError{Limit: s.c.t.limit})
	}
	complete := !ev.partial
	if len(ev.data) > 0 && !ev.named() {
		out, final, err := s.c.take(ev.data, false)
		if err != nil {
			return s.lose(err)
		}
		if s.ended = final; out != nil {
			s.out = appendEvent(nil, out)
			complete = true // it made sense, so nothing was cut off
		}
	}
	if ev.id != "" && ev.id != s.lastID && complete {
		s.lastID, s.tries = ev.id, 0
	}
	return nil
}

// lose ends the stream with an answer that says why.
func (s *stream) lose(err error) error {
	closeBody(s.body)
	s.body = nil
	s.cancel()
	_ = s.c.fail(err)
	s.out = appendEvent(nil, renderError(s.c.id, rpcError{code: codeFailed, message: err.Error()}))
	s.ended = true
	return nil
}

// resume goes on where the stream broke off, by GET with the last event's id.
func (s *stream) resume(cause error) error {
	for {
		if s.tries >= maxResumes {
			return s.lose(&StreamLostError{Method: s.c.method, Skipped: s.c.skipped, Err: cause})
		}
		if err := sleep(s.ctx, wait(s.tries, s.retry, s.hinted)); err != nil {
			return err
		}
		s.tries++
		resp, _, err := s.c.t.send(s.ctx, s.c.method, listening(s.c.req, s.lastID), nil)
		if err != nil {
			if s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			cause = err
			continue
		}
		if isSuccess(resp.StatusCode) && mediaType(resp.Header) == eventType {
			s.body, s.events = resp.Body, newEventReader(resp.Body, s.c.t.limit)
			return nil
		}
		s.c.sent = resp.Request.Header
		if isSuccess(resp.StatusCode) {
			cause = s.c.noAnswer(resp, nil, "a stream that is resumed must be a stream")
		} else {
			cause = s.c.refused(resp)
		}
		closeBody(resp.Body)
		if resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
			if resp.StatusCode == http.StatusNotFound && s.c.session != "" {
				return s.lose(cause) // the session is lost
			}
			return s.lose(&StreamLostError{Method: s.c.method, Skipped: s.c.skipped, Err: cause})
		}
	}
}

// listening returns the GET that opens or resumes a stream of the session that
// like belongs to.
func listening(like *http.Request, lastID string) *http.Request {
	r := like.Clone(like.Context())
	r.Method, r.Body, r.GetBody, r.ContentLength = http.MethodGet, nil, nil, 0
	for name := range r.Header {
		if name == "Content-Type" || name == lastEventHeader || reserved(name) && name != sessionHeader && name != versionHeader {
			delete(r.Header, name)
		}
	}
	r.Header.Set("Accept", eventType)
	r.Header.Set("Accept-Encoding", "identity") // a proxy that compresses also gathers
	if lastID != "" {
		r.Header.Set(lastEventHeader, lastID)
	}
	return r
}

// drain reads the little that may follow the response, so that the connection
// can be used again, and lets go of the stream.
func (s *stream) drain() {
	if s.body == nil {
		return
	}
	timer := time.AfterFunc(drainTime, s.cancel)
	_, _ = io.CopyN(io.Discard, s.body, maxDrain)
	timer.Stop()
	closeBody(s.body)
	s.body = nil
	s.cancel()
}
