package rawjson

import "strconv"

// MaxDepth is how deep arrays and objects may be nested, the outermost
// included. It is encoding/json's own bound.
const MaxDepth = 10000

// A SyntaxError says why bytes are not the JSON that was asked for.
type SyntaxError struct {
	// Offset is the index of the byte to blame; it is the length of the input
	// when the input ends too early.
	Offset int
	// Msg says what is wrong there. It never quotes the input.
	Msg string
}

// Error returns the message with its place.
func (e *SyntaxError) Error() string {
	return "json: " + e.Msg + " at byte " + strconv.Itoa(e.Offset)
}

// A fault is a reason for a SyntaxError; 0 is none. It keeps the scanner's
// results in registers.
type fault uint8

const (
	faultEnd fault = iota + 1
	faultValue
	faultKey
	faultColon
	faultObjectNext
	faultArrayNext
	faultControl
	faultEscape
	faultUTF8
	faultNumber
	faultDepth
	faultTrailing
	faultNoObject
	faultNoArray
)

var faultText = [...]string{
	faultEnd:        "unexpected end",
	faultValue:      "no value",
	faultKey:        "no key in quotes",
	faultColon:      "no colon after a key",
	faultObjectNext: "neither comma nor closing brace after a member",
	faultArrayNext:  "neither comma nor closing bracket after an element",
	faultControl:    "control character in a string",
	faultEscape:     "bad escape in a string",
	faultUTF8:       "invalid UTF-8",
	faultNumber:     "bad number",
	faultDepth:      "nested too deep",
	faultTrailing:   "more after the value",
	faultNoObject:   "not an object",
	faultNoArray:    "not an array",
}

func syntaxError(at int, f fault) error { return &SyntaxError{Offset: at, Msg: faultText[f]} }

// Valid reports, as a *SyntaxError, why data is not exactly one JSON value
// with nothing but white space around it; nil means it is.
func Valid(data []byte) error {
	i, f := value(data, space(data, 0), 0)
	if f == 0 {
		if i = space(data, i); i == len(data) {
			return nil
		}
		f = faultTrailing
	}
	return syntaxError(i, f)
}

// Object validates data as exactly one JSON object, in one pass, and calls
// visit for each of its members in order, duplicates included. key is without
// quotes and escapes; value is the member's value as a sub-slice of data,
// without white space around it. An error of visit ends the pass and is
// returned as it is; otherwise the error is a *SyntaxError, and the members that
// are complete before the place to blame have been visited: what can be known of
// a text that was cut off is known.
func Object(data []byte, visit func(key, value []byte) error) error {
	i := space(data, 0)
	if i == len(data) {
		return syntaxError(i, faultEnd)
	}
	if data[i] != '{' {
		return syntaxError(i, faultNoObject)
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == '}' {
		return tail(data, i+1)
	}
	for {
		if i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != '"' {
			return syntaxError(i, faultKey)
		}
		start := i + 1
		end, escaped, f := str(data, start)
		if f != 0 {
			return syntaxError(end, f)
		}
		key := data[start : end-1]
		if escaped {
			key = unescape(make([]byte, 0, len(key)), key)
		}
		if i = space(data, end); i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != ':' {
			return syntaxError(i, faultColon)
		}
		start = space(data, i+1)
		if end, f = value(data, start, 1); f != 0 {
			return syntaxError(end, f)
		}
		if i = space(data, end); i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != ',' && data[i] != '}' {
			return syntaxError(i, faultObjectNext)
		}
		// Only now it is certain that the value ends here.
		if err := visit(key, data[start:end:end]); err != nil {
			return err
		}
		if data[i] == '}' {
			return tail(data, i+1)
		}
		i = space(data, i+1)
	}
}

// Array is Object for exactly one JSON array: visit gets the index and the
// bytes of each element.
func Array(data []byte, visit func(i int, value []byte) error) error {
	i := space(data, 0)
	if i == len(data) {
		return syntaxError(i, faultEnd)
	}
	if data[i] != '[' {
		return syntaxError(i, faultNoArray)
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == ']' {
		return tail(data, i+1)
	}
	for n := 0; ; n++ {
		start := i
		end, f := value(data, start, 1)
		if f != 0 {
			return syntaxError(end, f)
		}
		if i = space(data, end); i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != ',' && data[i] != ']' {
			return syntaxError(i, faultArrayNext)
		}
		if err := visit(n, data[start:end:end]); err != nil {
			return err
		}
		if data[i] == ']' {
			return tail(data, i+1)
		}
		i = space(data, i+1)
	}
}

// Kind says what value is by its first byte that is not white space: '{', '[',
// '"', 't', 'f' or 'n', '0' for any number, and 0 for what can't be a value.
func Kind(value []byte) byte {
	i := space(value, 0)
	if i == len(value) {
		return 0
	}
	switch c := value[i]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	}
	return 0
}

func tail(data []byte, i int) error {
	if i = space(data, i); i < len(data) {
		return syntaxError(i, faultTrailing)
	}
	return nil
}
