package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestStepGathersBeforeItsGradientsGo lets go of a gradient whose step is gathered but not yet launched, and takes its memory for another
// tensor: the step must have read it before. ZeroGrad after Step does this.
func TestStepGathersBeforeItsGradientsGo(t *testing.T) {
	device := gpu(t)
	for _, n := range []int{1, 24, 1000, 1 << 19} {
		s := amp.NewScope(amp.On(device))
		p := amp.Full(s, amp.Float64, 3, n).RequireGrad()
		g := amp.Full(s, amp.Float64, 0.5, n)
		p.SetGrad(g)
		amp.UpdateSGD(p, nil, amp.Update{LR: 2, Step: 1})
		p.ZeroGrad()
		g.Free()
		taken := amp.Like(p) // as large, so it is the memory of the gradient
		for i, v := range p.Float64s() {
			if v != 2 {
				t.Fatalf("element %d of %d is %v after the step, want 2", i, n, v)
			}
		}
		taken.Free()
		s.Close()
	}
}
