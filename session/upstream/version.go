package upstream

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// Servers that do not speak a revision should answer initialize with one that
// they do. Some refuse instead, with an error that names what they speak, in
// its data or in prose, or with HTTP 400 and a sentence.

var revision = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)

// versionRefusal returns what a server said to refuse a protocol version, or
// false if err is anything else.
func versionRefusal(err error) (said string, refused bool) {
	var rpc *jsonrpc.Error
	var status *streamable.StatusError
	switch {
	case errors.As(err, &rpc):
		said = rpc.Message + " " + string(rpc.Data)
		if rpc.Code == mcp.CodeUnsupportedProtocolVersion {
			return said, true
		}
	case errors.As(err, &status) && status.Status >= 400 && status.Status < 500:
		said = status.Text
	}
	return said, strings.Contains(strings.ToLower(said), "protocol version")
}

// olderVersion returns the revision to greet a server with that refused the
// newest of the older era: the newest that it names, the oldest there is if it
// names none. It is "" when err is no such refusal or nothing is left to try.
func olderVersion(err error) string {
	said, refused := versionRefusal(err)
	if !refused {
		return ""
	}
	named := revision.FindAllString(said, -1)
	other := false
	for _, v := range protocol.MCPVersions {
		if v < legacyVersion && slices.Contains(named, v) {
			return v
		}
	}
	for _, v := range named {
		other = other || v != legacyVersion && v != modernVersion
	}
	if other {
		return "" // it names what it speaks, and that is nothing of ours
	}
	return protocol.MCPVersions[len(protocol.MCPVersions)-1]
}
