package elicit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// The approval form has the shape of spec section 7, byte for byte.
func TestApprovalForm(t *testing.T) {
	got := ApprovalForm(ToolCall{
		Server: "docs", Tool: "write", Title: "Write\u202e", Description: "Writes.\nReally.", CallID: "c1", TurnID: "t1",
		Arguments: json.RawMessage(`{"z":12345678901234567890,"a":{"k":1.0},"h":"<b>&"}`),
		Hints:     protocol.Hints{Title: "T", Destructive: ptr(true)}, Reason: "because", DefinitionChanged: true,
		Changes: []string{`new argument "bcc"`}, Offer: []protocol.ApprovalScope{"session", "always"},
		Template: Template{Params: []string{"no such", "h", "z"}},
	})
	wantMeta := `{"codex_approval_kind":"mcp_tool_call","tool_name":"write","tool_title":"Write","tool_description":"Writes. Really.",` +
		`"tool_params":{"z":12345678901234567890,"a":{"k":1.0},"h":"<b>&"},` +
		`"tool_params_display":[{"name":"h","value":"<b>&","display_name":"h"},{"name":"z","value":12345678901234567890,"display_name":"z"},{"name":"a","value":{"k":1.0},"display_name":"a"}],` +
		`"call_id":"c1","annotations":{"title":"T","destructiveHint":true},"reason":"because","definition_changed":true,"definition_changes":["new argument \"bcc\""],"persist":["session","always"]}`
	if string(got.Meta) != wantMeta {
		t.Errorf("got  %s\nwant %s", got.Meta, wantMeta)
	}
	got.Meta = nil
	want := Question{Server: "docs", Mode: protocol.QuestionForm, Message: `Allow the docs MCP server to run tool "write"?`,
		Schema: json.RawMessage(`{"type":"object","properties":{}}`), Approval: true, Offer: []protocol.ApprovalScope{"session", "always"}, CallID: "c1", TurnID: "t1", Certain: true}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	plain := ApprovalForm(ToolCall{Server: "docs", Tool: "list", CallID: "c"})
	if want := `{"codex_approval_kind":"mcp_tool_call","tool_name":"list","tool_params":{},"call_id":"c","annotations":{},"reason":""}`; string(plain.Meta) != want {
		t.Errorf("got  %s\nwant %s", plain.Meta, want)
	}
}

// What a person is shown is bounded and free of tricks; what is sent is not
// changed by it.
func TestApprovalFormDisplaysSafely(t *testing.T) {
	arguments := `{"s":"a\u202eb","long":"` + strings.Repeat("x", 5000) + `","nested":{"k":"\u202e"},"twice":1,"twice":2}`
	q := ApprovalForm(ToolCall{Server: "a\nb", Tool: "x\u202e\"?", Arguments: json.RawMessage(arguments)})
	if q.Message != `Allow the a b MCP server to run tool "x"?"?` {
		t.Errorf("message %q", q.Message)
	}
	var meta struct {
		Params  json.RawMessage `json:"tool_params"`
		Display []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"tool_params_display"`
	}
	if err := json.Unmarshal(q.Meta, &meta); err != nil {
		t.Fatal(err)
	}
	if string(meta.Params) != arguments {
		t.Errorf("the arguments were changed: %.80s", meta.Params)
	}
	var names []string
	for _, d := range meta.Display {
		names = append(names, d.Name)
		if len(d.Value) > maxDisplayedValue+2 || strings.Contains(string(d.Value), "\u202e") {
			t.Errorf("%s is displayed as %.80s (%d bytes)", d.Name, d.Value, len(d.Value))
		}
	}
	if fmt.Sprint(names) != "[long nested s twice twice]" {
		t.Errorf("displayed %v", names)
	}
	if got := string(meta.Display[1].Value); got != `"{\"k\":\"\\u202e\"}"` {
		t.Errorf("nested is displayed as %s", got)
	}
	many := []byte{'{'}
	for i := range 500 {
		many = appendMember(many, fmt.Sprintf("k%03d", i), []byte("1"))
	}
	q = ApprovalForm(ToolCall{Arguments: append(many, '}')})
	if n := strings.Count(string(q.Meta), `"display_name"`); n != maxDisplayed {
		t.Errorf("%d arguments displayed, want %d", n, maxDisplayed)
	}
}

// O084, O088: only a clear yes is an approval.
func TestReadApproval(t *testing.T) {
	offer := []protocol.ApprovalScope{protocol.ApprovalSession, protocol.ApprovalAlways}
	yes := []struct {
		answer Answer
		scope  protocol.ApprovalScope
	}{
		{Answer{Action: "accept"}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(`null`)}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(`{}`)}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(` { } `)}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(`{"mcp_tool_call_approval_c1":"Allow"}`)}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(`{"q":["Allow"]}`)}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(`{"q":"Allow for this session"}`)}, "session"},
		{Answer{Action: "accept", Content: json.RawMessage(`{"q":["Allow and don't ask me again"]}`)}, "always"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":"session"}`)}, "session"},
		{Answer{Action: "accept", Content: json.RawMessage(`{}`), Meta: json.RawMessage(`{"persist":"always"}`)}, "always"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":["always"]}`)}, "once"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":null}`)}, "once"},
		// What is not understood, or said twice and differently, is the shorter.
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":"forever"}`)}, "once"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":"Always"}`)}, "once"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":true}`)}, "once"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":["session","always"]}`)}, "once"},
		{Answer{Action: "accept", Meta: json.RawMessage(`{"persist":"always","persist":"session"}`)}, "session"},
		{Answer{Action: "accept", Content: json.RawMessage(`{"q":"Allow"}`), Meta: json.RawMessage(`{"persist":"always"}`)}, "once"},
		{Answer{Action: "accept", Content: json.RawMessage(`{"q":["Allow and don't ask me again","Allow for this session"]}`)}, "session"},
		{Answer{Action: "accept", Meta: json.RawMessage(`"always"`)}, "once"},
	}
	for _, c := range yes {
		if got := ReadApproval(c.answer, offer); got != (Consent{Allowed: true, Scope: c.scope}) {
			t.Errorf("%s %s %s: %+v, want allowed, %s", c.answer.Action, c.answer.Content, c.answer.Meta, got, c.scope)
		}
		// Choices honoured are choices offered (O072).
		if got := ReadApproval(c.answer, nil); got != (Consent{Allowed: true, Scope: "once"}) {
			t.Errorf("%s %s %s, nothing offered: %+v, want once", c.answer.Action, c.answer.Content, c.answer.Meta, got)
		}
		want := c.scope
		if want == protocol.ApprovalAlways {
			want = protocol.ApprovalOnce
		}
		if got := ReadApproval(c.answer, offer[:1]); got != (Consent{Allowed: true, Scope: want}) {
			t.Errorf("%s %s %s, session offered: %+v, want %s", c.answer.Action, c.answer.Content, c.answer.Meta, got, want)
		}
	}
	no := map[Consent][]Answer{
		{Reason: protocol.ReasonUserDeclined}: {{Action: "decline"}, {Action: "decline", Content: json.RawMessage(`{"q":"Allow"}`)}},
		{Reason: protocol.ReasonUserCancelled}: {
			{Action: "cancel"}, {Action: "cancel", Content: json.RawMessage(`{"q":"Allow"}`)}, {Action: "cancel", Meta: json.RawMessage(`{"persist":"always"}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":"Cancel"}`), Meta: json.RawMessage(`{"persist":"always"}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":["Cancel"]}`)},
		},
		{Reason: protocol.ReasonUserCancelled, Unclear: true}: {
			{}, {Action: "reject"}, {Action: "Accept"}, {Action: "ACCEPT"}, {Action: "accept "}, {Action: "yes"},
			{Action: "accept", Content: json.RawMessage(`{"decision":"maybe"}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":["Allow","Cancel"]}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":"Allow","note":"but not really"}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":"allow"}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":[]}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":true}`)},
			{Action: "accept", Content: json.RawMessage(`{"q":null}`)},
			{Action: "accept", Content: json.RawMessage(`"Allow"`)},
			{Action: "accept", Content: json.RawMessage(`[]`)},
			{Action: "accept", Content: json.RawMessage(`{`)},
			{Action: "accept", Content: json.RawMessage(`  `)},
		},
	}
	for want, answers := range no {
		for _, a := range answers {
			got := ReadApproval(a, offer)
			if got != want {
				t.Errorf("%q %s: %+v, want %+v", a.Action, a.Content, got, want)
			}
			// An event's answer is refused where it is unclear, so far as it accepts.
			_, err := Question{Approval: true, Offer: offer}.Fit(a, false)
			if (err != nil) != (want.Unclear && a.Action == protocol.AnswerAccept) {
				t.Errorf("%q %s fits: %v", a.Action, a.Content, err)
			}
		}
	}
	for persist, fits := range map[string]bool{`{}`: true, `{"persist":"session"}`: true, `{"persist":null}`: true, `{"persist":"always"}`: false, `{"persist":"forever"}`: false, `{"persist":1}`: false} {
		_, err := Question{Approval: true, Offer: offer[:1]}.Fit(Answer{Action: "accept", Meta: json.RawMessage(persist)}, false)
		if (err == nil) != fits || err != nil && !strings.HasPrefix(err.Error(), "/_meta/persist ") {
			t.Errorf("%s where only session is offered: %v", persist, err)
		}
	}
}

// Allowing for longer is offered where it would change what is asked: in mode
// auto, and where no rule insists on asking.
func TestOffered(t *testing.T) {
	for _, c := range []struct {
		request ApprovalRequest
		kept    bool
		want    string
	}{
		{ApprovalRequest{Mode: ModeAuto}, true, "[session always]"},
		{ApprovalRequest{}, true, "[session always]"},
		{ApprovalRequest{Mode: ModeAuto}, false, "[session]"},
		{ApprovalRequest{Mode: ModePrompt}, true, "[]"},
		{ApprovalRequest{Mode: ModeWrites}, true, "[]"},
		{ApprovalRequest{Mode: "no such"}, true, "[]"},
		{ApprovalRequest{Mode: ModeApprove}, true, "[]"},
		{ApprovalRequest{Mode: ModeApprove, ModeVoid: true}, true, "[session always]"},
		{ApprovalRequest{Mode: ModeApprove, DefaultMode: ModePrompt, ModeVoid: true}, true, "[]"},
		{ApprovalRequest{Mode: ModeApprove, DefaultMode: ModeAuto, ModeVoid: true, Memory: MemoryOutdated}, true, "[session always]"},
		{ApprovalRequest{Mode: ModeAuto, Rule: Ruling{Action: RuleAsk}}, true, "[]"},
		{ApprovalRequest{Mode: ModeAuto, Memory: MemoryOutdated}, true, "[session always]"},
	} {
		if got := fmt.Sprint(Offered(c.request, c.kept)); got != c.want {
			t.Errorf("%+v kept %v: %s, want %s", c.request, c.kept, got, c.want)
		}
	}
}

// Whatever the arguments are, the form is one line of JSON that keeps them.
func FuzzApprovalForm(f *testing.F) {
	f.Add("docs", "write", `{"a":1}`)
	f.Add("\u202e", "\"\n", "{\"a\":\n[\"\\u202e\"],\"a\":1e400}")
	f.Add("", "", ``)
	f.Fuzz(func(t *testing.T, server, tool, arguments string) {
		if arguments != "" && (rawjson.Kind([]byte(arguments)) != '{' || rawjson.Valid([]byte(arguments)) != nil) {
			return
		}
		q := ApprovalForm(ToolCall{Server: protocol.ServerName(server), Tool: protocol.ToolName(tool), Title: tool, Description: server, Arguments: json.RawMessage(arguments)})
		if err := rawjson.Valid(q.Meta); err != nil || strings.ContainsAny(string(q.Meta), "\r\n") || strings.ContainsAny(q.Message, "\r\n\u202e") {
			t.Fatalf("%v: %s, %q", err, q.Meta, q.Message)
		}
		if arguments != "" && !strings.Contains(string(q.Meta), string(rawjson.SingleLine([]byte(arguments)))) {
			t.Fatalf("arguments changed: %s", q.Meta)
		}
	})
}

func TestClean(t *testing.T) {
	for _, c := range []struct {
		in          string
		max         int
		line, lines string
	}{
		{"plain", 100, "plain", "plain"},
		{"  a \t b\r\nc\n", 100, "a b c", "a \t b\nc"},
		{"a\u2028b\u0085c\rd", 100, "a b c d", "a\nb\nc\nd"},
		{"x\u202ey\u2066z\u200f\u061c\ufeff\u200b\U000e0041", 100, "xyz", "xyz"},
		{"a\x00\x1b[31mb\u009b", 100, "a[31mb", "a[31mb"},
		{"\u3164a\u115f", 100, "a", "a"},
		{"👩\u200d💻 می\u200cخواهم", 100, "👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"},
		{"a\xffb", 100, "a\ufffdb", "a\ufffdb"},
		{"abcdef", 6, "abcdef", "abcdef"},
		{"abcdefg", 6, "abc…", "abc…"},
		{"ééééé", 8, "éé…", "éé…"},
		{"abcdefg", 2, "", ""},
		{"abc", 0, "", ""},
		{"abc  " + strings.Repeat(" ", 50) + "def", 6, "abc…", "abc…"},
	} {
		if got := Clean(c.in, c.max); got != c.line {
			t.Errorf("Clean(%q, %d) = %q, want %q", c.in, c.max, got, c.line)
		}
		if got := CleanLines(c.in, c.max); got != c.lines {
			t.Errorf("CleanLines(%q, %d) = %q, want %q", c.in, c.max, got, c.lines)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\u202e\n b", 5)
	f.Add("éé\u2029\r", 3)
	f.Add(strings.Repeat("\t", 10)+"x", 4)
	f.Fuzz(func(t *testing.T, s string, max int) {
		for name, clean := range map[string]func(string, int) string{"Clean": Clean, "CleanLines": CleanLines} {
			out := clean(s, max)
			if len(out) > 0 && len(out) > max {
				t.Fatalf("%s(%q, %d) has %d bytes", name, s, max, len(out))
			}
			if again := clean(out, max); again != out {
				t.Fatalf("%s is not at rest: %q, then %q", name, out, again)
			}
			if strings.ContainsFunc(out, func(r rune) bool { return invisible(r) && !(name == "CleanLines" && (r == '\n' || r == '\t')) }) {
				t.Fatalf("%s(%q) leaves %q", name, s, out)
			}
			if name == "Clean" && strings.ContainsAny(out, "\r\n\u2028\u2029") {
				t.Fatalf("Clean(%q) has lines: %q", s, out)
			}
		}
	})
}
