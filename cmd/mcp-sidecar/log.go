package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
)

// logFlags say what is logged, how and where to.
type logFlags struct {
	level  string
	format string
	file   string
}

// open returns the logger, and a function that closes its file. Logs never go
// to stdout.
func (f logFlags) open(errOut io.Writer) (zerolog.Logger, func(), error) {
	level, err := zerolog.ParseLevel(f.level)
	if err != nil || f.level == "" {
		return zerolog.Nop(), nil, fmt.Errorf("--log-level: %q is none of trace, debug, info, warn, error, disabled", f.level)
	}
	w, closeFile := errOut, func() {}
	if f.file != "" {
		name := strings.ReplaceAll(f.file, "{{.pid}}", strconv.Itoa(os.Getpid()))
		file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return zerolog.Nop(), nil, fmt.Errorf("--log-file: %w", err)
		}
		w, closeFile = file, func() { _ = file.Close() }
	}
	text := false
	switch f.format {
	case "auto":
		text = f.file == "" && isTerminal(errOut)
	case "text":
		text = true
	case "json":
	default:
		closeFile()
		return zerolog.Nop(), nil, fmt.Errorf("--log-format: %q is none of auto, text, json", f.format)
	}
	if text {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: !isTerminal(w)}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger(), closeFile, nil
}

func isTerminal(w any) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && isatty.IsTerminal(f.Fd())
}
