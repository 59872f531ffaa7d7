package toolcall

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// maxMessage bounds what is repeated of another's error message, in bytes.
const maxMessage = 4 << 10

// ended is an outcome without a result. text is one or two sentences for a
// model; err is the same for a direct call.
func ended(s protocol.CallStatus, r protocol.Reason, text string, err *protocol.Error) Outcome {
	return Outcome{
		Status: s, Reason: r, Text: text, Err: err,
		Approval: protocol.Approval{Decision: protocol.ApprovalNone},
		Output:   protocol.Output{Items: []protocol.OutputItem{{Type: protocol.OutputText, Text: text}}},
	}
}

func (c Call) errorf(k protocol.Kind, format string, args ...any) *protocol.Error {
	return protocol.Errorf(k, "calling %s of %s: %s", name(string(c.Tool)), name(string(c.Server)), fmt.Sprintf(format, args...)).
		WithServer(c.Server).WithTool(c.Tool)
}

// tool and server are the call's names in a sentence.
func (c Call) tool() string   { return strconv.Quote(name(string(c.Tool))) }
func (c Call) server() string { return strconv.Quote(name(string(c.Server))) }

func (c Call) invalidArguments(err error) Outcome {
	return ended(protocol.CallFailed, protocol.ReasonInvalidArguments, "Invalid arguments: "+err.Error()+".",
		c.errorf(protocol.KindInvalidParams, "%v", err).WithPointer("/arguments"))
}

func (c Call) gone() Outcome {
	return ended(protocol.CallFailed, protocol.ReasonToolGone,
		fmt.Sprintf("The tool %s of MCP server %s is not available any more.", c.tool(), c.server()),
		c.errorf(protocol.KindUnknownTool, "the server has no such tool"))
}

func (c Call) keepsChanging() Outcome {
	return ended(protocol.CallFailed, protocol.ReasonToolGone,
		fmt.Sprintf("The tool %s of MCP server %s changes faster than it can be approved.", c.tool(), c.server()),
		c.errorf(protocol.KindUnknownTool, "the tool changes faster than it can be approved"))
}

// cancelled is the outcome of a call whose context ended with cause.
func (c Call) cancelled(cause error) Outcome {
	if errors.Is(cause, ErrThreadClosed) {
		return ended(protocol.CallCancelled, protocol.ReasonThreadClosed, "The thread was closed during the call.",
			c.errorf(protocol.KindCancelled, "the thread was closed"))
	}
	return ended(protocol.CallCancelled, protocol.ReasonCancelled, "The call was cancelled.",
		c.errorf(protocol.KindCancelled, "cancelled"))
}

func (c Call) timedOut(e *TimeoutError) Outcome {
	return ended(protocol.CallFailed, protocol.ReasonTimeout,
		fmt.Sprintf("The call of %s %s.", c.tool(), e.Error()), c.errorf(protocol.KindTimeout, "%s", e.Error()))
}

// declined is the outcome of a call that was not approved.
func (c Call) declined(r protocol.Reason, source protocol.ApprovalSource, text string) Outcome {
	err := c.errorf(protocol.KindDeclined, "%s", text)
	err.Data.Reason = r
	o := ended(protocol.CallDeclined, r, text, err)
	o.Approval = protocol.Approval{Decision: protocol.ApprovalDeclined, Source: source}
	return o
}

// failed is the outcome of a call that Await or Send gave up with err. Only
// the text of a *protocol.Error is repeated: others may hold anything.
func (c Call) failed(err error) Outcome {
	var e *protocol.Error
	if !errors.As(err, &e) {
		return ended(protocol.CallFailed, protocol.ReasonServerFailed,
			fmt.Sprintf("The call of %s failed: the connection to MCP server %s broke.", c.tool(), c.server()),
			c.errorf(protocol.KindServerFailed, "the connection to the server broke"))
	}
	told := *e
	if told.Data.Server == "" {
		told.Data.Server = c.Server
	}
	if told.Data.Tool == "" {
		told.Data.Tool = c.Tool
	}
	said := elicit.Clean(e.Message, maxMessage)
	reason, text := protocol.ReasonServerFailed, fmt.Sprintf("MCP server %s is not available: %s", c.server(), said)
	switch e.Data.Kind {
	case protocol.KindUpstreamError:
		reason, text = protocol.ReasonUpstreamError, fmt.Sprintf("MCP server %s answered with an error: %s", c.server(), said)
		if u := e.Data.Upstream; u != nil {
			text = fmt.Sprintf("MCP server %s answered with an error: %s (code %d)", c.server(), elicit.Clean(u.Message, maxMessage), u.Code)
		}
		if e.Data.Hint != "" { // a page that nobody visited, say
			text += "; " + e.Data.Hint
		}
	case protocol.KindProtocolError:
		reason, text = protocol.ReasonUpstreamError, fmt.Sprintf("MCP server %s gave an answer that can't be read: %s", c.server(), said)
	case protocol.KindResultTooLarge:
		reason, text = protocol.ReasonResultTooLarge, "The tool ran, but its result is too large: "+said
	case protocol.KindAmbiguousDelivery:
		reason = protocol.ReasonAmbiguousDelivery
		text = fmt.Sprintf("The connection to MCP server %s was lost during the call. It may or may not have taken effect: check before trying again.", c.server())
	case protocol.KindTimeout:
		reason, text = protocol.ReasonTimeout, "The call timed out: "+said
	case protocol.KindUnknownTool:
		reason, text = protocol.ReasonToolGone, fmt.Sprintf("The tool %s of MCP server %s is not available any more.", c.tool(), c.server())
	case protocol.KindCancelled:
		o := c.cancelled(err)
		o.Err = &told
		return o
	default:
	}
	return ended(protocol.CallFailed, reason, text, &told)
}

// stopped returns the outcome of a call whose context ended, if it did. What
// ended the whole call comes before its time limit, and both before whatever
// error they caused.
func (c Call) stopped(whole, limited context.Context) (Outcome, bool) {
	if whole.Err() != nil {
		return c.cancelled(context.Cause(whole)), true
	}
	if e := (*TimeoutError)(nil); errors.As(context.Cause(limited), &e) {
		return c.timedOut(e), true
	}
	return Outcome{}, false
}
