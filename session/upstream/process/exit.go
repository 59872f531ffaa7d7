package process

import "fmt"

// Exit tells how a child ended.
type Exit struct {
	// Code is the exit status, or -1 when a signal ended the process.
	Code int
	// Signal is the name of the signal that ended it, such as "SIGKILL"; empty
	// when it exited by itself. Always empty on Windows.
	Signal string
}

// Success reports whether the child exited by itself with status 0.
func (e Exit) Success() bool { return e.Code == 0 && e.Signal == "" }

// String returns a text such as "exit status 3" or "killed by SIGKILL".
func (e Exit) String() string {
	switch {
	case e.Signal != "":
		return "killed by " + e.Signal
	case uint32(e.Code) >= 1<<30 && e.Code != -1:
		// Windows reports crashes as NTSTATUS values, known by their hex form.
		return fmt.Sprintf("exit status 0x%08x", uint32(e.Code))
	default:
		return fmt.Sprintf("exit status %d", e.Code)
	}
}
