//go:build !unix

package stdio

import (
	"io"
	"syscall"
)

// rawPipe returns nil: a pipe is written by the writer only.
func rawPipe(io.Writer) syscall.RawConn { return nil }

func writeNow(syscall.RawConn, []byte) bool { return false }
