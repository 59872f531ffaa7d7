package elicit

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// foreignSyntax is what people know from other regular expressions and RE2
// lacks. The list is closed, since a problem may name what stands in it and
// nothing else of a pattern, which may be a secret.
var foreignSyntax = []string{
	"(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?|", "(?(", "(?R", "(?&", "(?x",
	`\1`, `\2`, `\3`, `\4`, `\5`, `\6`, `\7`, `\8`, `\9`, `\k`, `\g`, `\K`, `\G`, `\Z`, `\R`, `\X`, `\h`,
	"++", "*+", "?+",
}

// wrongInPattern says why a pattern is none, without quoting it: the kind of
// error, and which foreign construct it is about, if it is about one.
func wrongInPattern(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch code := e.Code; code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture, syntax.ErrInvalidEscape, syntax.ErrInvalidRepeatOp:
		for _, construct := range foreignSyntax {
			if strings.HasPrefix(e.Expr, construct) {
				if code == syntax.ErrInvalidNamedCapture { // a look behind is taken for one
					code = syntax.ErrInvalidPerlOp
				}
				return ": " + string(code) + ": `" + construct + "`"
			}
		}
	}
	return ": " + string(e.Code)
}
