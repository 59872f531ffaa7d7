package protocol

import (
	"encoding/json"
	"errors"
)

// Shapes lists what a OneOf may hold. Implementations are empty structs.
type Shapes interface {
	// TypeName is the name of the OneOf in the published schema.
	TypeName() string
	// Alternatives holds a zero value of each shape.
	Alternatives() []any
}

// OneOf is a JSON value that may have several shapes, kept as the bytes that
// came. It is the only wire type with marshalers of its own, because
// encoding/json would take a named []byte for base64.
type OneOf[S Shapes] json.RawMessage

// MarshalJSON returns the bytes, null if there are none.
func (o OneOf[S]) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("null"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps a copy of b; null leaves the value absent.
func (o *OneOf[S]) UnmarshalJSON(b []byte) error {
	if o == nil {
		return errors.New("protocol: OneOf: nil pointer")
	}
	if string(b) == "null" {
		*o = nil
		return nil
	}
	*o = append((*o)[:0], b...)
	return nil
}

// Shapes returns S, for the schema generator.
func (OneOf[S]) Shapes() Shapes { var s S; return s }
