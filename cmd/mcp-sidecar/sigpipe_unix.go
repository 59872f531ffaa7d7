//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreSIGPIPE makes a write to a closed stdout an error instead of the end
// of the process, which would leave servers behind.
func ignoreSIGPIPE() { signal.Ignore(syscall.SIGPIPE) }
