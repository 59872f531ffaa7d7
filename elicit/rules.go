package elicit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A RuleAction is what a rule says.
type RuleAction string

// The actions. Deny wins over ask, ask over allow, whatever the order of the
// rules.
const (
	RuleAllow RuleAction = "allow"
	RuleAsk   RuleAction = "ask"
	RuleDeny  RuleAction = "deny"
)

// Values lists the words of a RuleAction.
func (RuleAction) Values() []string { return []string{"allow", "ask", "deny"} }

// A RuleScope says what a rule is about.
type RuleScope string

// The scopes. The empty one is RuleCalls.
const (
	RuleCalls     RuleScope = "calls"
	RuleQuestions RuleScope = "questions"
	RuleBoth      RuleScope = "both"
)

// Values lists the words of a RuleScope.
func (RuleScope) Values() []string { return []string{"calls", "questions", "both"} }

// A Rule answers before a person is asked. It holds where all its conditions
// do; an empty one is no condition.
type Rule struct {
	// Server and Tool are globs for the whole raw name: * and ?, case counts.
	Server, Tool string
	// Argument is a JSON pointer (RFC 6901) into the call's arguments. Alone it
	// asks that there is a value, whatever it is.
	Argument string
	// Matches is a regular expression (RE2), not anchored, for the text of the
	// value at Argument: a string's own text, else compact JSON.
	Matches   string
	Action    RuleAction
	AppliesTo RuleScope
	// Name is what messages call it: approval_rules[2] (config.toml:14).
	Name string
}

// A RuleProblem is something wrong with a rule, said so that a person finds
// and mends it. It never quotes a pattern for values.
type RuleProblem struct {
	// Index is the rule's place in what CompileRules was given, -1 for none.
	Index int
	// Rule is its name, Key the key of it that is wrong.
	Rule, Key string
	// Message is to be read after the key. Hint says the way out, and what the
	// rule does until then.
	Message, Hint string
}

// String writes the problem on one line: rule: key: what (hint).
func (p RuleProblem) String() string {
	s := p.Rule + ": "
	if p.Key != "" {
		s += p.Key + ": "
	}
	s += p.Message
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Limits of rules. What is beyond them never makes a rule say more.
const (
	maxRules       = 200
	maxRuleGlob    = 256  // bytes of a pattern for names
	maxRulePointer = 256  // bytes of a pointer
	maxRulePattern = 1000 // bytes of a regular expression
	// maxRuleArguments is the size up to which arguments are looked into, and
	// maxRuleText that of one value. In what is larger, a condition is taken to
	// hold for asking and not to hold for allowing.
	maxRuleArguments = 1 << 20
	maxRuleText      = 64 << 10
)

// Rules are compiled rules. They don't change; nil has none.
type Rules struct{ list []rule }

// A rule is a compiled Rule, or a guard.
type rule struct {
	index        int
	name         string
	server, tool glob
	// serverWritten: the rule has the key, be it only for "*".
	serverWritten bool
	// pointer is nil without a condition for an argument; matches nil means
	// that any value will do.
	pointer          []string
	matches          *regexp.Regexp
	action           RuleAction
	calls, questions bool
	// guard: it is nobody's own words but stands in for a rule that would
	// match nothing. told: that it would was told already.
	guard, told bool
}

// CompileRules reads rules. A rule with a broken condition must not say more
// than it was meant to: to allow is dropped, to deny or to ask becomes to ask,
// without the broken condition; an unknown action asks. Each such thing is a
// problem. The result is never nil.
func CompileRules(list []Rule) (*Rules, []RuleProblem) {
	c := compiler{rules: &Rules{}}
	for i, w := range list[:min(len(list), maxRules)] {
		c.add(i, w)
	}
	c.rest(len(list), list[min(len(list), maxRules):])
	return c.rules, c.problems
}

// A compiler is the work of one CompileRules.
type compiler struct {
	rules    *Rules
	problems []RuleProblem
}

func (c *compiler) add(i int, w Rule) {
	r := rule{index: i, name: ruleName(i, w.Name), action: w.Action}
	say := func(key, message, hint string) {
		c.problems = append(c.problems, RuleProblem{Index: i, Rule: r.name, Key: key, Message: message, Hint: hint})
	}
	switch w.Action {
	case RuleAllow, RuleAsk, RuleDeny:
	default:
		r.action = RuleAsk
		say("action", "must be one of allow, ask, deny", "until then the rule asks")
	}
	broken := false
	fault := func(key, message, wayOut string) {
		broken = true
		until := "until then the rule asks, without this condition"
		if r.action == RuleAllow {
			until = "until then the rule allows nothing"
		}
		say(key, message, wayOut+"; "+until)
	}
	switch w.AppliesTo {
	case RuleCalls, "":
		r.calls = true
	case RuleQuestions:
		r.questions = true
	case RuleBoth:
		r.calls, r.questions = true, true
	default:
		r.calls, r.questions = true, true
		fault("applies_to", "must be one of calls, questions, both", "remove it for calls")
	}
	r.server, r.tool = newGlob(w.Server), newGlob(w.Tool)
	r.serverWritten = w.Server != ""
	if len(w.Server) > maxRuleGlob {
		r.server, w.Server = "", ""
		fault("server", fmt.Sprintf("is longer than %d bytes", maxRuleGlob), "shorten it with *")
	}
	if len(w.Tool) > maxRuleGlob {
		r.tool, w.Tool = "", ""
		fault("tool", fmt.Sprintf("is longer than %d bytes", maxRuleGlob), "shorten it with *")
	}
	if key, message, wayOut := r.condition(w); message != "" {
		fault(key, message, wayOut)
	}
	if broken {
		if r.action == RuleAllow {
			return
		}
		r.action = RuleAsk
	}
	c.rules.list = append(c.rules.list, r)
	c.exposed(r, w, say)
}

func ruleName(i int, name string) string {
	if name = Clean(name, maxName); name == "" {
		return "approval_rules[" + strconv.Itoa(i) + "]"
	}
	return name
}

// condition reads the condition for an argument; a broken one leaves r without.
func (r *rule) condition(w Rule) (key, message, wayOut string) {
	if w.Argument == "" && w.Matches == "" {
		return "", "", ""
	}
	if w.Argument == "" {
		return "matches", "needs argument beside it", `say which argument has to match, such as argument = "/path"`
	}
	if len(w.Argument) > maxRulePointer {
		return "argument", fmt.Sprintf("is longer than %d bytes", maxRulePointer), "point to a value further out"
	}
	pointer, wrong := parsePointer(w.Argument)
	if wrong != "" {
		return "argument", "is no JSON pointer: it " + wrong, `write one such as "/path" or "/options/force"`
	}
	if len(w.Matches) > maxRulePattern {
		return "matches", fmt.Sprintf("is longer than %d bytes", maxRulePattern), "make several rules of it"
	}
	pattern, err := regexp.Compile(w.Matches)
	if err != nil {
		return "matches", "is no regular expression" + wrongInPattern(err), "see the syntax of RE2; in TOML, single quotes keep backslashes"
	}
	r.pointer, r.matches = pointer, pattern
	return "", "", ""
}

// exposedPrefix and exposedBorder are what the names that a model sees are
// made with, around the server's name.
const (
	exposedPrefix = "mcp__"
	exposedBorder = "__"
)

// exposed tells of patterns that are written from the names that a model sees:
// they match raw names, so usually nothing. The rule stays as it is; where it
// denies or asks, a guard asks for what was meant.
func (c *compiler) exposed(r rule, w Rule, say func(key, message, hint string)) {
	key, server, tool := "", w.Server, w.Tool
	if rest, ok := strings.CutPrefix(w.Server, exposedPrefix); ok {
		key = "server"
		s, t, _ := strings.Cut(rest, exposedBorder)
		if server = s; w.Tool == "" {
			tool = t
		}
	}
	if rest, ok := strings.CutPrefix(w.Tool, exposedPrefix); ok {
		key = "tool"
		s, t, _ := strings.Cut(rest, exposedBorder)
		if tool = t; server == "" {
			server = s
		}
	}
	if key == "" || r.server == "" && r.tool == "" {
		return
	}
	write := "write the raw names"
	if !newGlob(server).wild() { // never a hint at a rule for every server
		write = `write server = "` + Clean(server, maxName) + `"`
		if tool != "" {
			write += `, tool = "` + Clean(tool, maxName) + `"`
		}
	}
	until := "until then the rule asks for these"
	if r.action == RuleAllow {
		until = "until then the rule allows none of these"
	}
	for i := range c.rules.list {
		c.rules.list[i].told = c.rules.list[i].told || c.rules.list[i].index == r.index
	}
	say(key, "looks like a name that the model sees, but rules are for the raw names of servers and tools", write+"; "+until)
	if r.action == RuleAllow {
		return
	}
	// An underscore of an exposed name may be any character of the raw one.
	r.server = newGlob(strings.ReplaceAll(server, "_", "?"))
	r.tool = newGlob(strings.ReplaceAll(tool, "_", "?"))
	r.action, r.guard = RuleAsk, true
	c.rules.list = append(c.rules.list, r)
}

// rest takes the rules that are too many: if one of them would be strict, all
// is asked.
func (c *compiler) rest(count int, list []Rule) {
	if len(list) == 0 {
		return
	}
	until := "until then the rules beyond allow nothing"
	for _, w := range list {
		if w.Action != RuleAllow {
			until = "until then every call and every question is asked"
			c.rules.list = append(c.rules.list, rule{index: -1, name: "approval_rules", action: RuleAsk, calls: true, questions: true, guard: true})
			break
		}
	}
	c.problems = append(c.problems, RuleProblem{Index: -1, Rule: "approval_rules",
		Message: fmt.Sprintf("has %d rules, and %d are read", count, maxRules),
		Hint:    "join some with * or an expression; " + until})
}
