package optim_test

import (
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestClippingScaledGradients is the usual loop with its lines in the wrong order, and in the right one.
func TestClippingScaledGradients(t *testing.T) {
	var said strings.Builder
	defer amp.SetWarnings(amp.SetWarnings(&said))
	for _, clip := range []struct {
		name string
		do   func([]*amp.Tensor)
	}{
		{"norm", func(p []*amp.Tensor) { optim.ClipGradNorm(p, 0.01) }},
		{"largest", func(p []*amp.Tensor) { optim.ClipGradNorm(p, 0.01, optim.NormType(1)) }},
		{"value", func(p []*amp.Tensor) { optim.ClipGradValue(p, 0.01) }},
	} {
		for _, early := range []bool{false, true} {
			if early && clip.name != "norm" {
				continue // it is said once in a program
			}
			root := amp.NewScope(amp.Seed(1))
			net := nn.NewLinear(root, 3, 1)
			opt := optim.NewAdam(net.Parameters(), optim.LR(0.1))
			scaler := amp.NewGradScaler()
			for s := range root.Steps(3) {
				half := s.Autocast(amp.Float16)
				loss := amp.Mean(s, amp.Square(s, net.Forward(half, amp.Randn(s, amp.Float32, 0, 1, 4, 3))))
				opt.ZeroGrad()
				scaler.Scale(s, loss).Backward()
				if early {
					clip.do(net.Parameters())
				} else {
					scaler.Unscale(opt)
					clip.do(net.Parameters())
				}
				scaler.Step(opt)
				scaler.Update()
			}
			root.Close()
			if n := strings.Count(said.String(), "GradScaler.Step: the gradient of weight was clipped while it was multiplied"); n != map[bool]int{true: 1}[early] || strings.Count(said.String(), "\n") != n {
				t.Errorf("%s, before unscaling %v: said %q", clip.name, early, said.String())
			}
			said.Reset()
		}
	}
}
