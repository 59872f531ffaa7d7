package stdio

import "time"

const (
	// DefaultMaxLine is the longest line taken from a server (spec 12: server
	// line 32 MiB).
	DefaultMaxLine = 32 << 20
	// chunkSize is one read, and the unit in which a long line is gathered; it
	// is the capacity of a pipe on Linux.
	chunkSize = 64 << 10
	// salvageBytes is how much of both ends of a line above the limit is kept
	// to learn which call it answers.
	salvageBytes = 4 << 10
	// noiseBytes is how much of a line OnNoise is shown.
	noiseBytes = 256
	// maxBatch is the longest batch taken apart.
	maxBatch = 1000
)

const (
	// queueFrames is how many messages wait for a server that does not read.
	// Beyond it callers wait, as long as their contexts allow.
	queueFrames = 256
	// inboxMessages is how many messages wait for the SDK, whose reader does
	// nothing but sort them.
	inboxMessages = 64
	// lateIDs is how many ids of given-up calls are remembered.
	lateIDs = 1024
	// maxTogether is how many bytes of small messages go out in one write: what
	// a pipe takes at once on every system.
	maxTogether = 4 << 10
	// maxFrameKept is the largest buffer of a frame that is used again.
	maxFrameKept = 64 << 10
	// maxReason bounds the reason in notifications/cancelled.
	maxReason = 200
)

// Our own ids are integers, which every server handles, in a range that the
// SDK, counting from 1, does not reach, and that fits 32 bits, signed or not:
// some servers keep ids so. After the last comes the first again.
const (
	firstID = 1 << 30
	lastID  = 1<<31 - 1
)

// maxExact is the largest integer that survives the SDK's float64.
const maxExact = 1 << 53

const (
	// flushTime is how long Close lets queued messages go out.
	flushTime = 100 * time.Millisecond
	// closeTime bounds the closing of the pipes themselves.
	closeTime = 250 * time.Millisecond
	// lingerTime is how long after Close the server's output is read and
	// dropped: a server that says something on its way out shall not be killed
	// by a broken pipe. It is a little more than a child gets to end.
	lingerTime = 5 * time.Second
	// brokenTime is how long after a failed write the reader may go on to find
	// the end of the server's output, and with it a better cause.
	brokenTime = 500 * time.Millisecond
)
