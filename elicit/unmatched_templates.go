package elicit

import (
	"maps"
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// UnmatchedServers tells of the sentences for servers that are not configured,
// once for each such server. All configured servers have to be in servers.
func (t Templates) UnmatchedServers(servers []protocol.ServerName) (problems []TemplateProblem) {
	for _, server := range slices.Sorted(maps.Keys(t.overrides)) {
		if server != anyServer && !slices.Contains(servers, protocol.ServerName(server)) {
			problems = append(problems, TemplateProblem{Server: server, Message: "is no configured server", Hint: likelyName(server, fewer(servers, len(problems)))})
		}
	}
	return problems
}

// Unmatched tells of the sentences for tools that no server they are for has,
// and of those that name an argument which the tool does not have. catalogs is
// as for Rules.UnmatchedTools; what UnmatchedServers tells of is not told again.
func (t Templates) Unmatched(catalogs map[protocol.ServerName]map[protocol.ToolName]Arguments) (problems []TemplateProblem) {
	for _, server := range slices.Sorted(maps.Keys(t.overrides)) {
		for _, tool := range slices.Sorted(maps.Keys(t.overrides[server])) {
			message, hint := t.unmatched(server, tool, catalogs, len(problems))
			if message != "" {
				problems = append(problems, TemplateProblem{Server: server, Tool: tool, Message: message, Hint: hint})
			}
		}
	}
	return problems
}

// unmatched tells of one sentence, after so many problems before.
func (t Templates) unmatched(server, tool string, catalogs map[protocol.ServerName]map[protocol.ToolName]Arguments, before int) (message, hint string) {
	var fits []Arguments
	var tools []protocol.ToolName
	servers := 0
	for name, catalog := range catalogs {
		if server != anyServer && server != string(name) {
			continue
		}
		if catalog == nil {
			return "", "" // not known yet
		}
		servers++
		tools = slices.AppendSeq(tools, maps.Keys(catalog))
		if a, ok := catalog[protocol.ToolName(tool)]; ok {
			fits = append(fits, a)
		}
	}
	if servers == 0 {
		return "", ""
	}
	if len(fits) == 0 {
		of := "the server"
		if server == anyServer {
			of = "any server"
		}
		return "is no tool of " + of, likelyName(tool, fewer(tools, before))
	}
	for _, param := range t.overrides[server][tool].Params {
		if slices.ContainsFunc(fits, func(a Arguments) bool { return a.has(param) }) {
			continue
		}
		var names []string
		for _, a := range fits {
			names = append(names, a.Names...)
		}
		hint = `it is always shown as "(not given)"`
		if meant := nearest(param, fewer(names, before)); meant != "" {
			hint = didYouMean("{" + argsPlaceholder + meant + "}")
		}
		return `names the argument "` + Clean(param, maxName) + `", which the tool does not have`, hint
	}
	return "", ""
}

// likelyName is a hint at the name that a sentence was meant for.
func likelyName[N ~string](name string, names []N) string {
	if meant := nearest(name, names); meant != "" {
		return didYouMean(meant)
	}
	return "sentences are for raw names; case counts"
}
