// Package usage tells what processes have used, where the system tells it.
package usage

import "time"

// A Memory is a process's memory in bytes.
type Memory struct {
	Now  int64 // resident
	Peak int64 // the most that was resident
}

// CPU returns the CPU time, user and system, that the process and its threads
// have used; 0 stands for this process. ok is false where that is not known.
func CPU(pid int) (used time.Duration, ok bool) { return cpu(pid) }

// Of returns a process's memory; ok is false where that is not known.
func Of(pid int) (m Memory, ok bool) { return memory(pid) }

// Load returns the machine's load average of the last minute; ok is false where
// that is not known.
func Load() (average float64, ok bool) { return load() }
