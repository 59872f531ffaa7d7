package binding

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// fingerprint hashes format, tools and namespaces. Each value is written with
// its length, so that no two bindings give the same bytes.
func fingerprint(v *protocol.Binding) string {
	d := digest{Hash: sha256.New()}
	d.text("binding 1") // a change of what follows raises the number
	d.text(string(v.Format))
	d.number(len(v.Tools))
	for i := range v.Tools {
		d.tool(&v.Tools[i])
	}
	d.number(len(v.Namespaces))
	for _, n := range v.Namespaces {
		d.text(n.Name)
		d.text(string(n.Server))
		d.text(n.Instructions)
	}
	return hex.EncodeToString(d.Sum(nil))
}

type digest struct {
	hash.Hash
	buf []byte
}

func (d *digest) number(n int) {
	d.buf = binary.AppendVarint(d.buf[:0], int64(n))
	d.Write(d.buf)
}

func (d *digest) text(s string) {
	d.number(len(s))
	d.buf = append(d.buf[:0], s...)
	d.Write(d.buf)
}

func (d *digest) raw(b []byte) {
	d.number(len(b))
	d.Write(b)
}

func (d *digest) flag(b *bool) {
	switch {
	case b == nil:
		d.number(0)
	case *b:
		d.number(2)
	default:
		d.number(1)
	}
}

// tool covers every field but those that follow from the others.
func (d *digest) tool(t *protocol.BoundTool) {
	d.text(t.Name)
	d.text(t.Namespace)
	d.text(string(t.Server))
	d.text(string(t.Tool))
	d.text(string(t.Exposure))
	d.raw(t.Spec)
	d.text(t.Annotations.Title)
	d.flag(t.Annotations.ReadOnly)
	d.flag(t.Annotations.Destructive)
	d.flag(t.Annotations.Idempotent)
	d.flag(t.Annotations.OpenWorld)
	d.flag(&t.ParallelSafe)
	d.text(string(t.Approval))
	d.text(t.DefinitionHash)
	d.raw(t.UI)
}

// Diff returns how what a model may call differs: the flat names of the direct
// tools that came, went, and are other than they were, in the order of the
// bindings. A nil binding has no tools.
func Diff(prev, next *Binding) protocol.BindingChanges {
	c := protocol.BindingChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}
	for _, t := range direct(next) {
		switch was, ok := prev.callable(t.Flat); {
		case !ok:
			c.Added = append(c.Added, t.Flat)
		case !sameTool(was, t):
			c.Changed = append(c.Changed, t.Flat)
		}
	}
	for _, t := range direct(prev) {
		if _, ok := next.callable(t.Flat); !ok {
			c.Removed = append(c.Removed, t.Flat)
		}
	}
	return c
}

func direct(b *Binding) []*protocol.BoundTool {
	if b == nil {
		return nil
	}
	var tools []*protocol.BoundTool
	for i := range b.value.Tools {
		if t := &b.value.Tools[i]; t.Exposure == protocol.ExposureDirect {
			tools = append(tools, t)
		}
	}
	return tools
}

// callable returns the direct tool with a flat name.
func (b *Binding) callable(flat string) (*protocol.BoundTool, bool) {
	if b == nil {
		return nil, false
	}
	i, ok := b.flat[flat]
	if !ok || b.value.Tools[i].Exposure != protocol.ExposureDirect {
		return nil, false
	}
	return &b.value.Tools[i], true
}

// sameTool compares what the fingerprint covers.
func sameTool(a, b *protocol.BoundTool) bool {
	return bytes.Equal(toolBytes(a), toolBytes(b))
}

func toolBytes(t *protocol.BoundTool) []byte {
	d := digest{Hash: sha256.New()}
	d.tool(t)
	return d.Sum(nil)
}
