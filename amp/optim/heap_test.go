package optim_test

import (
	"runtime"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestStepHeap: what a steady training step leaves to the garbage collector is small and does not grow with the tensors.
func TestStepHeap(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool keeps less under the race detector")
	}
	const most = 64 << 10 // bytes; a step has some 40 ops
	for _, dt := range []amp.DType{amp.NoDType, amp.Float16, amp.BFloat16} {
		root := amp.NewScope(amp.Seed(1), amp.On("cpu"))
		net, x, y := mlp(root)
		opt := optim.NewSGD(net.Parameters(), optim.LR(0.001))
		scaler := amp.NewGradScaler(amp.ScalerEnabled(dt == amp.Float16))
		const steps = 40
		var before, after runtime.MemStats
		n := 0
		for s := range root.Steps(2 * steps) {
			if n++; n == steps {
				runtime.ReadMemStats(&before)
			}
			half := s
			if dt != amp.NoDType {
				half = s.Autocast(dt)
			}
			loss := nn.MSELoss(half, net.Forward(half, x), y)
			opt.ZeroGrad()
			scaler.Scale(s, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / steps; got > most {
			t.Errorf("%v: a step takes %d bytes of heap, at most %d are meant", dt, got, most)
		}
		root.Close()
	}
}
