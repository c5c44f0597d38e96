//go:build long

package amp

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// TestConvertEveryFloat32 narrows all 2³² bit patterns and compares with the float16 package and with the definition of
// bfloat16: the nearer of the two neighbors, the even one on a tie.
func TestConvertEveryFloat32(t *testing.T) {
	var wrong atomic.Int64
	cpu.Parallel(1<<32, 1<<24, func(lo, hi int) {
		const n = 1 << 12
		src, half, brain := make([]float32, n), make([]uint16, n), make([]uint16, n)
		for base := lo; base < hi; base += n {
			for i := range src {
				src[i] = math.Float32frombits(uint32(base + i))
			}
			cpu.NarrowF16(half, src)
			cpu.NarrowBF16(brain, src)
			for i, f := range src {
				want := float16.Fromfloat32(f)
				if half[i] != want.Bits() && !(f != f && float16.Frombits(half[i]).IsNaN()) {
					if wrong.Add(1) < 10 {
						t.Errorf("%08x: float16 %04x, want %04x", base+i, half[i], want.Bits())
					}
				}
				if !nearestBF16(f, brain[i]) && wrong.Add(1) < 10 {
					t.Errorf("%08x: bfloat16 %04x", base+i, brain[i])
				}
			}
		}
	})
}

func nearestBF16(f float32, got uint16) bool {
	if f != f {
		return got&0x7fff > 0x7f80
	}
	u := math.Float32bits(f)
	down, rest := uint16(u>>16), u&0xffff
	switch {
	case rest < 0x8000:
		return got == down
	case rest > 0x8000:
		return got == down+1
	}
	return got == down+down&1
}

// TestRandomGraphs builds random programs of table ops and compares values and gradients under float16 and bfloat16 autocast with
// float64, in the tolerance that the depth allows. Gradients in float64 are held to differences by TestEveryOpGradient.
func TestRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	steps := []func(s *Scope, x, w *Tensor) *Tensor{
		func(s *Scope, x, w *Tensor) *Tensor { return Linear(s, x, w, nil) },
		func(s *Scope, x, w *Tensor) *Tensor { return MatMul(s, x, w) },
		func(s *Scope, x, _ *Tensor) *Tensor { return Softmax(s, x, -1) },
		func(s *Scope, x, _ *Tensor) *Tensor { return LogSoftmax(s, x, 0) },
		func(s *Scope, x, _ *Tensor) *Tensor { return Exp(s, MulScalar(s, x, 0.3)) },
		func(s *Scope, x, _ *Tensor) *Tensor { return Transpose(s, x, 0, 1) },
		func(s *Scope, x, _ *Tensor) *Tensor { return Add(s, x, Mean(s, x, 0)) },
		func(s *Scope, x, w *Tensor) *Tensor { return Sub(s, Mul(s, x, w), x) },
		func(s *Scope, x, _ *Tensor) *Tensor { return Div(s, x, AddScalar(s, Mul(s, x, x), 1)) },
	}
	for trial := range 400 {
		program := make([]int, 2+r.IntN(6))
		for i := range program {
			program[i] = r.IntN(len(steps))
		}
		root := NewScope(Seed(uint64(trial)))
		x64, w64 := Rand(root, Float64, -1, 1, 4, 4), Rand(root, Float64, -1, 1, 4, 4)
		run := func(s *Scope, dt DType) (float64, []float64) {
			x, w := FromFloat64s(dt, x64.Float64s(), 4, 4).RequireGrad(), FromFloat64s(dt, w64.Float64s(), 4, 4).RequireGrad()
			y := x
			for _, k := range program {
				y = steps[k](s, y, w)
			}
			loss := Mean(s, y)
			loss.Backward()
			return loss.Item(), append(gradient(x), gradient(w)...)
		}
		value, grads := run(root, Float64)
		for dt, tol := range map[DType]float64{Float16: 0.02, BFloat16: 0.15} {
			v, g := run(root.Autocast(dt), Float32)
			scale := 0.1
			for _, w := range grads {
				scale = math.Max(scale, math.Abs(w))
			}
			if !(math.Abs(v-value) <= tol*(0.1+math.Abs(value))) {
				t.Errorf("program %v in %v: %v, want %v", program, dt, v, value)
			}
			for i := range g {
				if !(math.Abs(g[i]-grads[i]) <= tol*scale) {
					t.Errorf("program %v in %v: gradient %d is %v, want %v", program, dt, i, g[i], grads[i])
				}
			}
		}
		root.Close()
	}
}
