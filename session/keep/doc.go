// Package keep keeps approvals that a person gave for good.
//
// An approval for good stands in two places. The configuration file that
// defines the server says approval_mode = "approve" for the tool: that is what
// lets calls run, and what the person sees and may change. Beside it a file of
// the sidecar's own, approvals.json in its state folder, says which definition
// of the tool and of the server the person agreed to, so that a tool that
// became another one is asked about anew. A mode that a person wrote by hand
// has no such record and holds for whatever the tool is.
//
// The record is written before the configuration: a crash in between leaves a
// record without effect, never a mode without its record.
//
// A Store may be used from any goroutine, and several processes may use one
// folder. It does not decide anything; that is elicit's part.
package keep
