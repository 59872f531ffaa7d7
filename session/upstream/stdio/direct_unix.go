//go:build unix

package stdio

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// rawPipe returns the means to write to a pipe without ever waiting, nil if w
// is no pipe.
func rawPipe(w io.Writer) syscall.RawConn {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// writeNow writes all of b or nothing, which the system promises for as little
// as maxTogether bytes on a pipe, and reports which. It does not wait: the
// files of this program's own pipes do not block.
func writeNow(raw syscall.RawConn, b []byte) bool {
	n := 0
	err := raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), b)
		return true
	})
	return err == nil && n == len(b)
}
