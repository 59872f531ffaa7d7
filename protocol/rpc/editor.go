package rpc

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"
)

// lineSize is the room that most lines to the editor need.
const lineSize = 512

// maxEditorMessage bounds what is kept of the message of an editor's error.
const maxEditorMessage = 200

// An editor is a protocol.Editor over the wire. jsonrpc2 keeps which questions
// are pending and ends them with the connection; the table here has what must
// not go through its hands: params, the answer, and what was given up.
type editor struct {
	log      *zerolog.Logger
	queue    *queue
	counters *Counters
	conn     *jsonrpc2.Conn // set before the Sidecar is bound
	unwanted atomic.Pointer[map[string]bool]
	last     atomic.Int64 // number of the last id

	mu   sync.Mutex // guards the fields below
	open map[string]*question
	// abandoned are ids that nobody waits for. The library still does: the
	// reader answers them in the editor's stead (see stream.ReadObject).
	abandoned []string
}

// A question is a request to the editor that is not answered.
type question struct {
	method string
	params [][]byte                 // the rest of the line, from the params on
	told   func(protocol.RequestID) // hears the id when the line is queued; may be nil
	answer []byte                   // set when it is taken out of the table
	failed bool                     // answer is an error
}

// Call implements protocol.Editor. When the connection has no more input, all
// calls fail with ErrEditorGone. An editor that does not know the method makes
// an error that matches ErrMethodNotFound; any other error of the editor is a
// *protocol.Error of kind upstreamError (or cancelled) with the editor's code
// in Data.Upstream.
func (e *editor) Call(ctx context.Context, method string, params, result any, id func(protocol.RequestID)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	tail, err := rawjson.Parts([]byte(`,"params":`), orEmpty(params))
	if err != nil {
		return fmt.Errorf("rpc: encoding the params of %s: %w", method, err)
	}
	q := &question{method: method, params: closeLine(tail), told: id}
	name := "s-" + strconv.FormatInt(e.last.Add(1), 10)
	e.mu.Lock()
	e.open[name] = q
	e.mu.Unlock()
	// The library waits for the answer under this id; WriteObject writes the
	// line from the table.
	waiter, err := e.conn.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Str: name, IsString: true}))
	if err == nil {
		err = waiter.Wait(ctx, nil)
	}
	switch {
	case err == nil:
		return q.read(result)
	case ctx.Err() != nil && !errors.Is(err, jsonrpc2.ErrClosed):
		if !e.abandon(name) {
			return q.read(result) // it was answered in the same moment
		}
		e.queue.send([][]byte{[]byte(`{"jsonrpc":"2.0","method":"` + protocol.MethodCancelRequest + `","params":{"id":"` + name + "\"}}\n")}, "")
		return context.Cause(ctx)
	case !e.take(name, nil, false):
		return q.read(result) // the answer was the last line
	case errors.Is(err, jsonrpc2.ErrClosed):
		return fmt.Errorf("asking the editor (%s): %w", method, ErrEditorGone)
	}
	return fmt.Errorf("asking the editor (%s): %w", method, err)
}

// read decodes the answer. It is called after the question was taken out.
func (q *question) read(result any) error {
	if q.failed {
		return q.refusal()
	}
	if result == nil || rawjson.Kind(q.answer) == 'n' {
		return nil
	}
	if err := decode(q.answer, result, false); err != nil {
		return protocol.Errorf(protocol.KindUpstreamError, "the editor's answer to %s does not fit: %v", q.method, err)
	}
	return nil
}

// refusal is the editor's error.
func (q *question) refusal() error {
	var wire struct {
		Code    int64  `json:"code"`
		Message string `json:"message,omitzero"`
	}
	if decode(q.answer, &wire, false) != nil {
		wire.Message = "an error that is no JSON-RPC error"
	}
	wire.Message = clean(wire.Message, maxEditorMessage)
	switch protocol.Code(wire.Code) {
	case protocol.CodeMethodNotFound:
		return protocol.Errorf(protocol.KindClientUnsupported, "%w: %s", ErrMethodNotFound, q.method)
	case protocol.CodeCancelled:
		return protocol.Errorf(protocol.KindCancelled, "the editor cancelled %s", q.method)
	}
	err := protocol.Errorf(protocol.KindUpstreamError, "the editor answered %s with error %d: %s", q.method, wire.Code, wire.Message)
	err.Data.Upstream = &protocol.UpstreamError{Code: wire.Code, Message: wire.Message}
	return err
}

// take takes a question out of the table and gives it its answer. It reports
// false if the question is not open.
func (e *editor) take(name string, answer []byte, failed bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.open[name]
	if q == nil {
		return false
	}
	delete(e.open, name)
	q.answer, q.failed = answer, failed
	return true
}

// abandon gives a question up, unless it was answered.
func (e *editor) abandon(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[name] == nil {
		return false
	}
	delete(e.open, name)
	e.abandoned = append(e.abandoned, name)
	return true
}

// nextAbandoned returns an id that the library must be told to forget.
func (e *editor) nextAbandoned() (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.abandoned)
	if n == 0 {
		e.abandoned = nil
		return "", false
	}
	name := e.abandoned[n-1]
	e.abandoned = e.abandoned[:n-1]
	return name, true
}

// line writes the request of an open question, which is about to be queued,
// and tells the one who asks its id. It runs inside Call.
func (e *editor) line(name string) [][]byte {
	e.mu.Lock()
	q := e.open[name]
	e.mu.Unlock()
	if q == nil {
		return nil
	}
	if q.told != nil {
		q.told(protocol.RequestID(name))
	}
	head := append([]byte(`{"jsonrpc":"2.0","id":"`), name...)
	head = append(head, `","method":`...)
	head = rawjson.AppendString(head, q.method)
	return append([][]byte{head}, q.params...)
}

// Done implements protocol.Editor.
func (e *editor) Done() <-chan struct{} { return e.conn.DisconnectNotify() }

// Notify implements protocol.Editor. Progress of an item goes out at most ten
// times a second and only the latest of it; everything else goes out as it is.
// Notifications that the editor opted out of are dropped.
func (e *editor) Notify(method string, params any) {
	if u := e.unwanted.Load(); u != nil && (*u)[method] {
		return
	}
	head := append(make([]byte, 0, lineSize), `{"jsonrpc":"2.0","method":`...)
	head = append(rawjson.AppendString(head, method), `,"params":`...)
	parts, err := rawjson.Parts(head, orEmpty(params))
	if err != nil {
		e.log.Error().Str("method", method).Err(err).Msg("a notification could not be encoded")
		return
	}
	closeLine(parts)
	if about := lossy[method]; about != nil {
		if key := about(params); key != "" {
			e.queue.sendLossy(parts, key)
			return
		}
	}
	key := ""
	if about := superseding[method]; about != nil {
		key = about(params)
	}
	e.queue.send(parts, key)
}

// unwant takes the list of notifications that the editor does not want.
func (e *editor) unwant(c *protocol.ClientCapabilities) {
	names := map[string]bool{}
	if c != nil {
		for _, n := range c.OptOutNotificationMethods {
			names[n] = true
		}
	}
	e.unwanted.Store(&names)
}

// orEmpty makes params an object where there are none.
func orEmpty(params any) any {
	if v := reflect.ValueOf(params); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return struct{}{}
	}
	return params
}

// closeLine ends an object and its line in the last piece of Parts.
func closeLine(parts [][]byte) [][]byte {
	last := len(parts) - 1
	parts[last] = append(parts[last], '}', '\n')
	return parts
}
