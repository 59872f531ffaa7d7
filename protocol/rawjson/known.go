package rawjson

import "bytes"

// KnownObject is Object for data that is known to be one valid JSON object,
// such as a value that Object or Array has handed out: it looks for the ends of
// the values only, which is several times as fast. Of other data it visits
// something or nothing.
func KnownObject(data []byte, visit func(key, value []byte) error) error {
	return members(data, func(key []byte, from, to int) error { return visit(key, data[from:to:to]) })
}

// members is KnownObject with the places of the values.
func members(data []byte, visit func(key []byte, from, to int) error) error {
	i := space(data, 0)
	if i == len(data) || data[i] != '{' {
		return nil
	}
	for i = space(data, i+1); i < len(data) && data[i] == '"'; i = space(data, i) {
		start := i + 1
		end := skipString(data, start)
		if end == len(data) {
			return nil
		}
		key := data[start : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			if _, _, f := str(data, start); f != 0 {
				return nil
			}
			key = unescape(make([]byte, 0, len(key)), key)
		}
		if i = space(data, end); i == len(data) || data[i] != ':' {
			return nil
		}
		start = space(data, i+1)
		end = skip(data, start)
		if err := visit(key, start, end); err != nil {
			return err
		}
		if i = space(data, end); i == len(data) || data[i] != ',' {
			return nil
		}
		i++
	}
	return nil
}

// Span finds the value of a member of data, which is known to be one valid JSON
// value: data[from:to] is that of the last member of the name, as every decoder
// takes it. It finds nothing in what is no object.
func Span(data []byte, name string) (from, to int, found bool) {
	_ = members(data, func(key []byte, start, end int) error {
		if string(key) == name {
			from, to, found = start, end, true
		}
		return nil
	})
	return from, to, found
}

// Member returns the value that Span finds, a sub-slice of data, or nil.
func Member(data []byte, name string) []byte {
	if from, to, ok := Span(data, name); ok {
		return data[from:to:to]
	}
	return nil
}

// KnownArray is Array for data that is known to be one valid JSON array; see
// KnownObject.
func KnownArray(data []byte, visit func(i int, value []byte) error) error {
	i := space(data, 0)
	if i == len(data) || data[i] != '[' {
		return nil
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == ']' {
		return nil
	}
	for n := 0; i < len(data); n++ {
		end := skip(data, i)
		if err := visit(n, data[i:end:end]); err != nil {
			return err
		}
		if i = space(data, end); i == len(data) || data[i] != ',' {
			return nil
		}
		i = space(data, i+1)
	}
	return nil
}

// skip returns the end of the valid value that begins at i.
func skip(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = skipString(data, i+1)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ' ', '\n', '\t', '\r', ',', ':':
			if depth <= 0 {
				return i
			}
			i++
			continue
		default: // a number or a word
			for i++; i < len(data) && inWord(data[i]); i++ {
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(data)
}

func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// skipString returns the index after the closing quote of the valid string
// whose first byte is at i.
func skipString(data []byte, i int) int {
	for start := i; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		i += n
		slash := i
		for slash > start && data[slash-1] == '\\' {
			slash--
		}
		if (i-slash)%2 == 0 {
			return i + 1
		}
	}
}
