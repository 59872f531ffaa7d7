// Package rawjson reads and writes JSON without decoding and encoding it
// again, so that what a peer wrote reaches the other side byte for byte: key
// order, 20-digit integers, 1.0 and <>& survive.
//
// Reading (Valid, Object, Array, Kind, String) is one pass over the bytes
// without recursion and, apart from keys and strings with escapes, without
// allocation. It accepts exactly what RFC 8259 calls a JSON text in valid
// UTF-8, nested at most MaxDepth deep; a lone surrogate escape (\ud800) is
// such a text. Values handed out are sub-slices of the input.
//
// Writing (Marshal, Append) knows the small language of wire types that
// package protocol describes and copies raw members as they are. It uses
// encoding/json for types outside that language.
//
// Functions may be called from any goroutine. Nothing here keeps a reference
// to its arguments.
package rawjson
