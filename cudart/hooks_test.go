package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestHooksOnDevice: hooks and kept gradients of a step on the device, run one by one and captured.
func TestHooksOnDevice(t *testing.T) {
	device := gpu(t)
	run := func(on string, captured bool) (out []float64) {
		root := amp.NewScope(amp.On(on), amp.Seed(2))
		defer root.Close()
		w := amp.Randn(root, amp.Float32, 0, 1, 3, 4).RequireGrad()
		x := amp.Randn(root, amp.Float32, 0, 1, 4, 5)
		kept := amp.Zeros(root, amp.Float16, 3, 5)
		w.RegisterHook(func(g *amp.Tensor) *amp.Tensor { return amp.MulScalar(root.NoGrad(), g, 0.5) })
		step := func(s *amp.Scope) {
			w.ZeroGrad()
			y := amp.MatMul(s.Autocast(amp.Float16), w, x).RetainGrad()
			amp.Sum(s, amp.To(s, amp.Mul(s, y, y), amp.Float32)).Backward()
			amp.AddInPlace(s.NoGrad(), kept, y.Grad())
		}
		if captured {
			g := root.Capture(step)
			for range 2 {
				g.Replay()
			}
			out = append(kept.Float64s(), w.Grad().Float64s()...)
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			return out
		}
		for s := range root.Steps(3) {
			step(s)
		}
		return append(kept.Float64s(), w.Grad().Float64s()...)
	}
	want := run("cpu", false)
	for _, captured := range []bool{false, true} {
		got := run(device, captured)
		for i := range want {
			if d := got[i] - want[i]; d > 1e-2 || d < -1e-2 {
				t.Fatalf("captured %v: %v, the CPU's %v", captured, got, want)
			}
		}
		if slices.Equal(got[:15], make([]float64, 15)) {
			t.Error("nothing kept")
		}
	}
}
