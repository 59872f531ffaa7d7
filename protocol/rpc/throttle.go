package rpc

import (
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// progressInterval is the least time between two progress notifications of one
// item: ten a second.
const progressInterval = 100 * time.Millisecond

// lossy names the notifications of which only the latest matters. The function
// returns what they are about; "" means that this one is sent like any other.
// All others are never lost.
var lossy = map[string]func(params any) string{
	protocol.ItemProgress.Name: func(params any) string {
		if p, ok := params.(*protocol.ItemProgressNotification); ok && p.ItemID != "" {
			return protocol.ItemProgress.Name + " " + string(p.ThreadID) + " " + string(p.ItemID)
		}
		return ""
	},
}

// superseding names the notifications after which those of the key returned
// must not come any more.
var superseding = map[string]func(params any) string{
	protocol.ItemCompleted.Name: func(params any) string {
		if p, ok := params.(*protocol.ItemCompletedNotification); ok && p.Item.ID != "" {
			return protocol.ItemProgress.Name + " " + string(p.ThreadID) + " " + string(p.Item.ID)
		}
		return ""
	},
}

// A throttle spaces the lossy notifications of one key. It exists while one is
// unwritten or was sent less than progressInterval ago.
type throttle struct {
	queued *outgoing
	held   [][]byte // the latest that has to wait, nil if none
	timer  *time.Timer
}

// sendLossy queues a notification of which only the latest matters: it takes
// the place of one with the same key that the writer has not taken, or waits
// until the interval is over, or goes as it is.
func (q *queue) sendLossy(parts [][]byte, key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.cause != nil {
		return
	}
	t := q.slow[key]
	if t == nil {
		t = &throttle{queued: newOutgoing(parts)}
		t.timer = time.AfterFunc(progressInterval, func() { q.tick(key, t) })
		q.slow[key] = t
		q.pushLocked(t.queued, q.open)
		return
	}
	if !t.queued.taken {
		q.replaceLocked(t.queued, parts)
		return
	}
	if t.held != nil {
		q.counters.Coalesced.Add(1)
	}
	t.held = parts
}

func (q *queue) replaceLocked(m *outgoing, parts [][]byte) {
	n := newOutgoing(parts)
	q.bytes += n.size - m.size
	m.parts, m.size = n.parts, n.size
	q.counters.Coalesced.Add(1)
}

// tick ends an interval of t.
func (q *queue) tick(key string, t *throttle) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.slow[key] != t {
		return
	}
	switch {
	case t.held != nil:
		t.queued, t.held = newOutgoing(t.held), nil
		q.pushLocked(t.queued, q.open)
	case t.queued.taken:
		delete(q.slow, key)
		return
	}
	if q.slow[key] == t { // the push may have ended it all
		t.timer.Reset(progressInterval)
	}
}

// endThrottleLocked forgets a key and what waits there.
func (q *queue) endThrottleLocked(key string) {
	t := q.slow[key]
	if t == nil {
		return
	}
	t.timer.Stop()
	delete(q.slow, key)
	if t.held != nil {
		q.counters.Coalesced.Add(1)
	}
}

// flushThrottlesLocked queues all that waits.
func (q *queue) flushThrottlesLocked() {
	for _, t := range q.slow {
		if t.held != nil {
			q.pushLocked(newOutgoing(t.held), q.open)
			t.held = nil
		}
	}
}
