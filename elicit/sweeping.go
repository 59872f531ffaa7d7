package elicit

// Sweeping tells of the rules that allow every call of every tool because no
// server is written. They hold all the same: that may be what somebody wants,
// but it is easily written by leaving one key out. Who writes server = "*" has
// said that it is wanted, and is not told.
func (r *Rules) Sweeping() (problems []RuleProblem) {
	for _, u := range r.written() {
		if u.action == RuleAllow && u.calls && u.server.any() && !u.serverWritten && u.tool.wild() && u.pointer == nil {
			problems = append(problems, RuleProblem{Index: u.index, Rule: u.name,
				Message: "this allows every tool of every server unasked", Hint: `name a server or a tool to allow less, or write server = "*" if this is meant`})
		}
	}
	return problems
}
