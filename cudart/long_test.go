//go:build long

package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestSumsBeyondInt: sums and the like over more than 2^31 elements are computed on the device. The elements are one, repeated, but for the
// device each is read.
func TestSumsBeyondInt(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	const n = 1<<31 + 192
	x := amp.Expand(s, placed(s, amp.Float16, []float64{0.5}, 1), n)
	before := cudart.Fallbacks()
	if got := amp.Sum(s, amp.Expand(s, placed(s, amp.Float64, []float64{0.5}, 1), n)).Item(); got != n/2 {
		t.Errorf("the sum of %d times 0.5 is %v", n, got)
	}
	if got := amp.Mean(s, x).Item(); got != 0.5 {
		t.Errorf("the mean of %d times 0.5 is %v", n, got)
	}
	for op, k := range cudart.Fallbacks() {
		if k != before[op] {
			t.Errorf("%s ran on the host", op)
		}
	}
}

func TestKernelsFailLong(t *testing.T) { failKernels(t, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89) }

func TestCallsFailLong(t *testing.T) { failCalls(t, 1) }

func TestAttentionOfAnyWidthLong(t *testing.T) {
	attentionOfAnyWidth(t, func(n int) bool { return n%5 != 0 })
}

func TestDrawnProgramsLong(t *testing.T) { trainDrawn(t, 9, 24) }

func TestDrawnProgramsTogetherLong(t *testing.T) { trainDrawnTogether(t, 9, 24) }
