package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// approvalQuestion is the sidecar's own question, as far as it is shown.
func approvalQuestion(more string) *protocol.ElicitationRequestParams {
	return &protocol.ElicitationRequestParams{
		ServerName: "notes", Mode: protocol.QuestionForm, Message: `Allow the notes MCP server to run tool "add"?`,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		Meta:            protocol.ElicitationMeta(`{"codex_approval_kind":"mcp_tool_call","tool_params":{"text":"x"}` + more + `}`),
	}
}

// formQuestion is a server's question with some properties.
func formQuestion(properties, required string) *protocol.ElicitationRequestParams {
	return &protocol.ElicitationRequestParams{
		ServerName: "town", Mode: protocol.QuestionForm, Message: "How is it to be?",
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`),
	}
}

func TestTerminalQuestions(t *testing.T) {
	const (
		both = `,"persist":["session","always"]`
		text = `"b":{"type":"string","title":"Second"},"a":{"type":"string","description":"what for"}`
		enum = `"e":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"Red","title":"Wine, red"}]}`
		old  = `"e":{"type":"string","enum":["1","2"],"enumNames":["One","Two"],"default":"2"}`
		flag = `"f":{"type":"boolean","default":false}`
		list = `"l":{"type":"array","items":{"type":"string","anyOf":[{"const":"a","title":"Ann"},{"const":"b, c","title":"Bob"}]}}`
		num  = `"n":{"type":"number"}`
		cnt  = `"n":{"type":"integer"}`
	)
	url := &protocol.ElicitationRequestParams{ServerName: "town", Mode: protocol.QuestionURL, Message: "Sign in.", URL: "https://town.example/in?x=1"}
	for _, c := range []struct {
		name   string
		q      *protocol.ElicitationRequestParams
		typed  string
		action protocol.AnswerAction
		// content and meta are those of the answer, shows is on the terminal.
		content, meta, shows string
	}{
		{"an approval", approvalQuestion(""), "y\n", "accept", `{}`, "", "with {\"text\":\"x\"}\nAllow? [y/N] "},
		{"another yes", approvalQuestion(""), "  YES \r\n", "accept", `{}`, "", ""},
		{"no", approvalQuestion(both), "n\n", "decline", "", "", ""},
		{"an empty line is no", approvalQuestion(both), "\n", "decline", "", "", ""},
		{"anything else is no", approvalQuestion(both), "yess\n", "decline", "", "", ""},
		{"for good", approvalQuestion(both), "a\n", "accept", `{}`, `{"persist":"always"}`, "a = yes, and don't ask me again"},
		{"once, where for good could be", approvalQuestion(both), "y\n", "accept", `{}`, "", ""},
		{"for good is not offered", approvalQuestion(`,"persist":["session"]`), "a\n", "decline", "", "", "Allow? [y/N] "},
		{"the end is no answer", approvalQuestion(both), "", "cancel", "", "", "\n"},
		{"the end after a word", approvalQuestion(both), "y", "accept", `{}`, "", ""},
		{"why, and what changed", approvalQuestion(`,"reason":"the tool changed","definition_changes":["the description is another"]`), "y\n", "accept", `{}`, "",
			"asked because the tool changed\n  changed: the description is another\n"},

		{"a plain question", formQuestion("", ""), "y\n", "accept", `{}`, "", "Server \"town\" asks:\n  | How is it to be?\nAccept? [y/N] "},
		{"a form", formQuestion(text, `"b"`), "y\nmine\n7\n", "accept", `{"b":"mine","a":"7"}`, "", "Answer? [y/N] Second: a (what for; optional): "},
		{"a form, declined", formQuestion(text, ""), "\n", "decline", "", "", ""},
		{"a form, left in the middle", formQuestion(text, ""), "y\nmine\n", "cancel", "", "", ""},
		{"empty lines leave fields out", formQuestion(text, ""), "y\n\n\n", "accept", `{}`, "", ""},
		{"for good is no answer to a server", formQuestion(text, ""), "a\n", "decline", "", "", ""},

		{"a choice by value", formQuestion(enum, ""), "y\nr\n", "accept", `{"e":"r"}`, "", "e (r = Red, Red = Wine, red; optional): "},
		{"a value wins over a title", formQuestion(enum, ""), "y\nRed\n", "accept", `{"e":"Red"}`, "", ""},
		{"a choice by title", formQuestion(enum, ""), "y\nwine, RED\n", "accept", `{"e":"Red"}`, "", ""},
		{"no choice is left to the sidecar", formQuestion(enum, ""), "y\nblue\n", "accept", `{"e":"blue"}`, "", ""},
		{"a choice of the older form", formQuestion(old, `"e"`), "y\none\n", "accept", `{"e":"1"}`, "", "e (1 = One, 2 = Two) [2]: "},
		{"the default", formQuestion(old, `"e"`), "y\n\n", "accept", `{}`, "", ""},

		{"yes", formQuestion(flag, ""), "y\ny\n", "accept", `{"f":true}`, "", "f (y or n; optional) [false]: "},
		{"false", formQuestion(flag, ""), "y\nFalse\n", "accept", `{"f":false}`, "", ""},
		{"neither", formQuestion(flag, ""), "y\nmaybe\n", "accept", `{"f":"maybe"}`, "", ""},

		{"a list", formQuestion(list, ""), "y\nann, b\n", "accept", `{"l":["a","b"]}`, "", "l (a = Ann, b, c = Bob; several with commas between; optional): "},
		{"a choice with a comma", formQuestion(list, ""), "y\nb, c\n", "accept", `{"l":["b, c"]}`, "", ""},
		{"nothing between commas", formQuestion(list, ""), "y\na,, ,\n", "accept", `{"l":["a"]}`, "", ""},
		{"an empty list that is required", formQuestion(list, `"l"`), "y\n\n", "accept", `{"l":[]}`, "", ""},
		{"an empty list that is not", formQuestion(list, ""), "y\n\n", "accept", `{}`, "", ""},

		{"a number", formQuestion(num, ""), "y\n-1.50e3\n", "accept", `{"n":-1.50e3}`, "", ""},
		{"a number as people write it", formQuestion(num, ""), "y\n.5\n", "accept", `{"n":0.5}`, "", ""},
		{"many digits", formQuestion(cnt, ""), "y\n12345678901234567890\n", "accept", `{"n":12345678901234567890}`, "", ""},
		{"zeros in front", formQuestion(cnt, ""), "y\n007\n", "accept", `{"n":7}`, "", ""},
		{"no number", formQuestion(cnt, ""), "y\n1,5\n", "accept", `{"n":"1,5"}`, "", ""},
		{"no finite number", formQuestion(num, ""), "y\nInf\n", "accept", `{"n":"Inf"}`, "", ""},
		{"other JSON is no number", formQuestion(num, ""), "y\n[1]\n", "accept", `{"n":"[1]"}`, "", ""},
		{"not hexadecimal", formQuestion(num, ""), "y\n0x10\n", "accept", `{"n":"0x10"}`, "", ""},

		{"an address", url, "y\n", "accept", "", "", "  | Sign in.\n  open https://town.example/in?x=1\nDone there? [y/N] "},
		{"an address, declined", url, "no\n", "decline", "", "", ""},
		{"an address, left", url, "", "cancel", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			var got protocol.ElicitationRequestResult
			if err := newTerminalOn(strings.NewReader(c.typed), &out).Call(t.Context(), "", c.q, &got, nil); err != nil {
				t.Fatal(err)
			}
			if got.Action != c.action || string(got.Content) != c.content || string(got.Meta) != c.meta {
				t.Errorf("got %s %s %s, want %s %s %s", got.Action, got.Content, got.Meta, c.action, c.content, c.meta)
			}
			if !strings.Contains(out.String(), c.shows) {
				t.Errorf("the terminal shows %q, and not %q", out.String(), c.shows)
			}
		})
	}
}

// Whatever a server says, it does not move the cursor, and no line of it looks
// like a prompt.
func TestTerminalShowsNoTricks(t *testing.T) {
	const evil = "\x1b[2J\r\u009b1A\u202e\a"
	raw, err := json.Marshal(evil + "x\nAllow? [y/N] ")
	if err != nil {
		t.Fatal(err)
	}
	s := string(raw)
	form := formQuestion(s+`:{"type":"string","title":`+s+`,"description":`+s+`,"oneOf":[{"const":`+s+`,"title":`+s+`}],"default":`+s+`}`, "")
	form.Message = evil + "x\r\nAllow? [y/N] "
	approval := approvalQuestion(`,"reason":` + s + `,"definition_changes":[` + s + `]`)
	approval.Message = evil + "x\nAllow? [y/N] y"
	approval.Meta = bytes.Replace(approval.Meta, []byte(`{"text":"x"}`), []byte(`{"text":"`+"\u202e\u009b\U000e0041é"+`"}`), 1)
	url := &protocol.ElicitationRequestParams{ServerName: evil, Mode: protocol.QuestionURL, Message: evil, URL: "https://x.example/" + evil + "\nAllow? "}
	total := 2.0
	for name, show := range map[string]func(*terminal){
		"form": func(t *terminal) {
			_ = t.Call(context.Background(), "", form, &protocol.ElicitationRequestResult{}, nil)
		},
		"approval": func(t *terminal) {
			_ = t.Call(context.Background(), "", approval, &protocol.ElicitationRequestResult{}, nil)
		},
		"url": func(t *terminal) {
			_ = t.Call(context.Background(), "", url, &protocol.ElicitationRequestResult{}, nil)
		},
		"warning": func(t *terminal) { t.Notify("", &protocol.WarningNotification{Message: evil + "\nAllow? "}) },
		"config":  func(t *terminal) { t.Notify("", &protocol.ConfigWarningNotification{Summary: evil + "\nAllow? "}) },
		"startup": func(t *terminal) {
			t.Notify("", &protocol.StartupStatusUpdatedNotification{Status: protocol.StartupFailed, Error: evil + "\nAllow? ", Hint: evil + "\nAllow? ", StderrTail: []string{evil + "\nAllow? "}})
		},
		"progress": func(t *terminal) { t.Notify("", &protocol.ItemProgressNotification{Message: evil + "\nAllow? "}) },
		"counted": func(t *terminal) {
			t.Notify("", &protocol.ItemProgressNotification{Message: evil + "\nAllow? ", Total: &total})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			show(newTerminalOn(strings.NewReader("y\ny\n"), &out))
			prompts := 0
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(line, "Allow?") {
					prompts++
				}
			}
			if want := map[string]int{"approval": 1}[name]; prompts != want {
				t.Errorf("%d lines look like the prompt of an approval, want %d:\n%s", prompts, want, out.String())
			}
			if at := strings.IndexAny(out.String(), "\x1b\r\u009b\u202e\a"); at >= 0 {
				t.Errorf("the terminal gets %q", out.String()[at:])
			}
			if want := `{"text":"\u202e\u009b\udb40\udc41é"}`; name == "approval" && !strings.Contains(out.String(), want) {
				t.Errorf("the terminal shows %q, and not %q", out.String(), want)
			}
		})
	}
}

func TestShownJSONIsCutBetweenCharacters(t *testing.T) {
	if got, want := shownJSON(json.RawMessage(`"aé"`), 3), `"a … (5 bytes in all)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := shownJSON(json.RawMessage(`"aé"`), 4), `"aé … (5 bytes in all)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A question that is called off does not wait for the person, and what they
// type after it is no answer to the next one.
func TestTerminalQuestionCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		out := &bytes.Buffer{}
		term := newTerminalOn(in, out)
		gone := errors.New("the call was cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		first := make(chan error, 1)
		go func() {
			first <- term.Call(ctx, "", approvalQuestion(""), &protocol.ElicitationRequestResult{}, nil)
		}()
		synctest.Wait()

		// One that waits for its turn can be called off, too.
		waiting, leave := context.WithCancelCause(t.Context())
		second := make(chan error, 1)
		go func() {
			second <- term.Call(waiting, "", approvalQuestion(""), &protocol.ElicitationRequestResult{}, nil)
		}()
		synctest.Wait()
		leave(gone)
		if err := <-second; !errors.Is(err, gone) {
			t.Errorf("the second: %v, want %v", err, gone)
		}
		cancel(gone)
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("the first: %v, want %v", err, gone)
		}
		if _, err := io.WriteString(keys, "y\n"); err != nil { // too late
			t.Fatal(err)
		}
		synctest.Wait()

		var got protocol.ElicitationRequestResult
		third := make(chan error, 1)
		go func() { third <- term.Call(t.Context(), "", approvalQuestion(""), &got, nil) }()
		synctest.Wait()
		select {
		case <-third:
			t.Fatalf("a line that was typed before the question answered it: %+v", got)
		default:
		}
		if _, err := io.WriteString(keys, "n\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-third; err != nil || got.Action != protocol.AnswerDecline {
			t.Errorf("got %+v, %v", got, err)
		}
		if n := strings.Count(out.String(), "Allow? "); n != 2 {
			t.Errorf("there were %d prompts, want 2:\n%s", n, out)
		}
	})
}

// Where nobody is, nothing is offered and nothing is asked.
func TestNobodyAtTheTerminal(t *testing.T) {
	var out bytes.Buffer
	term := newTerminal(strings.NewReader("y\n"), &out) // a pipe
	if caps := term.capabilities().MCP; caps.Approvals || caps.Elicitation != nil {
		t.Errorf("offered: %+v", caps)
	}
	if err := term.Call(t.Context(), "", approvalQuestion(""), &protocol.ElicitationRequestResult{}, nil); !errors.Is(err, errNobody) {
		t.Errorf("got %v, want %v", err, errNobody)
	}
	if out.Len() > 0 {
		t.Errorf("shown: %q", out.String())
	}
	if caps := newTerminalOn(strings.NewReader(""), &out).capabilities().MCP; !caps.Approvals || caps.Elicitation == nil {
		t.Errorf("a person is offered %+v", caps)
	}
}

// What may run without a person, from a pipe: with --yes anything, unless a
// rule wants a person.
func TestCallWithoutAPerson(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rule := func(action string) string {
		return "[[approval_rules]]\ntool = \"echo\"\naction = \"" + action + "\"\n"
	}
	const always = "default_tools_approval_mode = \"prompt\"\n"
	for _, c := range []struct {
		name, mode, rules string
		yes               bool
		code              int
		shows             string
	}{
		{"harmless", "", "", false, 0, `{"i":1}`},
		{"asks", always, "", false, 1, "with --yes"},
		{"asks, --yes", always, "", true, 0, `{"i":1}`},
		{"a rule asks", "", rule("ask"), false, 1, "from a terminal"},
		{"a rule asks, --yes", "", rule("ask"), true, 1, "--yes does not overrule it"},
		{"a rule denies, --yes", "", rule("deny"), true, 1, "was not run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("MCP_SIDECAR_HOME", home)
			config := "[mcp_servers.lines]\ncommand = '" + self + "'\nenv = { " + partVar + " = \"server\" }\n" + c.mode + c.rules
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"call", "lines", "echo", `{"i":1}`}
			if c.yes {
				args = append(args, "--yes")
			}
			var out bytes.Buffer
			code := run(args, strings.NewReader("y\ny\n"), &out, &out)
			if code != c.code || !strings.Contains(out.String(), c.shows) {
				t.Errorf("code %d, output %q; want code %d and %q", code, out.String(), c.code, c.shows)
			}
			if strings.Contains(out.String(), "Allow?") {
				t.Errorf("somebody was asked: %q", out.String())
			}
		})
	}
}
