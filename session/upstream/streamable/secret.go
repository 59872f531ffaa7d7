package streamable

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted stands where a secret would have been printed.
const redacted = "[redacted]"

// A Secret is a value that is sent but never shown: fmt, encoding/json,
// encoding.TextMarshaler users, slog and zerolog print "[redacted]" for it, and
// "" for the zero Secret. The value is held behind a pointer, so that printing
// a struct that has a Secret in an unexported field shows an address at most.
type Secret struct{ value *string }

// NewSecret returns a Secret that holds value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Reveal returns the value; "" for the zero Secret.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether s holds nothing or "".
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String returns "[redacted]", or "" for a zero Secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// GoString returns what String does.
func (s Secret) GoString() string { return s.String() }

// Format writes what String returns, whatever the verb is.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns what String does, quoted.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
