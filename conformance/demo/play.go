package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// The names that the demo's editor gives its servers.
const (
	notesName protocol.ServerName = "notes"
	townName  protocol.ServerName = "town"
)

// turn is the name of the turn that all calls belong to.
const turn protocol.TurnID = "turn-1"

// A play is the editor of a demo.
type play struct {
	client  *client.Client
	screen  *screen
	witness witness

	home string // the sidecar's folder
	file *configFile

	// progress gets a token for each report of the slow call. Its capacity is
	// the number of reports there can be.
	progress chan struct{}

	thread  protocol.ThreadID // the one that is spoken in
	binding protocol.Binding  // of that thread
	permits permits
}

// heard is a client's Notification.
func (p *play) heard(method string, _ json.RawMessage) {
	if method == protocol.ItemProgress.Name {
		select {
		case p.progress <- struct{}{}:
		default: // more than there can be
		}
	}
}

// steps plays all but the end.
func (p *play) steps(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		p.initialize, p.startThread, p.freeze, p.read, p.approve, p.again, p.question, p.always, p.another, p.takeBack, p.cancel,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) initialize(ctx context.Context) error {
	p.screen.begin("The editor has started the sidecar (process %d) and says hello: who it is, and that it can show approvals and forms.", p.client.PID())
	var r protocol.InitializeResult
	if err := p.client.Call(ctx, protocol.MethodInitialize, &protocol.InitializeParams{
		ClientInfo: protocol.ClientInfo{Name: "demo-editor", Version: "1.0.0"},
		Capabilities: &protocol.ClientCapabilities{MCP: &protocol.MCPCapabilities{
			Approvals: true, Elicitation: &protocol.ElicitationCapability{Form: true},
		}},
	}, &r); err != nil {
		return err
	}
	if r.ProtocolVersion != protocol.Version {
		return fmt.Errorf("the sidecar speaks protocol %q, the demo %q", r.ProtocolVersion, protocol.Version)
	}
	return p.client.Notify(protocol.MethodInitialized, nil)
}

func (p *play) startThread(ctx context.Context) error {
	p.screen.begin("It opens a thread, with the two servers that config.toml defines. (The demo has one of its own, in a folder that is removed in the end.)")
	for line := range strings.Lines(p.file.first) {
		p.screen.say("  %s", strings.TrimSuffix(line, "\n"))
	}
	p.screen.say("The sidecar starts both at once and tells how far they are.")
	return p.open(ctx)
}

// open opens a thread, which is the one that is spoken in from now on.
func (p *play) open(ctx context.Context) error {
	var r protocol.ThreadStartResult
	if err := p.client.Call(ctx, "thread/start", &protocol.ThreadStartParams{
		Cwd: p.home, WaitForServersMs: (30 * time.Second).Milliseconds(),
	}, &r); err != nil {
		return err
	}
	p.thread = r.Thread.ID
	p.permits.started(p.thread)
	slices.Sort(r.Startup.Ready)
	if want := []protocol.ServerName{notesName, townName}; !slices.Equal(r.Startup.Ready, want) {
		return fmt.Errorf("ready are %q, not %q; failed: %v", r.Startup.Ready, want, r.Startup.Failed)
	}
	return nil
}

func (p *play) freeze(ctx context.Context) error {
	p.screen.begin("Before each step of the model it freezes a binding: the exact list of tools that the model is shown, in the shape its provider wants. " +
		"What the model calls later is looked up in this list, whatever the servers do meanwhile.")
	outlook, err := p.bind(ctx)
	if err != nil {
		return err
	}
	for tool, want := range map[protocol.ToolName]protocol.ApprovalOutlook{
		"search_notes": protocol.OutlookAllow, addNote: protocol.OutlookAsk, "count_slowly": protocol.OutlookAllow,
		"time_zones": protocol.OutlookAllow, "book_table": protocol.OutlookAllow, addEvent: protocol.OutlookAsk,
	} {
		if got := outlook[tool]; got != want {
			return fmt.Errorf("the binding says %q of %s, not %q", got, tool, want)
		}
	}
	return nil
}

// bind freezes a binding and shows what would become of a call of some of its
// tools, or of each.
func (p *play) bind(ctx context.Context, shown ...protocol.ToolName) (map[protocol.ToolName]protocol.ApprovalOutlook, error) {
	var r protocol.BindingFreezeResult
	if err := p.client.Call(ctx, "thread/binding/freeze", &protocol.BindingFreezeParams{ThreadID: p.thread}, &r); err != nil {
		return nil, err
	}
	p.binding = r.Binding
	outlook := map[protocol.ToolName]protocol.ApprovalOutlook{}
	for _, t := range p.binding.Tools {
		outlook[t.Tool] = t.Approval
		if len(shown) == 0 || slices.Contains(shown, t.Tool) {
			p.screen.say("%-33s %-6s %s", t.Flat, t.Approval, t.Server)
		}
	}
	return outlook, nil
}

// params is a model's call of a tool of the binding.
func (p *play) params(server protocol.ServerName, tool protocol.ToolName, arguments string) (*protocol.ThreadToolCallParams, error) {
	for _, t := range p.binding.Tools {
		if t.Server == server && t.Tool == tool {
			return &protocol.ThreadToolCallParams{
				ThreadID: p.thread, BindingID: p.binding.ID, Name: t.Name, Namespace: t.Namespace,
				Arguments: json.RawMessage(arguments), TurnID: turn,
			}, nil
		}
	}
	return nil, fmt.Errorf("the binding has no tool %q of server %q", tool, server)
}

// call carries a call out. It also returns what was asked meanwhile.
func (p *play) call(ctx context.Context, server protocol.ServerName, tool protocol.ToolName, arguments string) (*protocol.ThreadToolCallResult, []event, error) {
	params, err := p.params(server, tool, arguments)
	if err != nil {
		return nil, nil, err
	}
	r := &protocol.ThreadToolCallResult{}
	if err := p.client.Call(ctx, "thread/tool/call", params, r); err != nil {
		return nil, nil, err
	}
	asked, err := p.witness.take()
	return r, asked, err
}

// read is what the model reads of a result.
func read(r *protocol.ThreadToolCallResult) string {
	var b strings.Builder
	for _, item := range r.Output.Items {
		b.WriteString(item.Text)
	}
	return b.String()
}

// want checks how a call ended.
func want(r *protocol.ThreadToolCallResult, status protocol.CallStatus, reason protocol.Reason, source protocol.ApprovalSource, text string) error {
	switch {
	case r.Status != status || r.Reason != reason:
		return fmt.Errorf("%s ended %q with reason %q, not %q with reason %q", r.Tool, r.Status, r.Reason, status, reason)
	case r.Approval.Source != source:
		return fmt.Errorf("%s was decided by %q, not by %q", r.Tool, r.Approval.Source, source)
	case !strings.Contains(read(r), text):
		return fmt.Errorf("the model reads %q of %s, and nothing of %q", read(r), r.Tool, text)
	}
	return nil
}

func (p *play) read(ctx context.Context) error {
	p.screen.begin("The model wants to search the notes. The tool says of itself that it only reads, so nobody is asked.")
	r, asked, err := p.call(ctx, notesName, "search_notes", `{"query":"bicycle"}`)
	if err != nil {
		return err
	}
	if len(asked) > 0 {
		return fmt.Errorf("somebody was asked %d times about a tool that only reads", len(asked))
	}
	return want(r, protocol.CallCompleted, "", protocol.SourceAnnotations, "rear wheel")
}

func (p *play) question(ctx context.Context) error {
	p.screen.begin("The next tool asks back: the town server wants to know for how many the table is. " +
		"Its question reaches the person as a form, and the answer the server. The time limit of the call stands still meanwhile.")
	r, asked, err := p.call(ctx, townName, "book_table", `{"restaurant":"The Blue Jar"}`)
	if err != nil {
		return err
	}
	if len(asked) == 0 || asked[0].question.ServerName != townName {
		return errors.New("the question of the server did not arrive")
	}
	if _, approval := approvalOf(asked[0].question); approval {
		return errors.New("the question of the server is an approval")
	}
	booking := booked(asked[len(asked)-1].answer) // an answer that did not fit was asked for again
	return want(r, protocol.CallCompleted, "", protocol.SourceAnnotations, booking)
}

// booked is what the town server says to an answer.
func booked(a *protocol.ElicitationRequestResult) string {
	var c struct {
		People int64
		Time   string
	}
	fits := a.Action == protocol.AnswerAccept && json.Unmarshal(a.Content, &c) == nil &&
		c.People >= minPeople && c.People <= maxPeople && slices.Contains(tableTimes, c.Time)
	if !fits {
		return "Nothing is booked"
	}
	return fmt.Sprintf("The Blue Jar, %d people, %s", c.People, c.Time)
}

func (p *play) cancel(ctx context.Context) error {
	p.screen.begin("A slow tool reports its progress. After three reports the person loses patience: the editor cancels the request, and the server is told to stop.")
	params, err := p.params(notesName, "count_slowly", `{"to":1000}`)
	if err != nil {
		return err
	}
	call, err := p.client.Go("thread/tool/call", params)
	if err != nil {
		return err
	}
	for range 3 {
		select {
		case <-p.progress:
		case <-call.Done():
			return fmt.Errorf("the slow call ended before it was cancelled: %w", call.Wait(ctx, nil))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := call.Cancel(); err != nil {
		return err
	}
	var r protocol.ThreadToolCallResult
	if err := call.Wait(ctx, &r); err != nil {
		return err
	}
	return want(&r, protocol.CallCancelled, protocol.ReasonCancelled, protocol.SourceAnnotations, "")
}

// abandon ends the sidecar after a fault, which is the one to tell.
func (p *play) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	_ = p.client.Close(ctx)
}

// end ends the sidecar.
func (p *play) end(ctx context.Context) error {
	p.screen.begin("The person closes the window: the editor says goodbye, and the sidecar takes its servers down with it.")
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, fmt.Errorf("not after %s", endTime))
	defer cancel()
	if err := p.client.Close(ctx); err != nil {
		return fmt.Errorf("demo: step %d: %w", p.screen.step, err)
	}
	if code := p.client.ExitCode(); code != 0 {
		return fmt.Errorf("demo: step %d: the sidecar ended with code %d, not 0", p.screen.step, code)
	}
	p.screen.say("The sidecar has ended with code 0. Everything was as it should be.")
	return nil
}
