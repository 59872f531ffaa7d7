// Package demo shows the sidecar at work: two small MCP servers, and an editor
// that has a conversation with a sidecar about them and shows every line.
//
// The servers are real ones, built on the Go SDK; "mcp-sidecar demo-server"
// serves them for anybody who wants to try something. notes ([ServeStdio])
// speaks the current protocol over stdio, town ([ServeHTTP]) speaks the one
// before it over Streamable HTTP, so that both ways of asking a person are
// seen.
//
// [Run] checks all that it shows: a sidecar that answers wrongly makes it fail.
// A person may answer the questions in any way: what must follow is worked out
// from the answers. It needs no network but loopback, reads nothing of the
// person's own configuration, and leaves neither a process nor a file behind.
package demo
