package protocol

import (
	"encoding/json"
	"fmt"
)

// Code is the number of a JSON-RPC error.
type Code int64

// The codes: JSON-RPC's five, Codex's overload, LSP's cancel and failure.
const (
	CodeParseError     Code = -32700
	CodeInvalidRequest Code = -32600
	CodeMethodNotFound Code = -32601
	CodeInvalidParams  Code = -32602
	CodeInternalError  Code = -32603
	CodeOverloaded     Code = -32001
	CodeCancelled      Code = -32800
	CodeFailed         Code = -32803
)

// Kind is the stable word for what went wrong. Editors switch on it. The list
// is closed; a word is never renamed, and new words come with a minor version.
type Kind string

// The kinds; KindTable says what they mean.
const (
	KindParseError           Kind = "parseError"
	KindInvalidRequest       Kind = "invalidRequest"
	KindLineTooLong          Kind = "lineTooLong"
	KindDuplicateID          Kind = "duplicateId"
	KindNotInitialized       Kind = "notInitialized"
	KindAlreadyInitialized   Kind = "alreadyInitialized"
	KindShuttingDown         Kind = "shuttingDown"
	KindMethodNotFound       Kind = "methodNotFound"
	KindInvalidParams        Kind = "invalidParams"
	KindInternal             Kind = "internal"
	KindOverloaded           Kind = "overloaded"
	KindCancelled            Kind = "cancelled"
	KindUnknownThread        Kind = "unknownThread"
	KindUnknownServer        Kind = "unknownServer"
	KindUnknownTool          Kind = "unknownTool"
	KindUnknownBinding       Kind = "unknownBinding"
	KindBindingExpired       Kind = "bindingExpired"
	KindUnknownQuestion      Kind = "unknownQuestion"
	KindQuestionClosed       Kind = "questionClosed"
	KindUnknownApproval      Kind = "unknownApproval"
	KindDeclined             Kind = "declined"
	KindServerDisabled       Kind = "serverDisabled"
	KindServerFailed         Kind = "serverFailed"
	KindRequiredServerFailed Kind = "requiredServerFailed"
	KindConfigInvalid        Kind = "configInvalid"
	KindCommandNotFound      Kind = "commandNotFound"
	KindNotExecutable        Kind = "notExecutable"
	KindCwdMissing           Kind = "cwdMissing"
	KindExited               Kind = "exited"
	KindTimeout              Kind = "timeout"
	KindProtocolError        Kind = "protocolError"
	KindVersionUnsupported   Kind = "versionUnsupported"
	KindUnreachable          Kind = "unreachable"
	KindHTTPStatus           Kind = "httpStatus"
	KindAuthRequired         Kind = "authRequired"
	KindUpstreamError        Kind = "upstreamError"
	KindResultTooLarge       Kind = "resultTooLarge"
	KindAmbiguousDelivery    Kind = "ambiguousDelivery"
	KindClientUnsupported    Kind = "clientUnsupported"
	KindServerStdoutNoise    Kind = "serverStdoutNoise"
	KindCatalogTruncated     Kind = "catalogTruncated"
	KindToolOmitted          Kind = "toolOmitted"
	KindConfigNotWritten     Kind = "configNotWritten"
)

// KindRow describes a Kind.
type KindRow struct {
	Kind Kind
	// Code is the JSON-RPC code that an error of this kind has; 0 for kinds
	// that only occur in notifications and status rows.
	Code Code
	// Retryable: the same request may succeed later.
	Retryable bool
	Meaning   string
}

// KindTable lists every Kind.
var KindTable = []KindRow{
	{KindParseError, CodeParseError, false, "The line is not one JSON value in UTF-8. The session goes on at the next line."},
	{KindInvalidRequest, CodeInvalidRequest, false, "The line is JSON but no JSON-RPC message: a batch, a bad id, neither request nor response."},
	{KindLineTooLong, CodeInvalidRequest, false, "The line is over the limit and was skipped."},
	{KindDuplicateID, CodeInvalidRequest, false, "A request with this id is in flight."},
	{KindNotInitialized, CodeInvalidRequest, false, "initialize must come first."},
	{KindAlreadyInitialized, CodeInvalidRequest, false, "initialize came a second time."},
	{KindShuttingDown, CodeInvalidRequest, false, "The sidecar is ending and takes no new requests."},
	{KindMethodNotFound, CodeMethodNotFound, false, "There is no such method."},
	{KindInvalidParams, CodeInvalidParams, false, "The params do not fit; data.pointer names the place."},
	{KindInternal, CodeInternalError, false, "A fault of the sidecar; the log has a stack under the crash id."},
	{KindOverloaded, CodeOverloaded, true, "Too many requests in flight; retry after data.retryAfterMs."},
	{KindCancelled, CodeCancelled, false, "The editor cancelled the request."},
	{KindUnknownThread, CodeInvalidParams, false, "No such thread is open."},
	{KindUnknownServer, CodeInvalidParams, false, "No such server is configured for the thread."},
	{KindUnknownTool, CodeInvalidParams, false, "The binding or server has no such tool."},
	{KindUnknownBinding, CodeInvalidParams, false, "The thread never had such a binding."},
	{KindBindingExpired, CodeFailed, false, "The binding is older than the last 16; freeze again."},
	{KindUnknownQuestion, CodeInvalidParams, false, "There is no such question, and was none."},
	{KindQuestionClosed, CodeFailed, false, "The question is answered already, or became pointless; the message says which."},
	{KindUnknownApproval, CodeInvalidParams, false, "No such approval is remembered."},
	{KindDeclined, CodeFailed, false, "The call needs an approval and did not get it; data.reason says why."},
	{KindServerDisabled, CodeFailed, false, "The server is disabled in the configuration."},
	{KindServerFailed, CodeFailed, true, "The server is not there."},
	{KindRequiredServerFailed, CodeFailed, true, "A required server did not start."},
	{KindConfigInvalid, CodeFailed, false, "The server's entry in the configuration is not usable."},
	{KindCommandNotFound, CodeFailed, false, "The server's command was not found on its PATH."},
	{KindNotExecutable, CodeFailed, false, "The server's command is not executable."},
	{KindCwdMissing, CodeFailed, false, "The server's working folder does not exist."},
	{KindExited, CodeFailed, true, "The server's process ended."},
	{KindTimeout, CodeFailed, true, "A time limit ran out."},
	{KindProtocolError, CodeFailed, false, "The server does not speak MCP as it should."},
	{KindVersionUnsupported, CodeFailed, false, "The server speaks no protocol revision that the sidecar knows."},
	{KindUnreachable, CodeFailed, true, "The server's address could not be reached."},
	{KindHTTPStatus, CodeFailed, true, "The server answered with an HTTP error."},
	{KindAuthRequired, CodeFailed, false, "The server wants authorization."},
	{KindUpstreamError, CodeFailed, false, "The server answered with an error; data.upstream has it."},
	{KindResultTooLarge, CodeFailed, false, "The server's message is over the limit."},
	{KindAmbiguousDelivery, CodeFailed, false, "The connection was lost during the call; it may or may not have taken effect."},
	{KindClientUnsupported, 0, false, "The editor does not know a request of the sidecar."},
	{KindServerStdoutNoise, 0, false, "The server wrote a line to stdout that is no message; it was skipped."},
	{KindCatalogTruncated, 0, false, "The server's list went over a bound; what was read is kept."},
	{KindToolOmitted, 0, false, "A tool of the server is unusable and was left out."},
	{KindConfigNotWritten, CodeFailed, false, "A configuration file could not be changed; the message says why. It is as it was."},
}

// Values lists the words of a Kind.
func (Kind) Values() []string {
	v := make([]string, len(KindTable))
	for i, r := range KindTable {
		v[i] = string(r.Kind)
	}
	return v
}

func (k Kind) row() KindRow {
	for _, r := range KindTable {
		if r.Kind == k {
			return r
		}
	}
	return KindRow{Kind: KindInternal, Code: CodeInternalError}
}

// UpstreamError is a server's JSON-RPC error, without the secrets of its
// configuration that it may repeat. Its code is the server's, never the
// sidecar's.
type UpstreamError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitzero"`
}

// ErrorData is the data member of every error.
type ErrorData struct {
	Kind      Kind       `json:"kind"`
	Retryable bool       `json:"retryable"`
	Server    ServerName `json:"server,omitzero"`
	Tool      ToolName   `json:"tool,omitzero"`
	// Reason is there for kind declined.
	Reason Reason `json:"reason,omitzero"`
	// Pointer is a JSON pointer into params, for kind invalidParams.
	Pointer string `json:"pointer,omitzero"`
	// Hint says what can be done.
	Hint         string `json:"hint,omitzero"`
	RetryAfterMs int64  `json:"retryAfterMs,omitzero"`
	// CrashID is found in the log, for kind internal.
	CrashID  string         `json:"crashId,omitzero"`
	Upstream *UpstreamError `json:"upstream,omitzero"`
	// Failed lists the servers, for kind requiredServerFailed.
	Failed []StartupFailure `json:"failed,omitempty"`
}

// Error is an error that an editor is told. It is made where its kind is first
// known; anything else that reaches the wire is an internal error and its text
// is withheld.
type Error struct {
	Message string
	Data    ErrorData

	err error
}

// Errorf returns an Error of kind k. A %w verb makes it match the wrapped
// error.
func Errorf(k Kind, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	e := &Error{Message: wrapped.Error(), Data: ErrorData{Kind: k, Retryable: k.row().Retryable}}
	if u, ok := wrapped.(interface{ Unwrap() error }); ok {
		e.err = u.Unwrap()
	}
	return e
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns what was wrapped with %w, if anything.
func (e *Error) Unwrap() error { return e.err }

// Code returns the JSON-RPC code of the error's kind.
func (e *Error) Code() Code {
	if c := e.Data.Kind.row().Code; c != 0 {
		return c
	}
	return CodeFailed
}

// WithServer names the server concerned and returns e.
func (e *Error) WithServer(s ServerName) *Error { e.Data.Server = s; return e }

// WithTool names the tool concerned and returns e.
func (e *Error) WithTool(t ToolName) *Error { e.Data.Tool = t; return e }

// WithHint says what can be done and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Data.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithPointer names the place in params and returns e.
func (e *Error) WithPointer(p string) *Error { e.Data.Pointer = p; return e }
