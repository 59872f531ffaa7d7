package elicit

import (
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A Ruling is what the rules say together. The zero Ruling says nothing.
type Ruling struct {
	// Action is empty where no rule holds.
	Action RuleAction
	// Rule is the name of the first rule that says so.
	Rule string
	// Text is one sentence for a person or a model: which rule, and what it
	// says.
	Text string
}

// Call says what the rules say about a call. arguments is an object; nothing
// is one without members.
//
// Arguments that are no JSON, or too large to look into, count as not known:
// see Tool. So does a single value that is too large. Where a key is given
// twice, a rule that denies or asks holds if it holds for any of the values, a
// rule that allows only if it does for all.
func (r *Rules) Call(server protocol.ServerName, tool protocol.ToolName, arguments json.RawMessage) Ruling {
	d := document{raw: arguments}
	return r.decide(func(u *rule) certainty {
		if !u.calls || !u.server.match(string(server)) || !u.tool.match(string(tool)) {
			return no
		}
		return u.holds(&d)
	})
}

// Tool is the outlook for a tool whose arguments are not known yet: a rule
// with a condition for them asks where it would deny or ask, and where it
// would allow it says nothing.
func (r *Rules) Tool(server protocol.ServerName, tool protocol.ToolName) Ruling {
	return r.decide(func(u *rule) certainty {
		switch {
		case !u.calls || !u.server.match(string(server)) || !u.tool.match(string(tool)):
			return no
		case u.pointer != nil:
			return maybe
		}
		return yes
	})
}

// Question says what the rules say about a server's question in the middle of
// a call. An empty tool means that the call is not known: then a rule with a
// condition for the tool or its arguments asks where it would deny or ask, and
// where it would allow it says nothing.
func (r *Rules) Question(server protocol.ServerName, tool protocol.ToolName, arguments json.RawMessage) Ruling {
	d := document{raw: arguments}
	return r.decide(func(u *rule) certainty {
		switch {
		case !u.questions || !u.server.match(string(server)):
			return no
		case tool == "" && (!u.tool.any() || u.pointer != nil):
			return maybe
		case tool == "":
			return yes
		case !u.tool.match(string(tool)):
			return no
		}
		return u.holds(&d)
	})
}

// A certainty says whether a rule holds. maybe counts against the call.
type certainty int

const (
	no certainty = iota
	maybe
	yes
)

// decide joins the rules. Deny wins over ask, ask over allow; of equals the
// first is named.
func (r *Rules) decide(holds func(*rule) certainty) Ruling {
	if r == nil {
		return Ruling{}
	}
	var out Ruling
	for i := range r.list {
		u := &r.list[i]
		sure := holds(u)
		if sure == no || sure == maybe && u.action == RuleAllow {
			continue
		}
		says := Ruling{Action: u.action, Rule: u.name}
		switch {
		case u.action == RuleAllow:
			says.Text = "the rule " + u.name + " allows it"
		case u.action == RuleDeny && sure == maybe:
			says.Action, says.Text = RuleAsk, "the rule "+u.name+" may deny it"
		case u.action == RuleDeny:
			says.Text = "the rule " + u.name + " denies it"
		default:
			says.Text = "the rule " + u.name + " asks for it"
		}
		if strictness(says.Action) > strictness(out.Action) {
			out = says
		}
	}
	return out
}

func strictness(a RuleAction) int {
	switch a {
	case RuleAllow:
		return 1
	case RuleAsk:
		return 2
	case RuleDeny:
		return 3
	}
	return 0
}

// A document is the arguments of a call, checked when first needed.
type document struct {
	raw      json.RawMessage
	checked  bool
	readable bool
}

func (d *document) read() bool {
	if !d.checked {
		d.checked = true
		if len(d.raw) == 0 {
			d.raw = json.RawMessage("{}")
		}
		d.readable = len(d.raw) <= maxRuleArguments && rawjson.Valid(d.raw) == nil
	}
	return d.readable
}

// holds reports whether the condition for an argument holds.
func (u *rule) holds(d *document) certainty {
	if u.pointer == nil {
		return yes
	}
	if !d.read() {
		return maybe
	}
	values, everywhere := lookup(d.raw, u.pointer)
	hits, all, large := 0, everywhere, false
	for _, v := range values {
		if len(v) > maxRuleText {
			large, all = true, false
			continue
		}
		for _, text := range readings(v) {
			if u.matches == nil || u.matches.MatchString(text) {
				hits++
			} else {
				all = false
			}
		}
	}
	switch {
	case u.action == RuleAllow && all:
		return yes
	case u.action == RuleAllow:
		return no
	case hits > 0:
		return yes
	case large:
		return maybe
	}
	return no
}

// Stricter returns the ruling that lets less happen: to deny before to ask,
// that before none, none before to allow; r if both are the same.
func (r Ruling) Stricter(other Ruling) Ruling {
	rank := func(a RuleAction) int {
		switch a {
		case RuleDeny:
			return 3
		case RuleAsk:
			return 2
		case RuleAllow:
			return 0
		}
		return 1
	}
	if rank(other.Action) > rank(r.Action) {
		return other
	}
	return r
}
