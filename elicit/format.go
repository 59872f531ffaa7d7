package elicit

import "strings"

// formats are the string formats of MCP's forms; others only annotate.
var formats = map[string]func(string) bool{
	"email":     isEmail,
	"uri":       isURI,
	"date":      isDate,
	"date-time": isDateTime,
}

// isEmail accepts what has the shape of an address: something before the last
// @, and labels without blanks after it. Whether it exists only a mail can
// tell, so it is no stricter.
func isEmail(s string) bool {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 || i == len(s)-1 || strings.ContainsFunc(s, isBlankOrControl) {
		return false
	}
	for label := range strings.SplitSeq(s[i+1:], ".") {
		if label == "" {
			return false
		}
	}
	return true
}

// isURI accepts a scheme, a colon and something after it (RFC 3986, 3), with
// characters beyond ASCII allowed.
func isURI(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || rest == "" || !isLetter(scheme[0]) {
		return false
	}
	for _, c := range []byte(scheme) {
		if !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return !strings.ContainsFunc(rest, isBlankOrControl) && !strings.ContainsAny(rest, "<>\"{}|\\^`")
}

func isBlankOrControl(r rune) bool { return r <= ' ' || r == 0x7f }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isDate accepts RFC 3339's full-date: 2006-01-02, of days that exist.
func isDate(s string) bool {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return false
	}
	year, ok1 := number(s[:4])
	month, ok2 := number(s[5:7])
	day, ok3 := number(s[8:])
	return ok1 && ok2 && ok3 && 1 <= month && month <= 12 && 1 <= day && day <= daysIn(year, month)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// isDateTime accepts RFC 3339's date-time: a date, T, a time with optional
// fraction, and an offset. A leap second may be anywhere.
func isDateTime(s string) bool {
	const date, clock = len("2006-01-02"), len("15:04:05")
	if len(s) < date+1+clock+1 || !isDate(s[:date]) || s[date]|0x20 != 't' {
		return false
	}
	s = s[date+1:]
	if !isClock(s[:5]) || s[5] != ':' {
		return false
	}
	if second, ok := number(s[6:8]); !ok || second > 60 {
		return false
	}
	s = s[clock:]
	if s[0] == '.' {
		digits := 1
		for digits < len(s) && isDigit(s[digits]) {
			digits++
		}
		if digits == 1 {
			return false
		}
		s = s[digits:]
	}
	return s == "Z" || s == "z" || len(s) == 6 && (s[0] == '+' || s[0] == '-') && isClock(s[1:])
}

// isClock accepts 15:04.
func isClock(s string) bool {
	hour, ok1 := number(s[:2])
	minute, ok2 := number(s[3:5])
	return ok1 && ok2 && s[2] == ':' && hour <= 23 && minute <= 59
}

// number reads decimal digits only.
func number(s string) (int, bool) {
	n := 0
	for _, c := range []byte(s) {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
