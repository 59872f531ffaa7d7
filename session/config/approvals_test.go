package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func showRule(r ApprovalRule) string {
	return fmt.Sprintf("%s %s server=%s tool=%s argument=%s matches=%s", r.Action, r.AppliesTo, r.Server, r.Tool, r.Argument, r.Matches)
}

// Rules of all layers hold together, low to high; sentences merge key by key.
func TestApprovalLayers(t *testing.T) {
	src := base()
	src.Overrides = []string{`approval_rules=[{tool="f",action="ask"}]`, `approval_templates.a.t="Flag?"`}
	src.Initialize = json.RawMessage(`{"approval_rules":[{"tool":"i","action":"allow"},{"tool":7,"action":"deny","server":null}],"approval_templates":{"a":{"u":"Init?"}}}`)
	src.Thread = json.RawMessage(`{"approval_rules":[],"approval_templates.a.u":"","approval_templates":{"*":{"t":"Any?"}}}`)
	cfg := mustLoad(t, src, "[[approval_rules]]\nserver='a'\ntool='u?'\nargument='/p'\nmatches='x'\naction='deny'\napplies_to='questions'\n"+
		"[approval_templates.a]\nt='File?'\nv='Kept?'\n")
	var got []string
	for _, r := range cfg.ApprovalRules {
		got = append(got, r.Name()+": "+showRule(r))
	}
	want := []string{
		"approval_rules[0] (config.toml:1): deny questions server=a tool=u? argument=/p matches=x",
		"approval_rules[0] (-c): ask calls server= tool=f argument= matches=",
		"approval_rules[0] (initialize.config): allow calls server= tool=i argument= matches=",
		"approval_rules[1] (initialize.config): deny calls server= tool=7 argument= matches=",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rules\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := fmt.Sprintf("%q", cfg.ApprovalTemplates); got != `map["*":map["t":"Any?"] "a":map["t":"Flag?" "u":"" "v":"Kept?"]]` {
		t.Errorf("sentences %s", got)
	}
	if len(cfg.Problems) != 0 {
		t.Errorf("problems: %s", lines(cfg.Problems))
	}
	windows := ApprovalRule{Index: 3, Origin: Origin{Layer: LayerUser, Path: `C:\Users\me\config.toml`, Line: 14, Column: 2}}
	if got := windows.Name(); got != "approval_rules[3] (config.toml:14)" {
		t.Errorf("the name is %s", got)
	}
}

// A rule that can't be read whole is told where it is written, and never says
// more than was meant.
func TestBrokenApprovalRulesFailClosed(t *testing.T) {
	const asks = "until then the rule asks"
	for _, c := range []struct{ keys, rule, problem string }{
		{"tool='t'", "ask calls server= tool=t argument= matches=", "2:3: approval_rules[0].action: is missing"},
		{"tool='t'\naction='dney'", "ask calls server= tool=t argument= matches=", "4:1: approval_rules[0].action: must be one of allow, ask, deny (did you mean \"deny\"?; " + asks + ")"},
		{"tool='t'\naction='block'", "ask calls server= tool=t argument= matches=", "4:1: approval_rules[0].action: must be one of allow, ask, deny (did you mean \"deny\"?; " + asks + ")"},
		{"tool='t'\naction='Permit'", "ask calls server= tool=t argument= matches=", "4:1: approval_rules[0].action: must be one of allow, ask, deny (did you mean \"allow\"?; " + asks + ")"},
		{"tool='t'\naction='S3CRET'", "ask calls server= tool=t argument= matches=", "4:1: approval_rules[0].action: must be one of allow, ask, deny (" + asks + ")"},
		{"tool='t'\napplies_to='question'\naction='deny'", "ask both server= tool=t argument= matches=", "4:1: approval_rules[0].applies_to: must be one of calls, questions, both (did you mean \"questions\"?; " + asks + ", without this condition)"},
		{"tool='t'\naction=['deny']", "ask calls server= tool=t argument= matches=", "4:1: approval_rules[0].action: must be a string"},
		{"tol='t'\naction='deny'", "ask calls server= tool= argument= matches=", "3:1: approval_rules[0].tol: unknown key (did you mean \"tool\"?; " + asks + ", without this condition)"},
		{"server='s'\ntol='t'\naction='allow'", "", "4:1: approval_rules[0].tol: unknown key (did you mean \"tool\"?; until then the rule allows nothing)"},
		{"server=['a','b']\ntool='t'\naction='deny'", "ask calls server= tool=t argument= matches=", "3:1: approval_rules[0].server: must be a string, not an array"},
		{"server={a=1}\ntool='t'\naction='allow'", "", "3:1: approval_rules[0].server: must be a string, not a table"},
		{"argument=['a']\nmatches='x'\ntool='t'\naction='deny'", "ask calls server= tool=t argument= matches=", "3:1: approval_rules[0].argument: must be a string"},
		{"argument='/a'\nmatches=1.5\ntool='t'\naction='ask'", "ask calls server= tool=t argument= matches=", "4:1: approval_rules[0].matches: must be a string, not a number with a fraction (write it in quotes; " + asks},
		{"argument='/a'\nmatches='x'\ncomment='y'\naction='deny'", "ask calls server= tool= argument=/a matches=x", "5:1: approval_rules[0].comment: unknown key (" + asks},
		{"tool='t'\napplies_to='all'\naction='deny'", "ask both server= tool=t argument= matches=", "4:1: approval_rules[0].applies_to: must be one of calls, questions, both (did you mean \"both\"?; " + asks},
		{"tool='t'\napplies_to='all'\naction='allow'", "", "4:1: approval_rules[0].applies_to: must be one of"},
	} {
		cfg := mustLoad(t, base(), "# first\n[[approval_rules]]\n"+c.keys+"\n[[approval_rules]]\ntool='next'\naction='deny'\n")
		got := lines(cfg.Problems)
		if len(cfg.Problems) != 1 || !strings.HasPrefix(got, "/home/u/config.toml:"+c.problem) {
			t.Errorf("%q\n got %s\nwant %s", c.keys, got, c.problem)
		}
		rule := ""
		if n := len(cfg.ApprovalRules); n == 2 {
			rule = showRule(cfg.ApprovalRules[0])
		} else if n != 1 {
			t.Errorf("%q: %d rules", c.keys, n)
		}
		if rule != c.rule {
			t.Errorf("%q\n got %s\nwant %s", c.keys, rule, c.rule)
		}
		if last := cfg.ApprovalRules[len(cfg.ApprovalRules)-1]; last.Tool != "next" || last.Action != RuleDeny || last.Index != 1 {
			t.Errorf("%q costs the rule after it: %+v", c.keys, last)
		}
	}
}

// Values of another shape are told with the shape that is wanted.
func TestBadShapesOfApprovals(t *testing.T) {
	for _, c := range []struct {
		file, problem string
		rules, texts  int
	}{
		{"approval_rules='deny'", "1:1: approval_rules: must be an array of tables, not a string (write [[approval_rules]]", 0, 0},
		{"approval_rules=['deny','x']", "1:1: approval_rules: must be an array of tables, not an array", 0, 0},
		{"approval_rules=[\n{tool='a',action='deny'},\n'deny']", "1:1: approval_rules[1]: must be a table, not a string (the element is ignored)", 1, 0},
		{"[approval_rules]\ntool='t'\naction='deny'", "1:2: approval_rules: must be an array of tables, not a table (write [[approval_rules]], with two brackets; it is read as one rule)", 1, 0},
		{"approval_templates='x?'", "1:1: approval_templates: must be a table, not a string", 0, 0},
		{"[approval_templates]\ncreate_issue='x?'\n[approval_templates.a]\nt='y?'", "2:1: approval_templates.create_issue: must be a table, not a string (write it below [approval_templates.<server>], or [approval_templates.\"*\"] for every server", 0, 1},
		{"[approval_templates.a]\nt='y?'\nu=['x?']\n", "3:1: approval_templates.a.u: must be a string, not an array (write the question", 0, 1},
		{"[[approval_rule]]\ntool='t'", "1:3: approval_rule: unknown key (did you mean \"approval_rules\"?)", 0, 0},
		{"approval_template={}", "1:1: approval_template: unknown key (did you mean \"approval_templates\"?)", 0, 0},
	} {
		cfg := mustLoad(t, base(), c.file)
		got := lines(cfg.Problems)
		if len(cfg.Problems) != 1 || !strings.HasPrefix(got, "/home/u/config.toml:"+c.problem) {
			t.Errorf("%q\n got %s\nwant %s", c.file, got, c.problem)
		}
		texts := 0
		for _, m := range cfg.ApprovalTemplates {
			texts += len(m)
		}
		if len(cfg.ApprovalRules) != c.rules || texts != c.texts {
			t.Errorf("%q: %d rules and %d sentences, want %d and %d", c.file, len(cfg.ApprovalRules), texts, c.rules, c.texts)
		}
		if !json.Valid(cfg.Effective()) {
			t.Errorf("%q: effective is no JSON", c.file)
		}
	}
	cfg := mustLoad(t, Sources{Thread: json.RawMessage(`{"approval_rules":[null,{"tool":"t","action":"deny"}]}`)}, "")
	if got := lines(cfg.Problems); !strings.HasPrefix(got, "thread/start.config: approval_rules[0]: must be a table, not null") || len(cfg.ApprovalRules) != 1 || cfg.ApprovalRules[0].Index != 1 {
		t.Errorf("%v, %s", cfg.ApprovalRules, got)
	}
}

// A problem of a sentence, of a server's sentences or of all of them has the
// place of what it is about.
func TestPlacesOfTemplateProblems(t *testing.T) {
	cfg := mustLoad(t, base(), "[approval_templates.a]\nt='x?'\n'u v'='y?'\n")
	for _, c := range []struct{ server, tool, want string }{
		{"a", "u v", `/home/u/config.toml:3:1: approval_templates.a."u v": is odd`},
		{"a", "", `/home/u/config.toml:1:21: approval_templates.a: is odd`},
		{"", "", `/home/u/config.toml:1:2: approval_templates: is odd`},
	} {
		p := cfg.TemplateProblem(c.server, c.tool, "is odd", "")
		if got := p.Error(); got != c.want {
			t.Errorf("%q %q: got %s, want %s", c.server, c.tool, got, c.want)
		}
	}
}

// The version changes with what config/read masks, and not with layout.
func TestVersionOfApprovals(t *testing.T) {
	const file = "[[approval_rules]]\nargument='/a'\nmatches='token=S3CRET-1'\naction='deny'\n[approval_templates.a]\nt='token=S3CRET-1?'\n"
	one := mustLoad(t, base(), file)
	if strings.Contains(string(one.Effective()), "S3CRET") {
		t.Errorf("shown: %s", one.Effective())
	}
	for other, same := range map[string]bool{
		"\n# c\n" + file: true,
		strings.Replace(file, "matches='token=S3CRET-1", "matches='token=S3CRET-2", 1): false,
		strings.Replace(file, "t='token=S3CRET-1", "t='token=S3CRET-2", 1):             false,
	} {
		if got := mustLoad(t, base(), other).Version(); (got == one.Version()) != same {
			t.Errorf("%q: the same version is %v", other, !same)
		}
	}
}
