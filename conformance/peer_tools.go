package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// page returns the result of tools/list for a cursor.
func (s *server) page(params json.RawMessage) string {
	at := 0
	cursor, _ := rawjson.String(rawjson.Member(params, "cursor"))
	if i := slices.Index(s.spec.Cursors, cursor); i >= 0 {
		at = i + 1
	} else if n, ok := strings.CutPrefix(cursor, "page-"); ok {
		at, _ = strconv.Atoi(n)
	}
	s.mu.Lock()
	tools, replaced := s.tools, s.tools != nil
	s.mu.Unlock()
	next := ""
	switch {
	case replaced:
	case s.spec.Endless:
		tools = []json.RawMessage{fmt.Appendf(nil, `{"name":"tool-%d","inputSchema":{"type":"object"}}`, at+1)}
		next = fmt.Sprintf("page-%d", at+1)
	default:
		at = min(at, len(s.spec.Pages)-1)
		tools = s.spec.Pages[at]
		if at < len(s.spec.Cursors) {
			next = s.spec.Cursors[at]
		} else if at+1 < len(s.spec.Pages) {
			next = fmt.Sprintf("page-%d", at+1)
		}
	}
	out := []byte(`{"tools":null`)
	if tools != nil {
		out = append(append([]byte(`{"tools":[`), joinRaw(tools)...), ']')
	}
	if next != "" {
		out = append(rawjson.AppendString(append(out, `,"nextCursor":`...), next), '}')
	} else {
		out = append(out, '}')
	}
	return string(out)
}

func joinRaw(list []json.RawMessage) []byte {
	var out []byte
	for i, raw := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, rawjson.SingleLine(raw)...)
	}
	return out
}

// listen serves a subscriptions/listen, which stays open.
func (p *peer) listen(ctx context.Context, id json.RawMessage, send func([]byte)) {
	send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+
		`"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, id))
	p.mu.Lock()
	p.listens = append(p.listens, string(id))
	p.news = send
	p.mu.Unlock()
	<-ctx.Done()
}

// changeTools replaces the list and announces that.
func (p *peer) changeTools(tools []json.RawMessage, send func([]byte)) {
	p.server.mu.Lock()
	p.server.tools = tools
	p.server.mu.Unlock()
	p.announce("notifications/tools/list_changed", send)
}

// announce sends a notification without params on the streams that listen, or
// on fallback.
func (p *peer) announce(method string, fallback func([]byte)) {
	p.mu.Lock()
	listens, news := slices.Clone(p.listens), p.news
	p.mu.Unlock()
	if p.server.spec.Era < eraModern {
		if news != nil {
			fallback = news
		}
		fallback(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`, method))
		return
	}
	for _, id := range listens {
		news(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, method, id))
	}
}
