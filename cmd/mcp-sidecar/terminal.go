package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// terminal is the editor of the sub-commands that have a person before them:
// questions are asked on the terminal, news go to stderr. It implements
// protocol.Editor.
type terminal struct {
	in  *bufio.Reader // nil when nobody is there to ask
	out io.Writer

	asking sync.Mutex // one question at a time
}

// newTerminal returns an editor over a person's streams.
func newTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out}
	if isTerminal(in) {
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

// Notify implements protocol.Notifier.
func (t *terminal) Notify(_ string, params any) {
	switch n := params.(type) {
	case *protocol.WarningNotification:
		fmt.Fprintf(t.out, "warning: %s\n", n.Message)
	case *protocol.ConfigWarningNotification:
		fmt.Fprintf(t.out, "config: %s\n", n.Summary)
	case *protocol.StartupStatusUpdatedNotification:
		if n.Status == protocol.StartupFailed {
			fmt.Fprintf(t.out, "server %q failed (%s): %s\n", n.Name, n.Kind, n.Error)
			for _, line := range n.StderrTail {
				fmt.Fprintf(t.out, "  stderr: %s\n", line)
			}
			if n.Hint != "" {
				fmt.Fprintf(t.out, "  hint: %s\n", n.Hint)
			}
		}
	case *protocol.ItemProgressNotification:
		if n.Total != nil {
			fmt.Fprintf(t.out, "progress: %g of %g %s\n", n.Progress, *n.Total, n.Message)
		} else {
			fmt.Fprintf(t.out, "progress: %g %s\n", n.Progress, n.Message)
		}
	}
}

var errNobody = errors.New("nobody is there to ask")

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
	t.asking.Lock()
	defer t.asking.Unlock()
	answer := make(chan protocol.ElicitationRequestResult, 1)
	go func() { answer <- t.ask(p) }() // ends with the line that the person types, or the process
	select {
	case *r = <-answer:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Done implements protocol.Editor: a person may always say something.
func (t *terminal) Done() <-chan struct{} { return nil }

// ask puts a question and reads the answer, field by field.
func (t *terminal) ask(p *protocol.ElicitationRequestParams) protocol.ElicitationRequestResult {
	fmt.Fprintf(t.out, "\n[%s] %s\n", p.ServerName, p.Message)
	var meta struct {
		Params  json.RawMessage          `json:"tool_params"`
		Changes []string                 `json:"definition_changes"`
		Persist []protocol.ApprovalScope `json:"persist"`
	}
	_ = json.Unmarshal(p.Meta, &meta) // what can't be read is not shown
	if meta.Params != nil {
		fmt.Fprintf(t.out, "  with %s\n", meta.Params)
	}
	for _, change := range meta.Changes {
		fmt.Fprintf(t.out, "  changed: %s\n", change)
	}
	if p.Mode == protocol.QuestionURL {
		fmt.Fprintf(t.out, "  open %s\n", p.URL)
		return yesOrNo(t.choice("Done there? [y/N] ", "y", "yes") != "", nil)
	}
	always := slices.Contains(meta.Persist, protocol.ApprovalAlways)
	prompt, words := "Allow? [y/N] ", []string{"y", "yes"}
	if always {
		prompt, words = "Allow? [y/N, a = don't ask me again] ", append(words, "a")
	}
	said := t.choice(prompt, words...)
	if said == "" {
		return yesOrNo(false, nil)
	}
	content, ok := t.fill(p.RequestedSchema)
	if !ok {
		return protocol.ElicitationRequestResult{Action: protocol.AnswerCancel}
	}
	answer := yesOrNo(true, content)
	if said == "a" {
		answer.Meta = json.RawMessage(`{"persist":"always"}`)
	}
	return answer
}

func yesOrNo(yes bool, content json.RawMessage) protocol.ElicitationRequestResult {
	if !yes {
		return protocol.ElicitationRequestResult{Action: protocol.AnswerDecline}
	}
	return protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: content}
}

// A formField is a field of a form, as far as a terminal cares.
type formField struct {
	Type, Title, Description string
	Enum                     []string
	OneOf                    []formChoice
	Items                    struct {
		Enum  []string
		AnyOf []formChoice
	}
}

type formChoice struct{ Const, Title string }

// choices lists what a field may be chosen from.
func (f *formField) choices() []string {
	all := append(slices.Clone(f.Enum), f.Items.Enum...)
	for _, c := range append(slices.Clone(f.OneOf), f.Items.AnyOf...) {
		all = append(all, c.Const+" = "+c.Title)
	}
	return all
}

// read turns a typed line into the field's value.
func (f *formField) read(line string) json.RawMessage {
	var value any = line
	switch f.Type {
	case "string":
	case "array":
		list := []string{}
		for part := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		value = list
	default:
		if json.Valid([]byte(line)) {
			return json.RawMessage(line)
		}
	}
	raw, _ := json.Marshal(value) // strings always have a form
	return raw
}

// fill asks for the fields of a form. It is false when the person left.
func (t *terminal) fill(schema json.RawMessage) (content json.RawMessage, ok bool) {
	var form struct {
		Properties map[string]*formField `json:"properties"`
	}
	if json.Unmarshal(schema, &form) != nil {
		return nil, false
	}
	values := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		f := form.Properties[name]
		label := f.Title
		if label == "" {
			label = name
		}
		if choices := f.choices(); len(choices) > 0 {
			label += " (" + strings.Join(choices, ", ") + ")"
		} else if f.Description != "" {
			label += " (" + f.Description + ")"
		}
		line, ok := t.line(label + ": ")
		if !ok {
			return nil, false
		}
		if line != "" { // else the default, if there is one
			values[name] = f.read(line)
		}
	}
	raw, err := json.Marshal(values)
	return raw, err == nil
}

// choice returns the word that the person typed, if it is one of words.
func (t *terminal) choice(prompt string, words ...string) string {
	line, ok := t.line(prompt)
	line = strings.ToLower(line)
	if ok && slices.Contains(words, line) {
		return line
	}
	return ""
}

func (t *terminal) line(prompt string) (string, bool) {
	fmt.Fprint(t.out, prompt)
	line, err := t.in.ReadString('\n')
	return strings.TrimSpace(line), err == nil
}
