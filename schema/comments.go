package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Comments are the doc comments of package protocol.
type Comments struct {
	types     map[string]string     // by type
	fields    map[string]string     // by Type.Field
	methods   map[string]string     // by method of Sidecar
	constants map[string][]constant // string constants by type, in order
	enums     []string              // types with a Values method
	sections  map[string]string     // of the package comment, by heading
}

type constant struct {
	name, value string
	doc         string // its own comment; that of a block describes the type
	grouped     bool   // stands in a block that has a comment
}

// ReadComments parses the Go files at the top of fsys, which holds the source
// of package protocol. Tests are left out.
func ReadComments(fsys fs.FS) (*Comments, error) {
	names, err := fs.Glob(fsys, "*.go")
	if err != nil {
		return nil, fmt.Errorf("schema: listing the source of protocol: %w", err)
	}
	c := &Comments{types: map[string]string{}, fields: map[string]string{}, methods: map[string]string{}, constants: map[string][]constant{}, sections: map[string]string{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("schema: reading the source of protocol: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("schema: parsing the source of protocol: %w", err)
		}
		for _, s := range strings.Split("\n"+file.Doc.Text(), "\n# ")[1:] {
			heading, body, _ := strings.Cut(s, "\n")
			c.sections[heading] = paragraphs(body)
		}
		for _, d := range file.Decls {
			c.declaration(d)
		}
	}
	if len(c.methods) == 0 {
		return nil, fmt.Errorf("schema: reading the source of protocol: no interface Sidecar in %d Go files", len(names))
	}
	return c, nil
}

func (c *Comments) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || d.Name.Name != "Values" {
			return
		}
		if id, ok := d.Recv.List[0].Type.(*ast.Ident); ok {
			c.enums = append(c.enums, id.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				doc := text(s.Doc, s.Comment)
				if doc == "" && !d.Lparen.IsValid() {
					doc = text(d.Doc)
				}
				c.typeSpec(s, doc)
			case *ast.ValueSpec:
				if d.Tok == token.CONST {
					c.valueSpec(s, d)
				}
			}
		}
	}
}

func (c *Comments) typeSpec(s *ast.TypeSpec, doc string) {
	c.types[s.Name.Name] = doc
	switch t := s.Type.(type) {
	case *ast.StructType:
		for _, f := range t.Fields.List {
			for _, n := range f.Names {
				c.fields[s.Name.Name+"."+n.Name] = text(f.Doc, f.Comment)
			}
		}
	case *ast.InterfaceType:
		if s.Name.Name != "Sidecar" {
			return
		}
		for _, f := range t.Methods.List {
			for _, n := range f.Names {
				c.methods[n.Name] = text(f.Doc, f.Comment)
			}
		}
	}
}

func (c *Comments) valueSpec(s *ast.ValueSpec, d *ast.GenDecl) {
	id, ok := s.Type.(*ast.Ident)
	if !ok {
		return
	}
	block := d.Lparen.IsValid()
	doc := text(s.Doc, s.Comment)
	if doc == "" && !block {
		doc = text(d.Doc)
	}
	for i, n := range s.Names {
		if i >= len(s.Values) {
			return
		}
		lit, ok := s.Values[i].(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		value, err := strconv.Unquote(lit.Value)
		if err != nil {
			continue // the parser took it, so it can be unquoted
		}
		c.constants[id.Name] = append(c.constants[id.Name], constant{n.Name, value, doc, block && text(d.Doc) != ""})
	}
}

// text returns the first comment that says something, one line a paragraph.
func text(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if t := paragraphs(g.Text()); t != "" {
			return t
		}
	}
	return ""
}

func paragraphs(text string) string {
	var list []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, "\n\n")
}

var (
	word  = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|[A-Za-z][A-Za-z0-9]*")
	label = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*: `)
)

// prose turns a comment into a sentence for readers who don't see the Go
// source. wire holds the names that they know, by Go name. A comment that opens
// with "Name: " loses the name, since it stands under it.
func prose(comment string, wire map[string]string) string {
	if l := label.FindString(comment); l != "" && wire[l[:len(l)-2]] != "" {
		comment = comment[len(l):]
		r, n := utf8.DecodeRuneInString(comment)
		comment = string(unicode.ToUpper(r)) + comment[n:]
	}
	return word.ReplaceAllStringFunc(comment, func(w string) string {
		if to := wire[w]; to != "" {
			return "`" + to + "`"
		}
		return w
	})
}
