package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
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

// TestGatheredSumsReadGradientsThatWent: the scratch memory of a norm, taken when what was gathered is launched, is none of the gradients'
// that have been let go of since.
func TestGatheredSumsReadGradientsThatWent(t *testing.T) {
	device := gpu(t)
	for _, n := range []int{1, 24, 1000, 1 << 19} {
		s := amp.NewScope(amp.On(device))
		p := amp.Full(s, amp.Float32, 3, n).RequireGrad()
		g := amp.Full(s, amp.Float32, 0.5, n)
		p.SetGrad(g)
		sum := amp.PowerSum(p)
		amp.AddPowers(sum, p, 1)
		p.ZeroGrad()
		g.Free()
		if got := sum.Float64s()[0]; got != 0.5*float64(n) {
			t.Errorf("the sum of %d gradients of 0.5 is %v", n, got)
		}
		s.Close()
	}
}

// TestDriverGetsNoGradientBeforeItsStep: memory that no tensor has goes back to the driver when another goroutine runs out of memory, at any
// time; that of a gradient whose step is gathered does not.
func TestDriverGetsNoGradientBeforeItsStep(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device))
	defer s.Close()
	const n = 3 << 20 // memory of its own in the pool
	p := amp.Full(s, amp.Float32, 3, n).RequireGrad()
	g := amp.Full(s, amp.Float32, 0.5, n)
	p.SetGrad(g)
	amp.UpdateSGD(p, nil, amp.Update{LR: 2, Step: 1})
	p.ZeroGrad()
	g.Free()
	cudart.Trim(device)
	before := cudart.ReservedOf(device)
	for i, v := range p.Float64s() {
		if v != 2 {
			t.Fatalf("element %d is %v after the step, want 2", i, v)
		}
	}
	if cudart.Trim(device); cudart.ReservedOf(device) > before-4*n {
		t.Errorf("the pool has %d bytes after the step, %d before", cudart.ReservedOf(device), before)
	}
}
