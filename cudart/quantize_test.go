package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestQuantizeOnDevice rounds to every format, to nearest and at random: the CPU's numbers exactly.
func TestQuantizeOnDevice(t *testing.T) {
	device := gpu(t)
	v := numbers(200, 1e-7, -1e-10, 70000, -500, 3e38)
	for _, dt := range []amp.DType{amp.Float16, amp.Float32, amp.Float64} {
		for _, f := range amp.Formats() {
			for name, q := range map[string]func(s *amp.Scope, x *amp.Tensor, f amp.Format) *amp.Tensor{"nearest": amp.Quantize, "random": amp.QuantizeStochastic} {
				want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor { return q(s, placed(s, dt, v), f) })
				if i := farApart(want, got, 0, 0); i >= 0 {
					t.Errorf("%s %v to %v: element %d is %v, on the CPU %v", name, dt, f, i, got[i], want[i])
				}
			}
		}
	}
}

// TestFourBitsOnDevice: numbers of 4 bits, in every granularity, to nearest and at random, are the CPU's, and so are transforms.
func TestFourBitsOnDevice(t *testing.T) {
	device := gpu(t)
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64} {
		for _, size := range []float64{1, 1e-6, 1e4} {
			for name, f := range map[string]func(s *amp.Scope, x *amp.Tensor) *amp.Tensor{
				"nvfp4": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.QuantizeScaled(s, x, amp.FormatE2M1, amp.PerBlock16, 1)
				},
				"nvfp4 of columns": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.QuantizeScaledStochastic(s, x, amp.FormatE2M1, amp.PerBlock16, 0)
				},
				"mxfp4": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.QuantizeScaled(s, x, amp.FormatE2M1, amp.PerBlock, 0)
				},
				"mxfp4 at random": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.QuantizeScaledStochastic(s, x, amp.FormatE2M1, amp.PerBlock, 1)
				},
				"8 bits at random": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.QuantizeScaledStochastic(s, x, amp.FormatE5M2, amp.PerRow, 1)
				},
				"transform": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Hadamard(s, x, 0) },
				"and back": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.HadamardInverse(s, amp.Transpose(s, x, 0, 1), 0)
				},
			} {
				want, got := onBoth(t, device, func(s *amp.Scope) *amp.Tensor {
					return f(s, amp.Reshape(s, placed(s, dt, numbers(64*96, 3*size, -size, 0, size/100)), 64, 96))
				})
				if i := farApart(want, got, 0, 0); i >= 0 {
					t.Errorf("%s of %v: element %d is %v, on the CPU %v", name, dt, i, got[i], want[i])
				}
			}
		}
	}
}
