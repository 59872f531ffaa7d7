package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// LookPath returns the absolute path of the program that command means for a
// child with the working folder dir and the environment env (KEY=value).
//
// A command without a separator is searched in the PATH of env, whose relative
// entries are skipped; without PATH the system's default is used. One with a
// separator is resolved against dir, or against our own working folder when
// dir is empty. On Windows the extensions of PATHEXT are tried, and a file
// without one, such as the sh script "npx" next to "npx.cmd", is never taken.
//
// Errors: [*CwdMissingError] for dir, looked at first; [*NotFoundError];
// [*NotExecutableError] when a file of that name exists but cannot be run.
func LookPath(command, dir string, env []string) (string, error) {
	if err := checkDir(dir); err != nil {
		return "", err
	}
	return finder{env: env, dir: dir, windows: runtime.GOOS == "windows"}.find(command)
}

// checkDir reports whether a child can be started in dir.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return &CwdMissingError{Dir: dir, Err: err}
	case !info.IsDir():
		return &CwdMissingError{Dir: dir}
	}
	return nil
}

// A finder searches by the rules of one system. The rules of Windows are data
// here, not build tags, so that they are tested everywhere.
type finder struct {
	env     environ
	dir     string
	windows bool
}

func (f finder) find(command string) (string, error) {
	if command == "" {
		return "", &NotFoundError{}
	}
	var refused *NotExecutableError
	try := func(base string) (string, bool) {
		for _, path := range f.candidates(base) {
			switch reason, exists := f.check(path); {
			case exists && reason == "":
				return path, true
			case exists && refused == nil:
				refused = &NotExecutableError{Path: path, Reason: reason}
			}
		}
		return "", false
	}

	var searched []string
	if f.hasSeparator(command) {
		base, err := f.absolute(command)
		if err != nil {
			return "", err
		}
		if path, ok := try(base); ok {
			return path, nil
		}
		searched = []string{base}
	} else {
		searched = f.env.path()
		for _, dir := range searched {
			if path, ok := try(filepath.Join(dir, command)); ok {
				return path, nil
			}
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &NotFoundError{Command: command, Searched: searched, FoundElsewhere: f.elsewhere(command)}
}

func (f finder) hasSeparator(command string) bool {
	if f.windows {
		return strings.ContainsAny(command, `/\:`)
	}
	return strings.ContainsRune(command, '/')
}

func (f finder) absolute(command string) (string, error) {
	if filepath.IsAbs(command) {
		return filepath.Clean(command), nil
	}
	return filepath.Abs(filepath.Join(f.dir, command))
}

// candidates returns the files that base may mean, best first. The last one on
// Windows, base as it stands, is only there to be refused with a reason.
func (f finder) candidates(base string) []string {
	if !f.windows {
		return []string{base}
	}
	var paths []string
	exts := f.extensions()
	if hasExtension(base, exts) {
		paths = append(paths, base)
	}
	for _, ext := range exts {
		paths = append(paths, base+ext)
	}
	if !hasExtension(base, exts) {
		paths = append(paths, base)
	}
	return paths
}

// defaultPathExt is what Windows itself assumes when PATHEXT is not set.
const defaultPathExt = ".COM;.EXE;.BAT;.CMD"

func (f finder) extensions() []string {
	value, _ := f.env.get("PATHEXT")
	if strings.Trim(value, "; ") == "" {
		value = defaultPathExt
	}
	var exts []string
	for ext := range strings.SplitSeq(strings.ToLower(value), ";") {
		switch ext = strings.TrimSpace(ext); {
		case ext == "":
		case !startable(ext):
			// PATHEXT lists scripts too (.JS, .VBS), which only a shell runs.
		default:
			exts = append(exts, ext)
		}
	}
	return exts
}

// startable reports whether a file with the extension ext can be given to
// CreateProcess, or to cmd.exe by us.
func startable(ext string) bool {
	switch strings.ToLower(ext) {
	case ".com", ".exe", ".bat", ".cmd":
		return true
	}
	return false
}

func hasExtension(path string, exts []string) bool {
	have := strings.ToLower(filepath.Ext(path))
	for _, ext := range exts {
		if have == ext && have != "" {
			return true
		}
	}
	return false
}

// check reports whether path exists and, if it cannot be started, why.
func (f finder) check(path string) (reason string, exists bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		return "it is a folder", true
	case f.windows:
		ext := filepath.Ext(path)
		switch {
		case startable(ext):
			return "", true
		case strings.EqualFold(ext, ".ps1"):
			cmd := strings.TrimSuffix(filepath.Base(path), ext) + ".cmd"
			return "a PowerShell script is not a program; use " + cmd + ", or powershell.exe with -File", true
		}
		return "Windows cannot start a file of this kind", true
	case info.Mode().Perm()&0o111 == 0:
		return "the file is not executable (chmod +x is missing)", true
	case !mayExecute(path):
		return "we have no permission to execute it", true
	}
	return "", true
}
