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

// played is the person that the demo plays: one who allows everything, each
// tool for longer than the one before, and wants a table for two.
type played struct{ screen *screen }

const playedBooking = `{"people":2,"time":"19:30"}`

func (p played) answer(_ context.Context, q *protocol.ElicitationRequestParams) (*protocol.ElicitationRequestResult, error) {
	approval, ok := approvalOf(q)
	switch {
	case !ok:
		p.screen.say("(The demo fills the form in. With --interactive you do.)")
		return &protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: json.RawMessage(playedBooking)}, nil
	case approval.Tool == addNote:
		p.screen.say("(The demo answers in your place: yes, for this session. With --interactive you are asked.)")
		return allowed(protocol.ApprovalSession), nil
	}
	p.screen.say("(The demo answers: yes, and don't ask me again.)")
	return allowed(protocol.ApprovalAlways), nil
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
	if approval, ok := approvalOf(q); ok {
		return a.allow(ctx, q, approval)
	}
	a.screen.say("%s asks: %s", q.ServerName, q.Message)
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

// allow asks whether a tool may run, and for how long.
func (a *asked) allow(ctx context.Context, q *protocol.ElicitationRequestParams, approval approvalMeta) (*protocol.ElicitationRequestResult, error) {
	a.screen.say("%s", q.Message)
	a.screen.say("  with %s", approval.Params)
	words := map[string]protocol.ApprovalScope{"y": protocol.ApprovalOnce, "yes": protocol.ApprovalOnce}
	choices := "y = this once"
	if slices.Contains(approval.Persist, protocol.ApprovalSession) {
		words["s"], choices = protocol.ApprovalSession, choices+", s = for this session"
	}
	if slices.Contains(approval.Persist, protocol.ApprovalAlways) {
		words["a"], choices = protocol.ApprovalAlways, choices+", a = and don't ask me again"
	}
	said, err := a.prompt(ctx, "Allow? ["+choices+", N = no] ")
	if err != nil {
		return nil, err
	}
	scope, ok := words[strings.ToLower(said)]
	if !ok {
		return &protocol.ElicitationRequestResult{Action: protocol.AnswerDecline}, nil
	}
	return allowed(scope), nil
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
