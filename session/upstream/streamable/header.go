package streamable

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// Headers of the protocol.
const (
	sessionHeader   = "Mcp-Session-Id"
	versionHeader   = "Mcp-Protocol-Version"
	methodHeader    = "Mcp-Method"
	nameHeader      = "Mcp-Name"
	lastEventHeader = "Last-Event-Id"

	jsonType  = "application/json"
	eventType = "text/event-stream"
)

// statelessVersion is the first protocol version without sessions, resumption
// and requests of the server. Versions are dates and compare as text.
const statelessVersion = "2026-07-28"

// isStateless reports whether a request with these headers is of that version or later.
func isStateless(h http.Header) bool { return h.Get(versionHeader) >= statelessVersion }

// mediaType returns the type of a Content-Type header without parameters, in
// small letters; it does not mind parameters that are malformed.
func mediaType(h http.Header) string {
	t, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// maxRetryAfter bounds what is believed of a Retry-After header.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the Retry-After header, seconds or a date (RFC 9110 10.2.3).
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, min(time.Until(at), maxRetryAfter))
	}
	return 0
}

// nameMember says where the params of a method hold what Mcp-Name repeats.
func nameMember(method string) string {
	switch {
	case method == "tools/call" || method == "prompts/get":
		return "name"
	case method == "resources/read":
		return "uri"
	case strings.HasPrefix(method, "tasks/"):
		return "taskId"
	}
	return ""
}

// setName sets Mcp-Name from the params that are sent, encoded: the SDK sends
// what it has as it is, which is wrong, or refused, outside plain ASCII.
func setName(h http.Header, method string, params []byte) {
	key := nameMember(method)
	if key == "" || !isStateless(h) {
		return
	}
	if name, ok := rawjson.String(rawjson.Member(params, key)); ok {
		h.Set(nameHeader, encodeHeader(name))
	}
}

const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// encodeHeader returns s where it can be a header value and survive, else its
// base64 form of SEP-2243.
func encodeHeader(s string) string {
	plain := !strings.HasPrefix(s, encodedPrefix) && strings.TrimSpace(s) == s
	for i := 0; i < len(s) && plain; i++ {
		plain = 0x20 <= s[i] && s[i] <= 0x7e
	}
	if plain {
		return s
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + encodedSuffix
}

// reserved reports whether a configured header is left out: it belongs to the
// protocol or to the connection.
func reserved(name string) bool {
	switch name {
	case "Accept", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection",
		"Host", "Te", "Trailer", "Upgrade", lastEventHeader:
		return true
	}
	return strings.HasPrefix(name, "Mcp-")
}

// redactMin is the length from which a header value is looked for in a text.
// Shorter ones would blacken words.
const redactMin = 6

// redact takes the values of the headers that were sent out of text: servers
// like to repeat a token that they refuse.
func redact(text string, sent http.Header) string {
	var secrets []string
	for name, values := range sent {
		if reserved(name) && name != sessionHeader || name == "User-Agent" || name == "Accept-Encoding" {
			continue
		}
		for _, v := range values {
			secrets = append(append(secrets, v), strings.Fields(v)...)
		}
	}
	// The longest first, as one may be part of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, s := range secrets {
		if len(s) >= redactMin {
			text = strings.ReplaceAll(text, s, secret.Mask)
		}
	}
	return text
}

// oneLine makes a short clean line of a body: no control characters, spaces
// folded, at most maxErrorText bytes.
func oneLine(body []byte) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || 0x80 <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(body), "\uFFFD"))
	clean = strings.Join(strings.Fields(clean), " ")
	if len(clean) <= maxErrorText {
		return clean
	}
	return strings.ToValidUTF8(clean[:maxErrorText], "") + "…"
}
