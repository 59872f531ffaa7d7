// Package lines reads lines of any length for the parts of the benchmark: one
// buffer, used again, and no memory per line.
package lines

import (
	"bufio"
	"errors"
	"io"
)

// bufferSize is how much is read at once.
const bufferSize = 256 << 10

// A Reader cuts a stream into lines. It sets no limit: both ends are ours.
type Reader struct {
	r    *bufio.Reader
	long []byte // a line that did not fit
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, bufferSize)} }

// Next returns the next line with its line feed. It is valid until the next
// call. A last line without line feed is dropped with the error that follows.
func (r *Reader) Next() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	r.long = append(r.long[:0], line...)
	for {
		line, err = r.r.ReadSlice('\n')
		r.long = append(r.long, line...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.long, err
		}
	}
}
