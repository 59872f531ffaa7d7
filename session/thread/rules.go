package thread

import (
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// reviewer is what a configuration says about approvals and questions beyond
// modes and policy.
type reviewer struct {
	rules     *elicit.Rules
	templates elicit.Templates
	// origins are where the rules are written.
	origins []config.Origin
}

// newReviewer compiles the rules and sentences of a configuration, and says
// what is wrong with them.
func newReviewer(cfg *config.Config) (reviewer, []config.Problem) {
	var r reviewer
	var list []elicit.Rule
	for _, w := range cfg.ApprovalRules {
		list = append(list, elicit.Rule{
			Server: w.Server, Tool: w.Tool, Argument: w.Argument, Matches: w.Matches,
			Action: elicit.RuleAction(w.Action), AppliesTo: elicit.RuleScope(w.AppliesTo),
			Name: w.Name(),
		})
		r.origins = append(r.origins, w.Origin)
	}
	rules, wrong := elicit.CompileRules(list)
	r.rules = rules
	servers := make([]protocol.ServerName, len(cfg.Servers))
	for i, s := range cfg.Servers {
		servers[i] = protocol.ServerName(s.Name)
	}
	wrong = append(wrong, rules.UnmatchedServers(servers)...)
	problems := make([]config.Problem, 0, len(wrong))
	for _, w := range wrong {
		problems = append(problems, r.problem(w))
	}
	templates, misfits := elicit.NewTemplates(cfg.ApprovalTemplates)
	r.templates = templates
	for _, m := range misfits {
		problems = append(problems, config.Problem{Key: fmt.Sprintf("approval_templates.%q.%q", m.Server, m.Tool), Message: m.Message, Hint: m.Hint})
	}
	return r, problems
}

func (r reviewer) problem(p elicit.RuleProblem) config.Problem {
	out := config.Problem{Key: "approval_rules", Message: p.Message, Hint: p.Hint}
	if 0 <= p.Index && p.Index < len(r.origins) {
		out.Origin = r.origins[p.Index]
	}
	if p.Key != "" {
		out.Key += "." + p.Key
	}
	return out
}

// warnAboutRules tells, once, of rules for tools that no server has. Servers
// that are not there may have them.
func (t *Thread) warnAboutRules(g *generation) {
	t.mu.Lock()
	done := t.checkedRules == g.reviewer.rules
	t.checkedRules = g.reviewer.rules
	t.mu.Unlock()
	if done {
		return
	}
	catalogs := map[protocol.ServerName][]protocol.ToolName{}
	for _, s := range g.servers {
		name := protocol.ServerName(s.Name)
		catalogs[name] = nil
		if c := g.clients[name]; c != nil {
			if status := c.Status(); status.State == protocol.ServerConnected {
				catalogs[name] = toolNames(status)
			}
		}
	}
	for _, p := range g.reviewer.rules.UnmatchedTools(catalogs) {
		w := warning(g.reviewer.problem(p), "")
		protocol.ConfigWarned.Send(t.editor, &w)
	}
}

func toolNames(s upstream.Status) []protocol.ToolName {
	names := make([]protocol.ToolName, len(s.Catalog.Tools))
	for i := range s.Catalog.Tools {
		names[i] = s.Catalog.Tools[i].Name
	}
	return names
}
