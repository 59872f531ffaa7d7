//go:build unix && !linux && !darwin

package process

import "context"

// watch closes gone when pid has ended.
func watch(ctx context.Context, pid int, gone chan<- struct{}) { go poll(ctx, pid, gone) }
