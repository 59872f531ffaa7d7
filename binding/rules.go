package binding

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/near"
)

// Rules are what the configuration of a thread says about one server. The zero
// value shows every tool, prefixed, one call at a time, and asks before each.
type Rules struct {
	// Enabled lists raw names: nil allows all, an empty list none.
	Enabled []string
	// Disabled lists raw names; it wins over Enabled.
	Disabled []string
	// Tools are the settings of single tools, by raw name.
	Tools map[protocol.ToolName]ToolRules
	// NoPrefix leaves the mcp__ before the namespace away.
	NoPrefix bool
	// Exposure, unless "", is that of every tool of the server; it wins over
	// the tools' own _meta.ui.visibility.
	Exposure protocol.Exposure
	// Parallel: calls may run beside others of the same server.
	Parallel bool
	// Outlook says what would be decided now for a call of a tool with these
	// hints; nil stands for asking.
	Outlook func(*Tool, protocol.Hints) protocol.ApprovalOutlook
}

// ToolRules are the settings of one tool.
type ToolRules struct {
	// Enabled false leaves the tool out; true allows it although Rules.Enabled
	// does not name it. Rules.Disabled wins.
	Enabled *bool
	// Hints replace the server's, each one that is set.
	Hints protocol.Hints
}

// The reasons in Omitted for tools that the configuration or the model's
// settings leave out. They are stable.
const (
	ReasonNotEnabled = "enabled_tools does not name it"
	ReasonDisabled   = "disabled_tools names it"
	ReasonSwitched   = "its own settings say enabled = false"
	ReasonMaxTools   = "the model takes no more tools (maxTools)"
	ReasonTruncated  = "the server's list went over a bound; what follows is missing"
)

// HintsOf returns the hints that count for a tool: the server's, replaced by
// those that the configuration sets.
func (r Rules) HintsOf(t *Tool) protocol.Hints {
	h := t.Hints
	set := r.Tools[t.Name].Hints
	if set.Title != "" {
		h.Title = set.Title
	}
	for _, flag := range []struct{ to, from **bool }{
		{&h.ReadOnly, &set.ReadOnly}, {&h.Destructive, &set.Destructive},
		{&h.Idempotent, &set.Idempotent}, {&h.OpenWorld, &set.OpenWorld},
	} {
		if *flag.from != nil {
			*flag.to = *flag.from
		}
	}
	return h
}

// ParallelSafe reports whether calls of a tool with these hints may run beside
// others of its server.
func (r Rules) ParallelSafe(h protocol.Hints) bool {
	return r.Parallel || h.ReadOnly != nil && *h.ReadOnly
}

// Refuses returns why the configuration leaves a tool out, "" if it does not.
// The tool need not exist.
func (r Rules) Refuses(name protocol.ToolName) (reason string) {
	own := r.Tools[name].Enabled
	switch {
	case slices.Contains(r.Disabled, string(name)):
		return ReasonDisabled
	case own != nil && !*own:
		return ReasonSwitched
	case own != nil, r.Enabled == nil, slices.Contains(r.Enabled, string(name)):
		return ""
	}
	return ReasonNotEnabled
}

// exposure returns how a tool reaches the model.
func (r Rules) exposure(t *Tool) protocol.Exposure {
	if r.Exposure != "" {
		return r.Exposure
	}
	if !t.derived().forModel {
		return protocol.ExposureHidden
	}
	return protocol.ExposureDirect
}

// An UnmatchedFilter is a name in a server's configuration that none of its
// tools has.
type UnmatchedFilter struct {
	// Key is where it stands: enabled_tools, disabled_tools or tools.
	Key string
	// Name is the name, as configured.
	Name string
	// Nearest is a tool's name that may be meant, "" if none is near.
	Nearest protocol.ToolName
}

// UnmatchedFilters returns the names in the rules of a server that match no
// tool, by key and in the order of the lists. It returns none while the
// server's tools are not known in full.
func UnmatchedFilters(s Server) []UnmatchedFilter {
	if s.Catalog == nil || s.Catalog.Truncated {
		return nil
	}
	known := make(map[string]bool)
	var listed []string
	for _, t := range s.Catalog.Tools {
		known[string(t.Name)] = true
		listed = append(listed, string(t.Name))
	}
	for _, o := range s.Catalog.Omitted {
		known[string(o.Tool)] = true
	}
	var own []string
	for _, name := range slices.Sorted(maps.Keys(s.Rules.Tools)) {
		own = append(own, string(name))
	}
	var unmatched []UnmatchedFilter
	for _, list := range []struct {
		key   string
		names []string
	}{{"enabled_tools", s.Rules.Enabled}, {"disabled_tools", s.Rules.Disabled}, {"tools", own}} {
		for _, name := range list.names {
			if known[name] {
				continue
			}
			u := UnmatchedFilter{Key: list.key, Name: name}
			if near := nearest(name, listed, 1); len(near) > 0 {
				u.Nearest = protocol.ToolName(near[0])
			}
			unmatched = append(unmatched, u)
		}
	}
	return unmatched
}

// Bounds of a search for a name that may be meant.
const (
	maxNearInput = 256 // bytes
	maxNearNames = 4096
)

// nearest returns up to limit of the candidates that are near to name, the
// nearest first: by edits, at most a third of the name, case ignored; or one
// ends with the other.
func nearest(name string, candidates []string, limit int) []string {
	type hit struct {
		name     string
		distance int
	}
	if name == "" || len(name) > maxNearInput {
		return nil
	}
	lower := strings.ToLower(name)
	var found []hit
	for _, c := range candidates[:min(len(candidates), maxNearNames)] {
		if len(c) > maxNearInput {
			continue
		}
		cl := strings.ToLower(c)
		d := near.Distance(lower, cl)
		if worst := max(2, len(lower)/3); d > worst {
			if !strings.HasSuffix(cl, lower) && !strings.HasSuffix(lower, cl) {
				continue
			}
			d = worst + 1
		}
		found = append(found, hit{c, d})
	}
	slices.SortFunc(found, func(a, b hit) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, n := range found[:min(len(found), limit)] {
		out = append(out, n.name)
	}
	return out
}
