package stdio

import (
	"bytes"
	"io"
	"sync"
)

// A lineReader cuts a stream into lines of bounded length. It holds one chunk,
// and more of them only while a long line comes in.
type lineReader struct {
	r   io.Reader
	max int

	buf        *chunk
	start, end int // the unread bytes of buf
	scanned    int // buf[start:scanned] holds no newline
	err        error

	full      []*chunk // the line's bytes before those in buf
	fullBytes int

	over func(head []byte, size int) // told once when a line passes max
	skip bool                        // the line has passed max; its bytes are dropped
	head []byte                      // its first bytes
	tail []byte                      // the last of those dropped
	size int                         // how many were dropped
}

type chunk [chunkSize]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// A line is one line without its newline.
type line struct {
	data []byte
	// owned: data is memory of this line alone. Otherwise it is valid until
	// the next call of next.
	owned bool
	// tooLong: the line was longer than the limit; data is nil.
	tooLong bool
	// told: over was told of it.
	head, tail []byte
	size       int
}

func newLineReader(r io.Reader, max int, over func(head []byte, size int)) *lineReader {
	return &lineReader{r: r, max: max, buf: chunks.Get().(*chunk), over: over}
}

// next returns the next line. A last line without newline is one too; the
// error comes after it.
func (l *lineReader) next() (line, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.scanned:l.end], '\n'); i >= 0 {
			return l.take(l.scanned+i, 1), nil
		}
		l.scanned = l.end
		if l.length() > l.max && !l.skip {
			l.beginSkip()
		}
		if l.err != nil {
			if l.length() > 0 || l.skip {
				return l.take(l.end, 0), nil
			}
			return line{}, l.err
		}
		l.fill()
	}
}

// length is how much of the current line is held.
func (l *lineReader) length() int { return l.fullBytes + l.scanned - l.start }

// noProgress is how many empty reads in a row end the stream.
const noProgress = 100

func (l *lineReader) fill() {
	switch {
	case l.skip:
		l.drop(l.end)
		l.start, l.end, l.scanned = 0, 0, 0
	case l.start == l.end:
		l.start, l.end, l.scanned = 0, 0, 0
	case l.end == chunkSize && l.start > 0:
		n := copy(l.buf[:], l.buf[l.start:l.end])
		l.start, l.end, l.scanned = 0, n, n
	case l.end == chunkSize:
		l.full = append(l.full, l.buf)
		l.fullBytes += chunkSize
		l.buf = chunks.Get().(*chunk)
		l.start, l.end, l.scanned = 0, 0, 0
	}
	for range noProgress {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// take returns the line that ends at stop and moves past it and its newline.
func (l *lineReader) take(stop, newline int) line {
	var out line
	l.scanned = stop
	if !l.skip && l.length() > l.max {
		l.beginSkip()
	}
	switch {
	case l.skip:
		l.drop(stop)
		out = line{tooLong: true, head: l.head, tail: l.tail, size: l.size}
		l.skip, l.head, l.tail, l.size = false, nil, nil, 0
	case l.full == nil:
		out = line{data: l.buf[l.start:stop:stop]}
	default:
		parts := make([][]byte, 0, len(l.full)+1)
		for _, c := range l.full {
			parts = append(parts, c[:])
		}
		parts = append(parts, l.buf[:stop])
		out = line{data: bytes.Join(parts, nil), owned: true}
		l.release()
	}
	l.start = stop + newline
	l.scanned = l.start
	return out
}

// beginSkip gives up the current line, all of it that is held, and tells of it.
func (l *lineReader) beginSkip() {
	l.skip = true
	l.size = l.length()
	first := l.buf[l.start:l.scanned]
	if l.full != nil {
		first = l.full[0][:]
	}
	l.head = bytes.Clone(first[:min(len(first), salvageBytes)])
	if n := len(l.full); n > 0 {
		l.keepTail(l.full[n-1][:])
	}
	l.release()
	l.keepTail(l.buf[l.start:l.scanned])
	l.start = l.scanned
	l.over(l.head, l.size)
}

// drop drops the bytes of buf up to stop, which belong to a line given up.
func (l *lineReader) drop(stop int) {
	l.size += stop - l.start
	l.keepTail(l.buf[l.start:stop])
	l.start = stop
}

// keepTail keeps the last salvageBytes of tail and more.
func (l *lineReader) keepTail(more []byte) {
	if len(more) >= salvageBytes {
		l.tail = append(l.tail[:0], more[len(more)-salvageBytes:]...)
		return
	}
	if extra := len(l.tail) + len(more) - salvageBytes; extra > 0 {
		l.tail = append(l.tail[:0], l.tail[extra:]...)
	}
	l.tail = append(l.tail, more...)
}

func (l *lineReader) release() {
	for _, c := range l.full {
		chunks.Put(c)
	}
	l.full, l.fullBytes = nil, 0
}

// close gives the memory back.
func (l *lineReader) close() {
	l.release()
	chunks.Put(l.buf)
	l.buf = nil
}
