package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
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
		caps.Approvals, caps.Elicitation = true, &protocol.ElicitationCapability{Form: true}
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

// ask puts a question and reads the answer, field by field.
func (t *terminal) ask(p *protocol.ElicitationRequestParams) protocol.ElicitationRequestResult {
	fmt.Fprintf(t.out, "\n[%s] %s\n", p.ServerName, p.Message)
	var meta struct {
		Params json.RawMessage `json:"tool_params"`
	}
	if json.Unmarshal(p.Meta, &meta) == nil && meta.Params != nil {
		fmt.Fprintf(t.out, "  with %s\n", meta.Params)
	}
	var form struct {
		Properties map[string]struct {
			Type, Title, Description string
			Enum                     []string
		} `json:"properties"`
	}
	if json.Unmarshal(p.RequestedSchema, &form) != nil {
		return protocol.ElicitationRequestResult{Action: protocol.AnswerCancel}
	}
	if !t.yes("Allow? [y/N] ") {
		return protocol.ElicitationRequestResult{Action: protocol.AnswerDecline}
	}
	names := make([]string, 0, len(form.Properties))
	for name := range form.Properties {
		names = append(names, name)
	}
	sort.Strings(names)
	content := map[string]json.RawMessage{}
	for _, name := range names {
		f := form.Properties[name]
		label := f.Title
		if label == "" {
			label = name
		}
		if len(f.Enum) > 0 {
			label += " (" + strings.Join(f.Enum, ", ") + ")"
		}
		line, ok := t.line(label + ": ")
		if !ok {
			return protocol.ElicitationRequestResult{Action: protocol.AnswerCancel}
		}
		if line == "" {
			continue // the default, if there is one
		}
		value := json.RawMessage(line)
		if f.Type == "string" || !json.Valid(value) {
			value, _ = json.Marshal(line) // a string always has a form
		}
		content[name] = value
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return protocol.ElicitationRequestResult{Action: protocol.AnswerCancel}
	}
	return protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: raw}
}

func (t *terminal) yes(prompt string) bool {
	line, ok := t.line(prompt)
	line = strings.ToLower(line)
	return ok && (line == "y" || line == "yes")
}

func (t *terminal) line(prompt string) (string, bool) {
	fmt.Fprint(t.out, prompt)
	line, err := t.in.ReadString('\n')
	return strings.TrimSpace(line), err == nil
}
