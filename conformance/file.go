package conformance

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The statements about files.
const (
	verbFile verb = "file" // and a doing: write, mode
	verbHas  verb = "has"
)

// parseFileStep parses "file PATH: WORD TEXT".
func parseFileStep(s step, text string) (step, error) {
	path, rest, ok := strings.Cut(strings.TrimPrefix(text, string(verbFile)+" "), ": ")
	word, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok || path == "" || path[0] != '$' {
		return s, s.errorf(`file: want "file $config: WORD …", or another path that begins with $cwd or $home`)
	}
	s.path, s.text = path, rest
	var err error
	switch word {
	case string(verbHas):
		s.verb = verbHas
		_, err = unescape(rest)
	case "write":
		s.doing = word
		_, err = unescape(rest)
	case "mode":
		s.doing = word
		_, err = strconv.ParseUint(rest, 8, 9)
	default:
		err = errors.New("no such word; there are has, write and mode")
	}
	if err != nil {
		return s, s.errorf("file: %s: %w", word, err)
	}
	return s, nil
}

// fileOf returns the path and the text of a step, filled in.
func (p *player) fileOf(s *step) (path, text string, err error) {
	values := map[string]string{}
	for _, name := range given {
		values[name] = p.vars[name].text
	}
	path = fillGiven(s.path, values, false)
	if strings.HasPrefix(path, "$") {
		return "", "", fmt.Errorf("%s is no path", s.path)
	}
	raw, err := unescape(fillGiven(s.text, values, true))
	return path, string(raw), err
}

// changeFile does to a file what another program would.
func (p *player) changeFile(s *step) error {
	path, text, err := p.fileOf(s)
	if err != nil {
		return err
	}
	if s.doing == "mode" {
		mode, err := strconv.ParseUint(text, 8, 9)
		if err != nil {
			return err
		}
		return os.Chmod(path, os.FileMode(mode))
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// lookAtFile checks what a file holds.
func (p *player) lookAtFile(s *step) error {
	path, text, err := p.fileOf(s)
	if err != nil {
		return s.errorf("%w", err)
	}
	var holds []byte
	if !p.stage.until(func() bool {
		holds, err = os.ReadFile(path)
		return err == nil && glob(text, string(holds))
	}) {
		return s.errorf("file %s: %w: it holds\n%s\nwant\n%s", s.path, errors.Join(err, errors.New("it differs")), holds, text)
	}
	return nil
}
