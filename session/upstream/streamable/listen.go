package streamable

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

const (
	// readyWait bounds how long the standalone stream waits for the answer to
	// notifications/initialized.
	readyWait = 10 * time.Second
	// listenWait bounds how long whoever waits for the standalone stream is
	// kept waiting: some servers send no headers before the first event.
	listenWait = time.Second
	// deniedWait is the pause after a 401 or 403 to a listening stream: the
	// token may be another one by then. It never starts a login.
	deniedWait = 5 * time.Minute
)

// A listener is the body that the SDK reads for a stream without end: the
// standalone GET of the older protocol, or subscriptions/listen. It is there at
// once and ends with its context; below, the server's stream is opened, and
// opened again whenever it closes, with back-off. So a server that has none,
// or closes it every minute, or asks for a login, costs nothing but the stream.
// It is read by one goroutine; Close may come from another.
type listener struct {
	c      *call
	ctx    context.Context // without the Exchange of whoever connected
	cancel context.CancelFunc
	// request makes the request that opens the stream; lastID is "" where there is
	// nothing to resume.
	request   func(lastID string) (*http.Request, []byte)
	await     <-chan struct{} // what the first opening waits for, or nil
	resumable bool

	body   io.ReadCloser // nil while closed
	events *eventReader
	opened time.Time
	out    []byte
	ended  bool // nothing follows out

	ever   bool // it was open once
	gap    bool // something may have been missed since
	lastID string
	retry  time.Duration
	hinted bool
	tries  int // openings in a row that did not last

	settled func() // says that the first opening is over; nil if nobody waits
}

// standalone answers the SDK's GET for the stream of the session.
func (t *transport) standalone(req *http.Request) *http.Response {
	ctx, cancel := context.WithCancel(unattributed(req.Context()))
	l := &listener{
		c:   &call{t: t, req: req, ctx: ctx, session: req.Header.Get(sessionHeader)},
		ctx: ctx, cancel: cancel, await: t.ready, resumable: true,
		lastID:  req.Header.Get(lastEventHeader),
		settled: t.listening,
		request: func(lastID string) (*http.Request, []byte) {
			return listening(req, lastID), nil
		},
	}
	return answer(req, http.StatusOK, eventType, l)
}

// listen answers the SDK's subscriptions/listen.
func (c *call) listen(body []byte) *http.Response {
	ctx, cancel := context.WithCancel(unattributed(c.ctx))
	c.ctx, c.x = ctx, nil
	l := &listener{
		c: c, ctx: ctx, cancel: cancel,
		request: func(string) (*http.Request, []byte) { return c.req, body },
	}
	return answer(c.req, http.StatusOK, eventType, l)
}

// Close ends the stream. A Read that waits returns.
func (l *listener) Close() error {
	l.cancel()
	return nil
}

// Read implements io.Reader.
func (l *listener) Read(p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.ended {
			closeBody(l.body)
			l.cancel()
			return 0, io.EOF
		}
		l.out = nil
		if err := l.step(); err != nil {
			closeBody(l.body)
			l.cancel()
			return 0, err
		}
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// step opens the stream or reads one event. Its error is that of the context.
func (l *listener) step() error {
	if l.body == nil {
		return l.open()
	}
	ev, err := l.events.next()
	if err != nil {
		closeBody(l.body)
		l.body = nil
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if time.Since(l.opened) >= healthy {
			l.tries = 0
		}
		if l.gap = true; l.resumable && l.lastID != "" {
			l.gap = false
		}
		pause := wait(l.tries, l.retry, l.hinted)
		l.tries++
		return sleep(l.ctx, pause)
	}
	l.event(ev)
	return nil
}

// event handles one event of the server.
func (l *listener) event(ev event) {
	if ev.hasRetry {
		l.retry, l.hinted = ev.retry, true
	}
	if ev.id != "" && !ev.partial {
		l.lastID = ev.id
	}
	if ev.tooLarge {
		zerolog.Ctx(l.ctx).Warn().Int64("limit", l.c.t.limit).Msg("dropped an event of the server that is too large")
		return
	}
	if len(ev.data) == 0 || ev.named() {
		return
	}
	l.message(ev.data, false)
}

// message handles one message of the server.
func (l *listener) message(raw []byte, only bool) {
	if l.c.id == nil {
		m, err := parseMessage(raw)
		if err != nil || !m.hasMethod {
			zerolog.Ctx(l.ctx).Debug().Int("bytes", len(raw)).Msg("skipped what has no place on the standalone stream")
			return
		}
		if out := l.c.t.fromServer(l.ctx, m, false); out != nil {
			l.out = appendEvent(nil, out)
		}
		l.tries = 0
		return
	}
	out, final, err := l.c.take(raw, only)
	if err != nil {
		out, final = renderError(l.c.id, rpcError{code: codeFailed, message: err.Error()}), true
	}
	if out != nil {
		l.out = appendEvent(nil, out)
		l.tries = 0
	}
	l.ended = final
}

// open tries once to open the stream, and waits if that is to be tried again.
func (l *listener) open() error {
	if l.await != nil {
		timer := time.NewTimer(readyWait)
		select {
		case <-l.await:
		case <-timer.C:
		case <-l.ctx.Done():
		}
		timer.Stop()
		l.await = nil
	}
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	lastID := ""
	if l.resumable {
		lastID = l.lastID
	}
	resp, err := l.send(lastID)
	if l.ctx.Err() != nil {
		if err == nil {
			closeBody(resp.Body)
		}
		return l.ctx.Err()
	}
	if err != nil {
		var redirect *RedirectError
		if errors.As(err, &redirect) {
			return l.off(err)
		}
		return l.again(0)
	}
	l.c.sent = resp.Request.Header
	if isSuccess(resp.StatusCode) && mediaType(resp.Header) == eventType {
		l.body, l.events, l.opened = resp.Body, newEventReader(resp.Body, l.c.t.limit), time.Now()
		if l.gap && l.ever && l.c.t.opts.OnGap != nil {
			l.c.t.opts.OnGap(l.ctx)
		}
		l.ever, l.gap = true, false
		return nil
	}
	defer closeBody(resp.Body)
	return l.refused(resp)
}

// send asks for the stream once.
func (l *listener) send(lastID string) (*http.Response, error) {
	if settled := l.settled; settled != nil {
		l.settled = nil
		late := time.AfterFunc(listenWait, settled)
		defer late.Stop()
		defer settled()
	}
	req, body := l.request(lastID)
	resp, _, err := l.c.t.send(l.ctx, l.c.method, req, body)
	return resp, err
}

// refused decides what an answer that is no stream means.
func (l *listener) refused(resp *http.Response) error {
	status := resp.StatusCode
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		zerolog.Ctx(l.ctx).Info().Int("status", status).Msg("the server gives no stream for notifications without authorization")
		return l.pause(max(deniedWait, retryAfter(resp.Header)))
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500 && status != http.StatusNotImplemented:
		return l.again(retryAfter(resp.Header))
	case l.c.id != nil:
		out, err := l.c.readAnswer(resp)
		if err != nil {
			return l.off(err)
		}
		for _, m := range out {
			l.out = appendEvent(l.out, m)
		}
		l.ended = true
		return nil
	case l.resumable && l.lastID != "" && l.ever:
		// It may have forgotten the events only. If the session is gone, the
		// next answer says so.
		l.lastID, l.gap = "", true
		return l.again(0)
	case status == http.StatusNotFound && l.ever && l.c.session != "":
		l.c.t.sessionLost(l.ctx, l.c.session)
		return l.off(ErrSessionLost)
	}
	return l.off(nil)
}

// again waits before the next opening.
func (l *listener) again(atLeast time.Duration) error {
	pause := max(wait(l.tries, l.retry, l.hinted), atLeast)
	l.tries++
	return l.pause(pause)
}

// pause waits before the next opening, after one that failed.
func (l *listener) pause(d time.Duration) error {
	l.gap = l.gap || l.lastID == "" || !l.resumable
	return sleep(l.ctx, d)
}

// off gives the stream up. The SDK gets an answer where it waits for one and
// silence otherwise: an end would make it count and reconnect.
func (l *listener) off(cause error) error {
	zerolog.Ctx(l.ctx).Info().AnErr("cause", cause).Msg("the server offers no stream for notifications")
	if l.c.id == nil {
		<-l.ctx.Done()
		return l.ctx.Err()
	}
	if cause == nil {
		cause = errors.New("the server offers no stream")
	}
	l.out = appendEvent(nil, renderError(l.c.id, rpcError{code: codeFailed, message: cause.Error()}))
	l.ended = true
	return nil
}
