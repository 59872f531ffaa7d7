//go:build unix

package process

import (
	"context"
	"os"
	"time"
)

// poll closes gone when pid has ended, looking once a second. Our parent is
// told by our having another one then; ids of others may be used again between
// two looks, which goes unnoticed. It ends with the process or with ctx.
func poll(ctx context.Context, pid int, gone chan<- struct{}) {
	isParent := os.Getppid() == pid
	tick := time.NewTicker(watchPoll)
	defer tick.Stop()
	for {
		if !running(pid) || isParent && os.Getppid() != pid {
			tellGone(ctx, gone)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
