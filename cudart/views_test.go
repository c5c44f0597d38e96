package cudart_test

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// deviceViews are views of a [2 3 4 6] tensor that leave something out or change the order.
var deviceViews = map[string]func(s *amp.Scope, x *amp.Tensor) *amp.Tensor{
	"narrow":    func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Narrow(s, x, 2, 3, 1) },
	"select":    func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Select(s, x, 3, 2) },
	"transpose": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Transpose(s, x, 1, 3) },
	"diagonal":  func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Diagonal(s, x, 1, 2, 3) },
	"slice":     func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Slice(s, x, 3, 1, 6, 2) },
}

// changes are what changes a view on a device, with a tensor there to read.
var changes = map[string]func(s *amp.Scope, dst, x *amp.Tensor){
	"AddInPlace":  amp.AddInPlace,
	"CopyInPlace": amp.CopyInPlace,
	"Assign":      func(_ *amp.Scope, dst, x *amp.Tensor) { amp.Assign(dst, x) },
	"ScaleGrad": func(_ *amp.Scope, dst, x *amp.Tensor) {
		p := amp.Like(x)
		p.SetGrad(dst)
		amp.ScaleGrad(p, -2)
	},
	"ClampGrad": func(_ *amp.Scope, dst, x *amp.Tensor) {
		p := amp.Like(x)
		p.SetGrad(dst)
		amp.ClampGrad(p, -0.5, 0.25)
	},
}

// TestViewsChangeOnDevice: what is written into views on the device is the CPU's, by kernels alone: nothing goes to the host and back.
func TestViewsChangeOnDevice(t *testing.T) {
	device := gpu(t)
	for name, change := range changes {
		for where, view := range deviceViews {
			for _, dt := range []amp.DType{amp.Float16, amp.Float32, amp.Float64, amp.Int64} {
				run := func(on string) []float64 {
					s := amp.NewScope(amp.On(on), amp.Seed(4)).NoGrad()
					defer s.Close()
					x := amp.To(s, amp.MulScalar(s, amp.Randn(s, amp.Float32, 0, 1, 2, 3, 4, 6), 3), dt)
					dst := view(s, x)
					y := amp.To(s, amp.Randn(s, amp.Float32, 0, 1, dst.Shape()...), dt)
					version, before := x.Version(), cudart.CountsOf(device)
					change(s, dst, y)
					if after := cudart.CountsOf(device); after.Uploads != before.Uploads || after.Downloads != before.Downloads {
						t.Errorf("%s of %v on %s went to the host: %+v after %+v", name, dt, where, after, before)
					}
					if x.Version() != version+1 {
						t.Errorf("%s on %s: version %d after %d", name, where, x.Version(), version)
					}
					return x.Float64s()
				}
				if dt == amp.Int64 && (name == "ScaleGrad" || name == "ClampGrad") {
					continue // no gradients
				}
				if got, want := run(device), run("cpu"); !slices.Equal(got, want) {
					t.Fatalf("%s of %v on %s:\n%v, the CPU's\n%v", name, dt, where, got, want)
				}
			}
		}
	}
}

// TestAssignToViewsOfDevice: values of the host, of another dtype and order too, arrive in a view on the device and nowhere else.
func TestAssignToViewsOfDevice(t *testing.T) {
	device := gpu(t)
	for where, view := range deviceViews {
		run := func(on string) []float64 {
			s, host := amp.NewScope(amp.On(on), amp.Seed(4)).NoGrad(), amp.NewScope(amp.On("cpu"), amp.Seed(5)).NoGrad()
			defer s.Close()
			defer host.Close()
			x := amp.Randn(s, amp.Float16, 0, 1, 2, 3, 4, 6)
			dst := view(s, x)
			shape := dst.Shape()
			slices.Reverse(shape)
			order := make([]int, len(shape))
			for d := range order {
				order[d] = len(shape) - 1 - d
			}
			amp.Assign(dst, amp.Permute(host, amp.Randn(host, amp.Float32, 0, 1, shape...), order...))
			return x.Float64s()
		}
		if got, want := run(device), run("cpu"); !slices.Equal(got, want) {
			t.Errorf("%s:\n%v, the CPU's\n%v", where, got, want)
		}
	}
}

// TestCapturedCacheIsWritten: a step that writes one place of a cache, and changes a diagonal, is captured and replayed.
func TestCapturedCacheIsWritten(t *testing.T) {
	device := gpu(t)
	run := func(on string) []float64 {
		root := amp.NewScope(amp.On(on), amp.Seed(1))
		defer root.Close()
		cache, sums := amp.Zeros(root, amp.Float16, 2, 3, 4, 5), amp.Zeros(root, amp.Float32, 4, 4)
		k := amp.Randn(root, amp.Float32, 0, 1, 2, 3, 1, 5)
		g := root.Capture(func(s *amp.Scope) {
			s = s.NoGrad()
			amp.CopyInPlace(s, amp.Narrow(s, cache, 2, 3, 1), k)
			amp.AddInPlace(s, amp.Diagonal(s, sums, 0, 0, 1), amp.Ones(s, amp.Float32, 4))
			amp.Assign(amp.Narrow(s, cache, 2, 1, 1), amp.Narrow(s, cache, 2, 3, 1))
		})
		version := cache.Version()
		for range 3 {
			amp.SetValues(k, slices.Repeat([]float32{1.5, -2}, 15))
			g.Replay()
		}
		if cache.Version() == version {
			t.Errorf("on %s a replay left the cache's version", on)
		}
		out := append(cache.Float64s(), sums.Float64s()...)
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		return out
	}
	if got, want := run(device), run("cpu"); !slices.Equal(got, want) {
		t.Errorf("%v, the CPU's %v", got, want)
	}
}
