package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The readers below turn one node into a Go value, or say what is wrong with
// it without quoting it.

func wantKind(n *node, want string) string {
	return "must be " + want + ", not " + n.kind()
}

func asBool(n *node) (bool, string) {
	b, ok := n.value.(bool)
	if !ok {
		return false, wantKind(n, "true or false")
	}
	return b, ""
}

func asInt(n *node, low, high int) (int, string) {
	i, ok := n.value.(int64)
	switch {
	case !ok:
		return 0, wantKind(n, "an integer")
	case i < int64(low):
		return 0, fmt.Sprintf("must be at least %d", low)
	case i > int64(high):
		return 0, fmt.Sprintf("must be at most %d", high)
	}
	return int(i), ""
}

// maxSeconds bounds every duration in the configuration: ten years.
const maxSeconds = 10 * 365 * 24 * 60 * 60

func asSeconds(n *node) (time.Duration, string) {
	var f float64
	switch v := n.value.(type) {
	case int64:
		f = float64(v)
	case float64:
		f = v
	default:
		return 0, wantKind(n, "a number of seconds")
	}
	switch {
	case math.IsNaN(f), math.IsInf(f, 0):
		return 0, "must be a finite number of seconds"
	case f < 0:
		return 0, "must not be negative"
	case f > maxSeconds:
		return 0, fmt.Sprintf("must be at most %d seconds", maxSeconds)
	}
	return time.Duration(math.Round(f * float64(time.Second))), ""
}

func asMillis(n *node) (time.Duration, string) {
	i, ok := n.value.(int64)
	switch {
	case !ok:
		return 0, wantKind(n, "a whole number of milliseconds")
	case i < 0:
		return 0, "must not be negative"
	case i > maxSeconds*1000:
		return 0, fmt.Sprintf("must be at most %d milliseconds", maxSeconds*1000)
	}
	return time.Duration(i) * time.Millisecond, ""
}

func asString(n *node) (string, string) {
	s, ok := n.value.(string)
	if !ok {
		return "", wantKind(n, "a string")
	}
	return s, ""
}

// asWord reads one of the allowed words.
func asWord(n *node, words []string) (string, string) {
	s, wrong := asString(n)
	if wrong != "" {
		return "", wrong + "; one of " + strings.Join(words, ", ")
	}
	for _, w := range words {
		if s == w {
			return w, ""
		}
	}
	return "", "must be one of " + strings.Join(words, ", ")
}

// spelled gives the text of a value that must end up a string. Integers and
// booleans have one obvious spelling and are taken; 1.10 does not say whether
// "1.1" was meant.
func spelled(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// quoteHint tells how to mend a value that should have been a string.
func quoteHint(v any) string {
	switch v.(type) {
	case float64, time.Time:
		return `write it in quotes`
	}
	return ""
}
