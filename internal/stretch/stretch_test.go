package stretch

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLimit: a limit is never shorter than what was asked for, and longer where several threads want each processor.
func TestLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the load is measured on Linux")
	}
	if l := Limit(time.Second); l < time.Second {
		t.Errorf("%v", l)
	}
	if Over(time.Second, time.Second) || !Over(time.Hour, time.Nanosecond) {
		t.Error("Over")
	}
	before := runtime.GOMAXPROCS(8 * runtime.NumCPU()) // as many threads
	defer runtime.GOMAXPROCS(before)
	var end atomic.Bool
	var spinners sync.WaitGroup
	for range 8*runtime.NumCPU() - 1 {
		spinners.Go(func() {
			for !end.Load() {
			}
		})
	}
	defer spinners.Wait()
	defer end.Store(true)
	longest := time.Duration(0)
	for range 4 { // the threads have to begin
		longest = max(longest, Limit(time.Second))
	}
	if longest < 3*time.Second {
		t.Errorf("among eight threads for each processor: %v", longest)
	}
}
