package binding

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// Callable names (spec 6.1).
//
// Lengths are bytes of the flat name, separator included. A namespace is too
// long when it leaves a tool less than hashBytes and readableBytes; then it is
// cut to half the limit, so that the tools of a server with a very long key
// still have names that say something.
const (
	namePrefix    = "mcp__"
	nameSeparator = "__"
	hashDigits    = 12
	hashBytes     = 1 + hashDigits
	readableBytes = 8

	// MinNameLength is the least ModelSettings.NameMaxLength that can be kept:
	// a hashed namespace, the separator and a hashed tool. Less is taken as
	// this.
	MinNameLength = 32
)

// nameLimit returns the limit of a flat name in a dialect.
func nameLimit(m protocol.ModelSettings) int {
	limit := int64(128)
	switch m.Format {
	case protocol.FormatOpenAIChat, protocol.FormatGemini:
		limit = 64
	case protocol.FormatOpenAIResponses, protocol.FormatAnthropic, protocol.FormatMCP:
	}
	if m.NameMaxLength > 0 {
		limit = min(limit, m.NameMaxLength)
	}
	return int(max(limit, MinNameLength))
}

// An owner is a server with the tools that want names.
type owner struct {
	server protocol.ServerName
	prefix bool
	tools  []protocol.ToolName
}

// names returns the namespace of each owner and the name of each of its tools.
// Owners have different servers, the tools of one are different. The result
// does not depend on the order of either.
func names(owners []owner, limit int) (namespaces []string, tools [][]string) {
	spaces := make([]nameChoice, len(owners))
	longest := max(limit-len(nameSeparator)-hashBytes-readableBytes, limit/2)
	for i, o := range owners {
		id := namespaceID(o.server)
		base, lossy := sanitise(string(o.server))
		if o.prefix && !strings.HasPrefix(base, namePrefix) {
			base = namePrefix + base
		}
		if base[0] >= '0' && base[0] <= '9' {
			base = "_" + base // some dialects want a letter or this
		}
		spaces[i] = newChoice(id, base, lossy, longest, limit/2)
	}
	settle(spaces, func(i int) string { return strings.ToLower(spaces[i].text()) })

	var all []nameChoice
	var prefixes []string // the flat name before the tool's own
	for i, o := range owners {
		namespace := spaces[i].text()
		namespaces = append(namespaces, namespace)
		room := limit - len(namespace) - len(nameSeparator)
		for _, t := range o.tools {
			base, lossy := sanitise(string(t))
			all = append(all, newChoice(toolID(o.server, t), base, lossy, room, room))
			prefixes = append(prefixes, namespace+nameSeparator)
		}
	}
	// Flat names must differ, and then pairs do: a__b + c against a + b__c.
	settle(all, func(i int) string { return strings.ToLower(prefixes[i] + all[i].text()) })

	tools = make([][]string, len(owners))
	next := 0
	for i, o := range owners {
		tools[i] = make([]string, len(o.tools))
		for j := range o.tools {
			tools[i][j] = all[next].text()
			next++
		}
	}
	return namespaces, tools
}

// namespaceID and toolID are the raw identities that hashes are made of. They
// are those of Codex, so that a clash is told apart by the same name there.
func namespaceID(s protocol.ServerName) string {
	return string(s) + "\x00" + string(s) + "\x00"
}

func toolID(s protocol.ServerName, t protocol.ToolName) string {
	return namespaceID(s) + "\x00" + string(t) + "\x00" + string(t)
}

// sanitise makes every character that is not an ASCII letter, digit or _ a _;
// lossy reports whether there was one, or nothing at all.
func sanitise(raw string) (_ string, lossy bool) {
	if raw == "" {
		return "_", true
	}
	var b strings.Builder
	for _, r := range raw {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_') {
			b.WriteByte(byte(r))
			continue
		}
		lossy = true
		b.WriteByte('_')
	}
	return b.String(), lossy
}

// A nameChoice is a name with its ways out when it can't be had.
type nameChoice struct {
	id   string
	base string
	// longest bounds the name; a hashed one over it is cut to hashed.
	longest, hashed int
	// level 0 is the plain name, n has the hash of attempt n-1.
	level int
	// made is the text at the level.
	made string
}

func newChoice(id, base string, lossy bool, longest, hashed int) nameChoice {
	c := nameChoice{id: id, base: base, longest: longest, hashed: hashed, made: base}
	if lossy || len(base) > longest {
		c.raise()
	}
	return c
}

func (c *nameChoice) text() string { return c.made }

func (c *nameChoice) raise() {
	c.level++
	base := c.base
	if len(base)+hashBytes > c.longest {
		base = base[:min(len(base), c.hashed-hashBytes)]
	}
	c.made = base + "_" + nameHash(c.id, c.level-1)
}

func nameHash(id string, attempt int) string {
	if attempt > 0 {
		id += "\x00" + strconv.Itoa(attempt)
	}
	sum := sha1.Sum([]byte(id))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// settle raises the choices that share a key until none do. Of those that
// share one, the plainest are raised; so a name made to look like another's
// hashed one can't move that. It ends because ids differ: a choice that is
// raised has another hash each time, and each is equal to a given text in one
// of 2^48 cases.
func settle(choices []nameChoice, key func(i int) string) {
	keys := make([]string, len(choices))
	for i := range choices {
		keys[i] = key(i)
	}
	for {
		type group struct{ members, lowest int }
		groups := make(map[string]group, len(choices))
		clash := false
		for i, k := range keys {
			g, ok := groups[k]
			if !ok {
				g.lowest = choices[i].level
			}
			g.members++
			g.lowest = min(g.lowest, choices[i].level)
			groups[k] = g
			clash = clash || g.members > 1
		}
		if !clash {
			return
		}
		for i, k := range keys {
			if g := groups[k]; g.members > 1 && choices[i].level == g.lowest {
				choices[i].raise()
				keys[i] = key(i)
			}
		}
	}
}
