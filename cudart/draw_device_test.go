package cudart_test

import (
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// drawnTensors are calls that make random tensors.
var drawnTensors = map[string]func(s *amp.Scope, n int) *amp.Tensor{
	"uniform float32":  func(s *amp.Scope, n int) *amp.Tensor { return amp.Rand(s, amp.Float32, -1, 3, n) },
	"uniform float64":  func(s *amp.Scope, n int) *amp.Tensor { return amp.Rand(s, amp.Float64, 0, 1, n) },
	"uniform float16":  func(s *amp.Scope, n int) *amp.Tensor { return amp.Rand(s, amp.Float16, 0, 1e-5, n) },
	"uniform bfloat16": func(s *amp.Scope, n int) *amp.Tensor { return amp.Rand(s, amp.BFloat16, 0, 1, n) },
	"normal float32":   func(s *amp.Scope, n int) *amp.Tensor { return amp.Randn(s, amp.Float32, 0, 1, n) },
	"normal float64":   func(s *amp.Scope, n int) *amp.Tensor { return amp.Randn(s, amp.Float64, 2, 0.3, n) },
	"normal float16":   func(s *amp.Scope, n int) *amp.Tensor { return amp.Randn(s, amp.Float16, 0, 3e4, n) }, // some overflow
	"normal bfloat16":  func(s *amp.Scope, n int) *amp.Tensor { return amp.Randn(s, amp.BFloat16, 0, 1e-3, n) },
	"whole":            func(s *amp.Scope, n int) *amp.Tensor { return amp.RandInt(s, -3, 1000, n) },
	"whole, far":       func(s *amp.Scope, n int) *amp.Tensor { return amp.RandInt(s, math.MinInt64, math.MinInt64+1<<53, n) },
	"order":            amp.RandPerm,
}

// TestDrawnOnDevice: random tensors have the same bits on a device as on the CPU, whatever was drawn before, and a device draws them itself.
func TestDrawnOnDevice(t *testing.T) {
	device := gpu(t)
	for name, draw := range drawnTensors {
		t.Run(name, func(t *testing.T) {
			here, there := amp.NewScope(amp.On("cpu"), amp.Seed(5)), amp.NewScope(amp.On(device), amp.Seed(5))
			defer here.Close()
			defer there.Close()
			for _, n := range []int{0, 1, 2, 3, 777, 70001} {
				before := cudart.CountsOf(device).Uploads
				x := draw(there, n)
				if now := cudart.CountsOf(device).Uploads; name != "order" && now != before {
					t.Errorf("%d numbers came from the host", n)
				}
				want, got := draw(here, n).Float64s(), x.Float64s()
				for i := range want {
					if want[i] != got[i] {
						t.Fatalf("number %d of %d: %v, on the CPU %v", i, n, got[i], want[i])
					}
				}
				if a, b := here.Random().State(), there.Random().State(); a != b {
					t.Errorf("after %d numbers the stream is at %v, on the CPU at %v", n, b, a)
				}
				x.Free()
			}
		})
	}
}

// TestReplaysDrawTensors: a captured step makes its random tensors anew in each replay, as the same steps one by one do.
func TestReplaysDrawTensors(t *testing.T) {
	device := gpu(t)
	for name, draw := range drawnTensors {
		t.Run(name, func(t *testing.T) {
			one, whole := amp.NewScope(amp.On(device), amp.Seed(5)), amp.NewScope(amp.On(device), amp.Seed(5))
			defer one.Close()
			defer whole.Close()
			pairs := func(noise **amp.Tensor) func(s *amp.Scope) {
				return func(s *amp.Scope) {
					draw(s, 3)
					*noise = amp.Stack(s, 0, draw(s, 777), draw(s, 777))
				}
			}
			var want, got *amp.Tensor
			step := pairs(&want)
			g := whole.Capture(pairs(&got))
			defer g.Close()
			step(one)
			for k := range 4 {
				step(one)
				g.Replay()
				if a, b := want.Float64s(), got.Float64s(); !slices.Equal(a, b) {
					t.Fatalf("replay %d: %v …, step by step %v …", k, b[:4], a[:4])
				}
			}
			if a, b := one.Random().State(), whole.Random().State(); a != b {
				t.Errorf("the stream is at %+v, step by step at %+v", b, a)
			}
		})
	}
}
