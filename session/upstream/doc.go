// Package upstream owns the live connections to MCP servers. It and its
// sub-packages are the only home of the MCP SDK.
//
// # A client and its states
//
// A Client is one connection to one server. Its supervisor goroutine, started
// by Start and ended by Close, is the only one to move its state:
//
//	starting ──► connected ──► failed
//	    └──────► failed
//	(any) ─────► cancelled      by Close
//
// A client that has failed stays so; whoever owns it starts another. Every
// change is told to the Owner, in order, before anyone who waits for it goes
// on. Refresh replaces the connection of a client that stays connected.
//
// # Who is asked
//
// Several callers share a client. Each request carries its Caller, who answers
// what the server asks about it. A question whose request the protocol tells
// reaches that one and no other; one that may come from several is put to the
// most recent, says so, and is bound by the strictest policy of all. It ends
// with the last of them, and is closed before that is seen to end.
//
// # What goes which way
//
// The SDK does the handshake of both protocol eras, keeps the session and
// delivers what servers send of their own accord. Calls and lists go beside
// its decoder: over stdio on our own ids, over HTTP with the raw result taken
// from the response, so that arguments and results are the bytes that came.
//
// # Goroutines
//
// Per client: the supervisor, and one for each connection that was replaced, as
// long as requests run on it; the SDK's own; one reader of its pipe or streams.
// A server's question runs on the SDK's goroutine, or on that of the call when
// it came with the call's result.
package upstream
