//go:build unix

package process

import "time"

// reaperTerm is how long the reaper waits between SIGTERM and SIGKILL.
const reaperTerm = 1500 * time.Millisecond

// reaperRestarts bounds how often a reaper that died is replaced.
const reaperRestarts = 5

// reaperWrite bounds one write to the reaper's pipe. The pipe takes thousands
// of lines, so only a stopped reaper makes us wait.
const reaperWrite = time.Second
