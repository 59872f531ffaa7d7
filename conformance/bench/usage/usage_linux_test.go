package usage

import (
	"os"
	"testing"
)

// A process's clock is that of the process, by its id as by none.
func TestCPU(t *testing.T) {
	before, ok := CPU(os.Getpid())
	own, ok2 := CPU(0)
	after, ok3 := CPU(os.Getpid())
	if !ok || !ok2 || !ok3 || before <= 0 || own < before || after < own {
		t.Errorf("by id %v, then of this process %v, then by id %v; known: %v %v %v", before, own, after, ok, ok2, ok3)
	}
}

func TestOf(t *testing.T) {
	m, ok := Of(os.Getpid())
	if !ok || m.Now <= 0 || m.Peak < m.Now {
		t.Errorf("Of(self) = %+v, %v", m, ok)
	}
	if _, ok := Of(1 << 30); ok {
		t.Error("a process that is not there has memory")
	}
}
