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

// drawnSizes end in every part of what a thread, a run of threads and a block of threads draw.
var drawnSizes = []int{0, 1, 2, 3, 7, 8, 9, 255, 257, 511, 513, 777, 1023, 1024, 1025, 70001}

// TestDrawnOnDevice: random tensors have the same bits on a device as on the CPU, whatever was drawn before, and a device draws them itself.
func TestDrawnOnDevice(t *testing.T) {
	device := gpu(t)
	for name, draw := range drawnTensors {
		t.Run(name, func(t *testing.T) {
			here, there := amp.NewScope(amp.On("cpu"), amp.Seed(5)), amp.NewScope(amp.On(device), amp.Seed(5))
			defer here.Close()
			defer there.Close()
			for _, n := range drawnSizes {
				before := cudart.CountsOf(device).Uploads
				x := draw(there, n)
				if now := cudart.CountsOf(device).Uploads; name != "order" && now != before {
					t.Errorf("%d numbers came from the host", n)
				}
				want, got := draw(here, n).Float64s(), x.Float64s()
				for i := range want {
					if math.Float64bits(want[i]) != math.Float64bits(got[i]) {
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

// TestDrawnIntoParts: numbers drawn into a part of a tensor are those of a whole one, wherever it begins, and nothing beside it changes.
func TestDrawnIntoParts(t *testing.T) {
	device := gpu(t)
	dev, _, err := amp.OpenDevice(device)
	if err != nil {
		t.Fatal(err)
	}
	draws := map[string]amp.Numbers{
		"units":   {Kind: amp.UniformNumbers, B: 1, High: 1},
		"uniform": {Kind: amp.UniformNumbers, A: -1, B: 4, High: 3},
		"normal":  {Kind: amp.NormalNumbers, A: 2, B: 0.3},
		"whole":   {Kind: amp.WholeNumbers, Low: -3, Span: 1003},
	}
	for name, r := range draws {
		t.Run(name, func(t *testing.T) {
			for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64} {
				if (dt == amp.Int64) != (r.Kind == amp.WholeNumbers) {
					continue
				}
				for _, n := range []int{1, 8, 9, 515, 1024, 1027} {
					for from := range 9 {
						drawnInto(t, dev, device, dt, r, from, n)
					}
				}
			}
		})
	}
}

// drawnInto draws n numbers from element from on of a tensor that is longer by 5.
func drawnInto(t *testing.T, dev amp.Device, device string, dt amp.DType, r amp.Numbers, from, n int) {
	t.Helper()
	here, there := amp.NewScope(amp.On("cpu"), amp.Seed(5)), amp.NewScope(amp.On(device))
	defer here.Close()
	defer there.Close()
	want := onHost(here, dt, r, n).Float64s()
	x := amp.Full(there, dt, 7, from+n+5)
	r.What, r.Draw = "test", amp.Draw{Seed: 5}
	if err := dev.(amp.Drawer).Draw(x.Layout().Buffer, from*dt.Size(), dt, n, r); err != nil {
		t.Fatal(err)
	}
	for i, v := range x.Float64s() {
		w := 7.0
		if i >= from && i < from+n {
			w = want[i-from]
		}
		if math.Float64bits(v) != math.Float64bits(w) {
			t.Fatalf("%v: %d numbers at %d: element %d is %v, not %v", dt, n, from, i, v, w)
		}
	}
}

// onHost is what amp draws for r.
func onHost(s *amp.Scope, dt amp.DType, r amp.Numbers, n int) *amp.Tensor {
	switch r.Kind {
	case amp.NormalNumbers:
		return amp.Randn(s, dt, r.A, r.B, n)
	case amp.WholeNumbers:
		return amp.RandInt(s, r.Low, r.Low+r.Span, n)
	}
	return amp.Rand(s, dt, r.A, r.A+r.B, n)
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
					*noise = amp.Stack(s, 0, draw(s, 1777), draw(s, 1777))
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
