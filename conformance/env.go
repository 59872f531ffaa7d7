package conformance

import (
	"os"
	"strings"
)

const (
	// scriptedCommand is the command of a server that the script plays.
	scriptedCommand = "scripted"
	// testDomain ends the host names of servers that the script plays.
	testDomain = ".test"
)

// parentEnv is the environment of the sidecar: a home, a PATH and what the
// script adds. bin, if not "", comes first in PATH.
func parentEnv(s *Script, paths map[string]string, bin string) []string {
	path := "/usr/bin:/bin"
	if bin != "" {
		path = bin + string(os.PathListSeparator) + path
	}
	env := []string{"HOME=" + paths["home"], "PATH=" + path}
	for _, line := range s.env {
		line = fillGiven(line, paths, false)
		if p, ok := strings.CutPrefix(line, "PATH="); ok && bin != "" {
			line = "PATH=" + bin + string(os.PathListSeparator) + p
		}
		env = append(env, line)
	}
	return env
}
