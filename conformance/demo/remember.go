package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// configName is the user's configuration in the sidecar's folder.
const configName = "config.toml"

// writeConfig writes the configuration that the demo's sidecar reads, and
// returns its text.
func writeConfig(home, self, town string) (string, error) {
	quote := func(s string) string { // a string of JSON is one of TOML
		raw, _ := json.Marshal(s) // strings always have a form
		return string(raw)
	}
	text := "# The servers of the demo.\n[mcp_servers." + string(notesName) + "]\ncommand = " + quote(self) + "\nargs = [\"demo-server\"]\n\n" +
		"[mcp_servers." + string(townName) + "]   # speaks Streamable HTTP\nurl = " + quote(town) + "\n"
	return text, os.WriteFile(filepath.Join(home, configName), []byte(text), 0o600)
}

func (p *play) config() (string, error) {
	raw, err := os.ReadFile(filepath.Join(p.home, configName))
	return string(raw), err
}

// scopeOf is for how long an answer allows a tool; "" is not at all.
func scopeOf(a *protocol.ElicitationRequestResult) protocol.ApprovalScope {
	if a.Action != protocol.AnswerAccept {
		return ""
	}
	var meta struct {
		Persist protocol.ApprovalScope `json:"persist"`
	}
	if json.Unmarshal(a.Meta, &meta) != nil || meta.Persist == "" {
		return protocol.ApprovalOnce
	}
	return meta.Persist
}

// session calls the tool again that the person was asked about.
func (p *play) session(ctx context.Context) error {
	asks := p.allowed == "" || p.allowed == protocol.ApprovalOnce
	if asks {
		p.screen.begin("The model wants to write once more. Nothing was allowed for longer than one call, so the person is asked again.")
	} else {
		p.screen.begin("The model wants to write once more. The person allowed this tool for the session, so nobody is asked; " +
			"if the server changed the tool meanwhile, they would be, and the question would say what is different.")
	}
	r, asked, err := p.call(ctx, notesName, "add_note", `{"text":"Bicycle: bring the lock."}`)
	switch {
	case err != nil:
		return err
	case (len(asked) > 0) != asks:
		return fmt.Errorf("the person was asked %d times", len(asked))
	case !asks:
		return want(r, protocol.CallCompleted, "", protocol.SourceMemory, "is written.")
	case asked[0].answer.Action != protocol.AnswerAccept:
		return want(r, protocol.CallDeclined, protocol.ReasonUserDeclined, protocol.SourcePerson, "")
	}
	return want(r, protocol.CallCompleted, "", protocol.SourcePerson, "is written.")
}

// always lets the person allow the tool for good, in a thread of its own.
func (p *play) always(ctx context.Context) error {
	if p.allowed == protocol.ApprovalAlways {
		p.screen.begin("The person did not want to be asked again: that was written into the file that defines the server.")
		return p.kept(ctx)
	}
	p.screen.begin("A second window opens a thread of its own. What was allowed for the session of the first does not count here: the " +
		"person is asked, and has had enough. \"Don't ask me again\" is written into the file that defines the server.")
	asked, err := p.press(ctx)
	if err != nil {
		return err
	}
	if len(asked) != 1 || !isApproval(asked[0].question) {
		return fmt.Errorf("there was not one question whether the tool may run, but %d questions", len(asked))
	}
	if scopeOf(asked[0].answer) == protocol.ApprovalAlways {
		return p.kept(ctx)
	}
	now, err := p.config()
	if err == nil && now != p.written {
		err = errors.New("the file was changed, though nobody allowed the tool for good")
	}
	p.screen.say("Not this time: %s is as it was.", configName)
	return err
}

// kept shows what the file says now, that the approval holds in another thread,
// and takes it back.
func (p *play) kept(ctx context.Context) error {
	now, err := p.config()
	if err != nil {
		return err
	}
	added, ok := inserted(p.written, now)
	if !ok {
		return fmt.Errorf("the file is not what it was with lines added, but\n%s", now)
	}
	p.screen.say("These lines are new in %s; every other byte is as it was:", configName)
	for line := range strings.SplitSeq(strings.TrimSpace(added), "\n") {
		p.screen.say("    %s", line)
	}
	p.screen.begin("Another thread, later: nobody is asked. Whatever is remembered can be listed, and taken back: the file is as before.")
	asked, err := p.press(ctx)
	if err != nil {
		return err
	}
	if len(asked) > 0 {
		return fmt.Errorf("the person was asked %d times, after they said never again", len(asked))
	}
	var list protocol.ApprovalListResult
	if err := p.client.Call(ctx, "approval/list", &protocol.ApprovalListParams{Server: notesName}, &list); err != nil {
		return err
	}
	if n := len(list.Approvals); n == 0 || list.Approvals[n-1].Scope != protocol.ApprovalAlways {
		return fmt.Errorf("what was allowed for good is not in the list: %v", list.Approvals)
	}
	if err := p.client.Call(ctx, "approval/revoke", &protocol.ApprovalRevokeParams{Server: notesName}, nil); err != nil {
		return err
	}
	if now, err = p.config(); err == nil && now != p.written {
		err = fmt.Errorf("the file is not what it was before, but\n%s", now)
	}
	return err
}

// inserted returns what after has in one place more than before; false if there
// is nothing, or if anything else differs.
func inserted(before, after string) (string, bool) {
	n := 0
	for n < len(before) && n < len(after) && before[n] == after[n] {
		n++
	}
	n = strings.LastIndexByte(before[:n], '\n') + 1
	added, ok := strings.CutSuffix(after[n:], before[n:])
	return added, ok && added != ""
}

// press opens a thread and calls the writing tool in it by its raw names, as a
// person does who presses a button. It returns what was asked.
func (p *play) press(ctx context.Context) ([]event, error) {
	var started protocol.ThreadStartResult
	if err := p.client.Call(ctx, "thread/start", &protocol.ThreadStartParams{
		Cwd: p.home, Servers: &protocol.ServerSelection{Include: []protocol.ServerName{notesName}}, WaitForServersMs: (30 * time.Second).Milliseconds(),
	}, &started); err != nil {
		return nil, err
	}
	err := p.client.Call(ctx, "mcpServer/tool/call", &protocol.ServerToolCallParams{
		ThreadID: started.Thread.ID, Server: notesName, Tool: "add_note", Arguments: json.RawMessage(`{"text":"Call the shop."}`),
	}, nil)
	asked, fault := p.witness.take()
	if fault != nil {
		return nil, fault
	}
	var refused *client.ReplyError
	if errors.As(err, &refused) && refused.Details().Kind == protocol.KindDeclined && len(asked) > 0 {
		err = nil // the person said no
	}
	if err != nil {
		return nil, err
	}
	return asked, p.client.Call(ctx, "thread/close", &protocol.ThreadCloseParams{ThreadID: started.Thread.ID}, nil)
}
