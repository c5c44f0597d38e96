package stretch

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// measure returns the ratio of time that passes to time on a processor.
func measure() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin, used := time.Now(), onProcessor()
	for onProcessor()-used < work {
	}
	return float64(time.Since(begin)) / float64(onProcessor()-used)
}

// onProcessor returns the time that this thread has run.
func onProcessor() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Duration(time.Now().UnixNano()) // no clock: nothing is stretched
	}
	return time.Duration(t.Nano())
}
