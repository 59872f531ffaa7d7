package process

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// environ is a child's environment as a list of KEY=value, the last of equal
// keys being the one that counts.
type environ []string

// get returns the value of key. Names differ by case on Unix only.
func (e environ) get(key string) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		name, value, ok := strings.Cut(e[i], "=")
		if ok && sameVar(name, key) {
			return value, true
		}
	}
	return "", false
}

func sameVar(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// with returns the environment with key set to value.
func (e environ) with(key, value string) environ {
	out := make(environ, 0, len(e)+1)
	for _, kv := range e {
		if name, _, _ := strings.Cut(kv, "="); !sameVar(name, key) {
			out = append(out, kv)
		}
	}
	return append(out, key+"="+value)
}

// path returns the folders of PATH in order. Relative entries, the empty one
// included, are left out: a program of the folder that happens to be current,
// often somebody else's checkout, must not be started for its name alone.
func (e environ) path() []string {
	value, ok := e.get("PATH")
	if !ok {
		value = defaultPath
	}
	var dirs []string
	for _, dir := range filepath.SplitList(value) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// withFolderOf returns the environment with the folder of program at the end
// of PATH, unless it is in there. A script given by its absolute path is often
// run by an interpreter that lies next to it ("#!/usr/bin/env node").
func (e environ) withFolderOf(program string) environ {
	folder := filepath.Dir(program)
	if !filepath.IsAbs(folder) || strings.ContainsRune(folder, filepath.ListSeparator) {
		return e
	}
	for _, dir := range e.path() {
		if filepath.Clean(dir) == folder {
			return e
		}
	}
	value, ok := e.get("PATH")
	if !ok {
		value = defaultPath
	}
	if value != "" {
		value += string(filepath.ListSeparator)
	}
	return e.with("PATH", value+folder)
}

// home returns the child's home folder, or ours, or "".
func (e environ) home() string {
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	if home, ok := e.get(key); ok && home != "" {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}
