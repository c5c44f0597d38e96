// Package stretch lets tests that hold something to a time run on a machine that is busy with other things.
package stretch

import "time"

// work is the time of a processor that is measured with.
const work = 30 * time.Millisecond

// Over says whether d, of something that has just ended, is more than limit, and more than a machine as busy as this one is now, or was
// during d, may take for it.
func Over(d, limit time.Duration) bool {
	if d <= limit || d <= Limit(limit) {
		return false
	}
	n := during(d)
	return n < 1.5 || d > stretched(limit, n)
}

// Limit returns the time that may be asked for now where d is asked for on a quiet machine. It keeps a processor busy for a moment: if that
// takes n times as long as it would alone, with n of 1.5 or more, what was timed just before may have taken 2n times as long.
func Limit(d time.Duration) time.Duration {
	if n := measure(); n >= 1.5 {
		return stretched(d, n)
	}
	return d
}

func stretched(d time.Duration, n float64) time.Duration { return time.Duration(2 * n * float64(d)) }
