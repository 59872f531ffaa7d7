package upstream

import "time"

// Bounds on what servers may do, spec section 12.
const (
	// MaxStarts is how many server processes start at the same time.
	MaxStarts = 4
	// StartHold is how long a start keeps its place at most: a server that
	// hangs must not keep others from starting.
	StartHold = 2 * time.Second
	// ProbeTimeout is how long a stdio server has to answer server/discover
	// before it is greeted in the old way.
	ProbeTimeout = 5 * time.Second
	// MaxPages, MaxItems and MaxCursor bound one list.
	MaxPages  = 100
	MaxItems  = 2048
	MaxCursor = 64 << 10
	// ListDebounce collects announcements of changed lists.
	ListDebounce = 250 * time.Millisecond
	// MaxRounds bounds how often a call may ask back.
	MaxRounds = 10
	// MaxPagesAsked bounds to how many web pages one refusal may send a person.
	MaxPagesAsked = 8
	// MaxVisits is how many visits to web pages a client remembers, to know
	// when a server says that they are over.
	MaxVisits = 64
	// MaxElicitationID bounds a server's name for a visit, in bytes.
	MaxElicitationID = 1 << 10
	// MaxMessage bounds one message of a server, in bytes.
	MaxMessage = 32 << 20
	// StopTime bounds the end of one connection.
	StopTime = 5 * time.Second
	// StderrLines is how many of the last stderr lines a failure carries.
	StderrLines = 10
	// ListTime bounds one refresh of a list after the start.
	ListTime = 30 * time.Second
)

// startRetries are the pauses before a start is tried again.
var startRetries = [...]time.Duration{250 * time.Millisecond, time.Second}
