package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
)

// Bounds of what is shown on a terminal at a time, in bytes.
const (
	maxShown       = 16 << 10 // of one text
	maxShownParams = 8 << 10
	maxShownLabel  = 2 << 10
	maxShownResult = 64 << 20 // more than a server can send
)

// onLine is a text of others on one line.
func onLine(s string) string { return elicit.Clean(s, maxShown) }

// marked is a text of others on lines of its own, each behind a mark, so that
// none looks like a prompt.
func marked(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(elicit.CleanLines(s, maxShown), "\n") {
		fmt.Fprintf(&b, "  | %s\n", line)
	}
	return b.String()
}

// shownJSON is JSON on one line. It says the same as raw: characters that show
// nothing, or change how others look, are written as escapes. Of more than max
// bytes the beginning is shown.
func shownJSON(raw json.RawMessage, max int) string {
	whole := len(raw)
	if whole > max {
		raw = raw[:max]
		if last := lastRune(raw); !utf8.FullRune(last) {
			raw = raw[:len(raw)-len(last)]
		}
	}
	var b strings.Builder
	for _, r := range string(raw) {
		switch {
		case r == ' ' || elicit.Clean(string(r), utf8.UTFMax) != "":
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	if len(raw) < whole {
		fmt.Fprintf(&b, " … (%d bytes in all)", whole)
	}
	return b.String()
}

// lastRune is the last rune of b, or what there is of it.
func lastRune(b []byte) []byte {
	at := len(b) - 1
	for at > 0 && !utf8.RuneStart(b[at]) {
		at--
	}
	return b[at:]
}
