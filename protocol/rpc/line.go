package rpc

import (
	"bytes"
	"io"
	"sync"
)

const (
	// readSize is how much is read at once, and the longest line that needs no
	// memory of its own.
	readSize = 64 << 10
	// chunkSize is the size of the pieces in which a long line is collected.
	chunkSize = 256 << 10
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

// chunkPool keeps the pieces of long lines for the next one. The collector
// empties it when no long lines come.
var chunkPool = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// A pile collects a long line in pieces. Growing one slice instead would leave
// several times the line behind.
type pile struct {
	chunks []*[chunkSize]byte
	size   int
}

func (p *pile) add(part []byte) {
	for len(part) > 0 {
		at := p.size % chunkSize
		if at == 0 {
			p.chunks = append(p.chunks, chunkPool.Get().(*[chunkSize]byte))
		}
		n := copy(p.chunks[len(p.chunks)-1][at:], part)
		p.size += n
		part = part[n:]
	}
}

// take returns a copy of the first n bytes and empties the pile.
func (p *pile) take(n int) []byte {
	text := make([]byte, 0, n)
	for _, c := range p.chunks {
		text = append(text, c[:min(chunkSize, n-len(text))]...)
		chunkPool.Put(c)
	}
	*p = pile{}
	return text
}

// long collects a line whose first part fills buf.
func (l *lineReader) long() line {
	var p pile
	var prefix []byte // set when the line is too long
	for {
		part, ended := l.cut()
		if !ended {
			part = l.rest()
		}
		if prefix == nil {
			p.add(part)
			if p.size > l.max+1 { // a carriage return may be on top
				prefix = p.take(min(p.size, readSize))
			}
		}
		if ended || l.err != nil && l.start == l.end {
			break
		}
		l.fill()
	}
	if prefix != nil {
		return line{text: prefix, owned: true, tooLong: true}
	}
	n := l.checked(line{text: p.take(p.size), owned: true})
	if n.tooLong {
		n.text = n.text[:min(len(n.text), readSize)]
	}
	return n
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
