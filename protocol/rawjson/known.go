package rawjson

import "bytes"

// KnownObject is Object for data that is known to be one valid JSON object,
// such as a value that Object or Array has handed out: it looks for the ends of
// the values only, which is several times as fast. Of other data it visits
// something or nothing.
func KnownObject(data []byte, visit func(key, value []byte) error) error {
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
		if err := visit(key, data[start:end:end]); err != nil {
			return err
		}
		if i = space(data, end); i == len(data) || data[i] != ',' {
			return nil
		}
		i++
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
