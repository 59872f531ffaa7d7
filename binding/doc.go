// Package binding freezes what a set of servers offers into the tools one
// model is shown.
//
// Catalogs go in (ParseCatalog, once for each list a server gives), a Binding
// comes out (Freeze, once for each step of a model): every tool with the name
// the model calls, the specification in the model's dialect, its exposure and
// what an approval would say.
//
// DescribeChange says in words how one tool's definition became another.
//
// What it promises:
//
//   - Pure: no clock, goroutine, file, network or logger. Values are immutable
//     once returned and may be shared between goroutines. They hold no
//     connection, so a Binding has no lifetime problem; it keeps the way from
//     a callable name to (server, raw tool), and who calls resolves that
//     against what is alive.
//   - The same input gives the same bytes and the same fingerprint, whatever
//     the order in which servers, and tools of a server, arrive.
//   - Names are unique (also when case is ignored), of [A-Za-z0-9_], not over
//     the limit, and depend on the server's own identity alone wherever that
//     is enough.
//   - One bad tool costs itself, never its list; it is in Omitted with the
//     reason, and so is every tool that the configuration leaves out.
//   - A schema that a provider takes is passed byte for byte. What must change
//     becomes equivalent or wider, never narrower, and is told in Changes.
//
// It does not decide approvals, does not run calls, and does not check
// arguments against schemas.
package binding
