package stdio

import (
	"math"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// answerID returns the number that raw, the id of an answer, stands for. We
// send integers only, but servers echo 7 as "7" or 7.0, and mean the same.
func answerID(raw []byte) (int64, bool) {
	switch rawjson.Kind(raw) {
	case '0':
		return number(string(raw))
	case '"':
		text, _ := rawjson.String(raw)
		return number(text)
	}
	return 0, false
}

func number(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return 0, false
	}
	return int64(f), true
}

// exactInt reports whether raw is an integer that comes back from the SDK as
// the same bytes.
func exactInt(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n > maxExact || n < -maxExact || strconv.FormatInt(n, 10) != string(raw) {
		return 0, false
	}
	return n, true
}
