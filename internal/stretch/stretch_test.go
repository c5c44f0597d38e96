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

// TestLoadThatHasEnded: what ran among many threads is not judged as if it had been alone when they have ended.
func TestLoadThatHasEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the load is measured on Linux")
	}
	const each = 12
	before := runtime.GOMAXPROCS(each * runtime.NumCPU())
	defer runtime.GOMAXPROCS(before)
	began := time.Now()
	var spinners sync.WaitGroup
	for range each * runtime.NumCPU() {
		spinners.Go(func() {
			for time.Since(began) < time.Second {
			}
		})
	}
	spinners.Wait()
	d := time.Since(began)
	if n := during(d); n < 3 {
		t.Errorf("%d threads for each processor counted as %.1f", each, n)
	}
	if Over(d, d/4) || !Over(time.Hour, time.Nanosecond) {
		t.Error("Over")
	}
}
