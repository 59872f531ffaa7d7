package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync/atomic"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// answerEnvelope is all that the library hears of an answer.
func answerEnvelope(name string) []byte {
	b := rawjson.AppendString([]byte(`{"jsonrpc":"2.0","id":`), name)
	return append(b, `,"result":null}`...)
}

var utf8BOM = []byte("\xef\xbb\xbf")

// A stream is the jsonrpc2.ObjectStream of a connection.
type stream struct {
	c       *connection
	lines   *lineReader
	bound   chan struct{} // closed when the connection is complete
	stopped atomic.Bool   // nothing more is read
	begun   bool          // the first line was read
	err     error         // why reading ended, nil for the end of input; read after the library has disconnected
}

// ReadObject implements jsonrpc2.ObjectStream: it returns the next answer to a
// question of ours. Everything else it deals with itself. v is the library's
// own message.
func (s *stream) ReadObject(v any) error {
	<-s.bound
	into, ok := v.(json.Unmarshaler)
	if !ok {
		return errors.New("rpc: the library reads into something unknown")
	}
	for !s.stopped.Load() {
		if name, ok := s.c.editor.nextAbandoned(); ok {
			return into.UnmarshalJSON(answerEnvelope(name))
		}
		l, err := s.lines.next()
		if err != nil {
			if err != io.EOF {
				s.err = err
			}
			return io.EOF
		}
		if l.tooLong {
			if name := s.tooLong(l.text); name != "" {
				return into.UnmarshalJSON(answerEnvelope(name))
			}
			continue
		}
		text := l.text
		if !s.begun {
			s.begun = true
			text = bytes.TrimPrefix(text, utf8BOM)
		}
		if text = bytes.Trim(text, " \t\r"); len(text) == 0 {
			continue
		}
		m, perr := parse(text)
		if perr != nil {
			s.c.counters.BadLines.Add(1)
			s.c.refuse(m.id, perr)
			continue
		}
		switch m.kind {
		case request, notification:
			if !l.owned {
				m.own()
			}
			s.c.handle(m)
		case answer:
			if !l.owned {
				m.answer = bytes.Clone(m.answer)
			}
			if name, ok := s.answered(m); ok {
				return into.UnmarshalJSON(answerEnvelope(name))
			}
		case pointless:
		}
	}
	return io.EOF
}

// own gives a message memory of its own.
func (m *message) own() {
	b := make([]byte, 0, len(m.id)+len(m.params))
	b = append(append(b, m.id...), m.params...)
	if m.id != nil {
		m.id = b[:len(m.id):len(m.id)]
	}
	if m.params != nil {
		m.params = b[len(m.id):]
	}
}

// tooLong refuses a line over the limit. When it can only be the answer to a
// question of ours, that question fails and its id is returned.
func (s *stream) tooLong(prefix []byte) string {
	s.c.counters.BadLines.Add(1)
	if !s.begun {
		s.begun = true
		prefix = bytes.TrimPrefix(prefix, utf8BOM)
	}
	err := protocol.Errorf(protocol.KindLineTooLong, "the line is over %d bytes", s.c.options.MaxLine)
	m, isRequest := salvage(prefix)
	if !isRequest && m.id != nil {
		if name, ok := rawjson.String(m.id); ok {
			if s.c.editor.take(name, []byte(`{"code":0,"message":"the answer is too long"}`), true) {
				s.c.refuse(nil, err)
				return name
			}
		}
	}
	s.c.refuse(m.id, err)
	return ""
}

// answered gives an answer to its question. An answer that nobody waits for,
// late or invented, is ignored.
func (s *stream) answered(m message) (string, bool) {
	if name, ok := rawjson.String(m.id); ok && s.c.editor.take(name, m.answer, m.failed) {
		return name, true
	}
	s.c.counters.Ignored.Add(1)
	s.c.log.Debug().Str("id", clean(string(m.id), maxQuoted)).Msg("an answer that nobody waits for was ignored")
	return "", false
}

// WriteObject implements jsonrpc2.ObjectStream. Only questions to the editor
// come this way; the library knows their id, the table has the rest.
func (s *stream) WriteObject(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	name, _ := rawjson.String(rawjson.Member(b, "id"))
	if parts := s.c.editor.line(name); parts != nil {
		s.c.queue.send(parts, "")
	}
	return nil
}

// Close implements jsonrpc2.ObjectStream. It has nothing to do: Serve closes
// the queue when the last reply is in it.
func (s *stream) Close() error { return nil }
