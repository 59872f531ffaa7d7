package thread

import (
	"context"
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/binding/toolcall"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
)

// caller is one request of this thread to a server. It implements
// upstream.Caller.
type caller struct {
	t        *Thread
	g        *generation // that the request was made in
	turn     protocol.TurnID
	deadline *toolcall.Deadline
	// tool and params are those of a tool call.
	tool   protocol.ToolName
	params json.RawMessage
}

// Judge implements upstream.Caller. Of a question that is certain the call is
// known to the rules; of another what they say if it comes from this call, or
// if it comes from nowhere, whichever is stricter.
func (c caller) Judge(q elicit.Question) elicit.Verdict {
	return c.t.judge(c.g, q, func(rules *elicit.Rules) elicit.Ruling {
		arguments := rawjson.Member(c.params, "arguments")
		ruling := rules.Question(q.Server, c.tool, arguments)
		if !q.Certain {
			ruling = ruling.Stricter(rules.Question(q.Server, "", nil))
		}
		return ruling
	})
}

// Question implements upstream.Caller. When the thread is closed meanwhile,
// another one may have caused the question.
func (c caller) Question(ctx context.Context, q elicit.Question, v elicit.Verdict) (elicit.Answer, error) {
	if c.t.ctx.Err() != nil {
		return elicit.Answer{}, upstream.ErrCallerGone
	}
	q.TurnID = c.turn
	answer, err := c.t.question(ctx, q, v)
	if err == nil && answer.Action == protocol.AnswerCancel && c.t.ctx.Err() != nil {
		return elicit.Answer{}, upstream.ErrCallerGone
	}
	return answer, err
}

// Hold implements upstream.Caller.
func (c caller) Hold() (resume func()) {
	c.deadline.Pause()
	return c.deadline.Resume
}
