package rpc

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A name of any length costs its sender a short error, whole in UTF-8.
func TestErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	err := protocol.Errorf(protocol.KindUnknownTool, "no tool %q", long).WithTool(protocol.ToolName(long)).
		WithServer(protocol.ServerName(long)).WithHint("%s", long).WithPointer(long)
	line := bytes.Join(errorReply([]byte("1"), err), nil)
	if len(line) > 6*maxErrorText || !utf8.Valid(line) || !bytes.Contains(line, []byte(`"kind":"unknownTool"`)) {
		t.Errorf("%d bytes: %.200s", len(line), line)
	}
}
