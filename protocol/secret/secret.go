// Package secret holds values that are sent but never shown. It promises that
// no usual way of printing, logging or encoding a Value gives more than Mask.
package secret

import (
	"fmt"
	"io"
)

// Mask stands where a secret would have been printed.
const Mask = "***"

// A Value is a secret: fmt, encoding/json, users of encoding.TextMarshaler, slog
// and zerolog print Mask for it, and "" for the zero Value. What it holds lies
// behind a pointer, so that printing a struct that has a Value in an unexported
// field, where no method can be called, shows an address at most.
type Value struct{ text *string }

// New returns a Value that holds text; the zero Value for "".
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{&text}
}

// Reveal returns what the Value holds. Only what sends it may call this.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// Empty reports whether there is nothing to hide.
func (v Value) Empty() bool { return v.text == nil }

// String returns Mask, or "" for the zero Value.
func (v Value) String() string {
	if v.Empty() {
		return ""
	}
	return Mask
}

// GoString returns what String does.
func (v Value) GoString() string { return v.String() }

// Format writes what String returns, whatever the verb is.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) }

// MarshalText returns what String does.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalJSON returns what String does, quoted.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + v.String() + `"`), nil }
