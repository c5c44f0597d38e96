package cudart_test

import (
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// TestClipsOnDevice clips the gradients of more parameters than one launch takes, by several norms, and compares with the CPU; the host waits
// for the value alone.
func TestClipsOnDevice(t *testing.T) {
	for dt, eps := range map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 1e-6, amp.Float64: 1e-12} {
		t.Run(dt.String(), func(t *testing.T) { clipsOnDevice(t, dt, eps) })
	}
}

// clipsOnDevice lets a gradient differ by eps of itself, and by one step of what float16 has next to 0.
func clipsOnDevice(t *testing.T, dt amp.DType, eps float64) {
	device, step := gpu(t), 0.0
	if dt == amp.Float16 {
		step = 0x1p-24
	}
	params := func(on string) (*amp.Scope, []*amp.Tensor) {
		s := amp.NewScope(amp.On(on), amp.Seed(2))
		var out []*amp.Tensor
		for i := range 80 {
			p := amp.Randn(s, dt, 0, 1, 1+i%27*i*4).RequireGrad()
			p.SetGrad(amp.Randn(s, dt, 0, 1, p.Len()))
			out = append(out, p)
		}
		return s, out
	}
	for _, norm := range []float64{2, 1, 3, math.Inf(1)} {
		for _, limit := range []float64{1, 1e9} {
			here, a := params("cpu")
			there, b := params(device)
			before := cudart.CountsOf(device)
			n := optim.ClipGradNorm(b, limit, optim.NormType(norm))
			if now := cudart.CountsOf(device); now.Syncs != before.Syncs {
				t.Errorf("norm %v: the host waited", norm)
			}
			want := optim.ClipGradNorm(a, limit, optim.NormType(norm)).Value()
			if got := n.Value(); math.Abs(got-want) > 1e-9*want {
				t.Errorf("norm %v is %v, on the CPU %v", norm, got, want)
			}
			for i := range a {
				x, y := a[i].Grad().Float64s(), b[i].Grad().Float64s()
				for k := range x {
					if math.Abs(x[k]-y[k]) > eps*math.Abs(x[k])+step {
						t.Fatalf("norm %v limit %v parameter %d element %d: %v, on the CPU %v", norm, limit, i, k, y[k], x[k])
					}
				}
			}
			here.Close()
			there.Close()
		}
	}
}
