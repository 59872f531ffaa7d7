// Package thread owns all mutable state of one thread: its settings, its
// generation of servers, its bindings and its running calls.
//
// # Generations
//
// What a thread works with is published as a generation: configuration,
// connections and settings together, never changed afterwards. Whatever may
// make it out of date sets the stale mark; before each freeze and each call the
// mark is claimed and the next generation built, which carries over each
// connection whose identity is the same and which is alive. A call holds its
// generation until it ends, so that connections it uses are not taken away
// under it.
//
// # Sequence, not computation
//
// A thread takes a generation, asks pure functions of binding and elicit, and
// acts. What lives below (connections, calls at their gates) has owners of its
// own: upstream.Client and toolcall.
//
// # Goroutines and locks
//
// A thread starts goroutines only to end connections, and Close waits for
// them. mu guards the fields below it; it is held for a few lines, never across
// a send, a wait, or a call into another package that may wait.
package thread
