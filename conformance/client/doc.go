// Package client plays the editor: it starts a sidecar, or is given the two
// ends of a connection to one, and calls it. Tests, the demo, the benchmark and
// the drivers of real servers use it.
//
// # What it promises
//
//   - It always reads. Notifications are handed over on the reader, in the order
//     of the wire and before the reply that follows them; requests of the
//     sidecar are served on goroutines of their own.
//   - Results, params and traced lines are the bytes of the wire. A line is
//     passed over once to find its members; nothing is decoded that nobody asked
//     for.
//   - When the context of a call ends the sidecar is told with $/cancelRequest.
//   - When the connection ends every open call returns an [EndedError].
//
// # What it leaves to others
//
// It keeps no state of the protocol: it does not send initialize by itself and
// does not check what it is told to send. [Client.Write] sends any bytes, for
// those who want to see what the sidecar makes of them.
package client
