package process

import (
	"context"
	"errors"

	"golang.org/x/sys/windows"
)

// watch closes gone when pid has ended.
func watch(ctx context.Context, pid int, gone chan<- struct{}) {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			tellGone(ctx, gone) // there is no such process
		}
		return
	}
	go func() { // ends with the process or within watchPoll of ctx
		defer windows.CloseHandle(handle)
		for ctx.Err() == nil {
			event, err := windows.WaitForSingleObject(handle, uint32(watchPoll.Milliseconds()))
			switch {
			case err != nil:
				return
			case event == windows.WAIT_OBJECT_0:
				tellGone(ctx, gone)
				return
			}
		}
	}()
}
