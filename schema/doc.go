// Package schema publishes the contract of package protocol: it renders the
// method table as JSON Schema, TypeScript types and a reference page.
//
// # One source, three renderings
//
//	protocol.Methods, types, KindTable      protocol's Go source
//	        | reflection                            | go/parser
//	        +-------------> Build <--- Comments ----+
//	                          |
//	                        Model            a neutral tree
//	             +------------+------------+
//	     JSONSchema      TypeScript     Reference
//
// Every sentence that a reader sees is a doc comment of package protocol, so
// it is written once. The renderings lie in the folder published, committed,
// and are embedded in the program: Files, WriteTS and WriteJSONSchema hand out
// those bytes and need no source.
//
// # Promises
//
// The same protocol gives the same bytes, on every system. A published file
// that no longer matches is found by a test and by "go run ./schema/gen
// -check"; "go run ./schema/gen" writes it again.
//
// An object of the contract is open: both sides ignore members they don't
// know, so that additions break nobody. A member is required unless its Go
// field has omitzero or omitempty. A pointer without either is required and
// may be null. In what only an editor sends, an optional member may also be
// null, which means absent.
//
// The package checks nothing at run time: what a message must hold is decided
// by the decoder of protocol/rpc and by the session.
package schema
