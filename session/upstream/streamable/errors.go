package streamable

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// ErrSessionLost says that the server no longer knows the session. The call
// that carries it was not run. It is matched with errors.Is.
var ErrSessionLost = errors.New("the server no longer knows this session")

// codeFailed is the JSON-RPC code of the answers that this package makes up for
// the SDK where a call fails in the middle of a stream.
const codeFailed = -32000

// A StatusError says that the server answered a request with an HTTP status
// other than success, or with a success that is no JSON-RPC answer.
type StatusError struct {
	// Method is the JSON-RPC method of the request, or "" for a reply of ours.
	Method string
	// Status is the HTTP status.
	Status int
	// Reason says what is wrong with a success; "" for other statuses.
	Reason string
	// Text is the beginning of the body as one line, at most maxErrorText bytes,
	// with the values of request headers taken out.
	Text string
	// RetryAfter is the Retry-After header as a duration; 0 if absent or unreadable.
	RetryAfter time.Duration
	// Challenge holds the WWW-Authenticate challenges, one each, repaired so that
	// oauthex.ParseWWWAuthenticate reads them.
	Challenge []string
	// RPC is the JSON-RPC error that the body held, if any.
	RPC *jsonrpc.Error
}

// Error implements error. It holds no header values.
func (e *StatusError) Error() string {
	s := prefix(e.Method) + "HTTP " + strconv.Itoa(e.Status)
	if e.Reason != "" {
		s += ": " + e.Reason
	} else if t := http.StatusText(e.Status); t != "" {
		s += " " + t
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// Unwrap returns the JSON-RPC error of the body.
func (e *StatusError) Unwrap() error {
	if e.RPC == nil {
		return nil
	}
	return e.RPC
}

// A TransportError says that a request got no HTTP answer.
type TransportError struct {
	// Method is the JSON-RPC method of the request, or "" for a reply of ours.
	Method string
	// Addr is the host and port of the endpoint.
	Addr string
	// Sent is false if no byte of the request can have reached the server.
	Sent bool
	// Err is the cause.
	Err error
}

// Error implements error.
func (e *TransportError) Error() string {
	return prefix(e.Method) + "sending to " + e.Addr + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }

// A StreamLostError says that the stream of a call ended before the response
// and could not be resumed. Whether the call was run is unknown.
type StreamLostError struct {
	// Method is the JSON-RPC method of the call.
	Method string
	// Skipped counts the events that could not be read as JSON-RPC.
	Skipped int
	// Err is the last failure; nil if the server ended the stream in order.
	Err error
}

// Error implements error.
func (e *StreamLostError) Error() string {
	s := prefix(e.Method) + "the stream ended without the response"
	if e.Skipped > 0 {
		s += fmt.Sprintf(" (unreadable events: %d)", e.Skipped)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *StreamLostError) Unwrap() error { return e.Err }

// A ResultTooLargeError says that an answer was larger than Options.MaxBody.
// The session lives on.
type ResultTooLargeError struct {
	// Limit is the bound in bytes.
	Limit int64
}

// Error implements error.
func (e *ResultTooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes", e.Limit)
}

// A RedirectError says that the server sent a request elsewhere and that the
// request did not follow.
type RedirectError struct {
	// From and To are scheme, host and port of the two ends.
	From, To string
	// Target is the URL to configure instead, without user, query and fragment.
	Target string
	// Status is the HTTP status of the redirect.
	Status int
	// Reason says why it was not followed.
	Reason string
}

// Error implements error.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("HTTP %d redirects from %s to %s (%s): %s", e.Status, e.From, e.To, e.Target, e.Reason)
}

// Cause returns the error of this package that lies in err, an error of a
// method of mcp.ClientSession or mcp.Client. The SDK wraps it together with a
// JSON-RPC error of its own ("rejected by transport") and with the URL, whose
// query may hold a secret. An answer of the server is returned as the
// *jsonrpc.Error that it is; any other error as it came.
func Cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && rpc.Code != codeRejected {
		return rpc
	}
	return err
}

// codeRejected is the code of the SDK's internal "rejected by transport".
const codeRejected = -32005

// prefix begins an error message with the method it is about.
func prefix(method string) string {
	if method == "" {
		return ""
	}
	return method + ": "
}
