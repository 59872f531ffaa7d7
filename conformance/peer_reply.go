package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// reply carries out a reply of the spec.
func (p *peer) reply(ctx context.Context, m envelope, answers replies, key string, send func([]byte)) {
	s := p.server
	s.mu.Lock()
	r := answers.nth(s.count[key])
	again := rawjson.Member(m.params, "inputResponses") != nil // the same call, sent again with answers
	if again {
		r = answers.nth(s.count[key] - 1)
	} else {
		s.count[key]++
	}
	s.mu.Unlock()
	if !again {
		for _, line := range r.Write {
			if raw, err := unescape(line); err == nil {
				p.write(string(raw))
			}
		}
		for _, line := range r.Stderr {
			p.stderr(line)
		}
		for _, step := range r.Progress {
			if !sleep(ctx, time.Duration(step.After)) {
				return
			}
			send(step.message(progressToken(m.params)))
		}
		if r.Tools != nil {
			p.changeTools(r.Tools, send)
		}
	}
	answer, done := p.elicit(ctx, m, r.Elicit, send)
	if done || !sleep(ctx, time.Duration(r.Delay)) || r.Hold && !p.hold(ctx) {
		return
	}
	switch {
	case r.Crash != nil:
		p.exit(*r.Crash)
	case r.Hang:
		<-ctx.Done()
	case r.Error != nil:
		send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.id, rawjson.SingleLine(r.Error)))
	case r.Result != nil:
		send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, rawjson.SingleLine(r.Result)))
	default:
		text := "done"
		if r.Text != nil {
			text = strings.NewReplacer("$answer", string(answer), "$params", string(m.params)).Replace(*r.Text)
		}
		tail := ""
		if r.IsError {
			tail = `,"isError":true`
		}
		send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]%s}}`, m.id, rawjson.AppendString(nil, text), tail))
	}
}

// sleep waits, and reports false when ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// hold waits for a release.
func (p *peer) hold(ctx context.Context) bool {
	ch := make(chan struct{})
	p.server.mu.Lock()
	p.server.held = append(p.server.held, ch)
	p.server.mu.Unlock()
	select {
	case <-ch:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s progressStep) message(token json.RawMessage) []byte {
	out := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s`, token, s.Progress)
	if s.Total != nil {
		out = fmt.Appendf(out, `,"total":%s`, s.Total)
	}
	if s.Message != "" {
		out = rawjson.AppendString(append(out, `,"message":`...), s.Message)
	}
	return append(out, "}}"...)
}

func progressToken(params json.RawMessage) json.RawMessage {
	if token := rawjson.Member(rawjson.Member(params, "_meta"), "progressToken"); token != nil {
		return token
	}
	return json.RawMessage("null")
}

// elicit asks what a reply asks, in the way of the era, and returns the
// answers. done means that nothing more is to be said about the request now.
func (p *peer) elicit(ctx context.Context, m envelope, questions []json.RawMessage, send func([]byte)) (answer []byte, done bool) {
	if len(questions) == 0 {
		return nil, false
	}
	if p.server.spec.Era >= eraModern {
		if answers := rawjson.Member(m.params, "inputResponses"); answers != nil {
			return answers, false
		}
		out := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"state-1","inputRequests":{`, m.id)
		for i, q := range questions {
			if i > 0 {
				out = append(out, ',')
			}
			out = fmt.Appendf(out, `"q%d":{"method":"elicitation/create","params":%s}`, i+1, rawjson.SingleLine(q))
		}
		send(append(out, "}}}"...))
		return nil, true
	}
	var waits []chan json.RawMessage
	for _, q := range questions {
		waits = append(waits, p.ask(q, send))
	}
	for i, ch := range waits {
		select {
		case a := <-ch:
			if i > 0 {
				answer = append(answer, ',')
			}
			answer = append(answer, a...)
		case <-ctx.Done():
			return nil, true
		}
	}
	return answer, false
}

// ask sends an elicitation/create and returns where the answer comes.
func (p *peer) ask(params json.RawMessage, send func([]byte)) chan json.RawMessage {
	ch := make(chan json.RawMessage, 1)
	p.mu.Lock()
	p.asked++
	id := fmt.Sprintf(`"q-%d"`, p.asked)
	p.waiting[id] = ch
	p.mu.Unlock()
	send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":%s}`, id, rawjson.SingleLine(params)))
	return ch
}
