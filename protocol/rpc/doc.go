// Package rpc carries the contract of package protocol over line-delimited
// JSON-RPC 2.0. It is the only home of sourcegraph/jsonrpc2.
//
// One call of Serve is one connection. It reads lines, names what they are,
// runs the rows of protocol.Methods on the Sidecar that it is given, and gives
// that Sidecar an Editor to speak back through.
//
// # Promises
//
// Every request gets exactly one reply, refusals included, and its id comes
// back as the bytes that came. A bad line is answered, or ignored where an
// answer could only confuse; it never ends the connection. What is raw in the
// contract keeps its bytes in both directions. Nothing leaves before the reply
// to initialize but the refusals of earlier requests and bad lines. A cancel
// is known before the next line is read. A panic of a handler is a reply.
//
// Sending never blocks. What is queued for the editor is bounded: an editor
// that stops reading is gone.
//
// # Goroutines of one connection
//
//	reader    jsonrpc2's read loop: lines, envelopes, params, rows that run in
//	          order. Never waits for the editor. Ends at the end of input, at
//	          exit, or at the first line after Serve has returned.
//	closer    jsonrpc2's; waits for the connection's context.
//	writer    the only one to touch out. Ends when the queue is closed and
//	          written, or when writing fails.
//	workers   one for each concurrent request, and some that wait for the next
//	          ones. They end when they replied and others wait, and with the
//	          connection, as the requests' contexts do.
//	Serve     waits, and ends the others.
//
// # Locks
//
// The table of requests in flight, the table of open questions and the queue
// have one small lock each. None is held while another is taken, nor across a
// write or a handler.
//
// The library keeps which of our questions are open; it reads and answers
// nothing itself. Its stream is ours: requests are taken out there, and of an
// answer it gets an envelope that only says "the answer to s-7". Ids, params and
// results travel beside it, so that nothing is decoded and encoded again (its
// own reply functions turn id -7 into 18446744073709551609, sort the keys of
// params and escape <>&).
package rpc
