// Package process starts the child processes that serve MCP over stdio and
// takes them down whole. It knows nothing of MCP.
//
// # What it promises
//
//   - A command is looked up in the child's PATH, not in ours, and the error
//     says where was looked and where it was seen instead ([LookPath]).
//   - A child is the leader of a process group of its own (of a job on
//     Windows). Everything it starts ends with it: [Process.Stop] closes its
//     stdin, waits, sends SIGTERM to the group, waits, sends SIGKILL, and then
//     looks for processes that left the group but still carry the child's
//     cookie in their environment (Linux).
//   - A child is known to its [Supervisor] from the moment it is forked, so a
//     shutdown also ends one that is still starting.
//   - Nothing outlives us, not even when we are killed with SIGKILL: on Linux
//     the kernel kills the direct child, and on every Unix a second process of
//     our own binary, the reaper, ends the groups when our end of its pipe
//     closes ([ReaperMain]). On Windows the kernel ends the jobs.
//   - The end of a child is noticed at once. Its stdout ends 200 ms later at
//     the latest for a reader that waits, even when a grandchild holds the
//     pipe open, and what is left of the group is taken down.
//   - stderr is read always, so a child never blocks on it; the last 64 KiB of
//     its lines are kept, cleaned of escape sequences and control characters.
//
// # What it leaves to others
//
// It does not restart anything, does not decide which environment a child
// gets and keeps no logs. Texts of stderr may hold secrets: [Spec.Redact] is
// the place to take them out.
package process
