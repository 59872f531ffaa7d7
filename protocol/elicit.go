package protocol

import "encoding/json"

// QuestionMode is the kind of a question.
type QuestionMode string

// The kinds of questions.
const (
	QuestionForm QuestionMode = "form"
	QuestionURL  QuestionMode = "url"
)

// Values lists the words of a QuestionMode.
func (QuestionMode) Values() []string { return []string{"form", "url"} }

// ElicitationRequestParams is a question for a person: a server's own, or (with
// _meta.codex_approval_kind "mcp_tool_call") whether a tool may run.
type ElicitationRequestParams struct {
	ThreadID   ThreadID     `json:"threadId"`
	TurnID     *TurnID      `json:"turnId"`
	ServerName ServerName   `json:"serverName"`
	Mode       QuestionMode `json:"mode"`
	Message    string       `json:"message"`
	// RequestedSchema is the form: an object schema with flat properties.
	RequestedSchema json.RawMessage `json:"requestedSchema,omitzero"`
	// URL is the page of mode url. To accept is to say that the person is done
	// there: a call that was refused for want of the visit is sent again at once.
	URL string `json:"url,omitzero"`
	// ElicitationID names the visit of the page.
	ElicitationID string `json:"elicitationId,omitzero"`
	// Meta says of an approval what is to be approved; of a server's question it
	// is the server's own.
	Meta ElicitationMeta `json:"_meta,omitzero"`
	// Problem says what was wrong with the answer before, when a question is
	// put again.
	Problem string `json:"problem,omitzero"`
	// CallID is the tool call that the question belongs to.
	CallID CallID `json:"callId,omitzero"`
	// Certain: the protocol itself links the question to the call. Otherwise
	// the call is a guess, and Candidates lists all that were running.
	Certain    bool     `json:"certain,omitzero"`
	Candidates []CallID `json:"candidates,omitempty"`
}

// AnswerAction is what a person did with a question.
type AnswerAction string

// The answers.
const (
	AnswerAccept  AnswerAction = "accept"
	AnswerDecline AnswerAction = "decline"
	AnswerCancel  AnswerAction = "cancel"
)

// Values lists the words of an AnswerAction.
func (AnswerAction) Values() []string { return []string{"accept", "decline", "cancel"} }

// ElicitationRequestResult is a person's answer. An unknown action is a cancel.
type ElicitationRequestResult struct {
	Action  AnswerAction    `json:"action"`
	Content json.RawMessage `json:"content,omitzero"`
	Meta    AnswerMeta      `json:"_meta,omitzero"`
}

// ElicitationRequestedNotification is a question for a person, to an editor
// that wants them as events.
type ElicitationRequestedNotification struct {
	// RequestID is "q-1", "q-2" …; mcpServer/elicitation/resolve answers it.
	RequestID RequestID `json:"requestId"`
	ElicitationRequestParams
}

// ElicitationMeta is the _meta of a question.
type ElicitationMeta = OneOf[ElicitationMetaShapes]

// ElicitationMetaShapes lists the shapes of an ElicitationMeta.
type ElicitationMetaShapes struct{}

// TypeName returns "ElicitationMeta".
func (ElicitationMetaShapes) TypeName() string { return "ElicitationMeta" }

// Alternatives lists the shapes.
func (ElicitationMetaShapes) Alternatives() []any {
	return []any{ApprovalMeta{}, map[string]json.RawMessage{}}
}

// AnswerMeta is the _meta of an answer.
type AnswerMeta = OneOf[AnswerMetaShapes]

// AnswerMetaShapes lists the shapes of an AnswerMeta.
type AnswerMetaShapes struct{}

// TypeName returns "AnswerMeta".
func (AnswerMetaShapes) TypeName() string { return "AnswerMeta" }

// Alternatives lists the shapes.
func (AnswerMetaShapes) Alternatives() []any {
	return []any{ApprovalAnswerMeta{}, map[string]json.RawMessage{}}
}

// ElicitationResolveParams answers a question that came as an event.
type ElicitationResolveParams struct {
	RequestID RequestID       `json:"requestId"`
	Action    AnswerAction    `json:"action"`
	Content   json.RawMessage `json:"content,omitzero"`
	Meta      AnswerMeta      `json:"_meta,omitzero"`
}

// ElicitationResolveResult has no members: the answer was taken.
type ElicitationResolveResult struct{}

// RequestResolvedNotification says that a question of the sidecar is closed:
// answered, or pointless now.
type RequestResolvedNotification struct {
	ThreadID  ThreadID       `json:"threadId"`
	RequestID RequestID      `json:"requestId"`
	Reason    ResolvedReason `json:"reason"`
}

// ResolvedReason says why a question is closed.
type ResolvedReason string

// The reasons.
const (
	ResolvedAnswered      ResolvedReason = "answered"
	ResolvedCallCancelled ResolvedReason = "callCancelled"
	ResolvedCallEnded     ResolvedReason = "callEnded"
	ResolvedServerGone    ResolvedReason = "serverGone"
	ResolvedThreadClosed  ResolvedReason = "threadClosed"
	// ResolvedEditorGone: the editor's input has ended, so that no answer can
	// come.
	ResolvedEditorGone ResolvedReason = "editorGone"
)

// Values lists the words of a ResolvedReason.
func (ResolvedReason) Values() []string {
	return []string{"answered", "callCancelled", "callEnded", "serverGone", "threadClosed", "editorGone"}
}
