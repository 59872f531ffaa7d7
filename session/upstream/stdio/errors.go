package stdio

import (
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrExitedDuringProbe matches a [*ClosedError] of a connection that ended
// before the server answered anything, after server/discover had been sent.
// Servers of the older era that do not expect a request before initialize end
// so; they work when they are started again and greeted in the old way.
var ErrExitedDuringProbe = errors.New("stdio: server ended without answering server/discover")

// A ClosedError says that the connection has ended.
type ClosedError struct {
	// Cause says why: what the owner told ([Conn.SetCause],
	// [Conn.CloseWithCause], [Options.ExitCause]), else what reading or writing
	// gave, io.EOF for the plain end of the server's output. It is nil when
	// Close was called on our side.
	Cause error
	// DuringProbe tells that [ErrExitedDuringProbe] applies.
	DuringProbe bool
	// Pending is how many calls were unanswered, the SDK's included.
	Pending int
	// Sent tells a caller of [Conn.Call] that its request, or a part of it, may
	// have reached the server. False means that it has not.
	Sent bool
}

// Error names the cause and how many calls it cost.
func (e *ClosedError) Error() string {
	cause := "closed"
	switch {
	case errors.Is(e.Cause, io.EOF):
		cause = "the server closed its output"
	case e.Cause != nil:
		cause = e.Cause.Error()
	}
	switch {
	case e.DuringProbe:
		return fmt.Sprintf("stdio: connection ended before the server answered: %s", cause)
	case e.Pending > 0:
		return fmt.Sprintf("stdio: connection ended with %d unanswered: %s", e.Pending, cause)
	}
	return "stdio: connection ended: " + cause
}

// Unwrap returns the cause.
func (e *ClosedError) Unwrap() error { return e.Cause }

// Is reports a match with [mcp.ErrConnectionClosed], with
// [ErrExitedDuringProbe] where it applies, and with io.EOF after a Close on
// our side, which the SDK takes for an orderly end.
func (e *ClosedError) Is(target error) bool {
	switch target {
	case mcp.ErrConnectionClosed:
		return true
	case ErrExitedDuringProbe:
		return e.DuringProbe
	case io.EOF:
		return e.Cause == nil
	}
	return false
}

// ResultTooLargeError fails a call whose answer is longer than the limit of a
// line. The session goes on.
type ResultTooLargeError struct {
	// Limit is the longest line taken, in bytes.
	Limit int
	// Size is how much of the line had come when the call failed; it may have
	// been only the beginning.
	Size int
}

// Error names the limit.
func (e *ResultTooLargeError) Error() string {
	return fmt.Sprintf("stdio: the answer is larger than the limit of %d bytes (%d bytes had come)", e.Limit, e.Size)
}

// MalformedResultError fails a call whose answer is not JSON, such as one with
// a NaN. Without it the call would wait for its timeout. The session goes on.
type MalformedResultError struct {
	// Err says what is wrong with it, without quoting it.
	Err error
}

// Error says what is wrong.
func (e *MalformedResultError) Error() string {
	return fmt.Sprintf("stdio: the answer is not valid JSON: %v", e.Err)
}

// Unwrap returns Err.
func (e *MalformedResultError) Unwrap() error { return e.Err }
