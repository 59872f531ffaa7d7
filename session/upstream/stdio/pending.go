package stdio

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The methods that a Conn knows by name.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// A pending is a request of ours without an answer.
type pending struct {
	method string
	answer chan answer // of a Call, room for one; nil: the SDK's
	sdkID  jsonrpc.ID
	frame  *frame
	probe  *time.Timer // of server/discover, may be nil
}

// An answer is what a Call waits for.
type answer struct {
	result json.RawMessage
	err    error
}

func (p *pending) stopProbe() {
	if p.probe != nil {
		p.probe.Stop()
	}
}

// countCalls returns how many requests expect an answer soon. A subscription
// is answered when it ends.
func countCalls(waiting map[int64]*pending) (n int) {
	for _, p := range waiting {
		if p.method != methodListen {
			n++
		}
	}
	return n
}

// several reports whether more than one request is waiting for its answer,
// beside the SDK's that waits for news as long as the connection lives.
func (c *Conn) several() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listens {
		return len(c.pending) > 2
	}
	return len(c.pending) > 1
}

// register adds a request of the SDK.
func (c *Conn) register(id int64, p *pending) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return c.closedError(nil)
	}
	switch p.method {
	case methodDiscover:
		c.probed = true
	case methodListen:
		c.listens = true
	}
	c.pending[id] = p
	return nil
}

// registerOwn adds a request of Call and gives it an id.
func (c *Conn) registerOwn(p *pending) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return 0, c.closedError(nil)
	}
	for {
		if c.ownID++; c.ownID > lastID {
			c.ownID = firstID
		}
		if _, taken := c.pending[c.ownID]; !taken {
			c.pending[c.ownID] = p
			return c.ownID, nil
		}
	}
}

// takePending removes and returns a request; nil if there is none of that id.
func (c *Conn) takePending(id int64) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	delete(c.pending, id)
	return p
}

// takeAnswered is takePending for a request that the server has answered. late
// reports that the answer was given up before.
func (c *Conn) takeAnswered(id int64) (p *pending, late bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p = c.pending[id]
	if p == nil {
		late = c.late.take(id)
		c.heard = c.heard || late
		return nil, late
	}
	c.heard = true
	delete(c.pending, id)
	return p, false
}

// abandon gives a request up: a late answer to it is dropped in silence.
func (c *Conn) abandon(id int64) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p != nil {
		delete(c.pending, id)
		c.late.add(id)
	}
	return p
}

// onlyCall returns the id of the one request that expects an answer, if there
// is exactly one. doubtful tells that a late answer to a request given up could
// be mistaken for its answer.
func (c *Conn) onlyCall() (id int64, ok, doubtful bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if countCalls(c.pending) != 1 {
		return 0, false, false
	}
	for id, p := range c.pending {
		if p.method != methodListen {
			return id, true, len(c.late.ids) > 0
		}
	}
	return 0, false, false
}

// givenUp handles the SDK's giving up of a request. It reports true when the
// server is not to hear of it: the request was still queued, or is initialize,
// which must not be cancelled.
func (c *Conn) givenUp(params json.RawMessage) bool {
	id, ok := answerID(rawjson.Member(params, "requestId"))
	if !ok {
		return false
	}
	p := c.abandon(id)
	if p == nil {
		return false
	}
	p.stopProbe()
	return p.frame.drop() || p.method == methodInitialize
}

// startProbe bounds the wait for the answer to server/discover.
func (c *Conn) startProbe(id int64, p *pending) {
	if c.opts.ProbeTimeout <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[id] != p {
		return
	}
	p.probe = time.AfterFunc(c.opts.ProbeTimeout, func() {
		if c.abandon(id) == nil {
			return
		}
		c.deliver(&jsonrpc.Response{ID: p.sdkID, Error: &jsonrpc.Error{
			Code:    jsonrpc.CodeMethodNotFound,
			Message: "server/discover: no answer within " + c.opts.ProbeTimeout.String(),
		}})
	})
}

// A lateIDSet remembers the last ids of requests that were given up.
type lateIDSet struct {
	ids   map[int64]struct{}
	order []int64 // oldest first; may hold ids that were taken
}

func (s *lateIDSet) add(id int64) {
	if s.ids == nil {
		s.ids = make(map[int64]struct{})
	}
	if len(s.order) == lateIDs {
		delete(s.ids, s.order[0])
		s.order = append(s.order[:0], s.order[1:]...)
	}
	s.ids[id] = struct{}{}
	s.order = append(s.order, id)
}

func (s *lateIDSet) take(id int64) bool {
	_, ok := s.ids[id]
	delete(s.ids, id)
	return ok
}

// foreignIDs keeps the ids of the server's requests that the SDK would change,
// such as 1.5 or integers above 2^53, while the SDK holds stand-ins for them.
type foreignIDs struct {
	next int
	raw  map[string]string // stand-in to id
}

// maxForeign bounds how many of them can be open.
const maxForeign = 1000

// hold returns the stand-in for raw; false when too many are open.
func (f *foreignIDs) hold(raw []byte) (string, bool) {
	if len(f.raw) >= maxForeign {
		return "", false
	}
	if f.raw == nil {
		f.raw = make(map[string]string)
	}
	f.next++
	standIn := "mcp-sidecar/id/" + strconv.Itoa(f.next)
	f.raw[standIn] = string(raw)
	return standIn, true
}

func (f *foreignIDs) take(standIn string) (string, bool) {
	raw, ok := f.raw[standIn]
	delete(f.raw, standIn)
	return raw, ok
}
