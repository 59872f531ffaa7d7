package config

import (
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/near"
)

// What people write for the words of a rule, without case, dashes and blanks.
var (
	meantActions = map[string][]string{
		string(RuleAllow): {"allowed", "accept", "approve", "grant", "permit", "pass", "true", "yes"},
		string(RuleAsk):   {"asks", "confirm", "prompt", "query", "question"},
		string(RuleDeny):  {"denied", "block", "decline", "disallow", "forbid", "never", "prohibit", "refuse", "reject", "false", "no"},
	}
	meantScopes = map[string][]string{
		string(RuleCalls):     {"tool", "tools", "approval", "approvals", "toolcall", "toolcalls"},
		string(RuleQuestions): {"elicitation", "elicitations", "forms"},
		string(RuleBoth):      {"all", "any", "everything"},
	}
)

// meantWord is a hint at the word that a value was meant to be, or "". What an
// action is taken for weighs more than what a key is: beyond the list, one slip
// is all that is overlooked.
func meantWord(n *node, words []string, meant map[string][]string) string {
	s, wrong := asString(n)
	if wrong != "" || len(s) > maxComparedKey {
		return ""
	}
	plain := squash(s)
	for _, w := range words {
		if slices.Contains(meant[w], plain) {
			return didYouMean(w)
		}
	}
	for _, w := range words {
		if near.Distance(plain, w) <= 1 {
			return didYouMean(w)
		}
	}
	return ""
}
