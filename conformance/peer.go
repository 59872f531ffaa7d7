package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

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
	p.mu.Lock()
	cancel := p.running[string(rawjson.Member(params, "requestId"))]
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
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
		name, _ := rawjson.String(rawjson.Member(m.params, "name"))
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
