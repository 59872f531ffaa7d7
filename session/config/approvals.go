package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The keys of the top level about who answers before a person, and in which
// words a person is asked (spec 7, 8).
const (
	rulesKey     = "approval_rules"
	templatesKey = "approval_templates"
)

// RuleAction is what an approval rule says.
type RuleAction string

// The actions. Deny wins over ask, ask over allow.
const (
	RuleAllow RuleAction = "allow"
	RuleAsk   RuleAction = "ask"
	RuleDeny  RuleAction = "deny"
)

// RuleScope says what an approval rule is about.
type RuleScope string

// The scopes.
const (
	RuleCalls     RuleScope = "calls"
	RuleQuestions RuleScope = "questions"
	RuleBoth      RuleScope = "both"
)

// An ApprovalRule is one of approval_rules as it holds: Action and AppliesTo
// are one of their words. What it says of patterns and pointers is not looked
// into here.
type ApprovalRule struct {
	Server, Tool string // globs for raw names, "" is any
	Argument     string // JSON pointer into the arguments, "" is no condition
	Matches      string // regular expression for the value there, "" is any
	Action       RuleAction
	AppliesTo    RuleScope

	Index  int    // place within its layer's list, from 0
	Origin Origin // where the rule is written
}

// Name is what messages call the rule: approval_rules[2] (config.toml:14). It
// holds no folder, since a model may read it.
func (r ApprovalRule) Name() string {
	where := r.Origin.String()
	if r.Origin.Path != "" {
		where = r.Origin.Path[strings.LastIndexAny(r.Origin.Path, `/\`)+1:]
		if r.Origin.Line > 0 {
			where += ":" + strconv.Itoa(r.Origin.Line)
		}
	}
	return rulesKey + elementPart(r.Index) + " (" + where + ")"
}

// Key is the rule as problems name it: approval_rules[2].
func (r ApprovalRule) Key() string { return rulesKey + elementPart(r.Index) }

var (
	actionWords = []string{string(RuleAllow), string(RuleAsk), string(RuleDeny)}
	scopeWords  = []string{string(RuleCalls), string(RuleQuestions), string(RuleBoth)}
	ruleKeys    = []string{"action", "applies_to", "argument", "matches", "server", "tool"}
)

// takeRules reads a layer's rules and adds them to those of the layers below:
// a layer must not silence another's. The merged tree gets them at the end.
func (l *loader) takeRules(n *node) *node {
	items := n.items
	if n.isTable() {
		l.warn(n.at, []string{rulesKey}, "must be an array of tables, not a table", "write [["+rulesKey+"]], with two brackets; it is read as one rule")
		items = []*node{n}
	} else if list, isArray := n.value.([]any); !isArray || len(list) > 0 && items == nil {
		l.warn(n.at, []string{rulesKey}, wantKind(n, "an array of tables"), "write [["+rulesKey+"]] above the keys of each rule; the value is ignored")
		return nil
	}
	for i, item := range items {
		if item == nil || !item.isTable() {
			kind := "null"
			at := n.at
			if item != nil {
				kind, at = item.kind(), item.at
			}
			l.warnRule(at, i, "", "must be a table, not "+kind, "the element is ignored")
			continue
		}
		if rule, ok := l.readRule(i, item); ok {
			l.rules = append(l.rules, rule)
		}
	}
	return nil
}

func (l *loader) warnRule(at Origin, i int, key, msg, hint string) {
	p := Problem{Origin: at, Key: rulesKey + elementPart(i), Message: msg, Hint: hint}
	if key != "" {
		p.Key += "." + formatKeyPart(key)
	}
	l.problems = append(l.problems, p)
}

// readRule reads one rule. If it can't be read whole it must not say more than
// was meant: to allow is dropped, to deny or to ask becomes to ask for what is
// known of it. An unknown key counts, too: it may be a condition misspelled.
func (l *loader) readRule(i int, n *node) (ApprovalRule, bool) {
	rule := ApprovalRule{Action: RuleAsk, AppliesTo: RuleCalls, Index: i, Origin: n.at}
	if c := n.table["action"]; c == nil {
		l.warnRule(n.at, i, "action", "is missing", "write one of "+strings.Join(actionWords, ", ")+"; until then the rule asks")
	} else if word, wrong := asWord(c, actionWords); wrong != "" {
		hint := "until then the rule asks"
		if meant := meantWord(c, actionWords, meantActions); meant != "" {
			hint = meant + "; " + hint
		}
		l.warnRule(c.at, i, "action", wrong, hint)
	} else {
		rule.Action = RuleAction(word)
	}
	broken := false
	fault := func(at Origin, key, msg, hint string) {
		broken = true
		until := "until then the rule asks, without this condition"
		if rule.Action == RuleAllow {
			until = "until then the rule allows nothing"
		}
		if hint != "" {
			until = hint + "; " + until
		}
		l.warnRule(at, i, key, msg, until)
	}
	text := func(key string) string {
		c := n.table[key]
		if c == nil {
			return ""
		}
		s, ok := spelled(c.value)
		switch {
		case c.isTable() || !ok:
			fault(c.at, key, wantKind(c, "a string"), quoteHint(c.value))
		case s == "":
			fault(c.at, key, "is empty, which matches nothing", "leave the key out if it is no condition")
		}
		return s
	}
	rule.Server, rule.Tool = text("server"), text("tool")
	rule.Argument, rule.Matches = text("argument"), text("matches")
	if c := n.table["applies_to"]; c != nil {
		if word, wrong := asWord(c, scopeWords); wrong == "" {
			rule.AppliesTo = RuleScope(word)
		} else {
			rule.AppliesTo = RuleBoth
			fault(c.at, "applies_to", wrong, meantWord(c, scopeWords, meantScopes))
		}
	}
	for _, k := range n.keys() {
		if !slices.Contains(ruleKeys, k) {
			fault(n.table[k].at, k, "unknown key", suggest(k, ruleKeys))
		}
	}
	if !broken {
		return rule, true
	}
	if rule.Argument == "" || n.table["matches"] != nil && rule.Matches == "" {
		rule.Argument, rule.Matches = "", "" // half a condition is none
	}
	if rule.Action == RuleAllow {
		return ApprovalRule{}, false
	}
	rule.Action = RuleAsk
	return rule, true
}

// rulesNode is the list of all rules as the merged tree holds it, nil for
// none.
func rulesNode(rules []ApprovalRule) *node {
	if len(rules) == 0 {
		return nil
	}
	out := &node{at: rules[len(rules)-1].Origin}
	for _, r := range rules {
		item := newTable(r.Origin)
		for key, value := range map[string]string{
			"server": r.Server, "tool": r.Tool, "argument": r.Argument, "matches": r.Matches,
			"action": string(r.Action), "applies_to": string(r.AppliesTo),
		} {
			if value != "" {
				item.table[key] = &node{value: value, at: r.Origin}
			}
		}
		out.items = append(out.items, item)
	}
	return out
}

// showRules shows everything but what may be a secret within an expression.
func showRules(n *node) any {
	out := make([]any, len(n.items))
	for i, item := range n.items {
		rule := map[string]any{}
		for key, c := range item.table {
			rule[key] = c.value
			if key == "matches" {
				rule[key] = showArg(c)
			}
		}
		out[i] = rule
	}
	return out
}

// checkTemplates returns a layer's sentences without what is none, having said
// why.
func (l *loader) checkTemplates(n *node) *node {
	if !n.isTable() {
		l.warn(n.at, []string{templatesKey}, wantKind(n, "a table"), "write ["+templatesKey+".<server>] and, below it, <tool> = \"sentence\"; the value is ignored")
		return nil
	}
	out := &node{table: map[string]*node{}, at: n.at}
	for _, server := range n.keys() {
		c := n.table[server]
		if !c.isTable() {
			hint := "write it below [" + formatKey([]string{templatesKey, "<server>"}) + "]"
			if _, isString := c.value.(string); isString {
				hint = fmt.Sprintf(`write it below [%s.<server>], or [%[1]s."*"] for every server`, templatesKey)
			}
			l.warn(c.at, []string{templatesKey, server}, wantKind(c, "a table"), hint+"; the value is ignored")
			continue
		}
		sentences := &node{table: maps.Clone(c.table), at: c.at}
		for _, tool := range c.keys() {
			if s := c.table[tool]; s.isTable() || !isText(s.value) {
				l.warn(s.at, []string{templatesKey, server, tool}, wantKind(s, "a string"), `write the question, or "" for none; the value is ignored`)
				delete(sentences.table, tool)
			}
		}
		out.table[server] = sentences
	}
	return out
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

func readTemplates(c *Config, n *node) {
	c.ApprovalTemplates = map[string]map[string]string{}
	for server, sentences := range n.table {
		c.ApprovalTemplates[server] = map[string]string{}
		for tool, s := range sentences.table {
			c.ApprovalTemplates[server][tool], _ = asString(s)
		}
	}
}

func showTemplates(n *node) any {
	out := map[string]any{}
	for server, sentences := range n.table {
		shown := map[string]any{}
		for tool, s := range sentences.table {
			shown[tool] = showArg(s)
		}
		out[server] = shown
	}
	return out
}

// TemplateProblem is a problem of the sentence for a tool, with its place.
// Without a tool it is about all sentences of the server, without either about
// all there are.
func (c *Config) TemplateProblem(server, tool, message, hint string) Problem {
	path := []string{templatesKey}
	if server != "" || tool != "" {
		path = append(path, server)
	}
	if tool != "" {
		path = append(path, tool)
	}
	p := Problem{Key: shownKey(path), Message: message, Hint: hint}
	for n, i := c.root, 0; n != nil; i++ {
		p.Origin = n.at
		if i == len(path) || !n.isTable() {
			break
		}
		n = n.table[path[i]]
	}
	return p
}
