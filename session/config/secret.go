package config

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// Mask stands where a secret was.
const Mask = secret.Mask

// String names the server and its transport, nothing else.
func (s Server) String() string {
	return fmt.Sprintf("server %q (%s)", s.Name, s.Transport)
}

// Format prints String for every verb.
func (s Server) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalJSON gives what a log may hold of a server.
func (s Server) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name      string    `json:"name"`
		Transport Transport `json:"transport"`
		Enabled   bool      `json:"enabled"`
		Origin    Origin    `json:"origin"`
		Invalid   []Problem `json:"invalid,omitempty"`
	}{s.Name, s.Transport, s.Enabled, s.Origin, s.Invalid})
}

// String shows the command with its arguments masked.
func (s Stdio) String() string {
	return fmt.Sprintf("%s %q", maskWord(s.Command), maskArgs(s.Args))
}

// Format prints String for every verb.
func (s Stdio) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalJSON gives what a log may hold: no environment, arguments masked.
func (s Stdio) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Cwd     string   `json:"cwd"`
	}{maskWord(s.Command), maskArgs(s.Args), s.Cwd})
}

// String is SafeURL.
func (h HTTP) String() string { return h.SafeURL() }

// Format prints String for every verb.
func (h HTTP) Format(f fmt.State, _ rune) { io.WriteString(f, h.String()) }

// MarshalJSON gives what a log may hold: the masked URL.
func (h HTTP) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		URL string `json:"url"`
	}{h.SafeURL()})
}

// minSecret is the shortest value worth cleaning out of a log: masking "1" or
// "on" would make every text unreadable and protect nothing.
const minSecret = 6

// Secrets lists the values of this entry that must not appear in a server's
// kept or forwarded stderr: declared environment values, header values,
// tokens, the user and query of the URL, arguments that look like secrets.
// Longest first, so that replacing them in order leaves no remainder.
func (s *Server) Secrets() []string { return s.secrets }
