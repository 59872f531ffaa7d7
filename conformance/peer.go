package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A server is a scripted MCP server: what is common to all its connections.
type server struct {
	name string
	spec *serverSpec

	mu     sync.Mutex         // guards the fields below; never held across a send
	got    []string           // every line that was received
	looked int                // how many of them the script has looked at
	starts int                // how often it was started
	tools  []json.RawMessage  // replaces the pages of the spec, if not nil
	count  map[string]int     // requests so far, by method or tool
	peers  map[*peer]struct{} // the connections
	held   []chan struct{}    // replies that wait for a release
	status int                // what HTTP answers with, 0 to serve
	era    int                // counts how often HTTP forgot its sessions
}

func newServer(name string, spec *serverSpec) *server {
	return &server{name: name, spec: spec, count: map[string]int{}, peers: map[*peer]struct{}{}}
}

// A peer is one connection of a scripted server, or one run of its process.
type peer struct {
	server *server
	start  startSpec
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	// How to behave on the outside. exit ends the process; write writes a
	// line without regard to the protocol. Over HTTP both do nothing.
	exit        func(code int)
	write       func(line string)
	stderr      func(line string)
	closeStdout func()

	mu      sync.Mutex // guards the fields below
	hung    bool
	asked   int
	waiting map[string]chan json.RawMessage // our questions, by id
	running map[string]context.CancelFunc   // requests, by raw id
	listens []string                        // raw ids of subscriptions/listen
	news    func(line []byte)               // where notifications of ours go
}

// connect enters a connection. Its owner has to call leave.
func (s *server) connect(ctx context.Context) *peer {
	p := &peer{server: s, waiting: map[string]chan json.RawMessage{}, running: map[string]context.CancelFunc{},
		exit: func(int) {}, write: func(string) {}, stderr: func(string) {}, closeStdout: func() {}}
	p.ctx, p.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts++
	if t := s.spec.Start.Times; t == 0 || s.starts <= t {
		p.start = s.spec.Start
	}
	s.peers[p] = struct{}{}
	return p
}

func (p *peer) leave() {
	p.cancel()
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	delete(p.server.peers, p)
}

// note keeps a line that was received.
func (s *server) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, line)
}

// envelope is a JSON-RPC message, its members raw.
type envelope struct {
	id, method, params, result, err json.RawMessage
}

func parseEnvelope(line []byte) (envelope, error) {
	var m envelope
	err := rawjson.Object(line, func(key, value []byte) error {
		switch string(key) {
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
		return nil
	})
	return m, err
}

// receive handles one line. send takes what is to be said about it, and is
// called from other goroutines too; done is called once when nothing more will
// be. The bytes of line are kept.
func (p *peer) receive(line []byte, send func([]byte), done func()) {
	p.server.note(string(line))
	m, err := parseEnvelope(line)
	p.mu.Lock()
	hung := p.hung
	p.mu.Unlock()
	if err != nil || hung || p.start.Silent {
		done()
		return
	}
	if m.method == nil { // an answer
		p.answered(m)
		done()
		return
	}
	if m.id == nil {
		if name, _ := rawjson.String(m.method); name == "notifications/cancelled" {
			p.cancelled(m.params)
		}
		done()
		return
	}
	ctx, cancel := context.WithCancel(p.ctx)
	p.mu.Lock()
	p.running[string(m.id)] = cancel
	p.mu.Unlock()
	go func() { // ends with the answer, a cancellation, or the connection
		defer done()
		defer func() {
			cancel()
			p.mu.Lock()
			delete(p.running, string(m.id))
			p.mu.Unlock()
		}()
		p.request(ctx, m, send)
	}()
}

func (p *peer) answered(m envelope) {
	p.mu.Lock()
	ch := p.waiting[string(m.id)]
	delete(p.waiting, string(m.id))
	p.mu.Unlock()
	if ch == nil {
		return
	}
	if m.result != nil {
		ch <- m.result // has room
	} else {
		ch <- fmt.Appendf(nil, `{"error":%s}`, m.err)
	}
}

func (p *peer) cancelled(params json.RawMessage) {
	_ = rawjson.Object(params, func(key, value []byte) error {
		if string(key) == "requestId" {
			p.mu.Lock()
			cancel := p.running[string(value)]
			p.mu.Unlock()
			if cancel != nil {
				cancel()
			}
		}
		return nil
	})
}

// request answers one request.
func (p *peer) request(ctx context.Context, m envelope, send func([]byte)) {
	s := p.server
	result := func(r string) { send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, r)) }
	fail := func(e string) { send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.id, e)) }
	unknown := `{"code":-32601,"message":"Method not found"}`
	method, _ := rawjson.String(m.method)
	modern := s.spec.Era >= eraModern
	switch method {
	case "server/discover":
		switch {
		case p.start.Probe == "exit":
			p.exit(1)
		case p.start.Probe == "silent":
		case !modern:
			fail(unknown)
		default:
			result(fmt.Sprintf(`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s%s,`+
				`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":%q,"version":%q}}}`,
				s.spec.Era, s.spec.Capabilities, s.spec.instructions(), s.spec.Name, s.spec.Version))
		}
	case "initialize":
		if modern {
			fail(unknown)
			return
		}
		result(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s%s,"serverInfo":{"name":%q,"version":%q}}`,
			s.spec.Era, s.spec.Capabilities, s.spec.instructions(), s.spec.Name, s.spec.Version))
	case "ping":
		result("{}")
	case "tools/list":
		if p.start.List == "silent" {
			return
		}
		result(s.page(m.params))
	case "subscriptions/listen":
		p.listen(ctx, m.id, send)
	case "tools/call":
		var name string
		_ = rawjson.Object(m.params, func(key, value []byte) error {
			if string(key) == "name" {
				name, _ = rawjson.String(value)
			}
			return nil
		})
		answers, ok := s.spec.calls[name]
		if !ok {
			fail(fmt.Sprintf(`{"code":-32602,"message":"Unknown tool: %s"}`, name))
			return
		}
		p.reply(ctx, m, answers, "tool "+name, send)
	default:
		answers, ok := s.spec.Methods[method]
		if !ok {
			fail(unknown)
			return
		}
		p.reply(ctx, m, answers, method, send)
	}
}

func (s *serverSpec) instructions() string {
	if s.Instructions == "" {
		return ""
	}
	return `,"instructions":` + string(rawjson.AppendString(nil, s.Instructions))
}

// page returns the result of tools/list for a cursor.
func (s *server) page(params json.RawMessage) string {
	at := 0
	var cursor string
	_ = rawjson.Object(params, func(key, value []byte) error {
		if string(key) == "cursor" {
			cursor, _ = rawjson.String(value)
		}
		return nil
	})
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

// reply carries out a reply of the spec.
func (p *peer) reply(ctx context.Context, m envelope, answers replies, key string, send func([]byte)) {
	s := p.server
	s.mu.Lock()
	r := answers.nth(s.count[key])
	again := hasMember(m.params, "inputResponses") // the same call, sent again with answers
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
	token := json.RawMessage("null")
	_ = rawjson.Object(params, func(key, value []byte) error {
		if string(key) != "_meta" {
			return nil
		}
		return rawjson.Object(value, func(key, value []byte) error {
			if string(key) == "progressToken" {
				token = value
			}
			return nil
		})
	})
	return token
}

func hasMember(object json.RawMessage, name string) bool {
	found := false
	_ = rawjson.Object(object, func(key, _ []byte) error {
		found = found || string(key) == name
		return nil
	})
	return found
}

// elicit asks what a reply asks, in the way of the era, and returns the
// answers. done means that nothing more is to be said about the request now.
func (p *peer) elicit(ctx context.Context, m envelope, questions []json.RawMessage, send func([]byte)) (answer []byte, done bool) {
	if len(questions) == 0 {
		return nil, false
	}
	if p.server.spec.Era >= eraModern {
		var answers json.RawMessage
		_ = rawjson.Object(m.params, func(key, value []byte) error {
			if string(key) == "inputResponses" {
				answers = value
			}
			return nil
		})
		if answers != nil {
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
