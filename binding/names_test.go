package binding

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// hashed is the suffix of a tool's name, worked out the long way.
func hashed(parts ...string) string {
	sum := sha1.Sum([]byte(strings.Join(parts, "\x00")))
	return "_" + hex.EncodeToString(sum[:])[:12]
}

func serverHash(s string) string  { return hashed(s, s, "") }
func toolHash(s, t string) string { return hashed(s, s, "", t, t) }

func TestNamesByRule(t *testing.T) {
	long := strings.Repeat("l", 140)
	for _, tt := range []struct {
		rule    string
		servers []Server
		format  protocol.SpecFormat
		want    map[string]string // server/tool -> namespace + " " + name
	}{
		{"plain", []Server{serverOf("docs", "search")}, "", map[string]string{
			"docs/search": "mcp__docs search"}},
		{"the prefix is not put twice", []Server{serverOf("mcp__x", "t")}, "", map[string]string{
			"mcp__x/t": "mcp__x t"}},
		{"case is kept", []Server{serverOf("GitHub", "getFile")}, "", map[string]string{
			"GitHub/getFile": "mcp__GitHub getFile"}},
		{"lossy server", []Server{serverOf("a-b", "t")}, "", map[string]string{
			"a-b/t": "mcp__a_b" + serverHash("a-b") + " t"}},
		{"lossy tool", []Server{serverOf("s", "a.b", "a b")}, "", map[string]string{
			"s/a.b": "mcp__s a_b" + toolHash("s", "a.b"), "s/a b": "mcp__s a_b" + toolHash("s", "a b")}},
		{"each character becomes one _", []Server{serverOf("s", "ab数据/c")}, "", map[string]string{
			"s/ab数据/c": "mcp__s ab___c" + toolHash("s", "ab数据/c")}},
		{"servers that differ in case", []Server{serverOf("Docs", "t"), serverOf("docs", "t"), serverOf("other", "t")}, "", map[string]string{
			"Docs/t": "mcp__Docs" + serverHash("Docs") + " t", "docs/t": "mcp__docs" + serverHash("docs") + " t", "other/t": "mcp__other t"}},
		{"tools that differ in case", []Server{serverOf("s", "Get", "get", "put")}, "", map[string]string{
			"s/Get": "mcp__s Get" + toolHash("s", "Get"), "s/get": "mcp__s get" + toolHash("s", "get"), "s/put": "mcp__s put"}},
		{"with and without prefix", []Server{serverOf("x", "t"), serverOf("mcp__x", "t")}, "", map[string]string{
			"x/t": "mcp__x" + serverHash("x") + " t", "mcp__x/t": "mcp__x" + serverHash("mcp__x") + " t"}},
		{"flat names that meet", []Server{serverOf("a", "b__c", "d"), serverOf("a__b", "c")}, "", map[string]string{
			"a/b__c": "mcp__a b__c" + toolHash("a", "b__c"), "a__b/c": "mcp__a__b c" + toolHash("a__b", "c"), "a/d": "mcp__a d"}},
		{"long tool", []Server{serverOf("s", long)}, "", map[string]string{
			"s/" + long: "mcp__s " + strings.Repeat("l", 128-8-13) + toolHash("s", long)}},
		{"long tool, short limit", []Server{serverOf("s", long)}, protocol.FormatOpenAIChat, map[string]string{
			"s/" + long: "mcp__s " + strings.Repeat("l", 64-8-13) + toolHash("s", long)}},
		{"long server", []Server{serverOf(long, "t")}, "", map[string]string{
			long + "/t": "mcp__" + strings.Repeat("l", 64-5-13) + serverHash(long) + " t"}},
		{"a name as long as can be", []Server{serverOf("s", strings.Repeat("n", 120))}, "", map[string]string{
			"s/" + strings.Repeat("n", 120): "mcp__s " + strings.Repeat("n", 120)}},
		{"made to look like another's hash", []Server{serverOf("s", "a.b", "a_b"+toolHash("s", "a.b"))}, "", map[string]string{
			"s/a.b":                        "mcp__s a_b" + toolHash("s", "a.b"),
			"s/a_b" + toolHash("s", "a.b"): "mcp__s a_b" + toolHash("s", "a.b") + toolHash("s", "a_b"+toolHash("s", "a.b"))}},
		{"no name", []Server{serverOf("", "t")}, "", map[string]string{
			"/t": "mcp___" + serverHash("") + " t"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			b := freeze(tt.format, tt.servers...)
			got := map[string]string{}
			for _, tool := range b.Tools() {
				got[string(tool.Server)+"/"+string(tool.Tool)] = tool.Namespace + " " + tool.Name
				if tool.Flat != tool.Namespace+"__"+tool.Name {
					t.Errorf("flat name %q of %q and %q", tool.Flat, tool.Namespace, tool.Name)
				}
			}
			for id, want := range tt.want {
				if got[id] != want {
					t.Errorf("%s: got %q, want %q", id, got[id], want)
				}
			}
			if len(got) != len(tt.want) {
				t.Errorf("got %d tools, want %d", len(got), len(tt.want))
			}
		})
	}
}

func TestPrefixCanBeLeftAway(t *testing.T) {
	bare := serverOf("docs", "search")
	bare.Rules.NoPrefix = true
	digit := serverOf("9to5", "t")
	digit.Rules.NoPrefix = true
	b := freeze(protocol.FormatGemini, bare, digit, serverOf("other", "t"))
	if got, want := flats(b), []string{"_9to5__t", "docs__search", "mcp__other__t"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A model that takes shorter names gets shorter ones; what can't be kept is
// taken as the least that can.
func TestNameMaxLength(t *testing.T) {
	s := serverOf("a-server-with-a-name", "a-tool-with-a-name", "another-tool-with-a-name")
	for _, tt := range []struct{ asked, want int64 }{{0, 128}, {1000, 128}, {40, 40}, {MinNameLength, MinNameLength}, {5, MinNameLength}} {
		b := Freeze(Input{Servers: []Server{s}, Model: protocol.ModelSettings{NameMaxLength: tt.asked}})
		for _, flat := range flats(b) {
			if int64(len(flat)) > tt.want {
				t.Errorf("limit %d: %q has %d bytes", tt.asked, flat, len(flat))
			}
		}
	}
}

var anyName = rapid.OneOf(
	rapid.StringMatching(`[a-zA-Z_]{1,3}`),
	rapid.StringMatching(`[a-b._-]{1,4}`),
	rapid.StringMatching(`(mcp__)?[ab]{1,2}(__[ab])?`),
	rapid.StringMatching(`[a-c]{40,70}`),
	rapid.StringN(1, 6, 20),
)

func drawServers(t *rapid.T) []Server {
	names := rapid.SliceOfNDistinct(anyName, 1, 6, rapid.ID[string]).Draw(t, "servers")
	var servers []Server
	for _, n := range names {
		s := serverOf(n, rapid.SliceOfNDistinct(anyName, 0, 6, rapid.ID[string]).Draw(t, "tools of "+n)...)
		s.Rules.NoPrefix = rapid.IntRange(0, 4).Draw(t, "bare") == 0
		servers = append(servers, s)
	}
	return servers
}

func drawModel(t *rapid.T) protocol.ModelSettings {
	return protocol.ModelSettings{
		Format:        rapid.SampledFrom(formats).Draw(t, "format"),
		NameMaxLength: rapid.SampledFrom([]int64{0, 0, 32, 48, 64}).Draw(t, "limit"),
	}
}

// checkNames fails unless the names of b are as promised.
func checkNames(t rapid.TB, b *Binding, limit int) {
	charset := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	flats := map[string]bool{}
	namespaces := map[string]protocol.ServerName{}
	for _, tool := range b.Tools() {
		if !charset.MatchString(tool.Flat) || tool.Name == "" {
			t.Fatalf("%q is not of the charset", tool.Flat)
		}
		if len(tool.Flat) > limit {
			t.Fatalf("%q has %d bytes, limit %d", tool.Flat, len(tool.Flat), limit)
		}
		folded := strings.ToLower(tool.Flat)
		if flats[folded] {
			t.Fatalf("%q is not unique", tool.Flat)
		}
		flats[folded] = true
		ns := strings.ToLower(tool.Namespace)
		if s, ok := namespaces[ns]; ok && s != tool.Server {
			t.Fatalf("%q and %q share namespace %q", s, tool.Server, tool.Namespace)
		}
		namespaces[ns] = tool.Server
		for _, call := range [][2]string{{tool.Namespace, tool.Name}, {"", tool.Flat}} {
			got, ok := b.Lookup(call[0], call[1])
			if !ok || got.Server != tool.Server || got.Tool != tool.Tool {
				t.Fatalf("lookup of %q does not find %q/%q", call, tool.Server, tool.Tool)
			}
		}
		if got, ok := b.Tool(tool.Server, tool.Tool); !ok || got.Flat != tool.Flat {
			t.Fatalf("%q/%q is not found by its raw name", tool.Server, tool.Tool)
		}
	}
}

func TestNamesAreUniqueBoundedAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, model := drawServers(t), drawModel(t)
		b := Freeze(Input{Servers: servers, Model: model})
		checkNames(t, b, nameLimit(model))

		// Another order gives the same, to the fingerprint.
		shuffled := slices.Clone(servers)
		for i := range shuffled {
			c := *shuffled[i].Catalog
			c.Tools = rapid.Permutation(c.Tools).Draw(t, "order of tools")
			shuffled[i].Catalog = &c
		}
		shuffled = rapid.Permutation(shuffled).Draw(t, "order of servers")
		again := Freeze(Input{Servers: shuffled, Model: model})
		if again.Fingerprint() != b.Fingerprint() || !slices.Equal(flats(again), flats(b)) {
			t.Fatalf("names depend on order: %q and %q", flats(b), flats(again))
		}
	})
}

// More servers rename a tool only if one of them wants the same name.
func TestMoreServersRenameNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, model := drawServers(t), drawModel(t)
		n := rapid.IntRange(0, len(servers)-1).Draw(t, "before")
		before := Freeze(Input{Servers: servers[:n], Model: model})
		after := Freeze(Input{Servers: servers, Model: model})
		for _, tool := range before.Tools() {
			now, ok := after.Tool(tool.Server, tool.Tool)
			if !ok {
				t.Fatalf("%q/%q is gone", tool.Server, tool.Tool)
			}
			if now.Flat == tool.Flat {
				continue
			}
			// The one that came would have the name alone.
			wanted := false
			for _, s := range servers[n:] {
				alone := Freeze(Input{Servers: []Server{s}, Model: model})
				for _, other := range alone.Tools() {
					wanted = wanted || strings.EqualFold(other.Flat, tool.Flat)
				}
				space, _ := names([]owner{{server: s.Name, prefix: !s.Rules.NoPrefix}}, nameLimit(model))
				wanted = wanted || strings.EqualFold(space[0], tool.Namespace)
			}
			if !wanted {
				t.Fatalf("%q became %q, and nobody wanted it", tool.Flat, now.Flat)
			}
		}
	})
}

// A lossy name never changes, whatever else comes.
func TestLossyNamesNeverChange(t *testing.T) {
	first := serverOf("my docs", "read file")
	alone := flatOf(t, freeze("", first), "my docs", "read file")
	for _, other := range []string{"my_docs", "my-docs", "MY DOCS", "mcp__my docs", "my.docs"} {
		b := freeze("", serverOf(other, "read file", "read-file", "read_file"), first)
		if got := flatOf(t, b, "my docs", "read file"); got != alone {
			t.Errorf("with %q: got %q, want %q", other, got, alone)
		}
	}
}

// Servers without a catalog take part in telling namespaces apart, so that
// nothing is renamed when they arrive.
func TestServersToComeAreReckonedWith(t *testing.T) {
	a, b := serverOf("Docs", "t"), serverOf("docs", "t")
	waiting := b
	waiting.Catalog = nil
	before, after := freeze("", a, waiting), freeze("", a, b)
	if x, y := flatOf(t, before, "Docs", "t"), flatOf(t, after, "Docs", "t"); x != y {
		t.Errorf("%q became %q", x, y)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a.b", "search", "a-b", "search", uint8(0))
	f.Add("数据库", "q", "database数", "q", uint8(40))
	f.Add("mcp__x", "t", "x", "T", uint8(64))
	f.Add("a", "b__c", "a__b", "c", uint8(0))
	f.Add(strings.Repeat("s", 50), "createPageWithAttachments", "", "createPageWithAttachmentsV2", uint8(64))
	f.Add("\xff", "\x00", "\n", "9", uint8(1))
	f.Add("a_b_d98d15d05c30", "_", "a-b", "__", uint8(0))
	f.Fuzz(func(t *testing.T, s1, t1, s2, t2 string, limit uint8) {
		servers := []Server{
			{Name: protocol.ServerName(s1), Catalog: rawCatalog(t1, t2)},
			{Name: protocol.ServerName(s2), Catalog: rawCatalog(t2, t1)},
		}
		for _, format := range formats {
			model := protocol.ModelSettings{Format: format, NameMaxLength: int64(limit)}
			b := Freeze(Input{Servers: servers, Model: model})
			checkNames(t, b, nameLimit(model))
			if s1 == s2 {
				continue // the first counts
			}
			again := Freeze(Input{Servers: []Server{servers[1], servers[0]}, Model: model})
			if b.Fingerprint() != again.Fingerprint() {
				t.Fatalf("names depend on order: %q and %q", flats(b), flats(again))
			}
		}
	})
}

// rawCatalog has tools with names that JSON could not bring.
func rawCatalog(names ...string) *Catalog {
	c := &Catalog{}
	for _, n := range names {
		if !slices.ContainsFunc(c.Tools, func(t Tool) bool { return string(t.Name) == n }) {
			c.Tools = append(c.Tools, Tool{Name: protocol.ToolName(n), Raw: []byte(`{"name":"x"}`)})
		}
	}
	return c
}

func ExampleFreeze() {
	docs := Server{Name: "docs", Catalog: ParseCatalog("docs", rawList(
		`{"name":"search","description":"Searches.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`,
		`{"name":"get.page","description":"One page.","inputSchema":{"type":"object","properties":{}}}`), false)}
	b := Freeze(Input{Servers: []Server{docs}, Model: protocol.ModelSettings{Format: protocol.FormatAnthropic}})
	for _, spec := range b.Specs() {
		fmt.Println(string(spec))
	}
	// Output:
	// {"name":"mcp__docs__get_page_1e6b1ba203d5","description":"One page.","input_schema":{"type":"object","properties":{}}}
	// {"name":"mcp__docs__search","description":"Searches.","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}
}
