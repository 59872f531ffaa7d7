package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A person answers the questions of the sidecar.
type person interface {
	answer(ctx context.Context, q *protocol.ElicitationRequestParams) (*protocol.ElicitationRequestResult, error)
}

// isApproval reports whether a question is whether a tool may run.
func isApproval(q *protocol.ElicitationRequestParams) bool {
	var meta struct {
		Kind string `json:"codex_approval_kind"`
	}
	return json.Unmarshal(q.Meta, &meta) == nil && meta.Kind == "mcp_tool_call"
}

// played is the person that the demo plays: one who allows the tool for the
// session, and for good when asked again, and wants a table for two.
type played struct {
	screen *screen
	asked  bool // before; a question comes at a time
}

const playedBooking = `{"people":2,"time":"19:30"}`

func (p *played) answer(_ context.Context, q *protocol.ElicitationRequestParams) (*protocol.ElicitationRequestResult, error) {
	if !isApproval(q) {
		p.screen.say("(The demo fills the form in. With --interactive you do.)")
		return &protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: json.RawMessage(playedBooking)}, nil
	}
	answer := allow(protocol.ApprovalSession)
	if p.asked {
		answer = allow(protocol.ApprovalAlways)
		p.screen.say("(The demo answers in your place: yes, and don't ask me again.)")
	} else {
		p.screen.say("(The demo answers in your place: yes, for this session. With --interactive you are asked.)")
	}
	p.asked = true
	return answer, nil
}

// allow answers an approval with yes, for so long.
func allow(scope protocol.ApprovalScope) *protocol.ElicitationRequestResult {
	r := &protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: json.RawMessage(`{}`)}
	if scope != protocol.ApprovalOnce {
		r.Meta = json.RawMessage(`{"persist":"` + string(scope) + `"}`)
	}
	return r
}

// asked is the person at the terminal.
type asked struct {
	screen *screen
	echo   bool
	lines  <-chan string // closed when there are no more
}

// newAsked reads lines from in.
func newAsked(s *screen, in io.Reader, echo bool) *asked {
	lines := make(chan string)
	go func() { // ends with in, or with the process: a read can't be interrupted
		defer close(lines)
		for sc := bufio.NewScanner(in); sc.Scan(); {
			lines <- strings.TrimSpace(sc.Text())
		}
	}()
	return &asked{s, echo, lines}
}

var errNoInput = errors.New("demo: the input has ended before the question was answered")

func (a *asked) prompt(ctx context.Context, text string) (string, error) {
	a.screen.ask(text)
	select {
	case line, ok := <-a.lines:
		if !ok {
			return "", errNoInput
		}
		if a.echo {
			a.screen.typed(line)
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (a *asked) answer(ctx context.Context, q *protocol.ElicitationRequestParams) (*protocol.ElicitationRequestResult, error) {
	a.screen.say("")
	a.screen.say("%s asks: %s", q.ServerName, q.Message)
	if isApproval(q) {
		return a.approve(ctx)
	}
	yes, err := a.prompt(ctx, "Answer? [y/N] ")
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"y", "yes"}, strings.ToLower(yes)) {
		return &protocol.ElicitationRequestResult{Action: protocol.AnswerDecline}, nil
	}
	content, err := a.fill(ctx, q.RequestedSchema)
	if err != nil {
		return nil, err
	}
	return &protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: content}, nil
}

// approve asks whether a tool may run, and for how long.
func (a *asked) approve(ctx context.Context) (*protocol.ElicitationRequestResult, error) {
	said, err := a.prompt(ctx, "Allow? [y = once, s = for this session, a = don't ask me again, N] ")
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(said) {
	case "y", "yes":
		return allow(protocol.ApprovalOnce), nil
	case "s":
		return allow(protocol.ApprovalSession), nil
	case "a":
		return allow(protocol.ApprovalAlways), nil
	}
	return &protocol.ElicitationRequestResult{Action: protocol.AnswerDecline}, nil
}

// fill asks for each field of a form, in its order of names.
func (a *asked) fill(ctx context.Context, form json.RawMessage) (json.RawMessage, error) {
	var f struct {
		Properties map[string]struct {
			Type, Title string
			Enum        []string
		}
	}
	if err := json.Unmarshal(form, &f); err != nil {
		return nil, fmt.Errorf("demo: reading the form of a question: %w", err)
	}
	names := make([]string, 0, len(f.Properties))
	for name := range f.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	content := map[string]any{}
	for _, name := range names {
		field := f.Properties[name]
		label := field.Title
		if label == "" {
			label = name
		}
		if len(field.Enum) > 0 {
			label += " (" + strings.Join(field.Enum, ", ") + ")"
		}
		line, err := a.prompt(ctx, label+": ")
		if err != nil {
			return nil, err
		}
		content[name] = line
		if n, err := strconv.ParseInt(line, 10, 64); err == nil && field.Type != "string" {
			content[name] = n
		}
	}
	return json.Marshal(content)
}

// A witness remembers what was asked and answered since it was last looked at.
type witness struct {
	person person

	mu     sync.Mutex // guards what follows
	events []event
	fault  error // why a question was not answered
}

type event struct {
	question *protocol.ElicitationRequestParams
	answer   *protocol.ElicitationRequestResult
}

// request is a client's Request.
func (w *witness) request(ctx context.Context, name string, params json.RawMessage) (any, error) {
	if name != protocol.ElicitationRequest.Name {
		return nil, fmt.Errorf("no method %s", name)
	}
	q := &protocol.ElicitationRequestParams{}
	if err := json.Unmarshal(params, q); err != nil {
		return nil, fmt.Errorf("reading a question: %w", err)
	}
	answer, err := w.person.answer(ctx, q)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.fault = err
		return nil, err
	}
	w.events = append(w.events, event{q, answer})
	return answer, nil
}

// take returns what happened and forgets it.
func (w *witness) take() ([]event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	events, fault := w.events, w.fault
	w.events, w.fault = nil, nil
	return events, fault
}
