package config

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// positions says where the keys of one TOML text are written.
type positions struct {
	src   string
	lines []int // byte offset of each line
	at    map[string]placed
	// elements counts the [[…]] of each path.
	elements map[string]int
}

// placed is the offset of a key; implicit means that only a longer key or a
// sub-table mentions it, so that a statement of its own is a better place.
type placed struct {
	offset   int
	implicit bool
}

// find returns the line and column (both from 1, columns in characters) of
// the key at path, or zeros when it is not written anywhere. For a key of an
// array's element whose place is not known it returns the element's.
func (p *positions) find(path []string) (line, column int) {
	if p == nil {
		return 0, 0
	}
	for {
		if where, ok := p.at[formatKey(path)]; ok {
			return p.lineColumn(where.offset)
		}
		if !slices.ContainsFunc(path, isElementPart) {
			return 0, 0
		}
		path = path[:len(path)-1]
	}
}

// lineColumn turns a byte offset into line and column.
func (p *positions) lineColumn(offset int) (line, column int) {
	offset = max(0, min(offset, len(p.src)))
	i := sort.Search(len(p.lines), func(i int) bool { return p.lines[i] > offset })
	return i, utf8.RuneCountInString(p.src[p.lines[i-1]:offset]) + 1
}

func newPositions(src string) *positions {
	p := &positions{src: src, lines: []int{0}, at: map[string]placed{}, elements: map[string]int{}}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	return p
}

func (p *positions) put(path []string, offset int, implicit bool) {
	key := formatKey(path)
	if old, ok := p.at[key]; !ok || old.implicit && !implicit {
		p.at[key] = placed{offset, implicit}
	}
}

// addElement records the next element of an array of tables and returns its
// path.
func (p *positions) addElement(array []string, offset int) []string {
	key := formatKey(array)
	element := child(array, elementPart(p.elements[key]))
	p.elements[key]++
	p.put(element, offset, false)
	return element
}

// elementPart stands for an element of an array in a path, counting from 0.
func elementPart(i int) string { return "[" + strconv.Itoa(i) + "]" }

func isElementPart(part string) bool {
	return len(part) > 2 && part[0] == '[' && part[len(part)-1] == ']' && strings.Trim(part[1:len(part)-1], "0123456789") == ""
}
