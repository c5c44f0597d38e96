package optim_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestSteadySteps: from the third step on no optimizer takes a buffer from the system, with a scaler that skips now and then.
func TestSteadySteps(t *testing.T) {
	for name, build := range makers {
		for _, fused := range []bool{false, true} {
			root := amp.NewScope(amp.Seed(1))
			w := amp.Full(root, amp.Float32, 1, 300).SetName("w").RequireGrad()
			opts := []optim.Option{optim.LR(0.01)}
			if fused {
				opts = append(opts, optim.Fused())
			}
			o := build([]*amp.Tensor{w}, opts...)
			scaler := amp.NewGradScaler(amp.InitScale(8), amp.GrowthInterval(3))
			device := w.Device()
			var before int64
			for s := range root.Steps(9) {
				if s.Step() == 4 {
					before = amp.MemStats()[device].NewBuffers
				}
				o.ZeroGrad()
				scaler.Scale(s, amp.Sum(s, amp.Mul(s, w, w))).Backward()
				scaler.Step(o)
				scaler.Update()
			}
			if took := amp.MemStats()[device].NewBuffers - before; took != 0 {
				t.Errorf("%s, fused %v: five steady steps took %d buffers", name, fused, took)
			}
			root.Close()
		}
	}
}

// TestMovingRates: what a GradScaler on a device that works by itself is told, no optimizer asks the host for: the same steps on the
// tests' device and on the CPU, with rates that move and gradients that overflow, end at the same weights.
func TestMovingRates(t *testing.T) {
	for name, build := range makers {
		run := func(opts ...amp.Option) []float64 {
			root := amp.NewScope(append(opts, amp.Seed(1))...)
			defer root.Close()
			w := amp.Arange(root, amp.Float32, 1, 8, 1).SetName("w").RequireGrad()
			o := build([]*amp.Tensor{w}, optim.LR(0.01))
			scaler := amp.NewGradScaler(amp.InitScale(0x1p127), amp.GrowthInterval(3)) // overflows at first
			for s := range root.Steps(9) {
				o.ZeroGrad()
				scaler.Scale(s, amp.Sum(s, amp.Mul(s, w, w))).Backward()
				scaler.Step(o)
				scaler.Update()
				o.SetLR(0.01 / float64(2+s.Step()))
			}
			if n := o.Steps(); n == 0 || n == 9 {
				t.Errorf("%s: %d of 9 steps were taken", name, n)
			}
			return w.Float64s()
		}
		want := run(amp.On("cpu"))
		for i, v := range run() {
			if !near(v, want[i], 1, amp.Float32) {
				t.Errorf("%s: element %d is %v, on the CPU %v", name, i, v, want[i])
			}
		}
	}
}
