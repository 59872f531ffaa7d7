// Package stdio speaks MCP with one server over a pair of pipes: one JSON-RPC
// message a line. A [Conn] is at once the SDK's mcp.Connection and our own way
// to call the server without decoding what it answers.
//
//	server's stdout -> reader -+-> answers to Call    -> the caller, undecoded
//	                           +-> OnNotification     -> handled there, or on to
//	                           +-> the SDK's Read        the SDK's handshake, lists,
//	                           |                         notifications, questions
//	                           +-> OnNoise            -> what is not a message
//	server's stdin  <- writer <-- frames of Call and of the SDK's Write, in order
//	                <- Call, when nothing else is under way and the pipe has room
//
// # What it promises
//
//   - Nothing a server writes ends the session. A line that is not a JSON-RPC
//     message (a log line, a batch of nothing, JSON without an id, an answer
//     nobody waits for) is told to OnNoise and skipped; of several messages on a
//     line each is taken. A line above the limit costs the call it answers, at
//     once, and no memory.
//   - A result is handed on as the bytes that came, in one piece of memory.
//   - Each message goes out in one write, small ones that are waiting together;
//     messages never mix. A server that
//     does not read its stdin blocks no caller beyond the caller's context.
//   - A call whose context ends tells the server so, and returns; the late
//     answer is dropped.
//   - When the connection ends, everything pending fails with one
//     [*ClosedError] that carries the cause.
//
// # What it leaves to others
//
// It starts and ends no process, retries nothing, and knows nothing of MCP but
// the names of four methods (initialize, server/discover,
// subscriptions/listen, notifications/cancelled) and of the member "_meta".
package stdio
