package elicit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// modeTable is the table of spec section 7, cell by cell: A asks, . does not.
// The 27 columns are readOnlyHint × destructiveHint × openWorldHint, each in
// the order true, false, absent, the last one fastest.
var modeTable = map[ApprovalMode]string{
	//           readOnly true ..................  false ......................  absent .....................
	//           d true   d false   d absent       d true    d false   d absent  d true    d false   d absent
	ModeAuto:    "AAA" + "..." + "..." + "AAA" + "A.A" + "AAA" + "AAA" + "A.A" + "AAA",
	"":          "AAA" + "..." + "..." + "AAA" + "A.A" + "AAA" + "AAA" + "A.A" + "AAA",
	ModePrompt:  "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA",
	"no such":   "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA",
	ModeWrites:  "..." + "..." + "..." + "AAA" + "AAA" + "AAA" + "AAA" + "AAA" + "AAA",
	ModeApprove: "..." + "..." + "..." + "..." + "..." + "..." + "..." + "..." + "...",
}

var tri = []*bool{ptr(true), ptr(false), nil}

func ptr[T any](v T) *T { return &v }

// rulings are what the rules can say, the least first.
var rulings = []Ruling{
	{}, {RuleAllow, "1", "the rule 1 allows it"}, {RuleAsk, "2", "the rule 2 asks for it"}, {RuleDeny, "3", "the rule 3 denies it"}}

var memories = []Memory{MemoryNone, MemoryHolds, MemoryOutdated}

// cells calls f for every combination of what decides about a call. asks is
// what the table says of the mode that counts. The default mode counts, and is
// varied, where the tool's own mode is void; that is always approve.
func cells(f func(r ApprovalRequest, asks bool)) (n int) {
	type modes struct {
		own, byDefault ApprovalMode
		void           bool
	}
	all := []modes{{ModeApprove, ModeAuto, true}, {ModeApprove, ModePrompt, true}, {ModeApprove, ModeApprove, true}}
	for mode := range modeTable {
		all = append(all, modes{own: mode})
	}
	for _, m := range all {
		counts := m.own
		if m.void {
			counts = m.byDefault
		}
		for i := range 27 {
			hints := protocol.Hints{ReadOnly: tri[i/9], Destructive: tri[i/3%3], OpenWorld: tri[i%3]}
			for bits := range 1 << 4 {
				for _, rule := range rulings {
					for _, memory := range memories {
						f(ApprovalRequest{
							Server: "docs", Tool: "write", Mode: m.own, DefaultMode: m.byDefault, ModeVoid: m.void, Hints: hints,
							Policy: Policy{Never: bits&1 != 0, FullAccess: bits&2 != 0},
							CanAsk: bits&4 != 0, ShownAnother: bits&8 != 0, Rule: rule, Memory: memory,
						}, modeTable[counts][i] == 'A')
						n++
					}
				}
			}
		}
	}
	return n
}

// Every cell of mode × annotations × policy × capability × memory × change ×
// rule is decided by the first rule of spec section 7 that fits (O075, O077,
// O078, O081).
func TestApproveEveryCell(t *testing.T) {
	n := cells(func(r ApprovalRequest, asks bool) {
		agreed := r.Memory != MemoryOutdated && (!r.ShownAnother || r.Memory == MemoryHolds)
		free := r.Rule.Action != RuleAsk
		// The rules once more, as a list of independent claims.
		rules := []struct {
			fits bool
			want Verdict
		}{
			{r.Rule.Action == RuleDeny, Verdict{Decision: Decline, Source: protocol.SourceRule, Reason: protocol.ReasonRuleDenied}},
			{free && (r.Mode == ModeApprove && !r.ModeVoid || r.DefaultMode == ModeApprove && r.ModeVoid), Verdict{Decision: Allow, Source: protocol.SourceMode}},
			{free && r.Policy.Never && r.Policy.FullAccess, Verdict{Decision: Allow, Source: protocol.SourcePolicy}},
			{free && !asks && agreed, Verdict{Decision: Allow, Source: protocol.SourceAnnotations}},
			{free && r.Memory == MemoryHolds, Verdict{Decision: Allow, Source: protocol.SourceMemory}},
			{r.Rule.Action == RuleAllow && agreed, Verdict{Decision: Allow, Source: protocol.SourceRule}},
			{r.Policy.Never, Verdict{Decision: Decline, Source: protocol.SourcePolicy, Reason: protocol.ReasonPolicyNever}},
			{!r.CanAsk, Verdict{Decision: Decline, Source: protocol.SourceCapability, Reason: protocol.ReasonClientUnsupported}},
			{true, Verdict{Decision: Ask, Source: protocol.SourcePerson}},
		}
		var want Verdict
		for _, rule := range rules {
			if rule.fits {
				want = rule.want
				break
			}
		}
		got := Approve(r)
		if (got.Text == "") != (got.Decision == Allow) {
			t.Errorf("%s: %s with text %q", describe(r), got.Decision, got.Text)
		}
		got.Text = ""
		if got != want {
			t.Errorf("%s: got %+v, want %+v", describe(r), got, want)
		}
	})
	if want := (6 + 3) * 27 * 16 * 4 * 3; n != want {
		t.Errorf("%d cells, want %d", n, want)
	}
}

func describe(r ApprovalRequest) string {
	word := func(b *bool) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprint(*b)
	}
	return fmt.Sprintf("mode %q (%q, void %v) readOnly %s destructive %s openWorld %s never %v full %v canAsk %v memory %d another %v rule %q", r.Mode, r.DefaultMode, r.ModeVoid,
		word(r.Hints.ReadOnly), word(r.Hints.Destructive), word(r.Hints.OpenWorld), r.Policy.Never, r.Policy.FullAccess, r.CanAsk, r.Memory, r.ShownAnother, r.Rule.Action)
}

// A weaker right never yields more: taking away what speaks for a call never
// turns a decline into a question or a question into a run.
func TestApproveIsMonotone(t *testing.T) {
	weakened := map[string]int{}
	cells(func(r ApprovalRequest, _ bool) {
		if r.Mode == "" || r.Mode == "no such" {
			return // auto and prompt
		}
		before := Approve(r).Decision
		weaken := func(what string, change func(*ApprovalRequest)) {
			weaker := r
			change(&weaker)
			if after := Approve(weaker).Decision; after > before {
				t.Errorf("%s: %s turns %s into %s", describe(r), what, before, after)
			}
			weakened[what]++
		}
		weaken("no capability", func(r *ApprovalRequest) { r.CanAsk = false })
		if r.Memory == MemoryHolds {
			weaken("nothing remembered", func(r *ApprovalRequest) { r.Memory = MemoryNone })
		}
		weaken("an approval of another definition", func(r *ApprovalRequest) { r.Memory = MemoryOutdated })
		if r.ModeVoid {
			weaken("mode prompt by default", func(r *ApprovalRequest) { r.DefaultMode = ModePrompt })
		}
		if r.Mode == ModeApprove && !r.ModeVoid {
			weaken("a mode that was taken back", func(r *ApprovalRequest) { r.ModeVoid = true })
			weaken("a mode for another definition", func(r *ApprovalRequest) { r.ModeVoid, r.Memory = true, MemoryOutdated })
			weaken("mode auto", func(r *ApprovalRequest) { r.Mode = ModeAuto })
			weaken("mode writes", func(r *ApprovalRequest) { r.Mode = ModeWrites })
		}
		weaken("another definition", func(r *ApprovalRequest) { r.ShownAnother = true })
		weaken("no full access", func(r *ApprovalRequest) { r.Policy.FullAccess = false })
		weaken("mode prompt", func(r *ApprovalRequest) { r.Mode, r.DefaultMode = ModePrompt, ModePrompt })
		weaken("an unknown mode", func(r *ApprovalRequest) { r.Mode, r.DefaultMode = "trust me", "trust me" })
		weaken("a rule that denies", func(r *ApprovalRequest) { r.Rule = rulings[3] })
		if r.Rule.Action != RuleDeny {
			weaken("a rule that asks", func(r *ApprovalRequest) { r.Rule = rulings[2] })
		}
		if r.Rule.Action == RuleAllow {
			weaken("no rule", func(r *ApprovalRequest) { r.Rule = Ruling{} })
		}
		if !r.Policy.FullAccess {
			weaken("policy never", func(r *ApprovalRequest) { r.Policy.Never = true })
		}
		for _, worse := range []struct {
			what string
			set  func(*protocol.Hints)
		}{
			{"not read-only", func(h *protocol.Hints) { h.ReadOnly = ptr(false) }},
			{"read-only unsaid", func(h *protocol.Hints) { h.ReadOnly = nil }},
			{"destructive", func(h *protocol.Hints) { h.Destructive = ptr(true) }},
			{"open world", func(h *protocol.Hints) { h.OpenWorld = ptr(true) }},
			{"open world unsaid", func(h *protocol.Hints) { h.OpenWorld = nil }},
		} {
			weaken(worse.what, func(r *ApprovalRequest) { worse.set(&r.Hints) })
		}
	})
	if len(weakened) != 21 {
		t.Errorf("%d ways to weaken: %v", len(weakened), weakened)
	}
}

// The text of a decline names the call and says what the spec says.
func TestDeclineTexts(t *testing.T) {
	r := ApprovalRequest{Server: "docs", Tool: "write\u202e\n", Mode: ModePrompt, Policy: Policy{Never: true}, CanAsk: true}
	got := Approve(r).Text
	if !strings.Contains(got, "requires approval, but approval policy is never") || !strings.Contains(got, `"docs"`) || !strings.Contains(got, `"write"`) {
		t.Errorf("policy never says %q", got)
	}
	r.Rule = rulings[2]
	if got := Approve(r).Text; !strings.Contains(got, "requires approval (the rule 2 asks for it), but approval policy is never") {
		t.Errorf("policy never and a rule say %q", got)
	}
	r.Rule, r.Policy.Never, r.CanAsk = Ruling{}, false, false
	if got := Approve(r).Text; got != UnsupportedText("docs", "write") {
		t.Errorf("no capability says %q", got)
	}
}

// O078: a server that calls one tool both read-only and destructive is not
// believed; absent annotations ask.
func TestContradictingHintsAsk(t *testing.T) {
	for name, h := range map[string]protocol.Hints{
		"both": {ReadOnly: ptr(true), Destructive: ptr(true)},
		"none": {},
	} {
		if got := Approve(ApprovalRequest{Mode: ModeAuto, Hints: h, CanAsk: true}).Decision; got != Ask {
			t.Errorf("%s: %s, want ask", name, got)
		}
	}
}

func TestOutlook(t *testing.T) {
	for d, want := range map[Decision]protocol.ApprovalOutlook{Allow: protocol.OutlookAllow, Ask: protocol.OutlookAsk, Decline: protocol.OutlookDeny} {
		if got := (Verdict{Decision: d}).Outlook(); got != want {
			t.Errorf("%s looks like %s, want %s", d, got, want)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	asks := Policy{Questions: true}
	for in, want := range map[string]Policy{
		``:             asks,
		`null`:         asks,
		`"on-request"`: asks,
		`"untrusted"`:  asks,
		`"never"`:      {Never: true, Questions: true},
		`{"granular":{"mcp_elicitations":true,"rules":false,"sandbox_approval":false}}`: asks,
		`{"granular":{"mcp_elicitations":false,"rules":true,"sandbox_approval":true}}`:  {},
		`{"granular":{"mcp_elicitations":true,"mcp_elicitations":false}}`:               {},
	} {
		for sandbox, full := range map[protocol.SandboxMode]bool{"": false, protocol.SandboxReadOnly: false, protocol.SandboxWorkspaceWrite: false, protocol.SandboxFullAccess: true} {
			want.FullAccess = full
			got, err := ParsePolicy(protocol.ApprovalPolicy(in), sandbox)
			if err != nil || got != want {
				t.Errorf("ParsePolicy(%s, %q) = %+v, %v, want %+v", in, sandbox, got, err, want)
			}
		}
	}
	for in, pointer := range map[string]string{
		`"always"`:          "/approvalPolicy",
		`"Never"`:           "/approvalPolicy",
		`""`:                "/approvalPolicy",
		`1`:                 "/approvalPolicy",
		`["never"]`:         "/approvalPolicy",
		`x`:                 "/approvalPolicy",
		`{}`:                "/approvalPolicy/granular",
		`{"granular":true}`: "/approvalPolicy/granular",
		`{"granular":{}}`:   "/approvalPolicy/granular/mcp_elicitations",
		`{"granular":{"mcp_elicitations":"true"}}`:   "/approvalPolicy/granular/mcp_elicitations",
		`{"granular":{"mcp_elicitations":true},"x":`: "/approvalPolicy/granular",
	} {
		got, err := ParsePolicy(protocol.ApprovalPolicy(in), "")
		e, ok := err.(*protocol.Error)
		if !ok || e.Data.Kind != protocol.KindInvalidParams || e.Data.Pointer != pointer || got != (Policy{}) {
			t.Errorf("ParsePolicy(%s) = %+v, %v, want an error at %s", in, got, err, pointer)
		}
	}
	if _, err := ParsePolicy(nil, "full"); err == nil {
		t.Error("an unknown sandbox mode is accepted")
	}
}
