// Package protocol is the contract between an editor and the sidecar: the
// words both use and the one table of methods that use them. It is data and
// imports only the standard library.
//
// # Lifetimes
//
// A connection is one run of the process on stdio. It owns threads; a thread
// owns bindings and calls. Ids of threads, bindings and calls are opaque
// strings, unique for the life of the process.
//
// # Order
//
// Replies may come in any order. What concerns one call keeps its order:
// item/started … item/mcpToolCall/progress … item/completed … the reply. A
// state change is visible (its notification is sent) before the reply that
// reports it. Nothing is sent before the reply to initialize.
//
// # The small language of wire types
//
// A wire type is a struct, string, bool, int64, float64, slice, map with
// string keys, json.RawMessage, or a named string whose Values method lists
// its words. Times are milliseconds and carry Ms in their name unless a
// compatible protocol fixed another unit. An optional field has omitzero; an
// optional scalar whose zero differs from its absence is a pointer. A value
// that may have several shapes is a named json.RawMessage whose Alternatives
// method lists them. A notification that is a shape with more before it may embed
// that. There are no any and no custom marshalers, so that the published schema
// says all there is.
package protocol

// Version is the semantic version of this protocol (not of the build):
// additions raise the minor number, removals the major one.
const Version = "0.1.0"

// MCPVersions lists the Model Context Protocol revisions that the sidecar
// speaks to servers, newest first.
var MCPVersions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
