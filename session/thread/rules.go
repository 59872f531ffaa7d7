package thread

import (
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// reviewer is what a configuration says about approvals and questions beyond
// modes and policy.
type reviewer struct {
	rules     *elicit.Rules
	templates elicit.Templates
	// config is where they are written.
	config *config.Config
}

// newReviewer compiles the rules and sentences of a configuration, and says
// what is wrong with them.
func newReviewer(cfg *config.Config) (reviewer, []config.Problem) {
	r := reviewer{config: cfg}
	var list []elicit.Rule
	for _, w := range cfg.ApprovalRules {
		list = append(list, elicit.Rule{
			Server: w.Server, Tool: w.Tool, Argument: w.Argument, Matches: w.Matches,
			Action: elicit.RuleAction(w.Action), AppliesTo: elicit.RuleScope(w.AppliesTo),
			Name: w.Name(),
		})
	}
	rules, wrong := elicit.CompileRules(list)
	r.rules = rules
	servers := make([]protocol.ServerName, len(cfg.Servers))
	for i, s := range cfg.Servers {
		servers[i] = protocol.ServerName(s.Name)
	}
	wrong = append(wrong, rules.Sweeping()...)
	wrong = append(wrong, rules.UnmatchedServers(servers)...)
	templates, misfits := elicit.NewTemplates(cfg.ApprovalTemplates)
	r.templates = templates
	misfits = append(misfits, templates.UnmatchedServers(servers)...)
	return r, r.problems(wrong, misfits)
}

// problems gives what is wrong with rules and sentences its place.
func (r reviewer) problems(rules []elicit.RuleProblem, templates []elicit.TemplateProblem) (list []config.Problem) {
	for _, p := range rules {
		list = append(list, r.problem(p))
	}
	for _, p := range templates {
		list = append(list, r.config.TemplateProblem(p.Server, p.Tool, p.Message, p.Hint))
	}
	return list
}

func (r reviewer) problem(p elicit.RuleProblem) config.Problem {
	out := config.Problem{Key: "approval_rules", Message: p.Message, Hint: p.Hint}
	if written := r.config.ApprovalRules; 0 <= p.Index && p.Index < len(written) {
		w := written[p.Index]
		out.Origin, out.Key = w.Origin, w.Key()
	}
	if p.Key != "" {
		out.Key += "." + p.Key
	}
	return out
}

// warnAboutRules tells, once, of rules and sentences for tools or arguments that
// no server has. Servers that are not there, and those that the thread did not
// choose, may have them.
func (t *Thread) warnAboutRules(g *generation) {
	t.mu.Lock()
	done := t.checkedRules == g.reviewer.rules
	t.checkedRules = g.reviewer.rules
	t.mu.Unlock()
	if done {
		return
	}
	tools := map[protocol.ServerName][]protocol.ToolName{}
	arguments := map[protocol.ServerName]map[protocol.ToolName]elicit.Arguments{}
	for i := range g.config.Servers {
		name := protocol.ServerName(g.config.Servers[i].Name)
		tools[name], arguments[name] = nil, nil
		if c := g.clients[name]; c != nil {
			if status := c.Status(); status.State == protocol.ServerConnected {
				tools[name], arguments[name] = described(status.Catalog)
			}
		}
	}
	rules := g.reviewer.rules
	wrong := append(rules.UnmatchedTools(tools), rules.UnmatchedArguments(arguments)...)
	for _, p := range g.reviewer.problems(wrong, g.reviewer.templates.Unmatched(arguments)) {
		w := warning(p, "")
		protocol.ConfigWarned.Send(t.editor, &w)
	}
}

// described returns the raw names of a catalogue's tools, those that were left
// out among them, and what arguments each has; nil if not all tools are known.
func described(c *binding.Catalog) ([]protocol.ToolName, map[protocol.ToolName]elicit.Arguments) {
	if c.Truncated {
		return nil, nil
	}
	names := make([]protocol.ToolName, len(c.Tools))
	arguments := map[protocol.ToolName]elicit.Arguments{}
	for i := range c.Tools {
		names[i] = c.Tools[i].Name
		arguments[names[i]] = argumentsOf(c.Tools[i].InputSchema)
	}
	for _, o := range c.Omitted {
		if _, listed := arguments[o.Tool]; !listed {
			names = append(names, o.Tool)
			arguments[o.Tool] = elicit.Arguments{Open: true}
		}
	}
	return names, arguments
}

// argumentsOf reads the top of an input schema: what it names, and whether
// whatever else it says may bring arguments. One that names no properties takes
// any, unless it says otherwise.
func argumentsOf(schema json.RawMessage) elicit.Arguments {
	var a elicit.Arguments
	named, closed := false, false
	_ = rawjson.Object(schema, func(key, value []byte) error {
		switch string(key) {
		case "properties":
			named = rawjson.Object(value, func(name, _ []byte) error {
				a.Names = append(a.Names, string(name))
				return nil
			}) == nil
		case "required":
			_ = rawjson.Array(value, func(_ int, value []byte) error {
				if name, ok := rawjson.String(value); ok {
					a.Names = append(a.Names, name)
				}
				return nil
			})
		case "patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies":
			a.Open = true
		case "additionalProperties", "unevaluatedProperties":
			closed = string(value) == "false"
			a.Open = a.Open || !closed
		}
		return nil
	})
	a.Open = a.Open || !named && !closed
	return a
}
