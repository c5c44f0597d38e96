package store

import (
	"testing"
	"time"
)

// TestShareOfTime: whatever copies take, they are made so seldom that it is a two-hundredth of the time; the first and the last are due to
// the moment at which the test ends.
func TestShareOfTime(t *testing.T) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		th := add(t, s, "a", 40, false)
		was := anchorEvery
		defer func() { anchorEvery = was }()
		anchorEvery = 0 // so that the share alone decides
		var copies, longest, marks, longestMark time.Duration
		sets, steps := 0, 0
		start := time.Now()
		for time.Since(start) < 700*time.Millisecond || sets < 3 && time.Since(start) < 20*time.Second {
			before := s.copyCost
			th.set(byte(steps))
			if d := s.copyCost - before; d > 0 {
				copies += d
				longest = max(longest, d)
				sets++
			}
			due := s.Due()
			if err := s.EndStep(due); err != nil {
				t.Fatal(err)
			}
			if due {
				marks += s.markCost
				longestMark = max(longestMark, s.markCost)
			}
			steps++
		}
		took := time.Since(start)
		t.Logf("%d steps in %v: %d sets of copies took %v, commits %v", steps, took, sets, copies, marks)
		if copies > took/copyShare+2*longest || sets < 2 {
			t.Errorf("%d sets of copies took %v of %v, the longest %v", sets, copies, took, longest)
		}
		if marks > took/share+2*longestMark {
			t.Errorf("commits took %v of %v", marks, took)
		}
		_ = s.Close()
	})
}
