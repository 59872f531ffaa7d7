//go:build unix

package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// defaultPath is searched when a child's environment has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// A tree is the process group of a child. Its id is not used again by the
// system as long as the group has a member.
type tree struct{ group int }

// prepare makes the child the leader of a new group.
func (t *tree) prepare(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	return nil
}

func (t *tree) adopt(cmd *exec.Cmd) error {
	t.group = cmd.Process.Pid
	return nil
}

// alive reports whether the group has a member that runs. A member that ended
// and was not reaped does not count.
func (t *tree) alive() bool { return groupAlive(t.group) }

// term asks the group to end.
func (t *tree) term() bool {
	unix.Kill(-t.group, unix.SIGTERM)
	return true
}

func (t *tree) kill() { unix.Kill(-t.group, unix.SIGKILL) }

func (t *tree) release() {}

// confineSelf keeps to ourselves what whoever started us left open in us by
// mistake: children shall not hold an editor's files. Groups and the reaper do
// what a job does on Windows.
func confineSelf(func(error)) { keepFiles() }

// command returns what starts path with args.
func command(path string, args []string, _ environ) (*exec.Cmd, error) {
	return &exec.Cmd{Path: path, Args: append([]string{path}, args...)}, nil
}

func mayExecute(path string) bool { return unix.Access(path, unix.X_OK) == nil }

func exitOf(state *os.ProcessState) Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		name := unix.SignalName(status.Signal())
		if name == "" {
			name = fmt.Sprintf("signal %d", int(status.Signal()))
		}
		return Exit{Code: -1, Signal: name}
	}
	return Exit{Code: state.ExitCode()}
}

// startError explains why the program at path, which was there a moment ago,
// did not start: the system's words are about another file then.
func startError(path string, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		if interpreter := interpreterOf(path); interpreter != "" {
			return &NotExecutableError{Path: path, Reason: fmt.Sprintf("the interpreter %q of its first line does not exist", interpreter)}
		}
		return &NotExecutableError{Path: path, Reason: "the file, or the loader it needs, does not exist"}
	case errors.Is(err, unix.ENOEXEC):
		return &NotExecutableError{Path: path, Reason: "the system does not know this kind of program (another machine type, or a script without a #! line)"}
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return &NotExecutableError{Path: path, Reason: "permission denied"}
	}
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("starting %q: %w", path, err)
}

// maxShebang is the longest first line looked at; the kernel reads 256 bytes.
const maxShebang = 512

func interpreterOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, maxShebang).ReadSlice('\n')
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	fields := strings.Fields(string(rest))
	if len(fields) == 0 {
		return ""
	}
	if strings.HasSuffix(string(bytes.TrimRight(line, "\n")), "\r") && len(fields) == 1 {
		return fields[0] + `\r` // a script with Windows line ends
	}
	return fields[0]
}
