// Package toolcall carries one call of a tool through its gates: ready,
// approved, sent, shaped.
//
// Run does it in the order of spec section 7:
//
//	arguments → server ready → tool live → Gate → item/started → approval
//	→ tools/call under a Deadline → shape → item/completed → Outcome
//
// What it promises: item/completed follows every item/started, also when the
// call is cancelled, times out or panics, and no progress comes after it. The
// arguments reach the server, and the result the editor, as the bytes that
// came. Time that a person takes to answer is not the call's. A call that can
// no longer be what was approved is asked for again, or not sent.
//
// It knows neither JSON-RPC nor the MCP SDK: a Target is the live server, an
// Person the person, Events the editor. Every call runs on its caller's
// goroutine and keeps nothing when it returns; the one goroutine that may be
// started beside it is the Deadline's timer, which ends with the call.
package toolcall
