package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

const (
	toolsKey        = "tools"
	approvalModeKey = "approval_mode"
)

// A Place is a key in a configuration file.
type Place struct {
	File string
	Path []string
}

// ApprovalPlace says where an approval of a raw tool name can be kept for good:
// approval_mode of the tool, in the file that defines the server. It is false
// when no file does, or when a layer above the file says otherwise and would
// win over what is written there.
func (c *Config) ApprovalPlace(server, tool string) (Place, bool) {
	s, ok := c.Server(server)
	if !ok || s.Origin.Path == "" {
		return Place{}, false
	}
	if mode := c.approvalMode(server, tool); mode != nil && mode.at.Path != s.Origin.Path {
		return Place{}, false
	}
	return Place{File: s.Origin.Path, Path: []string{serversKey, server, toolsKey, tool, approvalModeKey}}, true
}

// ApprovedIn returns the file in which approval_mode of a raw tool name is
// approve; "" if none says so.
func (c *Config) ApprovedIn(server, tool string) string {
	mode := c.approvalMode(server, tool)
	if mode == nil || mode.value != string(ApprovalApprove) {
		return ""
	}
	return mode.at.Path
}

func (c *Config) approvalMode(server, tool string) *node {
	n := c.root
	for _, key := range []string{serversKey, server, toolsKey, tool, approvalModeKey} {
		if n == nil || !n.isTable() {
			return nil
		}
		n = n.table[key]
	}
	return n
}

// declaring are the keys of an entry that say what program or address it is.
var declaring = []string{
	"command", "args", "env", "env_vars", "env_inherit", "cwd",
	"url", "bearer_token_env_var", "http_headers", "env_http_headers", "http_headers_helper",
}

// declared is the digest of those keys as they are written, before anything is
// expanded.
func declared(entry *node) string {
	d := digester{sha256.New()}
	for _, key := range declaring {
		if n := entry.table[key]; n != nil {
			d.text(key)
			d.node(n)
		}
	}
	return hex.EncodeToString(d.h.Sum(nil))
}

// node feeds what a node says, wherever it is written.
func (d digester) node(n *node) {
	if !n.isTable() {
		raw, err := json.Marshal(n.value)
		if err != nil { // a number that JSON can't write; the entry is broken
			raw = nil
		}
		d.text("value", string(raw))
		return
	}
	keys := n.keys()
	d.text("table")
	d.length(len(keys))
	for _, k := range keys {
		d.text(k)
		d.node(n.table[k])
	}
}
