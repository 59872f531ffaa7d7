package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
)

// Identity is a digest of what makes a connection this connection: transport,
// command, arguments, the child's whole environment, cwd, URL, headers, bearer
// token, headers helper, OAuth client, isolation, protocol version. All of it
// as expanded, with defaults filled in, so that a reformatted file, a reordered
// one, or one that writes a default out has the same identity.
//
// Names, filters, time-outs, approval modes, exposure and limits have no part
// in it: they belong to a thread's view. The identity of a broken entry is its
// name's alone. It is opaque and stable across runs; as it depends on secrets,
// it stays inside the process and its cache.
func (s *Server) Identity() string { return s.digest }

// digest feeds every part with its length before it, so that no two different
// lists of parts run together into one.
func digest(s *Server) string {
	d := digester{sha256.New()}
	switch {
	case s.Stdio != nil:
		d.text("stdio", s.Stdio.Command, s.Stdio.Cwd)
		d.list(s.Stdio.Args)
		d.list(s.Stdio.Env)
	case s.HTTP != nil:
		h := s.HTTP
		d.text("http", h.URL, h.Bearer.Reveal(), h.HeadersHelper, h.OAuthResource)
		d.length(len(h.Headers))
		for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
			d.text(name)
			d.list(h.Headers[name])
		}
		scopes := slices.Clone(h.Scopes)
		slices.Sort(scopes)
		d.list(scopes)
		d.text(h.OAuth.ClientID, h.OAuth.ClientSecret.Reveal())
	default:
		d.text("invalid", s.Name)
	}
	d.text(string(s.Isolation), s.ProtocolVersion)
	return hex.EncodeToString(d.h.Sum(nil))
}

type digester struct{ h hash.Hash }

func (d digester) text(parts ...string) {
	for _, p := range parts {
		d.length(len(p))
		d.h.Write([]byte(p))
	}
}

func (d digester) list(parts []string) {
	d.length(len(parts))
	d.text(parts...)
}

func (d digester) length(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	d.h.Write(b[:])
}
