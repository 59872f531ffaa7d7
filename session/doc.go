// Package session serves one editor connection: it keeps the open threads and
// routes each request to its own. It decides nothing.
//
// # Goroutines
//
// A session starts one for each closed thread, which waits for its servers to
// end; Close waits for it. Its methods run where the wire calls them: the rows
// marked InOrder on the reader, which therefore touch memory only, the others
// on goroutines of their own.
package session
