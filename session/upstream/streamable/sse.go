package streamable

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// Bounds of the small fields of a server-sent event; longer ones are ignored.
const (
	maxFieldName  = 64
	maxFieldValue = 4 << 10
	// maxRetryHint bounds the wait that a server may ask for with retry.
	maxRetryHint = 5 * time.Minute
	sseBuffer    = 8 << 10
)

// An event is one server-sent event.
type event struct {
	name, id string
	data     []byte
	retry    time.Duration
	hasRetry bool
	// tooLarge says that the data was over the limit, and dropped.
	tooLarge bool
	// partial says that the stream ended inside the event.
	partial bool
}

// named reports whether the event is other than a message.
func (e *event) named() bool { return e.name != "" && e.name != "message" }

// An eventReader reads server-sent events as the WHATWG HTML standard says
// (section 9.2.6): LF, CRLF or CR, a BOM, comments, fields without colon. What
// is not an event is skipped, never an error. One thing is added: an event that
// the end of the stream cuts off is returned, marked partial.
type eventReader struct {
	r       *bufio.Reader
	limit   int64
	skipLF  bool  // the last line ended in CR; a LF that follows belongs to it
	started bool  // the place where a BOM may stand is behind
	skip    bool  // inside an event that was over the limit
	midLine bool  // and inside one of its lines
	err     error // what ended the stream, once it was returned after a partial event
}

// errOver ends a line early: the data of its event are over the limit.
var errOver = errors.New("the event is too large")

// newEventReader returns a reader of the events in r, each with at most limit
// bytes of data.
func newEventReader(r io.Reader, limit int64) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, sseBuffer), limit: limit}
}

// next returns the next event that has any field; at the end io.EOF or the
// error of the stream. An event whose data are over the limit is returned as
// soon as that is known.
func (e *eventReader) next() (event, error) {
	if e.err != nil {
		return event{}, e.err
	}
	if err := e.skipEvent(); err != nil {
		return event{}, err
	}
	var ev event
	data := accumulator{limit: e.limit}
	dataLines, found := 0, false
	for {
		var l line
		l.data, l.moreData = &data, dataLines > 0
		err := e.readLine(&l)
		if err == errOver {
			ev.tooLarge, e.skip = true, true
			return ev, nil
		}
		if l.isData() {
			dataLines, found = dataLines+1, true
		} else if l.apply(&ev) {
			found = true
		}
		if err == nil && !l.empty {
			continue
		}
		if err != nil {
			e.err, ev.partial = err, true
			if !found {
				return event{}, err
			}
		}
		if found {
			if ev.tooLarge = data.over; !ev.tooLarge {
				ev.data = data.bytes()
			}
			return ev, nil
		}
	}
}

// skipEvent skips the rest of an event that was over the limit.
func (e *eventReader) skipEvent() error {
	for e.skip {
		l := line{data: &accumulator{over: true}}
		if err := e.readLine(&l); err != nil {
			e.err = err
			return err
		}
		e.skip = e.midLine || !l.empty
		e.midLine = false
	}
	return nil
}

// A line is one line of a stream on its way into an event. Data goes straight
// into the event's accumulator; other fields are short and kept here.
type line struct {
	data     *accumulator
	moreData bool // the event has a data line already
	empty    bool // nothing stood on the line

	name  []byte // of the field, as far as it was read
	value []byte // of a field other than data
	colon bool   // the name is complete
	space bool   // the space that may follow the colon is behind
	long  bool   // name or value over its bound: ignored
	isDat bool
}

// isData reports whether the line was a data field; call it at the line's end.
func (l *line) isData() bool {
	if !l.colon && !l.long && string(l.name) == "data" { // a field without colon is empty
		l.startData()
	}
	return l.isDat
}

// startData begins another line of data.
func (l *line) startData() {
	if l.isDat = true; l.moreData {
		l.data.write([]byte{'\n'})
	}
}

// add takes the next part of the line.
func (l *line) add(b []byte) {
	if !l.colon {
		i := bytes.IndexByte(b, ':')
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if len(l.name)+len(part) > maxFieldName {
			l.long = true
		} else {
			l.name = append(l.name, part...)
		}
		if i < 0 {
			return
		}
		l.colon, b = true, b[i+1:]
		if !l.long && string(l.name) == "data" {
			l.startData()
		}
	}
	if !l.space && len(b) > 0 {
		if l.space = true; b[0] == ' ' {
			b = b[1:]
		}
	}
	switch {
	case l.isDat:
		l.data.write(b)
	case l.long || len(l.name) == 0: // a comment, or nothing that we know
	case len(l.value)+len(b) > maxFieldValue:
		l.long = true
	default:
		l.value = append(l.value, b...)
	}
}

// apply puts a field other than data into ev and reports whether it did.
func (l *line) apply(ev *event) bool {
	if l.long {
		return false
	}
	switch string(l.name) {
	case "event":
		ev.name = string(l.value)
	case "id":
		if bytes.IndexByte(l.value, 0) >= 0 {
			return false
		}
		ev.id = string(l.value)
	case "retry":
		n, err := strconv.ParseUint(string(l.value), 10, 31)
		if err != nil {
			return false
		}
		ev.retry, ev.hasRetry = min(time.Duration(n)*time.Millisecond, maxRetryHint), true
	default:
		return false
	}
	return true
}

// readLine hands the next line to l, part by part, without its end.
func (e *eventReader) readLine(l *line) error {
	l.empty = true
	for {
		if _, err := e.r.Peek(1); err != nil {
			return err
		}
		b, _ := e.r.Peek(e.r.Buffered())
		if !e.started {
			if len(b) < len(bom) && bytes.HasPrefix(bom, b) { // more is needed to tell
				if b, _ = e.r.Peek(len(bom)); len(b) == 0 {
					continue
				}
			}
			e.started = true
			if bytes.HasPrefix(b, bom) {
				_, _ = e.r.Discard(len(bom))
				continue
			}
		}
		if e.skipLF {
			if e.skipLF = false; b[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		end := lineEnd(b)
		part := b
		if end >= 0 {
			part = b[:end]
		}
		if len(part) > 0 {
			l.empty = false
			l.add(part)
		}
		over := l.isDat && l.data.over && !e.skip
		if end >= 0 {
			e.skipLF = b[end] == '\r'
			_, _ = e.r.Discard(end + 1)
			if over {
				return errOver
			}
			return nil
		}
		_, _ = e.r.Discard(len(b))
		if over {
			e.midLine = true
			return errOver
		}
	}
}

// lineEnd returns the index of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}
