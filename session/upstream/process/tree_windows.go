package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// defaultPath is searched when a child's environment has no PATH.
const defaultPath = ""

// A tree is the job of a child. All that the child starts is in it, and the
// kernel ends the job when its last handle, ours, is closed, which it does for
// us however we end.
type tree struct{ job windows.Handle }

// prepare makes the job and has the child started suspended, so that nothing
// is started outside of the job. The child gets no console window.
func (t *tree) prepare(cmd *exec.Cmd) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	t.job = job
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.HideWindow = true
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP
	return nil
}

var ntResumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// adopt puts the child into the job and lets it run.
func (t *tree) adopt(cmd *exec.Cmd) error {
	var failed error
	err := cmd.Process.WithHandle(func(handle uintptr) {
		if err := windows.AssignProcessToJobObject(t.job, windows.Handle(handle)); err != nil {
			failed = fmt.Errorf("assigning the child to its job: %w", err)
			return
		}
		if status, _, _ := ntResumeProcess.Call(handle); int32(status) < 0 {
			failed = fmt.Errorf("resuming the child: %w", windows.NTStatus(status))
		}
	})
	if err = errors.Join(err, failed); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
	}
	return err
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	TotalUserTime, TotalKernelTime                       int64
	ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime   int64
	TotalPageFaultCount, TotalProcesses, ActiveProcesses uint32
	TotalTerminatedProcesses                             uint32
}

// alive reports whether the job has a running process.
func (t *tree) alive() bool {
	var info accounting
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err != nil || info.ActiveProcesses > 0
}

// term reports that there is no way to ask: a console event does not reach a
// process without our console.
func (t *tree) term() bool { return false }

func (t *tree) kill() { windows.TerminateJobObject(t.job, 1) }

func (t *tree) release() { windows.CloseHandle(t.job) }

// newJob returns a job that ends with its last handle.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("creating a job: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("limiting a job: %w", err)
	}
	return job, nil
}

// confineSelf puts this process into a job of its own, whose handle is kept
// until the end: a child is then a member from its birth.
func confineSelf(warn func(error)) {
	job, err := newJob()
	if err == nil {
		err = windows.AssignProcessToJobObject(job, windows.CurrentProcess())
	}
	if err != nil {
		warn(fmt.Errorf("process: confining ourselves: %w", err))
	}
}

// isBatch reports whether path is run by cmd.exe.
func isBatch(path string) bool {
	ext := filepath.Ext(path)
	return strings.EqualFold(ext, ".cmd") || strings.EqualFold(ext, ".bat")
}

// command returns what starts path with args. A batch file is replaced by the
// node program behind it where we know it, or else given to cmd.exe with a
// command line of our own.
func command(path string, args []string, env environ) (*exec.Cmd, error) {
	if !isBatch(path) {
		return &exec.Cmd{Path: path, Args: append([]string{path}, args...)}, nil
	}
	if script := npmScript(path); script != "" {
		node := filepath.Join(filepath.Dir(path), "node.exe")
		if _, err := os.Stat(node); err != nil {
			node, err = finder{env: env, windows: true}.find("node")
			if err != nil {
				node = ""
			}
		}
		if node != "" && !isBatch(node) {
			return &exec.Cmd{Path: node, Args: append([]string{node, script}, args...)}, nil
		}
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return nil, fmt.Errorf("starting %q: finding cmd.exe: %w", path, err)
	}
	shell := filepath.Join(system, "cmd.exe")
	line, err := batchLine(shell, path, args)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: shell, Args: []string{shell}, SysProcAttr: &syscall.SysProcAttr{CmdLine: line}}, nil
}

func mayExecute(string) bool { return true }

func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }

// startError explains why the program at path did not start.
func startError(path string, err error) error {
	switch {
	case errors.Is(err, windows.ERROR_BAD_EXE_FORMAT):
		return &NotExecutableError{Path: path, Reason: "it is not a program for this version of Windows"}
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return &NotExecutableError{Path: path, Reason: "access denied"}
	}
	return fmt.Errorf("starting %q: %w", path, err)
}

// A reaper has nothing to do on Windows, where the kernel ends the jobs.
type reaper struct{}

func newReaper(string, string, func(error)) *reaper { return &reaper{} }

func (*reaper) ensure()               {}
func (*reaper) add(int)               {}
func (*reaper) remove(int)            {}
func (*reaper) close(context.Context) {}

// ReaperMain reads in to its end and does nothing: Windows ends the jobs of
// children itself. It exists so that main needs no build tags.
func ReaperMain(in io.Reader, cookie string) { io.Copy(io.Discard, in) }
