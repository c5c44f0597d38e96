//go:build unix

package cpu

import (
	"syscall"
	"testing"
	"time"
)

// TestIdleWorkersSleep: what the pool takes while there is nothing to do.
func TestIdleWorkersSleep(t *testing.T) {
	Parallel(64, 1, func(lo, hi int) {})
	time.Sleep(20 * time.Millisecond)
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	least := time.Hour // of some times: the runtime may have garbage of other tests to clean up
	for range 5 {
		before := used()
		time.Sleep(300 * time.Millisecond)
		if least = min(least, used()-before); least <= 60*time.Millisecond {
			return
		}
	}
	t.Errorf("%v of processor time in 300 ms without work", least)
}
