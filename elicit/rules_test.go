package elicit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"pgregory.net/rapid"
)

func sound(t *testing.T, list ...Rule) *Rules {
	t.Helper()
	rules, problems := CompileRules(list)
	for _, p := range problems {
		t.Errorf("unexpected problem: %v", p)
	}
	return rules
}

// One rule at a time, against calls.
func TestRuleConditions(t *testing.T) {
	deny := func(r Rule) Rule { r.Action = RuleDeny; return r }
	allow := func(r Rule) Rule { r.Action = RuleAllow; return r }
	path := Rule{Argument: "/path", Matches: `^/etc/`}
	for _, c := range []struct {
		rule         Rule
		server, tool string
		args         string
		want         RuleAction
	}{
		{deny(Rule{}), "a", "t", ``, RuleDeny},
		{deny(Rule{Server: "a"}), "a", "t", ``, RuleDeny},
		{deny(Rule{Server: "a"}), "A", "t", ``, ""},
		{deny(Rule{Server: "a"}), "a__get", "t", ``, ""},
		{deny(Rule{Server: "a*"}), "a__get", "t", ``, RuleDeny},
		{deny(Rule{Server: "my-server", Tool: "get?item"}), "my-server", "get_item", ``, RuleDeny},
		{deny(Rule{Tool: "delete_*"}), "a", "delete_", ``, RuleDeny},
		{deny(Rule{Tool: "delete_*"}), "a", "undelete_x", ``, ""},
		{deny(Rule{Tool: "*_file"}), "a", "write_file_now", ``, ""},
		{deny(Rule{Tool: "[a]"}), "a", "a", ``, ""},
		{deny(Rule{Tool: "t.x"}), "a", "tox", ``, ""},
		{deny(Rule{Tool: "?"}), "a", "é", ``, RuleDeny},
		{deny(Rule{Tool: "t", AppliesTo: RuleQuestions}), "a", "t", ``, ""},
		{deny(Rule{Tool: "t", AppliesTo: RuleBoth}), "a", "t", ``, RuleDeny},

		{deny(path), "a", "t", `{"path":"/etc/passwd"}`, RuleDeny},
		{deny(path), "a", "t", `{"path":"\u002fetc\/passwd"}`, RuleDeny},
		{deny(path), "a", "t", `{"p\u0061th":"/etc/passwd"}`, RuleDeny},
		{deny(path), "a", "t", `{"path":"/home"}`, ""},
		{deny(path), "a", "t", `{}`, ""},
		{deny(path), "a", "t", ``, ""},
		{deny(path), "a", "t", `null`, ""},
		{deny(path), "a", "t", `{"path":["/etc/"]}`, ""},
		{deny(path), "a", "t", `{"path":"/home","path":"/etc/x"}`, RuleDeny},
		{deny(path), "a", "t", `{"path":"/etc/x","path":"/home"}`, RuleDeny},
		{allow(path), "a", "t", `{"path":"/etc/x"}`, RuleAllow},
		{allow(path), "a", "t", `{"path":"/etc/x","path":"/root"}`, ""},
		{allow(path), "a", "t", `{}`, ""},
		{allow(Rule{Argument: "/a/b"}), "a", "t", `{"a":{"b":1},"a":{}}`, ""},
		{deny(Rule{Argument: "/a/b"}), "a", "t", `{"a":{"b":1},"a":{}}`, RuleDeny},
		{deny(Rule{Argument: "/force"}), "a", "t", `{"force":null}`, RuleDeny},
		{deny(Rule{Argument: "/force", Matches: "^true$"}), "a", "t", `{"force": true}`, RuleDeny},
		{deny(Rule{Argument: "/force", Matches: "^true$"}), "a", "t", `{"force":false}`, ""},
		{deny(Rule{Argument: "/n", Matches: "^1$"}), "a", "t", `{"n":1.0e0}`, RuleDeny},
		{deny(Rule{Argument: "/n", Matches: "^0$"}), "a", "t", `{"n":-0}`, RuleDeny},
		{allow(Rule{Argument: "/n", Matches: "^1$"}), "a", "t", `{"n":1e0}`, ""},
		{deny(Rule{Argument: "/argv", Matches: `"rm"`}), "a", "t", `{"argv":[ "\u0072m" , "-rf"]}`, RuleDeny},
		{deny(Rule{Argument: "/argv", Matches: `^\["rm","-rf"\]$`}), "a", "t", `{"argv":[ "rm" , "-rf" ]}`, RuleDeny},
		{deny(Rule{Argument: "/argv/0", Matches: `^rm$`}), "a", "t", `{"argv":["rm"]}`, RuleDeny},
		{deny(Rule{Argument: "/argv/00", Matches: `^rm$`}), "a", "t", `{"argv":["rm"]}`, ""},
		{deny(Rule{Argument: "/a~1b/c~0d", Matches: `x`}), "a", "t", `{"a/b":{"c~d":"x"}}`, RuleDeny},
		{deny(Rule{Argument: "/~01"}), "a", "t", `{"~1":1}`, RuleDeny},
		{deny(Rule{Argument: "/"}), "a", "t", `{"":1}`, RuleDeny},
		{deny(Rule{Argument: "/s", Matches: "a\u202eb"}), "a", "t", `{"s":"a\u202eb"}`, RuleDeny},
		{deny(path), "a", "t", `{"path":`, RuleAsk},
		{allow(path), "a", "t", `{"path":`, ""},
	} {
		got := sound(t, c.rule).Call(protocol.ServerName(c.server), protocol.ToolName(c.tool), json.RawMessage(c.args))
		if got.Action != c.want || (got.Action == "") != (got.Text == "") {
			t.Errorf("%+v on %s/%s %s is %q (%s), want %q", c.rule, c.server, c.tool, c.args, got.Action, got.Text, c.want)
		}
	}
}

// What is too large to look into asks where a rule is strict, and is never a
// reason to allow.
func TestRulesOfLargeArguments(t *testing.T) {
	for _, args := range []string{
		`{"path":"` + strings.Repeat("x", maxRuleText) + `"}`,
		`{"path":"y","more":"` + strings.Repeat("x", maxRuleArguments) + `"}`,
	} {
		for action, want := range map[RuleAction]RuleAction{RuleDeny: RuleAsk, RuleAsk: RuleAsk, RuleAllow: ""} {
			r := sound(t, Rule{Argument: "/path", Matches: "zzz|x", Action: action})
			if got := r.Call("a", "t", json.RawMessage(args)); got.Action != want {
				t.Errorf("%s of %d bytes: %+v, want %q", action, len(args), got, want)
			}
		}
	}
}

// The outlook before there are arguments, and questions with and without a
// known call.
func TestRulesWithoutArguments(t *testing.T) {
	for _, c := range []struct {
		rule                                 Rule
		outlook, question, questionOfUnknown RuleAction
	}{
		{Rule{Action: RuleDeny, AppliesTo: RuleBoth}, RuleDeny, RuleDeny, RuleDeny},
		{Rule{Action: RuleAllow, AppliesTo: RuleBoth}, RuleAllow, RuleAllow, RuleAllow},
		{Rule{Action: RuleAllow, AppliesTo: RuleQuestions}, "", RuleAllow, RuleAllow},
		{Rule{Action: RuleDeny, Tool: "t", AppliesTo: RuleBoth}, RuleDeny, RuleDeny, RuleAsk},
		{Rule{Action: RuleDeny, Tool: "*", AppliesTo: RuleBoth}, RuleDeny, RuleDeny, RuleDeny},
		{Rule{Action: RuleDeny, Tool: "u", AppliesTo: RuleBoth}, "", "", RuleAsk},
		{Rule{Action: RuleAllow, Tool: "t", AppliesTo: RuleBoth}, RuleAllow, RuleAllow, ""},
		{Rule{Action: RuleAsk, Tool: "t", AppliesTo: RuleBoth}, RuleAsk, RuleAsk, RuleAsk},
		{Rule{Action: RuleDeny, Argument: "/x", AppliesTo: RuleBoth}, RuleAsk, RuleDeny, RuleAsk},
		{Rule{Action: RuleDeny, Argument: "/y", AppliesTo: RuleBoth}, RuleAsk, "", RuleAsk},
		{Rule{Action: RuleAllow, Argument: "/x", AppliesTo: RuleBoth}, "", RuleAllow, ""},
		{Rule{Action: RuleDeny, Server: "b", AppliesTo: RuleBoth}, "", "", ""},
	} {
		r := sound(t, c.rule)
		if got := r.Tool("a", "t"); got.Action != c.outlook {
			t.Errorf("%+v: outlook %q, want %q", c.rule, got.Action, c.outlook)
		}
		if got := r.Question("a", "t", json.RawMessage(`{"x":1}`)); got.Action != c.question {
			t.Errorf("%+v: question %q, want %q", c.rule, got.Action, c.question)
		}
		if got := r.Question("a", "", nil); got.Action != c.questionOfUnknown {
			t.Errorf("%+v: question of an unknown call %q, want %q", c.rule, got.Action, c.questionOfUnknown)
		}
	}
	var none *Rules
	if none.Call("a", "t", nil) != (Ruling{}) || none.Tool("a", "t") != (Ruling{}) || none.Question("a", "t", nil) != (Ruling{}) ||
		none.UnmatchedServers(nil) != nil || none.UnmatchedTools(nil) != nil {
		t.Error("nil rules say something")
	}
}

// A broken rule is told with its name, the key and a way out, and says no more
// than it was meant to.
func TestBrokenRulesFailClosed(t *testing.T) {
	long := strings.Repeat("x", 1001)
	for _, c := range []struct {
		rule Rule
		key  string
		says string
	}{
		{Rule{Tool: "t", Argument: "path", Matches: "x"}, "argument", "is no JSON pointer"},
		{Rule{Tool: "t", Argument: "$.path"}, "argument", `"/path"`},
		{Rule{Tool: "t", Argument: "/a~2"}, "argument", "~0"},
		{Rule{Tool: "t", Argument: "/" + long}, "argument", "is longer than"},
		{Rule{Tool: "t", Argument: "/a", Matches: "S3CRET("}, "matches", "missing closing )"},
		{Rule{Tool: "t", Argument: "/a", Matches: "(?=x)"}, "matches", "RE2"},
		{Rule{Tool: "t", Argument: "/a", Matches: long}, "matches", "is longer than"},
		{Rule{Tool: "t", Matches: "x"}, "matches", "needs argument"},
		{Rule{Tool: "t", AppliesTo: "call"}, "applies_to", "calls, questions, both"},
		{Rule{Server: long}, "server", "is longer than"},
		{Rule{Tool: long}, "tool", "is longer than"},
	} {
		c.rule.Name = "approval_rules[7] (config.toml:14)"
		for action, want := range map[RuleAction]RuleAction{RuleDeny: RuleAsk, RuleAsk: RuleAsk, RuleAllow: ""} {
			c.rule.Action = action
			r, problems := CompileRules([]Rule{c.rule})
			if len(problems) != 1 {
				t.Fatalf("%+v: problems %v", c.rule, problems)
			}
			p := problems[0]
			until := map[RuleAction]string{RuleAsk: "the rule asks, without this condition", "": "the rule allows nothing"}[want]
			if p.Index != 0 || p.Key != c.key || !strings.Contains(p.String(), c.says) || !strings.Contains(p.Hint, until) || !strings.HasPrefix(p.String(), c.rule.Name+": "+c.key+": ") {
				t.Errorf("%s %s: %v, want %q and %q", action, c.key, p, c.says, until)
			}
			if strings.Contains(p.String(), "S3CRET") {
				t.Errorf("quotes a pattern: %v", p)
			}
			if got := r.Call("a", "t", nil); got.Action != want {
				t.Errorf("%s with a broken %s says %+v, want %q", action, c.key, got, want)
			}
			if got := r.Call("a", "other", nil); c.rule.Tool == "t" && got.Action != "" {
				t.Errorf("%s with a broken %s reaches another tool", action, c.key)
			}
		}
	}
	for _, action := range []RuleAction{"", "Deny", "allow "} {
		r, problems := CompileRules([]Rule{{Tool: "t", Argument: "/a", Action: action}})
		if len(problems) != 1 || problems[0].Key != "action" || problems[0].Rule != "approval_rules[0]" {
			t.Errorf("action %q: %v", action, problems)
		}
		if r.Call("a", "t", json.RawMessage(`{"a":1}`)).Action != RuleAsk || r.Call("a", "t", nil).Action != "" {
			t.Errorf("action %q does not ask for what it names", action)
		}
	}
}

// Too many rules: those beyond never allow, and are never lost when strict.
func TestTooManyRules(t *testing.T) {
	many := make([]Rule, maxRules)
	for i := range many {
		many[i] = Rule{Server: fmt.Sprint("s", i), Action: RuleAllow}
	}
	if r := sound(t, many...); r.Call("s199", "t", nil).Action != RuleAllow {
		t.Error("the last rule is lost")
	}
	for action, want := range map[RuleAction]RuleAction{RuleAllow: "", RuleDeny: RuleAsk, "": RuleAsk} {
		r, problems := CompileRules(append(many[:maxRules:maxRules], Rule{Server: "x", Action: action}))
		if len(problems) != 1 || problems[0].Index != -1 || !strings.Contains(problems[0].Message, "201") {
			t.Errorf("%s: %v", action, problems)
		}
		if got := r.Call("x", "t", nil).Action; got != want {
			t.Errorf("%s beyond the limit is %q, want %q", action, got, want)
		}
	}
}

// O073: what is written from exposed names is told with the right form, does
// not cross the border between servers, and where it denies it asks.
func TestExposedNamesInRules(t *testing.T) {
	for _, c := range []struct {
		rule  Rule
		hint  string
		asked []string // server/tool
	}{
		{Rule{Tool: "mcp__a__*"}, `write server = "a", tool = "*"`, []string{"a/get_x", "a/set_x"}},
		{Rule{Tool: "mcp__a"}, `write server = "a";`, []string{"a/get_x", "a/set_x"}},
		{Rule{Tool: "mcp__*"}, "write the raw names;", []string{"a/get_x", "a/set_x", "a__get/get_x", "a__get/set_x", "my-server/get_x", "my-server/set_x"}},
		{Rule{Server: "mcp__*"}, "write the raw names;", []string{"a/get_x", "a/set_x", "a__get/get_x", "a__get/set_x", "my-server/get_x", "my-server/set_x"}},
		{Rule{Tool: "mcp__"}, "write the raw names;", []string{"a/get_x", "a/set_x", "a__get/get_x", "a__get/set_x", "my-server/get_x", "my-server/set_x"}},
		{Rule{Server: "mcp__a"}, `write server = "a";`, []string{"a/get_x", "a/set_x"}},
		{Rule{Tool: "mcp__a__get*"}, `write server = "a", tool = "get*"`, []string{"a/get_x"}},
		{Rule{Server: "a", Tool: "mcp__a__get*"}, `write server = "a", tool = "get*"`, []string{"a/get_x"}},
		{Rule{Tool: "mcp__my_server__get_x"}, `write server = "my_server", tool = "get_x"`, []string{"my-server/get_x"}},
		{Rule{Tool: "mcp__a__get__set_x"}, `write server = "a", tool = "get__set_x"`, nil},
	} {
		for _, action := range []RuleAction{RuleAllow, RuleAsk, RuleDeny} {
			c.rule.Action = action
			r, problems := CompileRules([]Rule{c.rule})
			if len(problems) != 1 || !strings.Contains(problems[0].Hint, c.hint) {
				t.Errorf("%+v: %v, want %s", c.rule, problems, c.hint)
			}
			for _, s := range []string{"a", "a__get", "my-server"} {
				for _, tool := range []string{"get_x", "set_x"} {
					want := RuleAction("")
					if action != RuleAllow && strings.Contains(strings.Join(c.asked, " ")+" ", s+"/"+tool+" ") {
						want = RuleAsk
					}
					if got := r.Call(protocol.ServerName(s), protocol.ToolName(tool), nil); got.Action != want {
						t.Errorf("%+v on %s/%s: %q, want %q", c.rule, s, tool, got.Action, want)
					}
				}
			}
		}
	}
	// A raw name may really look like that.
	r, _ := CompileRules([]Rule{{Tool: "mcp__a__x", Action: RuleDeny}})
	if r.Call("proxy", "mcp__a__x", nil).Action != RuleDeny {
		t.Error("a raw name that looks exposed is not denied")
	}
}

// A condition for an argument that no tool has is told, unless some tool may have
// it, or is not known yet.
func TestUnmatchedArguments(t *testing.T) {
	r := sound(t,
		Rule{Server: "notes", Tool: "add", Argument: "/txt", Action: RuleDeny},
		Rule{Server: "notes", Tool: "add", Argument: "/text/deep", Action: RuleDeny},
		Rule{Server: "notes", Argument: "/anything", Action: RuleDeny},
		Rule{Argument: "/else", Action: RuleDeny},
		Rule{Server: "none", Argument: "/x", Action: RuleDeny})
	catalogs := map[protocol.ServerName]map[protocol.ToolName]Arguments{
		"notes": {"add": {Names: []string{"text"}}, "free": {Open: true}}, "slow": nil,
	}
	got := r.UnmatchedArguments(catalogs)
	if len(got) != 1 || got[0].String() != `approval_rules[0]: argument: no tool that it fits has an argument "txt" (did you mean "/text"?)` {
		t.Errorf("got %v", got)
	}
	catalogs["notes"]["free"] = Arguments{}
	delete(catalogs, "slow")
	if got := r.UnmatchedArguments(catalogs); len(got) != 3 {
		t.Errorf("all is known: %v", got)
	}
	// The hint is a pointer again; a key in another case does count to deny.
	r = sound(t,
		Rule{Argument: "/a~1c/x", Action: RuleDeny}, Rule{Argument: "/A~1B", Action: RuleDeny}, Rule{Argument: "/A~1B", Action: RuleAllow})
	got = r.UnmatchedArguments(map[protocol.ServerName]map[protocol.ToolName]Arguments{"s": {"t": {Names: []string{"a/b"}}}})
	if len(got) != 2 || got[0].Hint != `did you mean "/a~1b/x"?` || got[1].Index != 2 || got[1].Hint != `did you mean "/a~1b"?` {
		t.Errorf("got %v", got)
	}
}

// A name that is written as a regular expression is told to be none, if it
// matches nothing.
func TestExpressionsAsNames(t *testing.T) {
	const hint = "names take * and ?, no regular expressions"
	for _, pattern := range []string{"^add_.*$", "^add_a$", "add.*", "add_(a|b)", "add_[ab]", `add\w`} {
		r := sound(t, Rule{Tool: pattern, Action: RuleDeny}, Rule{Server: pattern, Action: RuleDeny})
		tools := r.UnmatchedTools(map[protocol.ServerName][]protocol.ToolName{"s": {"add_a"}})
		if len(tools) != 1 || tools[0].Hint != hint {
			t.Errorf("tool %q: %v", pattern, tools)
		}
		servers := r.UnmatchedServers([]protocol.ServerName{"add_a"})
		if len(servers) != 1 || servers[0].Hint != hint {
			t.Errorf("server %q: %v", pattern, servers)
		}
	}
	r := sound(t, Rule{Tool: "v1.2", Action: RuleDeny})
	if got := r.UnmatchedTools(map[protocol.ServerName][]protocol.ToolName{"s": {"v1.3"}}); len(got) != 1 || got[0].Hint != `did you mean "v1.3"?` {
		t.Errorf("a plain dot: %v", got)
	}
}

// What RE2 lacks of Perl's syntax is named; nothing else of a pattern is.
func TestForeignSyntax(t *testing.T) {
	for _, c := range []struct{ pattern, says string }{
		{"S3CRET(?=S3CRET)", "is no regular expression: invalid or unsupported Perl syntax: `(?=`"},
		{"(?<=S3CRET)x", "is no regular expression: invalid or unsupported Perl syntax: `(?<=`"},
		{"(?<!S3CRET)x", "is no regular expression: invalid or unsupported Perl syntax: `(?<!`"},
		{"(?>S3CRET)", "is no regular expression: invalid or unsupported Perl syntax: `(?>`"},
		{`(S3CRET)\1`, "is no regular expression: invalid escape sequence: `\\1`"},
		{"S3CRET++", "is no regular expression: invalid nested repetition operator: `++`"},
		{`S3CRET\y`, "is no regular expression: invalid escape sequence"},
		{"(?<S3CRET", "is no regular expression: invalid named capture"},
		{"S3CRET[(?=", "is no regular expression: missing closing ]"},
		{"(?=S3CRET", "is no regular expression: invalid or unsupported Perl syntax: `(?=`"},
	} {
		_, problems := CompileRules([]Rule{{Argument: "/a", Matches: c.pattern, Action: RuleDeny}})
		if len(problems) != 1 || problems[0].Message != c.says || strings.Contains(problems[0].String(), "S3CRET") {
			t.Errorf("%s: %v, want %s", c.pattern, problems, c.says)
		}
	}
}

// A rule that allows all calls is told, unless it says so of every server.
func TestSweepingRules(t *testing.T) {
	r := sound(t,
		Rule{Action: RuleAllow},
		Rule{Tool: "?*", AppliesTo: RuleBoth, Action: RuleAllow},
		Rule{Server: "*", Action: RuleAllow},
		Rule{Server: "*", Tool: "*", Action: RuleAllow},
		Rule{Server: "?*", Action: RuleAllow},
		Rule{Tool: "get_*", Action: RuleAllow},
		Rule{Argument: "/path", Action: RuleAllow},
		Rule{AppliesTo: RuleQuestions, Action: RuleAllow},
		Rule{Action: RuleAsk}, Rule{Action: RuleDeny})
	got := r.Sweeping()
	if len(got) != 2 || got[0].Index != 0 || got[1].Index != 1 || !strings.Contains(got[0].String(), "allows every tool of every server unasked") {
		t.Errorf("got %v", got)
	}
	var none *Rules
	if none.Sweeping() != nil {
		t.Error("nil rules are told of")
	}
}

// Rules that can match nothing are told once it is certain.
func TestUnmatchedRules(t *testing.T) {
	r := sound(t,
		Rule{Server: "github", Action: RuleDeny},
		Rule{Server: "gthub", Action: RuleDeny},
		Rule{Server: "git*", Tool: "create_isue", Action: RuleDeny},
		Rule{Server: "docs", Tool: "nothing*", Action: RuleAllow},
		Rule{Tool: "read", Action: RuleAllow},
		Rule{Server: "slow", Tool: "x", Action: RuleAllow},
		Rule{Action: RuleAsk})
	show := func(list []RuleProblem) string {
		var b strings.Builder
		for _, p := range list {
			fmt.Fprintf(&b, "%v\n", p)
		}
		return b.String()
	}
	got := show(r.UnmatchedServers([]protocol.ServerName{"github", "docs", "slow"}))
	if want := "approval_rules[1]: server: matches no configured server (did you mean \"github\"?)\n"; got != want {
		t.Errorf("servers:\n%swant\n%s", got, want)
	}
	catalogs := map[protocol.ServerName][]protocol.ToolName{"github": {"create_issue", "close"}, "docs": {}, "slow": nil}
	got = show(r.UnmatchedTools(catalogs))
	want := "approval_rules[2]: tool: matches no tool of the servers it is for (did you mean \"create_issue\"?)\n" +
		"approval_rules[3]: tool: matches no tool of server \"docs\" (rules are for raw names; case counts)\n"
	if got != want {
		t.Errorf("tools:\n%swant\n%s", got, want)
	}
	delete(catalogs, "slow")
	if got = show(r.UnmatchedTools(catalogs)); !strings.Contains(got, "approval_rules[4]: tool: matches no tool of any server") {
		t.Errorf("all catalogs are known, got\n%s", got)
	}
	guarded, _ := CompileRules([]Rule{{Tool: "mcp__a", Action: RuleDeny}})
	if got := guarded.UnmatchedServers(nil); got != nil {
		t.Errorf("a guard is told of: %v", got)
	}
}

func drawRule(t *rapid.T, label string) Rule {
	return Rule{
		Server:    rapid.SampledFrom([]string{"", "a", "b", "a*", "mcp__a"}).Draw(t, label+" server"),
		Tool:      rapid.SampledFrom([]string{"", "t", "t?", "*", "mcp__a__t"}).Draw(t, label+" tool"),
		Argument:  rapid.SampledFrom([]string{"", "", "/x", "x"}).Draw(t, label+" argument"),
		Matches:   rapid.SampledFrom([]string{"", "1", "("}).Draw(t, label+" matches"),
		Action:    rapid.SampledFrom([]RuleAction{RuleAllow, RuleAsk, RuleDeny, "?"}).Draw(t, label+" action"),
		AppliesTo: rapid.SampledFrom([]RuleScope{"", RuleQuestions, RuleBoth, "?"}).Draw(t, label+" scope"),
	}
}

// Order decides nothing but the name; a rule more that allows never softens,
// and one that asks or denies never allows more; the outlook of a tool holds
// for each of its calls.
func TestRulesTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Rule
		for i := range rapid.IntRange(0, 4).Draw(t, "count") {
			list = append(list, drawRule(t, fmt.Sprint(i)))
		}
		server := protocol.ServerName(rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(t, "server"))
		tool := protocol.ToolName(rapid.SampledFrom([]string{"t", "tt", ""}).Draw(t, "tool"))
		args := json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"x":1}`, `{"x":2}`, `{"x":1,"x":2}`, `{`}).Draw(t, "arguments"))
		all := func(list []Rule) [3]RuleAction {
			r, _ := CompileRules(list)
			return [3]RuleAction{r.Call(server, tool, args).Action, r.Tool(server, tool).Action, r.Question(server, tool, args).Action}
		}
		before := all(list)
		if shuffled := all(rapid.Permutation(list).Draw(t, "order")); shuffled != before {
			t.Fatalf("order counts: %v and %v", before, shuffled)
		}
		more := drawRule(t, "more")
		after := all(append(list[:len(list):len(list)], more))
		for i := range before {
			if strictness(after[i]) < strictness(before[i]) {
				t.Fatalf("a rule more softens %q to %q: %+v", before[i], after[i], more)
			}
			if more.Action == RuleAllow && before[i] != after[i] && (before[i] != "" || after[i] != RuleAllow) &&
				!strings.HasPrefix(string(more.Server)+more.Tool, "mcp__") {
				t.Fatalf("an allowing rule turns %q into %q: %+v", before[i], after[i], more)
			}
			if more.Action != RuleAllow && after[i] == RuleAllow && before[i] != RuleAllow {
				t.Fatalf("a strict rule allows: %+v", more)
			}
		}
		call, outlook := before[0], before[1]
		if outlook == RuleDeny && call != RuleDeny || outlook == RuleAllow && call != RuleAllow || outlook == "" && strictness(call) > strictness(RuleAllow) {
			t.Fatalf("the outlook is %q, and the call %q", outlook, call)
		}
	})
}

// Hints count characters, look at each name once, and end after some problems,
// for they take long.
func TestHintsAtNames(t *testing.T) {
	if got := nearest("日本", []protocol.ServerName{"ab"}); got != "" {
		t.Errorf("日本 is taken for %s", got)
	}
	names := slices.Repeat([]string{"account", "path"}, 2*maxLikely)
	if got := nearest("pth", fewer(names, maxHints-1)); got != "path" {
		t.Errorf("pth is taken for %q", got)
	}
	if got := fewer(names, maxHints); got != nil {
		t.Errorf("after %d problems there are %d names left", maxHints, len(got))
	}
}
