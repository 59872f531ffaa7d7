package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// act carries out what a script does to a server.
func (s *server) act(word, text string) error {
	if whole := wholeDoings[word]; whole != nil {
		return whole(s, text)
	}
	s.mu.Lock()
	peers := slices.Collect(maps.Keys(s.peers))
	s.mu.Unlock()
	if len(peers) == 0 {
		return errors.New("the server is not connected")
	}
	for _, p := range peers {
		if err := peerDoings[word](s, p, text); err != nil {
			return err
		}
	}
	return nil
}

// isDoing reports whether word is something that a script can do to a server.
func isDoing(word string) bool { return wholeDoings[word] != nil || peerDoings[word] != nil }

// peerDoings are the words after "server NAME:" that do something to each
// connection.
var peerDoings = map[string]func(s *server, p *peer, text string) error{
	"exit": func(_ *server, p *peer, text string) error {
		code, err := strconv.Atoi(text)
		if err == nil {
			p.exit(code)
		}
		return err
	},
	"stderr": func(_ *server, p *peer, text string) error { p.stderr(text); return nil },
	"write": func(_ *server, p *peer, text string) error {
		raw, err := unescape(text)
		if err == nil {
			p.write(string(raw))
		}
		return err
	},
	"hang": func(_ *server, p *peer, _ string) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hung = true
		return nil
	},
	"close": func(_ *server, p *peer, _ string) error { p.closeStdout(); return nil },
	"tools": func(s *server, p *peer, text string) error {
		var tools []json.RawMessage
		if err := json.Unmarshal([]byte(text), &tools); err != nil {
			return err
		}
		if err := s.spec.prepare(tools); err != nil {
			return err
		}
		p.changeTools(tools, func(line []byte) { p.write(string(line)) })
		return nil
	},
	"changed": func(_ *server, p *peer, _ string) error {
		p.announce("notifications/tools/list_changed", func(line []byte) { p.write(string(line)) })
		return nil
	},
	"ask": func(_ *server, p *peer, text string) error {
		if err := rawjson.Valid([]byte(text)); err != nil {
			return err
		}
		p.ask(json.RawMessage(text), func(line []byte) { p.write(string(line)) })
		return nil
	},
	"withdraw": func(_ *server, p *peer, _ string) error {
		p.mu.Lock()
		ids := slices.Sorted(maps.Keys(p.waiting))
		p.mu.Unlock()
		for _, id := range ids {
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
		}
		return nil
	},
}

// wholeDoings concern the server itself, whether it is connected or not.
var wholeDoings = map[string]func(s *server, text string) error{
	"release": func(s *server, _ string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.held) == 0 {
			return errors.New("no reply is held")
		}
		close(s.held[0])
		s.held = s.held[1:]
		return nil
	},
	"status": func(s *server, text string) error {
		status, err := strconv.Atoi(text)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.status = status; status == 200 {
			s.status = 0
		}
		return err
	},
	"forget": func(s *server, _ string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.era++
		return nil
	},
}
