package rpc

import (
	"bytes"
	"io"
)

const (
	// readSize is how much is read at once, and the longest line that needs no
	// memory of its own.
	readSize = 64 << 10
	// maxChunk bounds the pieces in which a long line is collected.
	maxChunk = 1 << 20
	// maxEmptyReads is how often a reader may return nothing before it is
	// taken for broken, as in package bufio.
	maxEmptyReads = 100
)

// A line is one line of input without its line feed.
type line struct {
	text []byte
	// owned: text has memory of its own. Otherwise it is good until the next
	// line is read.
	owned bool
	// tooLong: the line was over the limit; text is its first readSize bytes.
	tooLong bool
}

// A lineReader cuts a stream into lines of at most max bytes. A longer one is
// skipped up to its end without being held. The last line needs no line feed.
type lineReader struct {
	r   io.Reader
	max int

	buf        []byte // readSize bytes
	start, end int    // buf[start:end] is read and not yet handed out
	scanned    int    // there is no line feed in buf[start:scanned]
	err        error  // what Read said; nothing is read after it
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: r, max: max, buf: make([]byte, readSize)}
}

// next returns the next line. At the end of input it returns what Read said.
func (l *lineReader) next() (line, error) {
	for {
		if text, ok := l.cut(); ok {
			return l.checked(line{text: text}), nil
		}
		if l.err != nil {
			if l.start == l.end {
				return line{}, l.err
			}
			return l.checked(line{text: l.rest()}), nil
		}
		if l.start > 0 {
			l.end = copy(l.buf, l.buf[l.start:l.end])
			l.start, l.scanned = 0, l.end
		}
		if l.end == len(l.buf) {
			return l.long(), nil
		}
		l.fill()
	}
}

// cut takes a line that is wholly in buf.
func (l *lineReader) cut() ([]byte, bool) {
	i := bytes.IndexByte(l.buf[l.scanned:l.end], '\n')
	if i < 0 {
		l.scanned = l.end
		return nil, false
	}
	text := l.buf[l.start : l.scanned+i]
	l.start = l.scanned + i + 1
	l.scanned = l.start
	return text, true
}

// rest takes all that is in buf.
func (l *lineReader) rest() []byte {
	text := l.buf[l.start:l.end]
	l.start, l.end, l.scanned = 0, 0, 0
	return text
}

// checked marks a line as too long when the limit is below readSize.
func (l *lineReader) checked(n line) line {
	if len(bytes.TrimSuffix(n.text, []byte{'\r'})) > l.max {
		n.tooLong = true
	}
	return n
}

// long collects a line whose first part fills buf. It goes into pieces and
// then into one slice of the right size, so that at most twice the line is
// held; growing one slice would leave several times as much behind.
func (l *lineReader) long() line {
	var chunks [][]byte
	var prefix []byte // set when the line is too long
	total := 0
	for {
		part, ended := l.cut()
		if !ended {
			part = l.rest()
		}
		total += len(part)
		switch {
		case prefix != nil:
		case total > l.max+1: // a carriage return may be on top
			if len(chunks) == 0 {
				chunks = add(chunks, part, total)
			}
			prefix = chunks[0][:min(len(chunks[0]), readSize)]
			chunks = nil
		default:
			chunks = add(chunks, part, total)
		}
		if ended || l.err != nil && l.start == l.end {
			break
		}
		l.fill()
	}
	if prefix != nil {
		return line{text: prefix, owned: true, tooLong: true}
	}
	text := make([]byte, 0, total)
	for i, c := range chunks {
		text = append(text, c...)
		chunks[i] = nil
	}
	n := l.checked(line{text: text, owned: true})
	if n.tooLong {
		n.text = n.text[:min(len(n.text), readSize)]
	}
	return n
}

// add appends part to the last chunk, and to new ones that grow with total.
func add(chunks [][]byte, part []byte, total int) [][]byte {
	for len(part) > 0 {
		if n := len(chunks); n > 0 && len(chunks[n-1]) < cap(chunks[n-1]) {
			last := chunks[n-1]
			fit := min(len(part), cap(last)-len(last))
			chunks[n-1] = append(last, part[:fit]...)
			part = part[fit:]
			continue
		}
		chunks = append(chunks, make([]byte, 0, min(max(2*readSize, total), maxChunk)))
	}
	return chunks
}

// fill reads once into what is free of buf.
func (l *lineReader) fill() {
	for range maxEmptyReads {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	l.err = io.ErrNoProgress
}
