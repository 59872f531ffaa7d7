// Package fileedit changes a file that belongs to somebody else: a person, an
// editor, another program that knows nothing of us.
//
//	links ─ lock ─ read ─ edit ─ temporary file ─ compare ─ swap ─ look at what came out
//	               ▲                                 │                 │
//	               └──────────── changed meanwhile ──┴─────────────────┘
//
// # Promises
//
//   - Readers see the old file or the new one. The exceptions are below.
//   - Whoever uses this package waits for the others of the same state folder,
//     in this process and in all others, and none loses an edit.
//   - Whoever does not use it loses none either, if they replace the file: what
//     they put there between our reading and our swapping comes out of the
//     swap, goes back, and is edited in turn. Where the system cannot swap
//     (Windows, some file systems), the time between the last comparison and
//     the rename remains.
//   - Links, mode and owner stay. A file that has several names, that is
//     mounted by itself, or whose folder or owner do not allow a replacement is
//     written in place, so that it stays the same file; a reader may then see
//     half of it.
//   - A file that nobody may write is not written, though replacing it would
//     work, and root asks, too.
//   - An edit that changes nothing writes nothing.
//   - After an error the file is as others left it, and no temporary file lies
//     beside it, unless it holds what somebody else wrote and could not be put
//     back; the error names it then. One that is left by a crash begins with
//     .mcp-sidecar-edit- and ends with .tmp; it may be removed.
//   - No error holds anything of the file's content.
//
// # What it does not do
//
// It creates no file: one that is missing is fs.ErrNotExist. It cannot help a
// program that keeps the file open and writes into it in the microseconds
// around our swap. Access lists and other extended attributes are not carried
// over; on Windows the new file has those of its folder.
package fileedit
