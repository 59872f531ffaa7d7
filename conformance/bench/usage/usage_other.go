//go:build !linux

package usage

import "time"

func cpu(int) (time.Duration, bool) { return 0, false }
func memory(int) (Memory, bool)     { return Memory{}, false }
func load() (float64, bool)         { return 0, false }
