package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// A topField is one key above the servers: its check runs on each layer
// before merging, so that a bad value leaves the lower layer's in force.
type topField struct {
	name  string
	def   any // a value of node.value, nil for none
	check func(n *node) (wrong string)
	// take stands for check where a value may be good in part: it says what is
	// wrong and returns what is to be merged, nil for nothing.
	take func(l *loader, n *node) *node
	read func(c *Config, n *node)
	show func(n *node) any
}

const serversKey = "mcp_servers"

// The defaults of the top level (spec 4, 5, 6.3).
const (
	defaultGraceMs      = 1000
	defaultIdleSec      = 900
	defaultTokensBudget = 10_000
	defaultPolicy       = "on-request"
)

// usualIdle is the longest idle time that was probably meant in seconds.
const usualIdle = 7 * 24 * time.Hour

var (
	storeWords  = []string{string(StoreAuto), string(StoreKeyring), string(StoreFile)}
	policyWords = []string{"untrusted", "on-failure", defaultPolicy, "never"}
)

var topFields = []topField{
	{
		name: "approval_policy", def: defaultPolicy, check: checkPolicy, show: showPolicy,
		read: func(c *Config, n *node) { c.ApprovalPolicy = policyJSON(n) },
	},
	{
		name: rulesKey, take: (*loader).takeRules, show: showRules,
		read: func(*Config, *node) {}, // of all layers: see takeRules
	},
	{name: templatesKey, take: (*loader).checkTemplates, read: readTemplates, show: showTemplates},
	{
		name: "direct_tools_token_budget", def: int64(defaultTokensBudget), check: checkInt(0, math.MaxInt32), show: maskAll,
		read: func(c *Config, n *node) { c.DirectToolsTokenBudget, _ = asInt(n, 0, math.MaxInt32) },
	},
	{
		name: "idle_timeout_sec", def: int64(defaultIdleSec), show: maskAll,
		check: func(n *node) string { _, wrong := asSeconds(n); return wrong },
		read:  func(c *Config, n *node) { c.IdleTimeout, _ = asSeconds(n) },
	},
	{
		name: "mcp_oauth_callback_port", check: checkInt(0, math.MaxUint16), show: maskAll,
		read: func(c *Config, n *node) { c.OAuthCallbackPort, _ = asInt(n, 0, math.MaxUint16) },
	},
	{
		name: "mcp_oauth_callback_url", show: showURL,
		check: func(n *node) string { return checkURL(asString(n)) },
		read:  func(c *Config, n *node) { c.OAuthCallbackURL, _ = asString(n) },
	},
	{
		name: "mcp_oauth_credentials_store", def: string(StoreAuto), show: showWord(storeWords),
		check: func(n *node) string { _, wrong := asWord(n, storeWords); return wrong },
		read: func(c *Config, n *node) {
			s, _ := asWord(n, storeWords)
			c.OAuthCredentialsStore = CredentialsStore(s)
		},
	},
	{
		name: "mcp_optional_startup_grace_ms", def: int64(defaultGraceMs), show: maskAll,
		check: func(n *node) string { _, wrong := asMillis(n); return wrong },
		read:  func(c *Config, n *node) { c.OptionalStartupGrace, _ = asMillis(n) },
	},
	{
		name: "tool_name_prefix", def: true, show: maskAll,
		check: func(n *node) string { _, wrong := asBool(n); return wrong },
		read:  func(c *Config, n *node) { c.ToolNamePrefix, _ = asBool(n) },
	},
}

func checkInt(low, high int) func(*node) string {
	return func(n *node) string { _, wrong := asInt(n, low, high); return wrong }
}

func topNames() []string {
	names := []string{serversKey}
	for _, f := range topFields {
		names = append(names, f.name)
	}
	return names
}

func findTop(name string) *topField {
	for i := range topFields {
		if topFields[i].name == name {
			return &topFields[i]
		}
	}
	return nil
}

// defaults is the lowest layer.
func defaults() *node {
	at := Origin{Layer: LayerDefaults}
	root := newTable(at)
	for _, f := range topFields {
		if f.def != nil {
			root.table[f.name] = &node{value: f.def, at: at}
		}
	}
	return root
}

// checkTop returns a layer without the keys that cannot be used, having said
// why.
func (l *loader) checkTop(layer *node) *node {
	out := &node{table: maps.Clone(layer.table), at: layer.at}
	for _, key := range layer.keys() {
		n, path := layer.table[key], []string{key}
		switch f := findTop(key); {
		case key == serversKey:
			if n.isTable() {
				continue
			}
			l.warn(n.at, path, wantKind(n, "a table of servers"), "write one [mcp_servers.<name>] table for each server")
		case f == nil:
			if !slices.Contains(codexTop, key) {
				l.warn(n.at, path, "unknown key", hintTop(key))
			}
		case f.take != nil:
			if taken := f.take(l, n); taken != nil {
				out.table[key] = taken
				continue
			}
		default:
			wrong := f.check(n)
			if wrong == "" {
				l.checkPolicyKeys(key, n)
				continue
			}
			l.warn(n.at, path, wrong, "the value is ignored")
		}
		delete(out.table, key)
	}
	return out
}

func (l *loader) readTop(c *Config) {
	for _, f := range topFields {
		if n := c.root.table[f.name]; n != nil {
			f.read(c, n)
		}
	}
	if g := granular(c.root.table["approval_policy"]); g != nil && g.table["mcp_elicitations"] == nil {
		l.warn(g.at, []string{"approval_policy", "granular"}, "mcp_elicitations is missing; true is assumed, so that a person is asked", "")
	}
	if c.IdleTimeout > usualIdle {
		l.warn(c.root.table["idle_timeout_sec"].at, []string{"idle_timeout_sec"}, "is more than a week", "the unit is seconds")
	}
}

// granularKeys are the booleans of Codex's granular policy. Only
// mcp_elicitations concerns this program; the others are passed on.
var granularKeys = []string{"mcp_elicitations", "request_permissions", "rules", "sandbox_approval", "skill_approval"}

// granular returns the table of a granular policy, or nil.
func granular(n *node) *node {
	if n == nil || !n.isTable() {
		return nil
	}
	if g := n.table["granular"]; g != nil && g.isTable() {
		return g
	}
	return nil
}

func checkPolicy(n *node) string {
	if !n.isTable() {
		if _, wrong := asWord(n, policyWords); wrong != "" {
			return wrong + ", or a granular table"
		}
		return ""
	}
	g := granular(n)
	if g == nil {
		return "must hold a table named granular, or be one of untrusted, on-failure, on-request, never"
	}
	for _, k := range granularKeys {
		if c := g.table[k]; c != nil {
			if _, wrong := asBool(c); wrong != "" {
				return fmt.Sprintf("granular.%s %s", k, wrong)
			}
		}
	}
	return ""
}

// checkPolicyKeys warns of unknown keys within a granular policy.
func (l *loader) checkPolicyKeys(key string, n *node) {
	if key != "approval_policy" || !n.isTable() {
		return
	}
	for _, k := range n.keys() {
		if k != "granular" {
			l.warn(n.table[k].at, []string{key, k}, "unknown key", suggest(k, []string{"granular"}))
		}
	}
	g := granular(n)
	for _, k := range g.keys() {
		if !slices.Contains(granularKeys, k) {
			l.warn(g.table[k].at, []string{key, "granular", k}, "unknown key", suggest(k, granularKeys))
		}
	}
}

// policyJSON gives the policy in the words of the wire, which has no
// on-failure: Codex still reads it, and it asks where on-request asks.
func policyJSON(n *node) json.RawMessage {
	if n.value == "on-failure" {
		n = &node{value: defaultPolicy}
	}
	raw, err := json.Marshal(showPolicy(n))
	if err != nil { // words and booleans always marshal
		return json.RawMessage(`"` + defaultPolicy + `"`)
	}
	return raw
}

func showPolicy(n *node) any {
	g := granular(n)
	if g == nil {
		return n.value
	}
	out := map[string]bool{}
	for _, k := range granularKeys {
		out[k] = k == "mcp_elicitations"
		if c := g.table[k]; c != nil {
			out[k], _ = asBool(c)
		}
	}
	return map[string]any{"granular": out}
}
