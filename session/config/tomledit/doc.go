// Package tomledit sets and unsets one string key of a TOML document and keeps
// every other byte: comments, order, indentation, line endings, quotes.
//
//	the text ─ scan ─ statements ─ places, the best first ─ one splice ─ proof
//	                                                          next ──────┘
//
// # Promises
//
//   - Nothing is believed that has not been proven. The document is decoded
//     before and after: the one key must be all that differs, the keys must
//     come in the order they had, and a document in which no table is defined
//     twice must stay one (the decoder does not mind; stricter readers do). An
//     edit without proof is not made.
//   - What cannot be done safely is refused with an [Error], which names the
//     line and the way out, and no value of the document.
//   - Setting what is there already gives the same bytes.
//   - [Unset] after a [Set] that added the key gives the bytes from before,
//     with two exceptions: a [header] of the key's own table that stood there
//     with nothing under it goes too, and { } becomes {}.
//   - Lists are never edited, nor tables within them.
//
// # Where a new key goes
//
// Into the innermost inline table on its path; else to the end of its own
// [table]; else behind the dotted keys that share the most names with it, if
// that is more than the first and no less than any [table] shares; else under
// a new [table] behind the last section that is nearest to it, or at the end of
// the document.
//
// # What it does not do
//
// It reads and writes no file and bounds no size; that is for the caller. It
// knows nothing of what the keys mean.
package tomledit
