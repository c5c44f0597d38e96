package optim_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestLBFGSSearchMemory: a line search holds the gradients at the ends of its bracket and where it is, not those of all points that it has
// tried.
func TestLBFGSSearchMemory(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	w := root.Own(amp.Ones(root, amp.Float64, 1<<13)).RequireGrad()
	o := optim.NewLBFGS([]*amp.Tensor{w}, optim.StrongWolfe(), optim.LR(1e-5), optim.MaxIter(1), optim.MaxEval(30))
	var held []int64
	o.Step(root, func(s *amp.Scope) *amp.Tensor {
		held = append(held, amp.MemStats()[w.Device()].Bytes)
		o.ZeroGrad()
		loss := amp.Sum(s, amp.Sqrt(s, amp.AddScalar(s, amp.Square(s, w), 1)))
		loss.Backward()
		return loss
	})
	if len(held) < 9 {
		t.Fatalf("only %d points", len(held))
	}
	for i, bytes := range held[2:] {
		if more := bytes - held[1]; more > 2*w.Bytes() {
			t.Errorf("try %d: %d bytes more than at the first, of which a gradient has %d", i+2, more, w.Bytes())
		}
	}
}
