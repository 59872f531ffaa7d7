package config

import (
	"math"
	"slices"
	"strings"
)

func (e *entry) readTools(n *node) {
	sub := []string{"tools"}
	if !n.isTable() {
		hint := "write approval_mode and the like below [mcp_servers.<name>.tools.<tool>]"
		if _, isArray := n.value.([]any); isArray {
			hint = "to choose tools, write enabled_tools"
		}
		e.fail(n.at, sub, wantKind(n, "a table of tools"), hint)
		return
	}
	e.s.Tools = make(map[string]ToolRule, len(n.table))
	for _, tool := range n.keys() {
		c, path := n.table[tool], child(sub, tool)
		if !c.isTable() {
			hint := "write [" + formatKey(e.path(path...)) + "] and its keys below it"
			if slices.Contains(toolKeys, tool) {
				hint = "it belongs to one tool: [mcp_servers.<name>.tools.<tool>]"
			}
			e.fail(c.at, path, wantKind(c, "a table"), hint)
			continue
		}
		e.s.Tools[tool] = e.readTool(c, path)
	}
}

func (e *entry) readTool(n *node, sub []string) (rule ToolRule) {
	e.unknownIn(n, sub, toolKeys)
	if c := n.table["approval_mode"]; c != nil {
		mode, _ := e.word(c, child(sub, "approval_mode"), approvalWords)
		rule.ApprovalMode = ApprovalMode(mode)
	}
	if c := n.table["enabled"]; c != nil {
		if b, ok := e.boolean(c, child(sub, "enabled")); ok {
			rule.Enabled = &b
		}
	}
	if c := n.table["output_token_limit"]; c != nil {
		rule.OutputTokenLimit, _ = e.integer(c, child(sub, "output_token_limit"), 1, math.MaxInt32)
	}
	if c := n.table["timeout_sec"]; c != nil {
		if d, ok := e.seconds(c, child(sub, "timeout_sec"), usualCall); ok {
			rule.Timeout = &d
		}
	}
	if c := n.table["annotations"]; c != nil {
		rule.Annotations = e.readAnnotations(c, child(sub, "annotations"))
	}
	return rule
}

func (e *entry) readAnnotations(n *node, sub []string) (a Annotations) {
	if !n.isTable() {
		e.fail(n.at, sub, wantKind(n, "a table"), "write { readOnlyHint = true }")
		return a
	}
	e.unknownIn(n, sub, annotationKeys)
	for key, hint := range map[string]**bool{
		"readOnlyHint": &a.ReadOnly, "destructiveHint": &a.Destructive, "idempotentHint": &a.Idempotent, "openWorldHint": &a.OpenWorld,
	} {
		if c := n.table[key]; c != nil {
			if b, ok := e.boolean(c, child(sub, key)); ok {
				*hint = &b
			}
		}
	}
	if c := n.table["title"]; c != nil {
		if s, ok := e.str(c, child(sub, "title"), useOther); ok {
			a.Title = &s
		}
	}
	return a
}

func (e *entry) readOmit(n *node) {
	sub := []string{"omit_tools_from"}
	list, ok := e.strings(n, sub, useOther)
	if !ok {
		return
	}
	e.s.OmitToolsFrom = []Surface{}
	for i, s := range list {
		if !slices.Contains(surfaceWords, s) {
			e.fail(n.at, sub, ordinal(i)+" must be one of "+strings.Join(surfaceWords, ", "), "")
			continue
		}
		e.s.OmitToolsFrom = append(e.s.OmitToolsFrom, Surface(s))
	}
}
