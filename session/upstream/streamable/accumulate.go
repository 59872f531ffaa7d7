package streamable

import (
	"errors"
	"io"
)

// Sizes of the pieces that an accumulator grows by.
const (
	firstPiece = 4 << 10
	lastPiece  = 1 << 20
)

// errTooLarge says that a body is over the limit of its accumulator.
var errTooLarge = errors.New("over the limit")

// An accumulator gathers bytes of unknown number in pieces, so that what it
// holds while growing is what came, and twice that only while it is joined.
type accumulator struct {
	limit  int64
	pieces [][]byte
	size   int64
	over   bool // the limit was passed; the pieces are gone
}

// room returns the free end of the last piece, at least one byte.
func (a *accumulator) room() []byte {
	if n := len(a.pieces); n > 0 {
		if last := a.pieces[n-1]; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	a.pieces = append(a.pieces, make([]byte, 0, min(max(firstPiece, a.size), lastPiece)))
	last := a.pieces[len(a.pieces)-1]
	return last[:cap(last)]
}

// took says that n bytes were put into the room.
func (a *accumulator) took(n int) {
	last := &a.pieces[len(a.pieces)-1]
	*last = (*last)[:len(*last)+n]
	if a.size += int64(n); a.size > a.limit {
		a.over, a.pieces = true, nil
	}
}

// write adds b; beyond the limit it only counts.
func (a *accumulator) write(b []byte) {
	for len(b) > 0 && !a.over {
		n := copy(a.room(), b)
		a.took(n)
		b = b[n:]
	}
}

// bytes returns what was gathered, in one piece, and leaves a empty.
func (a *accumulator) bytes() []byte {
	pieces := a.pieces
	size := a.size
	a.pieces, a.size = nil, 0
	if len(pieces) == 1 {
		return pieces[0]
	}
	out := make([]byte, 0, size)
	for i, p := range pieces {
		out = append(out, p...)
		pieces[i] = nil
	}
	return out
}

// readAll reads r to its end. It returns errTooLarge as soon as more than limit
// bytes came. The length that the server announced, if any, saves the growing.
func readAll(r io.Reader, announced, limit int64) ([]byte, error) {
	a := &accumulator{limit: limit}
	if announced > limit {
		return nil, errTooLarge
	}
	if announced > 0 {
		// One byte more, so that the end is seen without another piece.
		a.pieces = append(a.pieces, make([]byte, 0, announced+1))
	}
	for {
		n, err := r.Read(a.room())
		if a.took(n); a.over {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return a.bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
