package conformance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/mcp-sidecar/mcp-sidecar/"

// floors are the storeys of the house: a package imports lower ones only.
// Rooms on one floor do not know each other.
var floors = map[string]int{
	"protocol": 1, "protocol/rawjson": 1, "protocol/near": 1, "protocol/secret": 1,
	"protocol/rpc": 2, "binding": 2, "elicit": 2, "session/config": 2, "schema": 2,
	"session/config/tomledit": 2, "session/config/fileedit": 2,
	"schema/gen":               3,
	"session/upstream/process": 3, "session/upstream/stdio": 3, "session/upstream/streamable": 3,
	"binding/toolcall": 4, "session/upstream": 4, "session/keep": 4,
	"session/thread":   5,
	"session":          6,
	"cmd/mcp-sidecar":  9,
	"conformance":      7,
	"conformance/*":    8, // programs and doubles around the scripts; they may use each other
	"conformance/demo": 8,
}

// homes are the outside libraries, each with the only packages that import it.
// A name that ends in / stands for what is below it, too. Test files may import
// what they like.
var homes = map[string][]string{
	"github.com/sourcegraph/jsonrpc2":            {"protocol/rpc"},
	"github.com/modelcontextprotocol/go-sdk/":    {"session/upstream/", "conformance/"},
	"github.com/BurntSushi/toml":                 {"session/config", "session/config/tomledit"},
	"github.com/gofrs/flock":                     {"session/config/fileedit"},
	"github.com/spf13/cobra":                     {"cmd/mcp-sidecar"},
	"github.com/mattn/go-isatty":                 {"cmd/mcp-sidecar"},
	"github.com/rs/zerolog":                      {"cmd/mcp-sidecar", "protocol/rpc", "binding/toolcall", "session/"},
	"golang.org/x/sys/":                          {"session/upstream/process", "session/config/fileedit", "conformance/"},
	"golang.org/x/tools/txtar":                   {"conformance/"},
	"github.com/google/jsonschema-go/jsonschema": {"elicit"},
}

// pure packages decide and do nothing: no clock, goroutine, file, network or
// logger.
var pure = []string{"binding", "elicit", "protocol", "protocol/rawjson", "protocol/near", "protocol/secret", "session/config/tomledit"}

var impure = []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "math/rand", "math/rand/v2", "github.com/rs/zerolog"}

// lone are uses of a context without a parent, and of sleep, that have a
// reason. Programs need none.
var lone = map[string]string{
	"session/upstream/httpwire.go context.Background":   "the end of a connection has a bound of its own: its life has ended",
	"session/upstream/stdiowire.go context.Background":  "the same",
	"session/upstream/process/reaper.go time.Sleep":     "a process of its own that waits for processes which are not its children",
	"session/upstream/process/tree_linux.go time.Sleep": "a moment for what was killed to die; nothing tells when",
	"conformance/client/client.go context.Background":   "the life of a client, which its Close ends",
	"conformance/bench/drive/sdk.go context.Background": "a measuring program's",
}

// words are wire words: the packages that may name a params or result type.
var words = []string{"protocol", "protocol/rpc", "session", "schema", "schema/gen", "cmd/mcp-sidecar", "conformance/"}

// A source is a parsed file of the module.
type source struct {
	path, dir string // with slashes, from the module's root
	test      bool
	file      *ast.File
}

func (s source) program() bool { return s.file.Name.Name == "main" }

// parsed is all Go files of the module.
var parsed = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "testdata" || name != ".." && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(positions, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(p), "../")
		all = append(all, source{rel, path.Dir(rel), strings.HasSuffix(p, "_test.go"), f})
		return nil
	})
	return all, err
})

var positions = token.NewFileSet()

// sources returns all Go files of the module.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil || len(all) < 50 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

func floor(dir string) (int, bool) {
	if f, ok := floors[dir]; ok {
		return f, true
	}
	if strings.HasPrefix(dir, "conformance/") {
		return floors["conformance/*"], true
	}
	return 0, false
}

// within reports whether a folder is one of a list whose members may end in /.
func within(dir string, list []string) bool {
	return slices.ContainsFunc(list, func(l string) bool {
		return dir == strings.TrimSuffix(l, "/") || strings.HasSuffix(l, "/") && strings.HasPrefix(dir, l)
	})
}

func imports(f *ast.File) []string {
	var paths []string
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value) // the parser has seen it
		paths = append(paths, p)
	}
	return paths
}

func TestFloors(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		from, ok := floor(s.dir)
		if !ok {
			t.Errorf("%s: the package has no floor: give it one in floors", s.path)
			continue
		}
		if s.test {
			continue
		}
		for _, p := range imports(s.file) {
			p, ours := strings.CutPrefix(p, module)
			if !ours {
				continue
			}
			to, ok := floor(p)
			beside := strings.HasPrefix(s.dir, "conformance/") && strings.HasPrefix(p, "conformance/")
			if !ok || to >= from && !beside && !(s.dir == "cmd/mcp-sidecar" && strings.HasPrefix(p, "conformance")) {
				t.Errorf("%s (floor %d) imports %s (floor %d)", s.path, from, p, to)
			}
		}
	}
}

func TestHomes(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		if s.test {
			continue
		}
		for _, p := range imports(s.file) {
			first, _, _ := strings.Cut(p, "/")
			if !strings.Contains(first, ".") || strings.HasPrefix(p, module) {
				continue
			}
			known := false
			for lib, home := range homes {
				if p == lib || strings.HasSuffix(lib, "/") && strings.HasPrefix(p, lib) {
					known = true
					if !within(s.dir, home) {
						t.Errorf("%s imports %s, whose home is %v", s.path, p, home)
					}
				}
			}
			if !known {
				t.Errorf("%s imports %s, which has no home: give it one in homes", s.path, p)
			}
		}
	}
}

func TestPure(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		if s.test || !slices.Contains(pure, s.dir) {
			continue
		}
		for _, p := range imports(s.file) {
			if slices.Contains(impure, p) {
				t.Errorf("%s imports %s: the package only decides", s.path, p)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a goroutine: the package only decides", at(s, n))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "NewTimer", "NewTicker", "Tick"}, n.Sel.Name) {
					t.Errorf("%s: time.%s: the package has no clock", at(s, n), n.Sel.Name)
				}
			}
			return true
		})
	}
}

func at(s source, n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, positions.Position(n.Pos()).Line)
}

// Each package says what it is for, once.
func TestPackageComments(t *testing.T) {
	all := sources(t)
	docs := map[string]string{}
	programs := map[string]bool{}
	for _, s := range all {
		if s.test {
			continue
		}
		programs[s.dir] = s.program()
		if s.file.Doc == nil {
			docs[s.dir] += ""
			continue
		}
		if docs[s.dir] != "" {
			t.Errorf("%s: the package has two comments", s.path)
		}
		docs[s.dir] += s.file.Doc.Text()
	}
	for dir, doc := range docs {
		want := "Package " + path.Base(dir) + " "
		if programs[dir] {
			want = "Command "
		}
		if !strings.HasPrefix(doc, want) {
			t.Errorf("%s: the package comment does not begin with %q: %.60q", dir, want, doc)
		}
	}
}

// What would make the flow hard to follow, or the output unsafe, is not there.
func TestHouseRules(t *testing.T) {
	all := sources(t)
	used := map[string]bool{}
	for _, s := range all {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil {
				t.Errorf("%s: func init", at(s, f))
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			name := x.Name + "." + sel.Sel.Name
			reason := lone[s.path+" "+name]
			used[s.path+" "+name] = true
			switch name {
			case "os.Stdout":
				if !s.program() {
					t.Errorf("%s: %s outside of a program", at(s, n), name)
				}
			case "context.Background", "context.TODO":
				if reason == "" && !s.program() {
					t.Errorf("%s: %s: whose life is that? Take the caller's context, or say why not in lone", at(s, n), name)
				}
			case "time.Sleep":
				if reason == "" {
					t.Errorf("%s: %s: wait for what has to happen, or say why not in lone", at(s, n), name)
				}
			case "zerolog.New":
				if s.dir != "cmd/mcp-sidecar" {
					t.Errorf("%s: a logger is made in cmd and taken from the context elsewhere", at(s, n))
				}
			}
			if x.Name == "protocol" && !within(s.dir, words) && !strings.HasPrefix(sel.Sel.Name, "Kind") &&
				(strings.HasSuffix(sel.Sel.Name, "Params") || strings.HasSuffix(sel.Sel.Name, "Result")) {
				t.Errorf("%s: %s: params and results stay above session", at(s, n), name)
			}
			return true
		})
		for _, group := range s.file.Comments {
			for _, word := range []string{"TODO", "FIXME", "XXX"} {
				if strings.Contains(group.Text(), word+":") || strings.Contains(group.Text(), word+"(") {
					t.Errorf("%s: %s", at(s, group), word)
				}
			}
		}
	}
	for use := range lone {
		if !used[use] {
			t.Errorf("lone has %q, which is not there any more", use)
		}
	}
}
