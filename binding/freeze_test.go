package binding

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

func TestGoldenBindings(t *testing.T) {
	outlook := func(_ *Tool, h protocol.Hints) protocol.ApprovalOutlook {
		if h.ReadOnly != nil && *h.ReadOnly {
			return protocol.OutlookAllow
		}
		return protocol.OutlookAsk
	}
	for _, name := range []string{"odd", "modelcontextprotocol__server-gitlab", "upstash__context7-mcp"} {
		for _, format := range formats {
			t.Run(name+"/"+string(format), func(t *testing.T) {
				path := "testdata/odd.json"
				if name != "odd" {
					path = "testdata/catalogs/" + name + ".json"
				}
				_, short, _ := strings.Cut("__"+name, "__")
				s := readCatalog(t, path, short)
				s.Rules.Outlook = outlook
				v := freeze(format, s).Named("b-1", "t-1", 1, 1700000000000)
				raw, err := rawjson.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata/golden", name+"."+string(format)+".json"), raw)
			})
		}
	}
}

// golden compares JSON, spread over lines, with a file.
func golden(t *testing.T, path string, raw []byte) {
	t.Helper()
	got := string(spread(nil, raw, "\n")) + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got); run go test -update if it is meant:\n%s", path, diff)
	}
}

// spread writes the objects and arrays of a binding, but not what is in specs,
// over lines, and keeps the bytes of the rest.
func spread(dst, raw []byte, line string) []byte {
	deeper := line + " "
	switch rawjson.Kind(raw) {
	case '{':
		o, _ := parseObject(raw)
		if len(o) == 0 {
			return append(dst, raw...)
		}
		for i, m := range o {
			dst = append(append(dst, "{,"[min(i, 1)]), deeper...)
			dst = append(rawjson.AppendString(dst, m.key), ": "...)
			if m.key == "spec" {
				dst = append(dst, m.val...)
				continue
			}
			if m.key == "specs" {
				specs, _ := parseArray(m.val)
				dst = append(append(append(dst, '['), bytes.Join(specs, []byte(","+deeper+" "))...), ']')
				continue
			}
			dst = spread(dst, m.val, deeper)
		}
		return append(append(dst, line...), '}')
	case '[':
		elems, _ := parseArray(raw)
		if len(elems) == 0 {
			return append(dst, raw...)
		}
		for i, e := range elems {
			dst = append(append(dst, "[,"[min(i, 1)]), deeper...)
			dst = spread(dst, e, deeper)
		}
		return append(append(dst, line...), ']')
	}
	return append(dst, raw...)
}

func omitted(b *Binding) []string {
	var out []string
	for _, o := range b.value.Omitted {
		out = append(out, string(o.Server)+"/"+string(o.Tool)+": "+o.Reason)
	}
	return out
}

func TestFilters(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name    string
		rules   Rules
		want    []string // raw names
		omitted []string
	}{
		{"absent means all", Rules{}, []string{"a", "b", "c"}, nil},
		{"empty means none", Rules{Enabled: []string{}}, nil, []string{
			"s/a: " + ReasonNotEnabled, "s/b: " + ReasonNotEnabled, "s/c: " + ReasonNotEnabled}},
		{"allowed ones", Rules{Enabled: []string{"a", "c"}}, []string{"a", "c"}, []string{"s/b: " + ReasonNotEnabled}},
		{"deny wins", Rules{Enabled: []string{"a", "b"}, Disabled: []string{"a"}}, []string{"b"}, []string{
			"s/a: " + ReasonDisabled, "s/c: " + ReasonNotEnabled}},
		{"exact names", Rules{Disabled: []string{"A", "mcp__s__b"}}, []string{"a", "b", "c"}, nil},
		{"a tool's own switch", Rules{Enabled: []string{"a", "b"}, Disabled: []string{"b"}, Tools: map[protocol.ToolName]ToolRules{
			"a": {Enabled: &no}, "b": {Enabled: &yes}, "c": {Enabled: &yes}}}, []string{"c"}, []string{
			"s/a: " + ReasonSwitched, "s/b: " + ReasonDisabled}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serverOf("s", "c", "b", "a")
			s.Rules = tt.rules
			b := freeze("", s)
			var got []string
			for _, tool := range b.Tools() {
				got = append(got, string(tool.Tool))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.omitted, omitted(b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnmatchedFilters(t *testing.T) {
	s := Server{Name: "s", Catalog: catalogOf("s", plainTool("read_file"), `{"name":"broken","inputSchema":1}`), Rules: Rules{
		Enabled: []string{"read_file", "read_fil", "broken"}, Disabled: []string{"zzzzzzzzzz"},
		Tools: map[protocol.ToolName]ToolRules{"mcp__s__read_file": {}, "read_file": {}}}}
	want := []UnmatchedFilter{{"enabled_tools", "read_fil", "read_file"}, {"disabled_tools", "zzzzzzzzzz", ""}, {"tools", "mcp__s__read_file", "read_file"}}
	if diff := cmp.Diff(want, UnmatchedFilters(s)); diff != "" {
		t.Error(diff)
	}
	unread := s
	unread.Catalog = nil
	if got := UnmatchedFilters(unread); got != nil {
		t.Errorf("without a catalog: %v", got)
	}
	s.Catalog.Truncated = true
	if got := UnmatchedFilters(s); got != nil {
		t.Errorf("with a truncated catalog: %v", got)
	}
}

func TestExposure(t *testing.T) {
	item := func(name, meta string) string {
		return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{}},"_meta":` + meta + `}`
	}
	s := Server{Name: "s", Catalog: catalogOf("s",
		item("app_only", `{"ui":{"visibility":["app"]}}`), item("none", `{"ui":{"visibility":[]}}`),
		item("both", `{"ui":{"visibility":["app","model"]}}`), item("unsaid", `{"ui":{}}`),
		item("odd", `{"ui":{"visibility":"app"}}`), item("null", `{"ui":null}`))}
	want := map[protocol.ToolName]protocol.Exposure{"app_only": "hidden", "none": "hidden", "both": "direct", "unsaid": "direct", "odd": "direct", "null": "direct"}
	for _, format := range formats {
		b := freeze(format, s)
		for _, tool := range b.Tools() {
			if tool.Exposure != want[tool.Tool] {
				t.Errorf("%s is %s, want %s", tool.Tool, tool.Exposure, want[tool.Tool])
			}
			listed := false
			for _, spec := range b.Specs() {
				listed = listed || strings.Contains(string(spec), `"`+tool.Name+`"`) || strings.Contains(string(spec), `"`+tool.Flat+`"`)
			}
			if listed != (tool.Exposure == protocol.ExposureDirect) {
				t.Errorf("%s: %s is listed %v", format, tool.Tool, listed)
			}
			if (tool.UI == nil) != (tool.Tool == "null") {
				t.Errorf("%s has ui %s", tool.Tool, tool.UI)
			}
		}
		if n := b.value.Totals; n.Tools != 6 || n.Direct != 4 {
			t.Errorf("totals %+v", n)
		}
	}
	for _, e := range []protocol.Exposure{protocol.ExposureDirect, protocol.ExposureHidden} {
		s.Rules.Exposure = e
		for _, tool := range freeze("", s).Tools() {
			if tool.Exposure != e {
				t.Errorf("%s is %s, want %s as configured", tool.Tool, tool.Exposure, e)
			}
		}
	}
	if b := freeze("", s); len(b.Specs()) != 0 || b.Specs() == nil {
		t.Errorf("specs %s, want an empty list", b.Specs())
	}
}

// Over maxTools the last ones go, names and order of the others stay.
func TestMaxTools(t *testing.T) {
	servers := []Server{serverOf("b", "z", "y", "Y"), serverOf("a", "x")}
	all := freeze("", servers...)
	b := Freeze(Input{Servers: servers, Model: protocol.ModelSettings{MaxTools: 3}})
	if got, want := flats(b), flats(all)[:3]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"b/z: " + ReasonMaxTools}, omitted(b)); diff != "" {
		t.Error(diff)
	}
}

func TestHintsAndOutlook(t *testing.T) {
	yes, no := true, false
	s := Server{Name: "s", Catalog: catalogOf("s",
		`{"name":"read","inputSchema":{},"annotations":{"readOnlyHint":true,"destructiveHint":false}}`, `{"name":"write","inputSchema":{}}`)}
	s.Rules.Tools = map[protocol.ToolName]ToolRules{"read": {Hints: protocol.Hints{Destructive: &yes}}, "write": {Hints: protocol.Hints{ReadOnly: &no}}}
	s.Rules.Outlook = func(tool *Tool, h protocol.Hints) protocol.ApprovalOutlook {
		if h.Destructive != nil && *h.Destructive {
			return protocol.OutlookDeny
		}
		return protocol.OutlookAllow
	}
	b := freeze("", s)
	read, _ := b.Tool("s", "read")
	write, _ := b.Tool("s", "write")
	if !read.ParallelSafe || write.ParallelSafe || read.Approval != protocol.OutlookDeny || write.Approval != protocol.OutlookAllow {
		t.Errorf("read %+v\nwrite %+v", read, write)
	}
	if !*read.Annotations.Destructive || !*read.Annotations.ReadOnly || *write.Annotations.ReadOnly {
		t.Error("the configuration's hints don't count")
	}
	s.Rules = Rules{Parallel: true}
	b = freeze("", s)
	write, _ = b.Tool("s", "write")
	if !write.ParallelSafe || write.Approval != protocol.OutlookAsk {
		t.Errorf("write %+v", write)
	}
}

func TestFingerprint(t *testing.T) {
	base := func() Input {
		s := serverOf("docs", "search", "read")
		s.Instructions = "Use them."
		return Input{Servers: []Server{s}}
	}
	print := Freeze(base()).Fingerprint()
	with := func(change func(in *Input)) string {
		in := base()
		change(&in)
		return Freeze(in).Fingerprint()
	}
	for what, got := range map[string]string{
		"again":   with(func(*Input) {}),
		"pending": with(func(in *Input) { in.Pending = []protocol.PendingServer{{Server: "x", State: protocol.ServerStarting}} }),
		"a server without tools": with(func(in *Input) {
			in.Servers = append(in.Servers, Server{Name: "later"}, Server{Name: "empty", Catalog: catalogOf("empty")})
		}),
		"a tool that is left out": with(func(in *Input) { in.Servers[0].Catalog.Omitted = []protocol.OmittedTool{{Tool: "x"}} }),
		"the model's name":        with(func(in *Input) { in.Model.Name = "gpt" }),
		"the format spelled out":  with(func(in *Input) { in.Model.Format = protocol.FormatOpenAIResponses }),
	} {
		if got != print {
			t.Errorf("%s changes the fingerprint", what)
		}
	}
	seen := map[string]string{print: "nothing"}
	for what, got := range map[string]string{
		"format":       with(func(in *Input) { in.Model.Format = protocol.FormatAnthropic }),
		"namespaces":   with(func(in *Input) { no := false; in.Model.Namespaces = &no }),
		"instructions": with(func(in *Input) { in.Servers[0].Instructions = "Don't." }),
		"a tool less":  with(func(in *Input) { in.Servers[0].Rules.Disabled = []string{"read"} }),
		"a definition": with(func(in *Input) {
			in.Servers[0].Catalog = catalogOf("docs", plainTool("search"), strings.ReplaceAll(plainTool("read"), "Does", "Did"))
		}),
		"exposure": with(func(in *Input) { in.Servers[0].Rules.Exposure = protocol.ExposureHidden }),
		"outlook": with(func(in *Input) {
			in.Servers[0].Rules.Outlook = func(*Tool, protocol.Hints) protocol.ApprovalOutlook { return protocol.OutlookAllow }
		}),
		"parallel": with(func(in *Input) { in.Servers[0].Rules.Parallel = true }),
	} {
		if other, ok := seen[got]; ok {
			t.Errorf("%s gives the fingerprint of %s", what, other)
		}
		seen[got] = what
	}
}

func TestDiff(t *testing.T) {
	before := freeze("", serverOf("s", "stay", "go", "change", "hide"))
	s := Server{Name: "s", Catalog: catalogOf("s", plainTool("stay"), plainTool("come"), strings.ReplaceAll(plainTool("change"), "Does", "Did"),
		strings.TrimSuffix(plainTool("hide"), "}")+`,"_meta":{"ui":{"visibility":[]}}}`)}
	after := freeze("", s)
	want := protocol.BindingChanges{Added: []string{"mcp__s__come"}, Removed: []string{"mcp__s__go", "mcp__s__hide"}, Changed: []string{"mcp__s__change"}}
	if diff := cmp.Diff(want, Diff(before, after)); diff != "" {
		t.Error(diff)
	}
	none := protocol.BindingChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}
	if diff := cmp.Diff(none, Diff(after, after)); diff != "" {
		t.Error(diff)
	}
	if got := Diff(nil, after); len(got.Added) != 3 || len(got.Removed)+len(got.Changed) != 0 {
		t.Errorf("against none: %+v", got)
	}
	if got := Diff(before, nil); len(got.Removed) != 4 {
		t.Errorf("to none: %+v", got)
	}
}

func TestLookupTakesTheSpellingsThatComeBack(t *testing.T) {
	b := freeze("", serverOf("docs", "search"), serverOf("docs__search", "more"), serverOf("a", "b"), serverOf("ab", "c"), serverOf("abc", ""))
	for _, call := range [][2]string{
		{"mcp__docs", "search"}, {"", "mcp__docs__search"}, {"", "mcp__docs.search"}, {"", "mcp__docs/search"}, {"", "mcp__docs:search"},
		{"", "mcp__docssearch"}, {"mcp__docs__", "search"}, {"mcp__docs", "mcp__docs__search"}, {"", "functions.mcp__docs__search"},
		{"functions.mcp__docs", "search"}, {"", "MCP__Docs__Search"}, {"mcp__docs.", "search"},
	} {
		got, ok := b.Lookup(call[0], call[1])
		if !ok || got.Server != "docs" || got.Tool != "search" {
			t.Errorf("%q: %v", call, got)
		}
	}
	for _, call := range [][2]string{
		{"", ""}, {"", "search"}, {"", "docs__search"}, {"mcp__docs", ""}, {"mcp__docs", "more"}, {"mcp__a", "mcp__docs__search"},
		{"mcp__docs", "search__more"}, // the flat name of another pair
	} {
		if got, ok := b.Lookup(call[0], call[1]); ok {
			t.Errorf("%q finds %s", call, got.Flat)
		}
	}
	twice := freeze("", serverOf("a", "bc"), serverOf("ab", "c"))
	if got, ok := twice.Lookup("", "mcp__abc"); ok {
		t.Errorf("what two tools may mean finds %s", got.Flat)
	}
}

func TestNearest(t *testing.T) {
	hidden := serverOf("app", "search_docs")
	hidden.Rules.Exposure = protocol.ExposureHidden
	b := freeze("", serverOf("docs", "search", "read_page", "write_page"), hidden)
	for _, tt := range []struct {
		call [2]string
		want []string
	}{
		{[2]string{"mcp__docs", "serch"}, []string{"mcp__docs__search"}},
		{[2]string{"", "search"}, []string{"mcp__docs__search"}},
		{[2]string{"", "mcp__docs__red_page"}, []string{"mcp__docs__read_page", "mcp__docs__write_page"}},
		{[2]string{"", ""}, nil},
		{[2]string{"", "something else entirely"}, nil},
		{[2]string{"", strings.Repeat("x", 10000)}, nil},
	} {
		if diff := cmp.Diff(tt.want, b.Nearest(tt.call[0], tt.call[1])[:min(len(tt.want), len(b.Nearest(tt.call[0], tt.call[1])))]); diff != "" {
			t.Errorf("%.40q: %s", tt.call, diff)
		}
	}
}

// A binding says everything, with lists where there is nothing.
func TestNamed(t *testing.T) {
	raw, err := rawjson.Marshal(Freeze(Input{Pending: []protocol.PendingServer{
		{Server: "b", State: protocol.ServerStarting}, {Server: "a", State: protocol.ServerNotStarted}}}).Named("b", "t", 3, 9))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "fingerprint")
	want := map[string]any{"id": "b", "threadId": "t", "revision": 3.0, "createdAtMs": 9.0, "format": "openai-responses",
		"tools": []any{}, "namespaces": []any{}, "omitted": []any{}, "specs": []any{},
		"pending": []any{map[string]any{"server": "a", "state": "notStarted"}, map[string]any{"server": "b", "state": "starting"}},
		"totals":  map[string]any{"tools": 0.0, "direct": 0.0, "deferred": 0.0, "schemaBytes": 0.0, "approxTokens": 0.0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Freezing changes nothing of what it is given.
func TestInputIsLeftAlone(t *testing.T) {
	servers := captured(t)
	pending := []protocol.PendingServer{{Server: "b"}, {Server: "a"}}
	hashes := func() (all []string) {
		for _, s := range servers {
			all = append(all, string(s.Name))
			for _, tool := range s.Catalog.Tools {
				all = append(all, string(tool.Raw), tool.DefinitionHash(), string(tool.derived().input.schema), string(tool.derived().anthropic.schema))
			}
		}
		return append(all, string(pending[0].Server))
	}
	before := hashes()
	for _, format := range formats {
		Freeze(Input{Servers: servers, Pending: pending, Model: protocol.ModelSettings{Format: format}})
	}
	if !slices.Equal(before, hashes()) {
		t.Error("the input was changed")
	}
}

func TestTruncatedCatalogIsTold(t *testing.T) {
	s := serverOf("s", "a")
	s.Catalog.Truncated = true
	if diff := cmp.Diff([]string{"s/: " + ReasonTruncated}, omitted(freeze("", s))); diff != "" {
		t.Error(diff)
	}
}
