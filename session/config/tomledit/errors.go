package tomledit

import (
	"errors"
	"fmt"
)

// The causes of an [Error].
var (
	ErrSyntax   = errors.New("the document is not valid TOML")
	ErrArgument = errors.New("the key or the value cannot be written in TOML")
	ErrInTheWay = errors.New("something else stands at the key")
	ErrNoPlace  = errors.New("no safe edit was found")
)

// An Error says why a document was left as it is. It names keys and lines, but
// holds no value of the document.
type Error struct {
	Cause   error  // one of the Err variables of this package
	Doing   string // such as "setting mcp_servers.x.enabled"
	Line    int    // the line to look at, from 1; 0 when there is none
	Message string // what is wrong there
	Hint    string // the way out
}

// Error is one sentence with the line and the way out.
func (e *Error) Error() string {
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf("line %d: ", e.Line)
	}
	return fmt.Sprintf("%s: %s%s; %s", e.Doing, place, e.Message, e.Hint)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
