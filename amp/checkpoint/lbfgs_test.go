package checkpoint_test

import (
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestLBFGS: an optimizer with a history goes on bit for bit from a checkpoint.
func TestLBFGS(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	t.Cleanup(root.Close)
	x := amp.Randn(root, amp.Float32, 0, 1, 12, 3)
	y := amp.Randn(root, amp.Float32, 0, 1, 12, 1)
	build := func() (checkpoint.Parts, func() float64) {
		net := nn.NewSequential(nn.NewLinear(root, 3, 5), nn.Tanh, nn.NewLinear(root, 5, 1))
		opt := optim.NewLBFGS(net.Parameters(), optim.StrongWolfe(), optim.MaxIter(4))
		return checkpoint.Parts{Model: net, Optimizer: opt}, func() float64 {
			return opt.Step(root, func(s *amp.Scope) *amp.Tensor {
				opt.ZeroGrad()
				loss := nn.MSELoss(s, net.Forward(s, x), y)
				loss.Backward()
				return loss
			})
		}
	}
	path := filepath.Join(t.TempDir(), "run.safetensors")
	a, train := build()
	b, resumed := build()
	train()
	train()
	if err := checkpoint.Save(path, a); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Load(path, b); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if want, got := train(), resumed(); got != want {
			t.Errorf("%v, resumed %v", want, got)
		}
	}
}
