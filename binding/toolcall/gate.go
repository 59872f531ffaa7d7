package toolcall

import (
	"context"
	"slices"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A Gate lets calls of one thread through to its servers: calls that may run
// beside others together, any other call alone, each server by itself. Who
// came first goes first, so that a call that must be alone is not starved by
// those that need not. The zero Gate is open. It starts no goroutine.
type Gate struct {
	mu    sync.Mutex // guards lanes and all that is in them
	lanes map[protocol.ServerName]*lane
}

// A lane is the gate of one server. It exists while somebody is inside or
// waits.
type lane struct {
	shared int // calls inside that share
	alone  bool
	queue  []*waiter
}

type waiter struct {
	shared bool
	// admitted is closed by whoever lets the waiter in, under Gate.mu.
	admitted chan struct{}
}

// A Passage says whether a call shares the gate.
type Passage bool

// The passages.
const (
	// Alone: no other call of the server runs.
	Alone Passage = false
	// Shared: other calls that share may run.
	Shared Passage = true
)

// Enter waits until a call may go to a server and returns how to leave again;
// leaving twice does nothing more. When ctx ends first its cause is returned,
// and the place in the queue is given up.
func (g *Gate) Enter(ctx context.Context, server protocol.ServerName, p Passage) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	shared := bool(p)
	leave = sync.OnceFunc(func() { g.leave(server, shared) })

	g.mu.Lock()
	l := g.lanes[server]
	if l == nil {
		l = &lane{}
		if g.lanes == nil {
			g.lanes = map[protocol.ServerName]*lane{}
		}
		g.lanes[server] = l
	}
	if len(l.queue) == 0 && l.open(shared) {
		l.enter(shared)
		g.mu.Unlock()
		return leave, nil
	}
	w := &waiter{shared: shared, admitted: make(chan struct{})}
	l.queue = append(l.queue, w)
	g.mu.Unlock()

	select {
	case <-w.admitted:
		return leave, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	if i := slices.Index(l.queue, w); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
		g.admit(server, l) // those behind may have waited for this one only
		g.mu.Unlock()
	} else {
		g.mu.Unlock()
		leave() // admitted in the same moment
	}
	return nil, context.Cause(ctx)
}

func (g *Gate) leave(server protocol.ServerName, shared bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[server]
	if shared {
		l.shared--
	} else {
		l.alone = false
	}
	g.admit(server, l)
}

// admit lets in from the head of the queue whom the lane takes, and forgets an
// empty lane. The caller holds g.mu.
func (g *Gate) admit(server protocol.ServerName, l *lane) {
	for len(l.queue) > 0 && l.open(l.queue[0].shared) {
		w := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		l.enter(w.shared)
		close(w.admitted)
	}
	if len(l.queue) == 0 && l.shared == 0 && !l.alone {
		delete(g.lanes, server)
	}
}

// open reports whether a call may enter beside those inside.
func (l *lane) open(shared bool) bool {
	return !l.alone && (shared || l.shared == 0)
}

func (l *lane) enter(shared bool) {
	if shared {
		l.shared++
	} else {
		l.alone = true
	}
}
