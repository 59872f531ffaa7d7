package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// maxClosed bounds how many closed questions are remembered, so that a late
// answer is told why it is.
const maxClosed = 1000

// events are the questions that came to the editor as events. The zero value
// has none.
type events struct {
	mu     sync.Mutex
	last   int64 // number of the last id
	opened map[protocol.RequestID]*event
	// closed says of the last maxClosed questions why; order has the oldest
	// first.
	closed map[protocol.RequestID]protocol.ResolvedReason
	order  []protocol.RequestID
}

// An event is a question that is open.
type event struct {
	id     protocol.RequestID
	thread protocol.ThreadID
	fit    func(elicit.Answer) (elicit.Answer, error)
	answer chan elicit.Answer // capacity 1; gets one answer, if any
}

// open enters a question.
func (s *events) open(from protocol.ThreadID, fit func(elicit.Answer) (elicit.Answer, error)) *event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		s.opened = map[protocol.RequestID]*event{}
		s.closed = map[protocol.RequestID]protocol.ResolvedReason{}
	}
	s.last++
	q := &event{id: protocol.RequestID("q-" + strconv.FormatInt(s.last, 10)), thread: from, fit: fit, answer: make(chan elicit.Answer, 1)}
	s.opened[q.id] = q
	return q
}

// close takes a question out. It is false when somebody did before.
func (s *events) close(id protocol.RequestID, why protocol.ResolvedReason) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened[id] == nil {
		return false
	}
	delete(s.opened, id)
	s.closed[id] = why
	if s.order = append(s.order, id); len(s.order) > maxClosed {
		delete(s.closed, s.order[0])
		s.order = s.order[1:]
	}
	return true
}

// find returns an open question, or an error that says what became of it.
func (s *events) find(id protocol.RequestID) (*event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.opened[id]; q != nil {
		return q, nil
	}
	if why, ok := s.closed[id]; ok {
		return nil, questionClosed(id, why)
	}
	if n, ok := number(id); ok && 0 < n && n <= s.last {
		return nil, protocol.Errorf(protocol.KindQuestionClosed, "requestId: question %q was closed long ago", id).WithPointer("/requestId")
	}
	e := protocol.Errorf(protocol.KindUnknownQuestion, "requestId: there is no question %q", id).WithPointer("/requestId")
	return nil, e.WithHint(`it is the requestId of mcpServer/elicitation/requested; a question that came as a request (with an id such as "s-1") is answered with the response to it`)
}

func questionClosed(id protocol.RequestID, why protocol.ResolvedReason) error {
	text := map[protocol.ResolvedReason]string{
		protocol.ResolvedAnswered:      "it was answered already",
		protocol.ResolvedCallCancelled: "its call was cancelled",
		protocol.ResolvedCallEnded:     "its call has ended, or the server withdrew it",
		protocol.ResolvedServerGone:    "its server is gone",
		protocol.ResolvedThreadClosed:  "its thread was closed",
		protocol.ResolvedEditorGone:    "the editor's input has ended",
	}[why]
	return protocol.Errorf(protocol.KindQuestionClosed, "requestId: question %q is closed: %s", id, text).WithPointer("/requestId")
}

// number reads the number of an id, spelled as open does.
func number(id protocol.RequestID) (int64, bool) {
	digits := string(id[min(len(id), len("q-")):])
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && string(id) == "q-"+strconv.FormatInt(n, 10)
}

// ElicitationResolve implements protocol.Sidecar. It runs on the reader and
// touches memory only; that the question is closed is told before the reply.
func (s *Session) ElicitationResolve(_ context.Context, p *protocol.ElicitationResolveParams) (*protocol.ElicitationResolveResult, error) {
	q, err := s.editor.asked.find(p.RequestID)
	if err != nil {
		return nil, err
	}
	switch p.Action {
	case protocol.AnswerAccept, protocol.AnswerDecline, protocol.AnswerCancel:
	default:
		return nil, protocol.Errorf(protocol.KindInvalidParams, "action: must be accept, decline or cancel; the question stays open").WithPointer("/action")
	}
	answer, err := q.fit(elicit.Answer{Action: p.Action, Content: p.Content, Meta: json.RawMessage(p.Meta)})
	var misfit *elicit.AnswerError
	if errors.As(err, &misfit) {
		return nil, protocol.Errorf(protocol.KindInvalidParams, "%v; the question stays open", misfit).WithPointer(misfit.Place())
	}
	if err != nil {
		return nil, fmt.Errorf("the answer to question %s: %w", q.id, err)
	}
	if !s.editor.asked.close(q.id, protocol.ResolvedAnswered) {
		_, err := s.editor.asked.find(q.id)
		return nil, err
	}
	s.editor.resolved(q.thread, q.id, protocol.ResolvedAnswered)
	q.answer <- answer
	return &protocol.ElicitationResolveResult{}, nil
}
