package tomledit

// origin is how a table came to be. TOML allows each only one way, but the
// decoder lets a text mix them; so an edit is checked against the rules here.
type origin int

const (
	implied  origin = iota // by a header of something below it
	headed                 // by its own header
	dotted                 // by a dotted key
	closed                 // an inline table or another value: nothing is added
	listHead               // a list of tables, of which the last is open
)

// table is a node of the tables and values that a text has defined so far.
type table struct {
	origin origin
	owner  int // for dotted: the section or inline table that may add to it
	below  map[string]*table
}

func newTable(o origin, owner int) *table { return &table{o, owner, map[string]*table{}} }

// sound reports whether each table and key of a document is defined once, as
// the standard wants it.
func sound(d *document) bool {
	c := checker{root: newTable(headed, 0)}
	for _, s := range d.sections {
		at := c.root
		if s.header != nil {
			if at = c.header(s.header); at == nil {
				return false
			}
		}
		if !c.pairs(at, s.pairs) {
			return false
		}
	}
	return true
}

type checker struct {
	root   *table
	owners int // sections and inline tables so far
}

// header enters [key] or [[key]] and returns its table, nil if it may not be.
func (c *checker) header(st *statement) *table {
	at := c.root
	last := len(st.key) - 1
	for _, name := range st.key[:last] {
		next := at.below[name]
		if next == nil {
			next = newTable(implied, 0)
			at.below[name] = next
		}
		if next.origin == closed {
			return nil
		}
		at = next
	}
	old := at.below[st.key[last]]
	switch {
	case st.kind == arrayHeader && (old == nil || old.origin == listHead):
		next := newTable(listHead, 0)
		at.below[st.key[last]] = next
		return next
	case st.kind == header && old == nil:
		next := newTable(headed, 0)
		at.below[st.key[last]] = next
		return next
	case st.kind == header && old.origin == implied:
		old.origin = headed
		return old
	}
	return nil
}

// pairs enters the pairs of one section or inline table.
func (c *checker) pairs(base *table, pairs []*statement) bool {
	c.owners++
	owner := c.owners
	for _, st := range pairs {
		at := base
		last := len(st.key) - 1
		for _, name := range st.key[:last] {
			next := at.below[name]
			if next == nil {
				next = newTable(dotted, owner)
				at.below[name] = next
			}
			if next.origin != dotted || next.owner != owner {
				return false
			}
			at = next
		}
		if at.below[st.key[last]] != nil {
			return false
		}
		next := newTable(closed, 0)
		at.below[st.key[last]] = next
		if st.inline != nil && !c.pairs(next, st.inline.pairs) {
			return false
		}
	}
	return true
}
