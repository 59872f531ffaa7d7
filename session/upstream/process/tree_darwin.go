package process

import "golang.org/x/sys/unix"

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// groupAlive reports whether the group has a member that is not a zombie.
func groupAlive(group int) bool {
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return unix.Kill(-group, 0) != unix.ESRCH
	}
	for _, member := range members {
		if member.Proc.P_stat != zombie {
			return true
		}
	}
	return false
}
