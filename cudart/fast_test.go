package cudart_test

import (
	"math"
	"testing"

	"github.com/x448/float16"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// fastRows are the rows whose kernels have forms of their own for halves and for float32. Their slopes are rows of dy and x.
var fastRows = map[string]struct {
	f func(s *amp.Scope, x *amp.Tensor) *amp.Tensor
	// ulps is how many units of 2⁻²⁴ of the result, or of 1 for what cancels, a float32 result may be off; near the end of the tails, where
	// an exponent is large, there are more of them.
	ulps float64
}{
	"exp": {amp.Exp, 2}, "tanh": {amp.Tanh, 3}, "sigmoid": {amp.Sigmoid, 1.01}, "silu": {amp.SiLU, 1.01}, "gelu": {amp.GELU, 16}, "gelu_tanh": {amp.GELUTanh, 1.01},
	"gelu'": {slope(amp.GELU), 6}, "silu'": {slope(amp.SiLU), 6}, "gelu_tanh'": {slope(amp.GELUTanh), 6},
}

// slope is the gradient of f's sum.
func slope(f func(s *amp.Scope, x *amp.Tensor) *amp.Tensor) func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		x = x.RequireGrad()
		amp.Sum(s, f(s, x)).Backward()
		return x.Grad()
	}
}

// everyHalf are all numbers of a 16-bit dtype, and what else there is.
func everyHalf(dt amp.DType) []float64 {
	out := make([]float64, 0, 1<<16)
	for b := range 1 << 16 {
		if dt == amp.BFloat16 {
			out = append(out, float64(math.Float32frombits(uint32(b)<<16)))
			continue
		}
		out = append(out, float64(float16.Frombits(uint16(b)).Float32()))
	}
	return out
}

// float32s are numbers of every size and sign, and the special ones.
func float32s() []float64 {
	out := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN()}
	for b := uint64(1); b < 1<<32; b += 130_003 {
		if v := float64(math.Float32frombits(uint32(b))); v-v == 0 {
			out = append(out, v)
		}
	}
	return out
}

// truth computes f in float64 on the CPU.
func truth(f func(s *amp.Scope, x *amp.Tensor) *amp.Tensor, v []float64) []float64 {
	s := amp.NewScope(amp.On("cpu"))
	defer s.Close()
	return f(s, placed(s, amp.Float64, v, len(v))).Float64s()
}

// onDevice computes f in a dtype on the device.
func onDevice(device string, dt amp.DType, f func(s *amp.Scope, x *amp.Tensor) *amp.Tensor, v []float64) []float64 {
	s := amp.NewScope(amp.On(device))
	defer s.Close()
	return f(s, placed(s, dt, v, len(v))).Float64s()
}

// TestFastRowsOfHalves gives them every number: results are the nearest to the truth or next to it, and hardly ever not the nearest.
func TestFastRowsOfHalves(t *testing.T) {
	device := gpu(t)
	for dt, digits := range map[amp.DType]int{amp.Float16: 11, amp.BFloat16: 8} {
		in := everyHalf(dt)
		low := map[amp.DType]int{amp.Float16: -13, amp.BFloat16: -125}[dt]
		for name, row := range fastRows {
			off := 0
			want := truth(row.f, in)
			for i, got := range onDevice(device, dt, row.f, in) {
				w := want[i]
				if w-w != 0 || got-got != 0 { // an infinite result may be a finite one rounded
					if !(got == w || got != got && w != w || math.IsInf(got, 0) && math.Abs(w) > 6e4) {
						t.Errorf("%s of %v(%v) is %v, want %v", name, dt, in[i], got, w)
					}
					continue
				}
				_, e := math.Frexp(w)
				unit := math.Ldexp(1, max(e, low)-digits)
				most := 1.01 * unit
				if name[len(name)-1] == '\'' {
					most += 4e-6 // where it crosses 0
				}
				if d := math.Abs(got - w); d > most && math.Abs(w) > 4e-37 { // float32's exponent ends there
					t.Errorf("%s of %v(%v) is %v, want %v", name, dt, in[i], got, w)
				} else if d > 0.51*unit {
					off++
				}
			}
			if off > len(in)/200 {
				t.Errorf("%s of %v: %d of %d results are not the nearest", name, dt, off, len(in))
			}
		}
	}
}

// TestFastRowsOfFloat32 holds them to a few units in the last place over all of float32, and to the CPU's infinities and NaN.
func TestFastRowsOfFloat32(t *testing.T) {
	device := gpu(t)
	in := float32s()
	for name, row := range fastRows {
		want := truth(row.f, in)
		for i, got := range onDevice(device, amp.Float32, row.f, in) {
			w := want[i]
			if got != got && w != w || got == float64(float32(w)) {
				continue
			}
			size := math.Abs(w)
			if name[len(name)-1] == '\'' {
				size = 1
			}
			if !(math.Abs(got-w) <= row.ulps*0x1p-24*size+2e-43) && math.Abs(w) > 1e-36 {
				t.Errorf("%s(%v) is %v, want %v", name, in[i], got, w)
			}
		}
	}
}

// TestLongMaps: a thread that takes two vectors gives the bits of two that take one each, whatever is left over at the end.
func TestLongMaps(t *testing.T) {
	device := gpu(t)
	for _, n := range []int{8, 1024, 2048, 2056, 4096, 6144, 12288, 16384 + 8, 20000, 20001} {
		in := numbers(n, math.NaN(), math.Inf(1))
		for name, f := range map[string]func(s *amp.Scope, x *amp.Tensor) *amp.Tensor{
			"exp": amp.Exp, "isnan": amp.IsNaN, "to float16": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.To(s, x, amp.Float16) },
			"to float32": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.To(s, x, amp.Float32) },
			"to float64": func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.To(s, x, amp.Float64) },
			"a part":     func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Neg(s, amp.Narrow(s, x, 0, 1, n-1)) },
		} {
			for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64} {
				run := func(from int) []float64 {
					defer cudart.ShortMaps(from)()
					return onDevice(device, dt, f, in)
				}
				want := run(1 << 40)
				for i, got := range run(1) {
					if math.Float64bits(got) != math.Float64bits(want[i]) {
						t.Fatalf("%s of %d %v: element %d is %v, want %v", name, n, dt, i, got, want[i])
					}
				}
			}
		}
	}
}
