package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCurveLines holds passes of curves to the curves in float64, over all sizes and at the ends.
func TestCurveLines(t *testing.T) {
	tanhOfSoftplus := func(x float64) float64 { return Tanh.Of(Softplus.Of(x)) }
	curves := []struct {
		name     string
		k        *LineKernel
		arg      []float32
		slope    bool // times a line of ones, into line 2
		f        func(x float64) float64
		ulps     float64
		absolute float64 // beside the ulps, where a curve has a zero or its results are subnormal
	}{
		{"square", &LineSquare, nil, false, func(x float64) float64 { return x * x }, 0.5, 0},
		{"cube", &LineCube, nil, false, func(x float64) float64 { return x * x * x }, 1.5, 0x1p-120},
		{"sqrt", &LineSqrt, nil, false, math.Sqrt, 0.5, 0},
		{"rsqrt", &LineRsqrt, nil, false, func(x float64) float64 { return 1 / math.Sqrt(x) }, 1.5, 0},
		{"reciprocal", &LineReciprocal, nil, false, func(x float64) float64 { return 1 / x }, 0.5, 0},
		{"elu", &LineElu, []float32{1.5, 1, 1}, false, func(x float64) float64 {
			if x > 0 {
				return x
			}
			return 1.5 * Expm1.Of(x)
		}, 3, 0},
		{"elu slope", &LineEluGrad, []float32{1.5, 1, 1}, true, func(x float64) float64 {
			if x > 0 {
				return 1
			}
			return 1.5 * Exp.Of(x)
		}, 2, 0x1p-148},
		{"softplus", &LineSoftplus, []float32{1, 1e30}, false, Softplus.Of, 3, 0x1p-148},
		{"softplus slope", &LineSoftplusGrad, []float32{1, 1e30}, true, Sigmoid.Of, 2, 0},
		{"logsigmoid", &LineLogSigmoid, nil, false, func(x float64) float64 { return -Softplus.Of(-x) }, 3, 0x1p-148},
		{"logsigmoid slope", &LineLogSigmoidGrad, nil, true, func(x float64) float64 { return Sigmoid.Of(-x) }, 2, 0},
		{"mish", &LineMish, nil, false, func(x float64) float64 { return x * tanhOfSoftplus(x) }, 5, 0x1p-142},
		{"mish slope", &LineMishGrad, nil, true, func(x float64) float64 {
			y := tanhOfSoftplus(x)
			if math.IsInf(x, 0) {
				return y
			}
			return y + x*Sigmoid.Of(x)*(1-y)*(1+y)
		}, 8, 0x1p-21},
		{"hardswish", &LineHardswish, nil, false, func(x float64) float64 {
			return map[bool]float64{true: x * math.Min(math.Max(x+3, 0), 6) / 6, false: math.Max(x, 0)}[math.Abs(x) < 3 || x != x]
		}, 2.5, 0},
		{"hardswish slope", &LineHardswishGrad, nil, true, func(x float64) float64 {
			return map[bool]float64{true: x/3 + 0.5, false: math.Min(math.Max(x, 0), 1)}[math.Abs(x) < 3 || x != x]
		}, 1, 0x1p-24},
	}
	r := rand.New(rand.NewPCG(8, 9))
	x := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-45, -1e-45, 3e38, -3e38, 1, -1, 3, -3, 20, -104, 0.41421356}
	for range 30000 {
		x = append(x, float32(r.NormFloat64()*5), math.Float32frombits(r.Uint32()))
	}
	for _, c := range curves {
		io := &Line{}
		io.F32[0], io.F32[1], io.F32[2] = x, make([]float32, len(x)), make([]float32, len(x))
		copy(io.Arg[:], c.arg)
		got := io.F32[1]
		if c.slope {
			got = io.F32[2]
			for i := range io.F32[1] {
				io.F32[1][i] = 1
			}
		}
		c.k.Run(len(x), io)
		for i, v := range x {
			want := c.f(float64(v))
			y := float64(got[i])
			if y != y && (want != want || math.IsInf(float64(v), 0)) || float32(want) == got[i] {
				continue
			}
			a := float32(min(math.Abs(want), math.MaxFloat32))
			ulp := math.Max(float64(a)-float64(math.Nextafter32(a, 0)), 0x1p-149)
			if e := math.Abs(y-want) / ulp; !(e <= c.ulps || math.Abs(y-want) <= c.absolute) {
				t.Errorf("%s of %v is %v, want %v: %.2f ulp", c.name, v, y, want, e)
				break
			}
		}
	}
}
