package schema

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

var theComments = sync.OnceValues(func() (*Comments, error) { return ReadComments(os.DirFS("../protocol")) })

func comments(t *testing.T) *Comments {
	t.Helper()
	c, err := theComments()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func model(t *testing.T) *Model {
	t.Helper()
	m, err := Build(comments(t))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What is published is what the table and the comments say now.
func TestPublished(t *testing.T) {
	files, err := Render(model(t))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Render(model(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if !bytes.Equal(want, again[name]) {
			t.Errorf("%s differs from one rendering to the next", name)
		}
		got, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("schema/published/%s is stale; run: go run ./schema/gen", name)
		}
	}
	var names []string
	if err := fs.WalkDir(Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(maps.Keys(files)); !slices.Equal(names, want) {
		t.Errorf("published: %q, want %q", names, want)
	}
}

// The program hands out the embedded bytes and makes the folder.
func TestWriteHandsOutThePublishedBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	if err := WriteTS(dir); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSONSchema(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{FileTS, FileJSONSchema} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := fs.ReadFile(Files(), name); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want the %d that are embedded", name, len(got), len(want))
		}
	}
	file := filepath.Join(dir, FileTS)
	if err := WriteTS(file); err == nil || !strings.Contains(err.Error(), FileTS) {
		t.Errorf("writing below a file: %v, want an error that names %s", err, FileTS)
	}
}

// Every message and type has a comment: Build refuses one that has none. The
// constants of an enum stand in a block with a comment or have their own.
func TestEveryNameHasAComment(t *testing.T) {
	m := model(t)
	for _, what := range []string{"thread/start", "ThreadStatus"} {
		c := *comments(t)
		c.methods, c.types = maps.Clone(c.methods), maps.Clone(c.types)
		delete(c.methods, "ThreadStart")
		delete(c.types, "ThreadStatus")
		if _, err := Build(&c); err == nil || !strings.Contains(err.Error(), what+" has no comment") {
			t.Errorf("without the comment of %s: %v", what, err)
		}
	}
	for typ, constants := range comments(t).constants {
		for _, k := range constants {
			if k.doc == "" && !k.grouped {
				t.Errorf("%s (of %s) has no comment, nor has its block", k.name, typ)
			}
		}
	}
	for _, x := range m.Types {
		for _, f := range x.Fields {
			if strings.Contains(f.Doc, "`"+f.GoName+"`") {
				t.Errorf("%s.%s is described under its Go name: %s", x.Name, f.Name, f.Doc)
			}
		}
	}
}

// The words of an enum are its constants, in order, and every enum of the
// package is part of the contract.
func TestWordsAreTheConstants(t *testing.T) {
	m, c := model(t), comments(t)
	published := map[string]bool{}
	for _, x := range m.Types {
		if x.Form != Enum {
			continue
		}
		published[x.Name] = true
		var words, constants []string
		for _, w := range x.Words {
			words = append(words, w.Value)
		}
		for _, k := range c.constants[x.Name] {
			constants = append(constants, k.value)
		}
		if !slices.Equal(words, constants) {
			t.Errorf("%s: Values lists %q, the constants are %q", x.Name, words, constants)
		}
	}
	for _, name := range c.enums {
		if !published[name] {
			t.Errorf("%s has words, but no message uses it", name)
		}
	}
	if len(c.enums) != len(published) {
		t.Errorf("%d types with words in the source, %d in the model", len(c.enums), len(published))
	}
}

// The tables of this package name things that exist.
func TestTablesNameWhatExists(t *testing.T) {
	m := model(t)
	types := map[string]*Type{}
	members := map[string]bool{}
	for _, x := range m.Types {
		types[x.Name] = x
		for _, f := range x.Fields {
			members[f.Name] = true
			if f.Shape.Elem != nil {
				members[f.Name+"[]"] = true
			}
		}
	}
	// exists follows a path of members from a type.
	exists := func(path string) bool {
		path = strings.TrimSuffix(path, " key")
		if types[path] != nil || members[path] {
			return true
		}
		name, rest, _ := strings.Cut(path, ".")
		at := types[name]
		for part := range strings.SplitSeq(rest, ".") {
			if at == nil {
				return false
			}
			part, element := strings.CutSuffix(part, "[]")
			i := slices.IndexFunc(at.Fields, func(f Field) bool { return f.Name == part })
			if i < 0 || element && at.Fields[i].Shape.Elem == nil {
				return false
			}
			at = at.Fields[i].Shape.named()
		}
		return true
	}
	for k := range plausibleValues {
		if !exists(k) {
			t.Errorf("plausibleValues: %q is no member, path or type", k)
		}
	}
	for k := range exampleMembers {
		if !exists(k) {
			t.Errorf("exampleMembers: %q is no member or path", k)
		}
	}
	for name, list := range conditions {
		for _, c := range list {
			for _, f := range append([]string{c.Field}, c.Requires...) {
				if !exists(name + "." + f) {
					t.Errorf("conditions: %s has no member %s", name, f)
				}
			}
			enum := types[name].Fields[slices.IndexFunc(types[name].Fields, func(f Field) bool { return f.Name == c.Field })].Shape.Type
			if !slices.ContainsFunc(enum.Words, func(w Word) bool { return w.Value == c.Word }) {
				t.Errorf("conditions: %s.%s has no word %s", name, c.Field, c.Word)
			}
		}
	}
	names := map[string]bool{}
	for _, l := range Limits {
		if names[l.Name] || l.Value <= 0 || l.What == "" {
			t.Errorf("bad limit %+v", l)
		}
		names[l.Name] = true
	}
}

// prose turns Go names into those of the wire, and leaves quotations alone.
func TestProse(t *testing.T) {
	wire := map[string]string{"WaitMs": "waitMs", "Form": "form", "ThreadStart": "thread/start"}
	for _, x := range []struct{ in, want string }{
		{"WaitMs bounds the wait, see ThreadStart.", "`waitMs` bounds the wait, see `thread/start`."},
		{"Form: questions with fields.", "Questions with fields."},
		{"Other: Form is kept.", "Other: `form` is kept."},
		{`The word "Form" and Formal stay.`, `The word "Form" and Formal stay.`},
		{"", ""},
	} {
		if got := prose(x.in, wire); got != x.want {
			t.Errorf("prose(%q) = %q, want %q", x.in, got, x.want)
		}
	}
}

// ReadComments finds comments where Go lets them stand, and says what it could
// not read.
func TestReadComments(t *testing.T) {
	c, err := ReadComments(fstest.MapFS{"x.go": {Data: []byte(`// Package x is.
//
// # Order
//
// First
// things first.
package x

// Sidecar is.
type Sidecar interface {
	// M does.
	M()
	N() // does too
}

// T is
// long.
//
// In two paragraphs.
type T struct {
	// A is.
	A int
	B int // is too
	C int
}

// W is.
type W string

// The words.
const (
	// One is.
	One W = "one"
	Two W = "two" // is too
	n     = 3
)

// Three is alone.
const Three W = "three"

func (W) Values() []string { return nil }
`)}, "x_test.go": {Data: []byte("no Go")}})
	if err != nil {
		t.Fatal(err)
	}
	want := &Comments{
		types:     map[string]string{"Sidecar": "Sidecar is.", "T": "T is long.\n\nIn two paragraphs.", "W": "W is."},
		fields:    map[string]string{"T.A": "A is.", "T.B": "is too", "T.C": ""},
		methods:   map[string]string{"M": "M does.", "N": "does too"},
		constants: map[string][]constant{"W": {{"One", "one", "One is.", true}, {"Two", "two", "is too", true}, {"Three", "three", "Three is alone.", false}}},
		enums:     []string{"W"},
		sections:  map[string]string{"Order": "First things first."},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	for _, bad := range []fstest.MapFS{{}, {"x.go": {Data: []byte("no Go")}}, {"x.go": {Data: []byte("package x")}}} {
		if _, err := ReadComments(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// theSchema is the published schema, resolved once: it takes an object with one
// member, named for the definition that the value must fit; "" is a whole line.
var theSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	text, err := fs.ReadFile(Files(), FileJSONSchema)
	if err != nil {
		return nil, err
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	s.Properties = map[string]*jsonschema.Schema{"": {AnyOf: s.AnyOf}}
	for name := range s.Defs {
		s.Properties[name] = &jsonschema.Schema{Ref: "#/$defs/" + name}
	}
	s.AnyOf, s.AdditionalProperties = nil, &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return s.Resolve(nil)
})

// fits says why text does not fit the published definition def, or a whole
// line with def "".
func fits(t *testing.T, def string, text []byte) error {
	t.Helper()
	r, err := theSchema()
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return r.Validate(map[string]any{def: v})
}

// variants calls f with a pick that always takes the first possibility, then
// once for each other possibility that comes up. Where that one brings up more
// to pick from (a shape with members of its own), it goes on inside, once.
func variants(f func(pick func(n int) int)) {
	run := func(script map[int]int) (counts []int) {
		f(func(n int) int {
			counts = append(counts, n)
			return script[len(counts)-1]
		})
		return counts
	}
	first := run(nil)
	for at, n := range first {
		for other := 1; other < n; other++ {
			second := run(map[int]int{at: other})
			more := len(second) - len(first)
			if more <= 0 {
				continue
			}
			// The first possibility may have had a pick of its own: one more.
			for inside := at + 1; inside < min(at+2+more, len(second)); inside++ {
				for another := 1; another < second[inside]; another++ {
					run(map[int]int{at: other, inside: another})
				}
			}
		}
	}
}

// samples returns values of a type with everything optional and with nothing
// of it, each of these in all variants (so with all but one, and with one only,
// too).
func samples(t *testing.T, of reflect.Type) [][]byte {
	t.Helper()
	seen := map[string]bool{}
	var list [][]byte
	for _, full := range []bool{false, true} {
		variants(func(pick func(int) int) {
			want := func(string, string) bool { return (pick(2) == 0) == full }
			s, err := sampler{want, pick}.sample(of)
			if err != nil {
				t.Fatal(err)
			}
			if !seen[string(s)] {
				seen[string(s)] = true
				list = append(list, s)
			}
		})
	}
	return list
}

// What encoding/json makes of the Go types fits the published schema, whatever
// words and shapes they hold, with all optional members and with none.
func TestSamplesFitTheSchema(t *testing.T) {
	count := 0
	for _, x := range model(t).Methods {
		for _, of := range []reflect.Type{x.params, x.result} {
			if of == nil {
				continue
			}
			for _, s := range samples(t, of) {
				count++
				if err := fits(t, typeName(of), s); err != nil {
					t.Errorf("%s: %s: %v", x.Name, s, err)
				}
			}
		}
	}
	for _, s := range samples(t, reflect.TypeFor[protocol.ErrorData]()) {
		if err := fits(t, "ErrorData", s); err != nil {
			t.Errorf("error data: %s: %v", s, err)
		}
	}
	if count < 200 {
		t.Errorf("only %d samples", count)
	}
}

// An editor may send null for what is optional, and what the sidecar does not
// know; it may leave out jsonrpc, and params when nothing in them is required.
// What is wrong is refused.
func TestSchemaOfLines(t *testing.T) {
	for _, x := range []struct {
		def, line string
		fits      bool
	}{
		{"ThreadStartRequest", `{"jsonrpc":"2.0","id":1,"method":"thread/start","params":{"cwd":null,"model":null,"servers":null,"sandbox":null,"approvalPolicy":null,"x":1}}`, true},
		{"ThreadStartRequest", `{"id":"a","method":"thread/start"}`, true},
		{"ThreadStartRequest", `{"id":1.5,"method":"thread/start"}`, false},
		{"ThreadStartRequest", `{"id":null,"method":"thread/start"}`, false},
		{"ThreadStartRequest", `{"id":1,"method":"thread/start","params":{"sandbox":"none"}}`, false},
		{"ThreadStartRequest", `{"id":1,"method":"thread/start","params":{"approvalPolicy":{"granular":1}}}`, false},
		{"ThreadReadRequest", `{"id":1,"method":"thread/read"}`, false},
		{"ThreadReadRequest", `{"id":1,"method":"thread/read","params":{}}`, false},
		{"ThreadReadRequest", `{"id":1,"method":"thread/read","params":{"threadId":1}}`, false},
		{"ShutdownResponse", `{"id":1,"result":null}`, true},
		{"ShutdownResponse", `{"id":1,"result":{}}`, false},
		{"ThreadListResponse", `{"id":1,"result":{"data":[],"nextCursor":null}}`, true},
		{"ThreadListResponse", `{"id":1,"result":{"data":[]}}`, false},
		{"ThreadListResponse", `{"id":1,"result":{"data":null,"nextCursor":null}}`, false},
		{"ThreadStatus", `{"type":"active"}`, false},
		{"ThreadStatus", `{"type":"active","activeFlags":[]}`, true},
		{"ConfigLayerSource", `{"type":"user"}`, false},
		{"ConfigLayerSource", `{"type":"sessionFlags"}`, true},
		{"ConfigOrigin", `{"name":{"type":"sessionFlags"},"version":"","layer":"flags","line":null}`, false},
		{"SidecarMessage", `{"jsonrpc":"2.0","method":"thread/closed","params":{"threadId":"t"}}`, true},
		{"SidecarMessage", `{"method":"thread/closed","params":{"threadId":"t"}}`, false},
		{"SidecarMessage", `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"s-1"}}`, true},
		{"SidecarMessage", `{"jsonrpc":"2.0","method":"exit","params":{}}`, false},
		{"SidecarMessage", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"kind":"parseError","retryable":false}}}`, true},
		{"SidecarMessage", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m","data":{"kind":"nonsense","retryable":false}}}`, false},
		{"EditorMessage", `{"method":"exit"}`, true},
		{"EditorMessage", `{"jsonrpc":"2.0","id":"s-1","error":{"code":-32601,"message":"m"}}`, true},
		{"EditorMessage", `{"jsonrpc":"1.0","method":"exit"}`, false},
		{"EditorMessage", `{"jsonrpc":"2.0","method":"thread/closed","params":{"threadId":"t"}}`, false},
		{"", `{"method":"nonsense"}`, false},
		{"", `[]`, false},
	} {
		if err := fits(t, x.def, []byte(x.line)); (err == nil) != x.fits {
			t.Errorf("%s %s: fits is %t, want %t (%v)", x.def, x.line, err == nil, x.fits, err)
		}
	}
}

// Every example of the reference page is a line of the protocol, and fits the
// message that it stands under.
func TestExamplesFitTheSchema(t *testing.T) {
	for _, x := range model(t).Methods {
		lines, err := exampleLines(x)
		if err != nil {
			t.Fatal(err)
		}
		defs := []string{x.envelope()}
		if !x.Notification {
			defs = append(defs, x.stem()+"Response")
		}
		if len(lines) != len(defs) {
			t.Fatalf("%s: %d lines, want %d", x.Name, len(lines), len(defs))
		}
		for i, l := range lines {
			if err := fits(t, defs[i], []byte(l)); err != nil {
				t.Errorf("%s: %s: %v", x.Name, l, err)
			}
		}
	}
	page, _ := fs.ReadFile(Files(), FileReference)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllSubmatch(page, -1)
	if want := len(protocol.Methods) + 1; len(blocks) != want {
		t.Errorf("%d examples on the page, want %d", len(blocks), want)
	}
	for _, b := range blocks {
		for l := range bytes.Lines(b[1]) {
			if err := fits(t, "", l); err != nil {
				t.Errorf("%s: %v", l, err)
			}
		}
	}
}

// Headings have anchors of their own, links lead somewhere, and tables have
// the cells that they announce.
func TestReferenceIsWhole(t *testing.T) {
	page, _ := fs.ReadFile(Files(), FileReference)
	anchors := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(page), -1) {
		a := anchor(h[1])
		if anchors[a] {
			t.Errorf("two headings have the anchor %s", a)
		}
		anchors[a] = true
	}
	links := regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(string(page), -1)
	for _, l := range links {
		if !anchors[l[1]] {
			t.Errorf("a link leads to #%s, which is not there", l[1])
		}
	}
	if len(links) < 100 {
		t.Errorf("only %d links", len(links))
	}
	cells := 0
	for l := range strings.Lines(string(page)) {
		if !strings.HasPrefix(l, "|") {
			cells = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(l, `\|`, ""), "|")
		if cells != 0 && n != cells {
			t.Errorf("%d cells, want %d: %s", n-1, cells-1, l)
		}
		cells = n
	}
}

// The TypeScript module declares each name once, uses declared names only, and
// has every method in its map. (That it compiles is seen by
// TestTypeScriptCompiles where there is a compiler.)
func TestTypeScriptIsWhole(t *testing.T) {
	text, _ := fs.ReadFile(Files(), FileTS)
	code := regexp.MustCompile(`(?s)/\*\*.*?\*/|//[^\n]*`).ReplaceAllString(string(text), "")
	declared := map[string]bool{}
	for _, d := range regexp.MustCompile(`export (?:interface|type) (\w+)`).FindAllStringSubmatch(code, -1) {
		if declared[d[1]] {
			t.Errorf("%s is declared twice", d[1])
		}
		declared[d[1]] = true
	}
	m := model(t)
	for _, x := range m.Types {
		if !declared[x.Name] {
			t.Errorf("%s is not declared", x.Name)
		}
	}
	for _, b := range []string{"Record", "Map", "M", "P"} {
		declared[b] = true // the language's own, and type parameters
	}
	strippedOfStrings := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(code, "")
	for _, name := range regexp.MustCompile(`\b[A-Z]\w*`).FindAllString(strippedOfStrings, -1) {
		if !declared[name] {
			t.Errorf("%s is used, but not declared", name)
		}
	}
	for _, pair := range []string{"{}", "[]", "()"} {
		if open, closed := strings.Count(code, pair[:1]), strings.Count(code, pair[1:]); open != closed {
			t.Errorf("%d %c and %d %c", open, pair[0], closed, pair[1])
		}
	}
	for _, x := range m.Methods {
		want, times := `  "`+x.Name+`": `+x.Params.Name+";\n", 1
		if x.Both {
			times = 2
		}
		if !x.Notification {
			result := "null"
			if x.Result != nil {
				result = x.Result.Name
			}
			want = `  "` + x.Name + `": { params: ` + x.Params.Name + `; result: ` + result + " };\n"
		}
		if n := strings.Count(code, want); n != times {
			t.Errorf("%q occurs %d times, want %d", want, n, times)
		}
	}
}

// The maps, the doc comments and the schema agree on which side sends what.
func TestSides(t *testing.T) {
	types := map[string]*Type{}
	for _, x := range model(t).Types {
		types[x.Name] = x
	}
	for _, x := range []struct {
		name          string
		input, output bool
	}{
		{"ThreadStartParams", true, false},
		{"ThreadStartResult", false, true},
		{"ModelSettings", true, true},
		{"ElicitationRequestParams", false, true},
		{"ElicitationRequestResult", true, false},
		{"CancelRequestParams", true, true},
		{"ErrorData", false, true},
	} {
		if got := types[x.name]; got.Input != x.input || got.Output != x.output {
			t.Errorf("%s: input %t, output %t, want %t, %t", x.name, got.Input, got.Output, x.input, x.output)
		}
	}
}

// A limit is printed the way a person would say it.
func TestLimitString(t *testing.T) {
	for _, x := range []struct {
		limit Limit
		want  string
	}{
		{Limit{Value: 32 << 20, Unit: Bytes}, "32 MiB"},
		{Limit{Value: 64 << 10, Unit: Bytes}, "64 KiB"},
		{Limit{Value: 128, Unit: Bytes}, "128 B"},
		{Limit{Value: 30_000, Unit: Milliseconds}, "30 s"},
		{Limit{Value: 250, Unit: Milliseconds}, "250 ms"},
		{Limit{Value: 16}, "16"},
		{Limit{Value: 10_008}, "10,008"},
	} {
		if got := x.limit.String(); got != x.want {
			t.Errorf("%+v: %s, want %s", x.limit, got, x.want)
		}
	}
}
