//go:build long

package optim_test

import (
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestLongTraining trains the tutorial's model for 2,000 steps on fresh batches. Every precision must learn what float32 learns, the
// scaler must settle, and without the scaler gradients as small as a deep network's must be lost in float16.
func TestLongTraining(t *testing.T) {
	// train returns the mean loss of the first and the last 50 steps. The loss is multiplied by shrink and the learning rate
	// divided by it, which changes nothing but the size of the gradients.
	train := func(dt amp.DType, scaled bool, shrink float64) (first, last float64, h amp.ScaleHistory) {
		root := amp.NewScope(amp.Seed(5))
		defer root.Close()
		net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
		opt := optim.NewSGD(net.Parameters(), optim.LR(0.05/shrink), optim.Momentum(0.9), optim.Nesterov())
		scaler := amp.NewGradScaler(amp.ScalerEnabled(scaled), amp.GrowthInterval(200))
		const steps = 2000
		for s := range root.Steps(steps) {
			x := amp.Randn(s, amp.Float32, 0, 1, 128, 8)
			target := make([]float32, 128)
			for i, v := range amp.Values[float32](x) {
				target[i/8] += float32(math.Sin(float64(v))) / 2
			}
			forward := s
			if dt != amp.NoDType {
				forward = s.Autocast(dt)
			}
			loss := nn.MSELoss(forward, net.Forward(forward, x), amp.From(target, 128, 1))
			opt.ZeroGrad()
			scaler.Scale(s, amp.MulScalar(s, loss, shrink)).Backward()
			scaler.Unscale(opt)
			optim.ClipGradNorm(opt.Parameters(), 10*shrink)
			scaler.Step(opt)
			scaler.Update()
			switch v := loss.Item(); {
			case s.Step() < 50:
				first += v / 50
			case s.Step() >= steps-50:
				last += v / 50
			}
			x.Free()
		}
		return first, last, scaler.History()
	}
	begin, full, _ := train(amp.NoDType, false, 1)
	if full > begin/10 {
		t.Fatalf("float32 itself goes from %g to %g", begin, full)
	}
	for _, c := range []struct {
		name   string
		dt     amp.DType
		scaled bool
		shrink float64
		learns bool
	}{
		{"float16 with scaler", amp.Float16, true, 1, true},
		{"bfloat16", amp.BFloat16, false, 1, true},
		{"float16 with scaler, tiny gradients", amp.Float16, true, 1e-7, true},
		{"bfloat16, tiny gradients", amp.BFloat16, false, 1e-7, true},
		{"float16 without scaler, tiny gradients", amp.Float16, false, 1e-7, false},
	} {
		_, last, h := train(c.dt, c.scaled, c.shrink)
		if learns := last < full*1.3; learns != c.learns {
			t.Errorf("%s ends at %g, float32 at %g", c.name, last, full)
		}
		if c.scaled && float64(h.Skipped) > 0.05*float64(h.Nominal) {
			t.Errorf("%s skipped %d of %d steps", c.name, h.Skipped, h.Nominal)
		}
	}
}
