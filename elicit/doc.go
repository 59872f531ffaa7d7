// Package elicit decides when a person must be asked, and what.
//
// Two kinds of questions exist. An approval is the sidecar's own: may this
// tool run? Approve decides from the tool's approval mode, its annotations and
// the thread's policy whether it must be put; ApprovalForm words it and
// ReadApproval reads the answer. A server's question comes in the middle of
// its work: Judge decides whether it reaches a person at all, Prepare makes
// its texts and its form fit for an editor, and the Form checks the answer.
//
// Rules, which are configuration, may answer both before a person does, and
// Templates have plainer words for the approval of common tools.
//
// Everything here is a pure function of its arguments: the same question and
// the same policy give the same verdict. There is no clock, goroutine, file,
// network or logger, and functions may be called from any goroutine. Values
// handed out may share memory with what was handed in; neither is written to.
//
// Where something is unclear, the answer is no: the zero Verdict declines, an
// unknown approval mode asks, an unknown action of an answer is no approval, a
// broken rule never allows, and a marker that a server puts into its question
// never makes it look like an approval.
package elicit
