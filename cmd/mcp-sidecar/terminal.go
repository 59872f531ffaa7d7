package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// terminal is the editor of the sub-commands that have a person before them:
// questions are asked on the terminal, news go to stderr. It implements
// protocol.Editor.
//
// What a server says is shown without characters that move the cursor, and
// behind a mark where it has a line of its own, so that it can't be taken for
// words of ours.
type terminal struct {
	in *bufio.Reader // nil when nobody is there to ask

	// asking is full while a question is open: there is one at a time. Who
	// filled it owns reading.
	asking chan struct{}
	// reading gets the line that the person is typing; nil when none is read.
	reading chan typed

	printing sync.Mutex // guards out
	out      io.Writer
}

// typed is a line, or why there is none.
type typed struct {
	line string
	err  error
}

// newTerminal returns an editor over a person's streams. If in is no terminal,
// there is nobody to ask.
func newTerminal(in io.Reader, out io.Writer) *terminal {
	if !isTerminal(in) {
		in = nil
	}
	return newTerminalOn(in, out)
}

// newTerminalOn returns an editor that asks whoever is at in, which may be nil.
func newTerminalOn(in io.Reader, out io.Writer) *terminal {
	t := &terminal{asking: make(chan struct{}, 1), out: out}
	if in != nil {
		t.in = bufio.NewReader(in)
	}
	return t
}

// capabilities says what can be asked here.
func (t *terminal) capabilities() *protocol.ClientCapabilities {
	caps := &protocol.MCPCapabilities{}
	if t.in != nil {
		caps.Approvals, caps.Elicitation = true, &protocol.ElicitationCapability{Form: true, URL: true, ApplyDefaults: true}
	}
	return &protocol.ClientCapabilities{MCP: caps}
}

func (t *terminal) print(format string, args ...any) {
	t.printing.Lock()
	defer t.printing.Unlock()
	fmt.Fprintf(t.out, format, args...)
}

// Notify implements protocol.Notifier.
func (t *terminal) Notify(_ string, params any) {
	switch n := params.(type) {
	case *protocol.WarningNotification:
		t.print("warning: %s\n", onLine(n.Message))
	case *protocol.ConfigWarningNotification:
		t.print("config: %s\n", onLine(n.Summary))
	case *protocol.StartupStatusUpdatedNotification:
		if n.Status == protocol.StartupFailed {
			var b strings.Builder
			fmt.Fprintf(&b, "server %q failed (%s): %s\n", n.Name, n.Kind, onLine(n.Error))
			for _, line := range n.StderrTail {
				fmt.Fprintf(&b, "  stderr: %s\n", onLine(line))
			}
			if n.Hint != "" {
				fmt.Fprintf(&b, "  hint: %s\n", onLine(n.Hint))
			}
			t.print("%s", b.String())
		}
	case *protocol.ItemProgressNotification:
		if n.Total != nil {
			t.print("progress: %g of %g %s\n", n.Progress, *n.Total, onLine(n.Message))
		} else {
			t.print("progress: %g %s\n", n.Progress, onLine(n.Message))
		}
	}
}

var (
	errNobody = errors.New("nobody is there to ask")
	// errLeft ends a question whose person has closed the terminal's input.
	errLeft = errors.New("the input has ended")
)

// Call implements protocol.Editor.
func (t *terminal) Call(ctx context.Context, method string, params, result any, _ func(protocol.RequestID)) error {
	p, ok := params.(*protocol.ElicitationRequestParams)
	if !ok {
		return protocol.Errorf(protocol.KindMethodNotFound, "no method %q", method)
	}
	r := result.(*protocol.ElicitationRequestResult)
	if t.in == nil {
		return errNobody
	}
	select {
	case t.asking <- struct{}{}:
		defer func() { <-t.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	answer, err := t.ask(ctx, p)
	switch {
	case ctx.Err() != nil:
		t.print("\n(The question is void.)\n")
		return context.Cause(ctx)
	case err != nil:
		answer = protocol.ElicitationRequestResult{Action: protocol.AnswerCancel}
	}
	*r = answer
	return nil
}

// Done implements protocol.Editor: a person may always say something.
func (t *terminal) Done() <-chan struct{} { return nil }

// ask puts a question and reads the answer.
func (t *terminal) ask(ctx context.Context, p *protocol.ElicitationRequestParams) (protocol.ElicitationRequestResult, error) {
	var meta approvalMeta
	if json.Unmarshal(p.Meta, &meta) == nil && meta.Kind == "mcp_tool_call" {
		return t.approve(ctx, p.Message, meta)
	}
	t.print("\nServer %q asks:\n%s", p.ServerName, marked(p.Message))
	if p.Mode == protocol.QuestionURL {
		t.print("  open %s\n", elicit.Clean(p.URL, maxShown))
		said, err := t.choice(ctx, "Done there? [y/N] ", "y", "yes")
		return accepted(said, nil), err
	}
	fields, err := formFields(p.RequestedSchema)
	if err != nil {
		return protocol.ElicitationRequestResult{}, err
	}
	prompt := "Accept? [y/N] "
	if len(fields) > 0 {
		prompt = "Answer? [y/N] "
	}
	said, err := t.choice(ctx, prompt, "y", "yes")
	if said == "" || err != nil {
		return accepted("", nil), err
	}
	content, err := t.fill(ctx, fields)
	return accepted(said, content), err
}

// approvalMeta is what is shown of the _meta of an approval.
type approvalMeta struct {
	Kind    string                   `json:"codex_approval_kind"`
	Params  json.RawMessage          `json:"tool_params"`
	Reason  string                   `json:"reason"`
	Changes []string                 `json:"definition_changes"`
	Persist []protocol.ApprovalScope `json:"persist"`
}

// approve asks whether a tool may run. For this session is no choice: it is the
// one call.
func (t *terminal) approve(ctx context.Context, message string, meta approvalMeta) (protocol.ElicitationRequestResult, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", onLine(message))
	if meta.Params != nil {
		fmt.Fprintf(&b, "  with %s\n", shownJSON(meta.Params, maxShownParams))
	}
	if meta.Reason != "" {
		fmt.Fprintf(&b, "  asked because %s\n", onLine(meta.Reason))
	}
	for _, change := range meta.Changes {
		fmt.Fprintf(&b, "  changed: %s\n", onLine(change))
	}
	t.print("%s", b.String())
	prompt, words := "Allow? [y/N] ", []string{"y", "yes"}
	if slices.Contains(meta.Persist, protocol.ApprovalAlways) {
		prompt, words = "Allow? [y/N, a = yes, and don't ask me again] ", append(words, "a")
	}
	said, err := t.choice(ctx, prompt, words...)
	answer := accepted(said, json.RawMessage(`{}`))
	if said == "a" {
		answer.Meta = protocol.AnswerMeta(`{"persist":"always"}`)
	}
	return answer, err
}

// accepted is the answer to a question: yes if anything that fits was said.
func accepted(said string, content json.RawMessage) protocol.ElicitationRequestResult {
	if said == "" {
		return protocol.ElicitationRequestResult{Action: protocol.AnswerDecline}
	}
	return protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: content}
}

// choice returns the word that the person typed, if it is one of words.
func (t *terminal) choice(ctx context.Context, prompt string, words ...string) (string, error) {
	line, err := t.line(ctx, prompt)
	if line = strings.ToLower(line); err != nil || !slices.Contains(words, line) {
		return "", err
	}
	return line, nil
}

// line returns what the person types after a prompt. A read can't be
// interrupted: when ctx ends, it is left to the next question, unless a line
// has come before that is asked, which was not meant for it.
func (t *terminal) line(ctx context.Context, prompt string) (string, error) {
	if t.reading != nil {
		select {
		case <-t.reading:
			t.reading = nil
		default:
		}
	}
	t.print("%s", prompt)
	if t.reading == nil {
		t.reading = make(chan typed, 1)
		go func(in *bufio.Reader, out chan<- typed) { // ends with the line, or the process
			line, err := in.ReadString('\n')
			out <- typed{line, err}
		}(t.in, t.reading)
	}
	select {
	case got := <-t.reading:
		t.reading = nil
		if got.line == "" && got.err != nil {
			t.print("\n")
			return "", errLeft
		}
		return strings.TrimSpace(got.line), nil // a last line may lack its end
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
