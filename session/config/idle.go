package config

// The keys that are read, checked and shown, but that this version does not
// act on. Whoever sets one is told, once for each place. A key leaves these
// lists with the change that gives it its effect.
var (
	idleTop = map[string]bool{
		"direct_tools_token_budget": true, "idle_timeout_sec": true, "mcp_oauth_callback_port": true,
		"mcp_oauth_callback_url": true, "mcp_oauth_credentials_store": true,
	}
	idleServer = map[string]bool{
		"oauth": true, "oauth_resource": true, "omit_tools_from": true, "scopes": true,
		"startup_readiness": true, "tool_input_schema_max_bytes": true,
	}
	// idleWords are values without effect of keys that have one otherwise.
	idleWords = map[string]string{"exposure": string(ExposureDeferred)}
)

const noEffect = "has no effect in this version"

// idleKeys tells of keys without effect in what a person has written.
func idleKeys(root *node) (problems []Problem) {
	for _, key := range root.keys() {
		if n := root.table[key]; idleTop[key] && n.at.Layer != LayerDefaults {
			problems = append(problems, Problem{Origin: n.at, Key: shownKey([]string{key}), Message: noEffect})
		}
	}
	servers := root.table[serversKey]
	if servers == nil || !servers.isTable() {
		return problems
	}
	for _, name := range servers.keys() {
		entry := servers.table[name]
		if !entry.isTable() {
			continue
		}
		for _, key := range entry.keys() {
			n := entry.table[key]
			word, isWord := idleWords[key]
			if value, _ := n.value.(string); idleServer[key] || isWord && value == word {
				problems = append(problems, Problem{Origin: n.at, Server: name, Key: shownKey([]string{serversKey, name, key}), Message: noEffect})
			}
		}
	}
	return problems
}
