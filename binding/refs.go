package binding

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// ref keeps a reference that leads somewhere within the schema. Others are
// dropped: nobody fetches, and a provider refuses what it can't resolve.
func (n *node) ref(key string, val []byte) {
	ref, ok := rawjson.String(val)
	if !ok {
		n.drop(key, "it is "+kindWord(val)+", not a string")
		return
	}
	if local, err := url.PathUnescape(strings.TrimPrefix(ref, "#")); err == nil && strings.HasPrefix(ref, "#/") {
		for _, m := range n.moves {
			rest, ok := strings.CutPrefix(local, m.from)
			if ok && (rest == "" || strings.HasSuffix(m.from, "/") || rest[0] == '/') {
				ref = "#" + (&url.URL{Fragment: m.to + rest}).EscapedFragment()
				n.tell(n.at.child(key), "follows its target")
				n.set(key, rawjson.AppendString(nil, ref))
				break
			}
		}
	}
	if n.rootIsObject && (ref == "#" || ref == "") {
		n.drop(key, "the root it leads to is narrower now")
		return
	}
	if !n.leads(ref) {
		n.drop(key, "the reference leads nowhere")
	}
}

// leads reports whether a reference can be followed within the root.
func (r *repair) leads(ref string) bool {
	if ok, met := r.refs[ref]; met {
		return ok
	}
	if r.refs == nil {
		r.refs = make(map[string]bool)
	}
	_, ok := r.resolver.resolve(ref)
	if !ok && !strings.HasPrefix(ref, "#/") {
		// The name of an anchor or of an embedded schema is not looked for by
		// its scope: that there is one is enough.
		name := strings.TrimPrefix(ref, "#")
		ok = strings.HasPrefix(ref, "#") && declares(r.root, name, `"$anchor"`, `"$dynamicAnchor"`, `"$id"`) ||
			!strings.HasPrefix(ref, "#") && bytes.Contains(r.root, []byte(`"$id"`))
	}
	r.refs[ref] = ok
	return ok
}

func declares(root []byte, name string, keywords ...string) bool {
	if !bytes.Contains(root, []byte(name+`"`)) {
		return false
	}
	for _, k := range keywords {
		if bytes.Contains(root, []byte(k)) {
			return true
		}
	}
	return false
}

// maxPointerSteps bounds the references that are followed.
const maxPointerSteps = 2 * maxSchemaDepth

// A resolver follows references within one root. It parses each value on the
// way once.
type resolver struct {
	root    []byte
	objects map[string]object
	arrays  map[string][][]byte
}

func newResolver(root []byte) *resolver {
	return &resolver{root, make(map[string]object), make(map[string][][]byte)}
}

// resolve follows a reference that is a JSON pointer (RFC 6901, in a URI
// fragment: also with percent escapes) to a schema.
func (r *resolver) resolve(ref string) (target []byte, ok bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || strings.Count(path, "/") > maxPointerSteps {
		return nil, false
	}
	if path == "" {
		return r.root, true
	}
	if path[0] != '/' {
		return nil, false
	}
	at := r.root
	for end := 0; end < len(path); {
		here := path[:end] // where at is
		start := end + 1
		if end = strings.IndexByte(path[start:], '/'); end < 0 {
			end = len(path)
		} else {
			end += start
		}
		if at, ok = r.step(here, at, pointerKey(path[start:end])); !ok {
			return nil, false
		}
	}
	switch rawjson.Kind(at) {
	case '{', 't', 'f':
		return at, true
	}
	return nil, false
}

func pointerKey(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "~1", "/"), "~0", "~")
}

// step returns the member or element key of the value at, whose pointer is
// here.
func (r *resolver) step(here string, at []byte, key string) ([]byte, bool) {
	switch rawjson.Kind(at) {
	case '{':
		o, met := r.objects[here]
		if !met {
			o, _ = parseObject(at)
			r.objects[here] = o
		}
		val := o.get(key)
		return val, val != nil
	case '[':
		elems, met := r.arrays[here]
		if !met {
			elems, _ = parseArray(at)
			r.arrays[here] = elems
		}
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(elems) || strconv.Itoa(i) != key {
			return nil, false
		}
		return elems[i], true
	}
	return nil, false
}
