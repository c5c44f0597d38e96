package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// TestCapturedConvolutions: what a convolutional step keeps from one run to the next, running statistics and momentum, is as in eager steps.
func TestCapturedConvolutions(t *testing.T) {
	for name, from := range map[string]int64{"Halftone's kernels": -1, "cuDNN": 0} {
		t.Run(name, func(t *testing.T) {
			defer cudart.SetDNNFrom(from)()
			capturedConvolutions(t, gpu(t))
		})
	}
}

// firstStep takes a step, captured or not, and returns what takes further ones and what ends them.
func firstStep(root *amp.Scope, captured bool, step func(*amp.Scope)) (again, done func()) {
	if captured {
		g := root.Capture(step)
		return g.Replay, func() { g.Close() }
	}
	step(root)
	return func() { step(root) }, func() {}
}

// takeSteps takes n steps, or one and replays of it.
func takeSteps(root *amp.Scope, n int, captured bool, step func(*amp.Scope)) {
	if captured {
		g := root.Capture(step)
		for range n - 1 {
			g.Replay()
		}
		return
	}
	for s := range root.Steps(n) {
		step(s)
	}
}

func capturedConvolutions(t *testing.T, device string) {
	run := func(captured bool) (weights, buffers [][]float32, skipped int) {
		root := amp.NewScope(amp.On(device), amp.Seed(1))
		defer root.Close()
		net := nn.NewSequential(nn.NewConv2d(root, 3, 8, 3, nn.Padding(1)), nn.NewBatchNorm2d(root, 8), nn.ReLU, nn.MaxPool2d(2),
			nn.NewConv2d(root, 8, 8, 3, nn.Padding(1)), nn.NewBatchNorm2d(root, 8), nn.ReLU, nn.Flatten, nn.NewLinear(root, 8*16, 4))
		opt := optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9))
		scaler := amp.NewGradScaler(amp.InitScale(128))
		x, y := amp.Randn(root, amp.Float32, 0, 1, 4, 3, 8, 8), amp.RandInt(root, 0, 4, 4)
		step := func(s *amp.Scope) {
			opt.ZeroGrad()
			half := s.Autocast(amp.Float16)
			scaler.Scale(s, nn.CrossEntropyLoss(half, net.Forward(half, x), y)).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
		takeSteps(root, 8, captured, step)
		for _, b := range net.Buffers() {
			if b.DType() == amp.Float32 {
				buffers = append(buffers, amp.Values[float32](b))
			}
		}
		return bits(net), buffers, scaler.History().Skipped
	}
	weights, buffers, skipped := run(false)
	gotWeights, gotBuffers, gotSkipped := run(true)
	if skipped != gotSkipped || skipped > 2 {
		t.Errorf("%d steps skipped, captured %d", skipped, gotSkipped)
	}
	for i := range weights {
		if !slices.Equal(weights[i], gotWeights[i]) {
			t.Errorf("parameter %d differs", i)
		}
	}
	for i := range buffers {
		if !slices.Equal(buffers[i], gotBuffers[i]) {
			t.Errorf("buffer %d: %v, captured %v", i, buffers[i], gotBuffers[i])
		}
	}
}
