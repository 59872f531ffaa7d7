package client

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// ReplyError is the error of a reply. Returned by Options.Request it is sent as
// it is.
type ReplyError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitzero"` // as it came
}

// Error gives the message with the kind, or else the code.
func (e *ReplyError) Error() string {
	if k := e.Details().Kind; k != "" {
		return fmt.Sprintf("%s (%s)", e.Message, k)
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// Details decodes Data; the zero value if it is not the data of a sidecar.
func (e *ReplyError) Details() protocol.ErrorData {
	var d protocol.ErrorData
	if json.Unmarshal(e.Data, &d) != nil {
		return protocol.ErrorData{}
	}
	return d
}
