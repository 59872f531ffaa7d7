package elicit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/near"
)

// UnmatchedServers tells of the rules for servers that are not configured. All
// configured servers have to be in servers.
func (r *Rules) UnmatchedServers(servers []protocol.ServerName) (problems []RuleProblem) {
	for _, u := range r.written() {
		if u.server.any() || slices.ContainsFunc(servers, func(s protocol.ServerName) bool { return u.server.match(string(s)) }) {
			continue
		}
		problems = append(problems, RuleProblem{Index: u.index, Rule: u.name, Key: "server",
			Message: "matches no configured server", Hint: likely(u.server, fewer(servers, len(problems)))})
	}
	return problems
}

// UnmatchedTools tells of the rules for tools that no server has. catalogs
// holds the raw names of each server's tools, nil where they are not known
// yet; a rule that such a server may still fulfil is not told of, nor is one
// that UnmatchedServers tells of.
func (r *Rules) UnmatchedTools(catalogs map[protocol.ServerName][]protocol.ToolName) (problems []RuleProblem) {
	for _, u := range r.written() {
		if u.tool.any() {
			continue
		}
		var tools []protocol.ToolName
		servers, open := 0, false
		for server, catalog := range catalogs {
			if u.server.match(string(server)) {
				servers++
				open = open || catalog == nil
				tools = append(tools, catalog...)
			}
		}
		if servers == 0 || open || slices.ContainsFunc(tools, func(t protocol.ToolName) bool { return u.tool.match(string(t)) }) {
			continue
		}
		of := "any server"
		if u.server.literal() {
			of = `server "` + Clean(string(u.server), maxName) + `"`
		} else if !u.server.any() {
			of = "the servers it is for"
		}
		problems = append(problems, RuleProblem{Index: u.index, Rule: u.name, Key: "tool",
			Message: "matches no tool of " + of, Hint: likely(u.tool, fewer(tools, len(problems)))})
	}
	return problems
}

// Arguments are those that a tool names.
type Arguments struct {
	Names []string
	// Open: it may take others.
	Open bool
}

// has reports that the tool may be given an argument of that name.
func (a Arguments) has(name string) bool { return a.Open || slices.Contains(a.Names, name) }

// UnmatchedArguments tells of the rules with a condition for an argument that no
// tool which they fit has. catalogs is as for UnmatchedTools. In another case an
// argument is still one to deny or ask, see lookup.
func (r *Rules) UnmatchedArguments(catalogs map[protocol.ServerName]map[protocol.ToolName]Arguments) (problems []RuleProblem) {
	for _, u := range r.written() {
		if len(u.pointer) == 0 {
			continue
		}
		fits, open, names := 0, false, []string{}
		for server, tools := range catalogs {
			if !u.server.match(string(server)) {
				continue
			}
			open = open || tools == nil // not known yet
			for tool, arguments := range tools {
				if u.tool.match(string(tool)) {
					fits++
					open = open || arguments.has(u.pointer[0]) || u.action != RuleAllow && slices.ContainsFunc(arguments.Names, func(n string) bool { return strings.EqualFold(n, u.pointer[0]) })
					names = append(names, arguments.Names...)
				}
			}
		}
		if fits == 0 || open {
			continue
		}
		hint := "the pointer begins with the name of an argument; case counts"
		if meant := nearest(u.pointer[0], fewer(names, len(problems))); meant != "" {
			hint = didYouMean(formatPointer(append([]string{meant}, u.pointer[1:]...)))
		}
		problems = append(problems, RuleProblem{Index: u.index, Rule: u.name, Key: "argument",
			Message: `no tool that it fits has an argument "` + Clean(u.pointer[0], maxName) + `"`, Hint: hint})
	}
	return problems
}

// written returns the rules as people wrote them, without guards and without
// those that were told to match nothing when they were read.
func (r *Rules) written() (list []rule) {
	if r == nil {
		return nil
	}
	for _, u := range r.list {
		if !u.guard && !u.told {
			list = append(list, u)
		}
	}
	return list
}

// Limits of looking for the name that was meant.
const (
	maxLikelyName = 64   // bytes
	maxLikely     = 1000 // names
	maxHints      = 20   // problems of one kind
)

// fewer returns the names to look at for the next problem after so many, sorted
// and each once: none when there were enough, for that is no slip of one name,
// and looking takes long.
func fewer[N ~string](names []N, problems int) []N {
	if problems >= maxHints {
		return nil
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// likely is a hint at the name that a pattern was meant for.
func likely[N ~string](g glob, names []N) string {
	if strings.ContainsAny(string(g), `^$[]()|\`) || strings.Contains(string(g), ".*") {
		return "names take * and ?, no regular expressions"
	}
	if meant := nearest(string(g), names); g.literal() && meant != "" {
		return didYouMean(meant)
	}
	return "rules are for raw names; case counts"
}

// nearest returns the name that is most like s, or "" if none is.
func nearest[N ~string](s string, names []N) string {
	if len(s) > maxLikelyName {
		return ""
	}
	best, least := "", utf8.RuneCountInString(s)/3+1
	for _, n := range names[:min(len(names), maxLikely)] {
		if len(n) > maxLikelyName {
			continue
		}
		if d := near.Distance(strings.ToLower(s), strings.ToLower(string(n))); d < least {
			best, least = string(n), d
		}
	}
	return best
}

// didYouMean asks whether a name was meant; the name may be a server's word.
func didYouMean(name string) string { return `did you mean "` + Clean(name, maxName) + `"?` }
