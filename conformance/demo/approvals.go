package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// The tools that a person is asked about.
const (
	addNote  protocol.ToolName = "add_note"
	addEvent protocol.ToolName = "create_calendar_event"
)

// A permit is a tool that runs unasked in a thread.
type permit struct {
	thread protocol.ThreadID
	tool   protocol.ToolName
}

// permits are what the person has said so far, and so what must follow from it.
type permits struct {
	session map[permit]bool            // allowed for as long as the thread lives
	file    map[protocol.ToolName]bool // allowed in config.toml
	mode    map[permit]bool            // allowed there when the thread started
}

func newPermits() permits {
	return permits{map[permit]bool{}, map[protocol.ToolName]bool{}, map[permit]bool{}}
}

// source is who decides about a call.
func (p permits) source(at permit) protocol.ApprovalSource {
	switch {
	case p.mode[at]:
		return protocol.SourceMode
	case p.session[at]:
		return protocol.SourceMemory
	}
	return protocol.SourcePerson
}

// started takes what config.toml allows over into a new thread.
func (p permits) started(thread protocol.ThreadID) {
	for tool := range p.file {
		p.mode[permit{thread, tool}] = true
	}
}

// foretold says what follows for a call from what was said before.
func foretold(s protocol.ApprovalSource) string {
	switch s {
	case protocol.SourceMode:
		return "It is allowed in config.toml, so nobody is asked."
	case protocol.SourceMemory:
		return "It was allowed for longer than one call, so nobody is asked."
	case protocol.SourcePerson, protocol.SourcePolicy, protocol.SourceAnnotations, protocol.SourceRule, protocol.SourceCapability:
	}
	return "Nothing that was said before allows it, so the person is asked."
}

// approvalMeta is what an approval's question says in _meta.
type approvalMeta struct {
	Kind    string                   `json:"codex_approval_kind"`
	Tool    protocol.ToolName        `json:"tool_name"`
	Params  json.RawMessage          `json:"tool_params"`
	Persist []protocol.ApprovalScope `json:"persist"`
}

// approvalOf reads a question. It is false for one of a server.
func approvalOf(q *protocol.ElicitationRequestParams) (meta approvalMeta, ok bool) {
	return meta, json.Unmarshal(q.Meta, &meta) == nil && meta.Kind == "mcp_tool_call"
}

// allowed is the answer that lets a call run, for a while.
func allowed(scope protocol.ApprovalScope) *protocol.ElicitationRequestResult {
	r := &protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: json.RawMessage(`{}`)}
	if scope != protocol.ApprovalOnce {
		r.Meta = protocol.AnswerMeta(`{"persist":"` + string(scope) + `"}`)
	}
	return r
}

// scopeOf is for how long an answer allows.
func scopeOf(r *protocol.ElicitationRequestResult) protocol.ApprovalScope {
	var meta struct{ Persist protocol.ApprovalScope }
	if json.Unmarshal(r.Meta, &meta) != nil || meta.Persist == "" {
		return protocol.ApprovalOnce
	}
	return meta.Persist
}

// guarded carries a call of a tool out that somebody has to allow, and checks
// that what was said before is what counts, and what the answer brings about.
// done is what the model reads when the tool has run.
func (p *play) guarded(ctx context.Context, server protocol.ServerName, tool protocol.ToolName, arguments, done string) error {
	at := permit{p.thread, tool}
	source := p.permits.source(at)
	r, asked, err := p.call(ctx, server, tool, arguments)
	if err != nil {
		return err
	}
	if source != protocol.SourcePerson {
		if len(asked) > 0 {
			return fmt.Errorf("somebody was asked about %s, which was allowed", tool)
		}
		if err := want(r, protocol.CallCompleted, "", source, done); err != nil {
			return err
		}
		p.screen.say(`Nobody was asked: the result's approval.source is "%s".`, source)
		return p.unwritten()
	}
	if len(asked) != 1 {
		return fmt.Errorf("there was not one question whether %s may run, but %d questions", tool, len(asked))
	}
	meta, ok := approvalOf(asked[0].question)
	if offer := []protocol.ApprovalScope{protocol.ApprovalSession, protocol.ApprovalAlways}; !ok || !slices.Equal(meta.Persist, offer) {
		return fmt.Errorf("the question is not whether the tool may run, for the session or always, but %s", asked[0].question.Meta)
	}
	return p.answered(r, asked[0].answer, server, at, done)
}

// answered checks what an answer brings about: of the call, and for longer.
func (p *play) answered(r *protocol.ThreadToolCallResult, a *protocol.ElicitationRequestResult, server protocol.ServerName, at permit, done string) error {
	if a.Action != protocol.AnswerAccept {
		p.screen.say("The tool did not run: the model reads that the call was declined. That is not remembered.")
		if err := want(r, protocol.CallDeclined, protocol.ReasonUserDeclined, protocol.SourcePerson, ""); err != nil {
			return err
		}
		return p.unwritten()
	}
	if err := want(r, protocol.CallCompleted, "", protocol.SourcePerson, done); err != nil {
		return err
	}
	switch scopeOf(a) {
	case protocol.ApprovalAlways:
		p.permits.session[at], p.permits.file[at.tool] = true, true
		return p.written(server, at.tool)
	case protocol.ApprovalSession:
		p.permits.session[at] = true
	case protocol.ApprovalOnce:
		p.screen.say("That was for this call only, and is not remembered.")
	}
	return p.unwritten()
}

// written shows what "don't ask me again" has put into config.toml.
func (p *play) written(server protocol.ServerName, tool protocol.ToolName) error {
	lines, err := p.file.added()
	if err != nil {
		return err
	}
	if got, want := strings.TrimSpace(strings.Join(lines, "\n")), approveLines(server, tool); got != want {
		return fmt.Errorf("config.toml got the lines %q, not %q", got, want)
	}
	p.screen.say("The sidecar has put these lines into config.toml. Every other byte of it is as it was:")
	for _, line := range lines {
		p.screen.say("%s", strings.TrimRight("  + "+line, " "))
	}
	return nil
}

// unwritten checks that config.toml is as it was.
func (p *play) unwritten() error {
	lines, err := p.file.added()
	if err == nil && len(lines) > 0 {
		err = fmt.Errorf("config.toml got the lines %q, and nobody wanted that", lines)
	}
	return err
}

func (p *play) approve(ctx context.Context) error {
	p.screen.begin("Now the model wants to write. The tool does not say that it is harmless, so the sidecar asks the editor first, and the editor a person. " +
		"The server hears nothing until the answer is yes. It can hold for this call, for the session (as long as the thread lives), or for good.")
	return p.note(ctx, "Bicycle: new rear wheel on Thursday.")
}

func (p *play) again(ctx context.Context) error {
	p.screen.begin("The model writes another note. %s", foretold(p.permits.source(permit{p.thread, addNote})))
	return p.note(ctx, "Bicycle: ask for the old wheel back.")
}

// note lets the model write a note.
func (p *play) note(ctx context.Context, text string) error {
	arguments, err := json.Marshal(addInput{text})
	if err != nil {
		return err
	}
	return p.guarded(ctx, notesName, addNote, string(arguments), "is written.")
}

func (p *play) always(ctx context.Context) error {
	p.screen.begin("The evening is to go into a calendar. That reaches beyond the server, so the person is asked. For common tools the question is a ready sentence. " +
		`If the answer is "don't ask me again", the sidecar writes it into the file that defines the server.`)
	return p.event(ctx, "2026-06-04T19:30")
}

// event lets the model put an event into the calendar.
func (p *play) event(ctx context.Context, start string) error {
	return p.guarded(ctx, townName, addEvent, `{"title":"Dinner at The Blue Jar","start":"`+start+`"}`, start)
}

func (p *play) another(ctx context.Context) error {
	p.screen.begin("The next day the editor opens another thread, and the model wants to write into the calendar again. " +
		"What was allowed for the session of the first thread does not hold here. What is in config.toml does.")
	if err := p.open(ctx); err != nil {
		return err
	}
	outlook, err := p.bind(ctx, addNote, addEvent)
	if err != nil {
		return err
	}
	for _, tool := range []protocol.ToolName{addNote, addEvent} {
		want := protocol.OutlookAsk
		if p.permits.file[tool] {
			want = protocol.OutlookAllow
		}
		if outlook[tool] != want {
			return fmt.Errorf("the binding of the second thread says %q of %s, not %q", outlook[tool], tool, want)
		}
	}
	return p.event(ctx, "2026-06-11T19:30")
}

func (p *play) takeBack(ctx context.Context) error {
	p.screen.begin("What was allowed for longer than one call can be looked at, and taken back at any time.")
	list, err := p.remembered(ctx)
	if err != nil {
		return err
	}
	var session, lasting []protocol.RememberedApproval
	for _, a := range list {
		switch {
		case a.Scope == protocol.ApprovalSession && p.permits.session[permit{a.ThreadID, a.Tool}]:
			session = append(session, a)
		case a.Scope == protocol.ApprovalAlways && p.permits.file[a.Tool] && a.Path == p.file.path:
			lasting = append(lasting, a)
		default:
			return fmt.Errorf("remembered is %+v, which nobody allowed", a)
		}
	}
	passing := 0 // what is for good is in the list once
	for permit := range p.permits.session {
		if !p.permits.file[permit.tool] {
			passing++
		}
	}
	if len(session) != passing || len(lasting) != len(p.permits.file) {
		return fmt.Errorf("remembered are %+v, and not all that was allowed", list)
	}
	if len(list) == 0 {
		p.screen.say("Nothing is remembered, so there is nothing to take back.")
		return nil
	}
	for _, a := range list {
		p.screen.say("%-33s %-8s %s", a.Tool, a.Scope, a.Server)
	}
	back := lasting
	if len(back) == 0 {
		back = session
	}
	for _, a := range back {
		var r protocol.ApprovalRevokeResult
		if err := p.client.Call(ctx, "approval/revoke", &protocol.ApprovalRevokeParams{ID: a.ID}, &r); err != nil {
			return err
		}
		if !slices.Contains(r.Revoked, a) {
			return fmt.Errorf("%s was not taken back, but %+v", a.ID, r.Revoked)
		}
	}
	if err := p.file.restored(); err != nil {
		return err
	}
	if len(lasting) > 0 {
		p.screen.say("The lines are gone: config.toml is, byte for byte, what it was in the beginning.")
	} else {
		p.screen.say("It is taken back.")
	}
	return nil
}

// remembered asks what is.
func (p *play) remembered(ctx context.Context) ([]protocol.RememberedApproval, error) {
	var r protocol.ApprovalListResult
	if err := p.client.Call(ctx, "approval/list", &protocol.ApprovalListParams{}, &r); err != nil {
		return nil, err
	}
	if r.Approvals == nil {
		return nil, errors.New("there is no list of what is remembered")
	}
	return r.Approvals, nil
}
