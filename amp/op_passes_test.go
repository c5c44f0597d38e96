package amp

import (
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// eachThreads runs f with one thread, two and three.
func eachThreads(f func(threads int)) {
	defer cpu.SetThreads(0)
	for threads := 1; threads <= 3; threads++ {
		cpu.SetThreads(threads)
		f(threads)
	}
}

// TestSumOfHalves: halves are widened some at a time, and their sums and norms have the bits of those of the same numbers in float32, whatever
// their number and where they begin.
func TestSumOfHalves(t *testing.T) {
	s := NewScope(On("cpu"), Seed(3))
	defer s.Close()
	all := Randn(s, Float32, 0.1, 1, 3*40003+9)
	for _, dt := range []DType{Float16, BFloat16} {
		half := To(s, all, dt)
		wide := To(s, half, Float32)
		eachThreads(func(threads int) {
			for _, n := range []int{16, 31, 2047, 2048, 2081, 4101, 32768, 40003} {
				w := lineWorks.Get().(*lineWork)
				for _, off := range []int{0, 1, 9} {
					if got, want := w.sumAt(half, off, n), w.sumAt(wide, off, n); got != want {
						t.Errorf("sum of %d %v from %d on: %v, in float32 %v", n, dt, off, got, want)
					}
					if got, want := w.squaresAt(half, off, n), w.squaresAt(wide, off, n); got != want {
						t.Errorf("sum of squares of %d %v from %d on: %v, in float32 %v", n, dt, off, got, want)
					}
				}
				w.release()
				rows := func(x *Tensor) *Tensor { return Reshape(s, Narrow(s, x, 0, 9, 3*n), 3, n) }
				for name, f := range map[string]func(x *Tensor) *Tensor{
					"sum of rows": func(x *Tensor) *Tensor { return Sum(s, x, 1) }, "sum": func(x *Tensor) *Tensor { return Sum(s, x) },
					"norm": func(x *Tensor) *Tensor { return Norm(s, x) },
				} {
					if got, want := f(rows(half)).Float64s(), To(s, f(rows(wide)), dt).Float64s(); !slices.Equal(got, want) {
						t.Errorf("%s of 3×%d %v, %d threads: %v, in float32 %v", name, n, dt, threads, got, want)
					}
				}
			}
		})
	}
}

// TestSlopesByOut: the gradients of sigmoid and tanh are those of float64 to the rounding of the three products and sums of float32 that they
// are, and then of the dtype, at odd lengths and for any number of threads.
func TestSlopesByOut(t *testing.T) {
	s := NewScope(On("cpu"), Seed(5))
	defer s.Close()
	const n = 70001
	for _, dt := range []DType{Float32, Float16, BFloat16} {
		dy := To(s, Randn(s, Float32, 0, 1, n), dt)
		for _, c := range []struct {
			op    *Op
			y     *Tensor
			slope func(y float64) float64
		}{
			{opSigmoidBackward, To(s, Rand(s, Float32, 0.01, 1, n), dt), func(y float64) float64 { return (1 - y) * y }},
			{opTanhBackward, To(s, Rand(s, Float32, -1, 1, n), dt), func(y float64) float64 { return (1 - y) * (1 + y) }},
		} {
			eps := map[DType]float64{Float32: 0x1p-24, Float16: 0x1p-11, BFloat16: 0x1p-8}[dt]
			least := map[DType]float64{Float32: 0x1p-149, Float16: 0x1p-24, BFloat16: 0x1p-133}[dt]
			g, y := dy.Float64s(), c.y.Float64s()
			var first []float64
			eachThreads(func(threads int) {
				got := s.apply(c.op, Attrs{}, dy, c.y).Float64s()
				if first == nil {
					first = got
				}
				if !slices.Equal(got, first) {
					t.Errorf("%s of %v: %d threads give other numbers", c.op.Name, dt, threads)
				}
				for i, v := range got {
					want := g[i] * c.slope(y[i]) // four roundings in float32 at most, one to the dtype
					if bound := math.Abs(want)*(4.01*0x1p-24+1.01*eps) + least; math.Abs(v-want) > bound {
						t.Fatalf("%s of %v at %v: %v, want %v within %.2g", c.op.Name, dt, y[i], v, want, bound)
					}
				}
			})
		}
	}
}

// TestGroupNormGradients: what one pass over the planes gives agrees with what the graph of a second gradient computes by groups in float64,
// at sizes that divide by nothing, and the bits do not depend on threads.
func TestGroupNormGradients(t *testing.T) {
	s := NewScope(On("cpu"), Seed(7))
	defer s.Close()
	for _, shape := range [][]int{{3, 6, 9, 11}, {2, 15, 2311}, {1, 3, 64}, {5, 3, 7, 5, 3}} {
		c := shape[1]
		x, dy := Randn(s, Float32, 0.5, 2, shape...), Randn(s, Float32, 0, 1, shape...)
		w, b := Randn(s, Float32, 1, 1, c), Randn(s, Float32, 0, 1, c)
		some := make([]float32, c) // the first channel adds nothing to its group's sums
		for i := range some {
			some[i] = float32(min(i, 1))
		}
		w = Mul(s, w, From(some).To(s))
		gradients := func(dt DType, opts ...BackwardOption) [][]float64 {
			in := make([]*Tensor, 3)
			for i, p := range []*Tensor{x, w, b} {
				in[i] = MulScalar(s, To(s, p, dt), 1).RequireGrad()
			}
			y := GroupNorm(s, in[0], 3, in[1], in[2], 1e-5)
			var out [][]float64
			for _, g := range Grad(s, []*Tensor{y}, in, append(opts, GradOutputs(To(s, dy, dt)))...) {
				out = append(out, g.Float64s())
			}
			return out
		}
		want := gradients(Float64, CreateGraph())
		var first [][]float64
		eachThreads(func(threads int) {
			got := gradients(Float32)
			if first == nil {
				first = got
			}
			for i := range got {
				if !slices.Equal(got[i], first[i]) {
					t.Errorf("%v, gradient %d: %d threads give other numbers", shape, i, threads)
				}
				// Rounding errors of some units of numbers whose size is that of the largest gradient of the kind; a plane or a group
				// left out would be seen a thousand times over.
				bound := 1e-5 * largestOf(want[i])
				for j, v := range got[i] {
					if math.Abs(v-want[i][j]) > bound {
						t.Fatalf("%v, gradient %d, element %d: %v, want %v", shape, i, j, v, want[i][j])
					}
				}
			}
		})
		for i, v := range gradients(Float64) {
			bound := 1e-12 * largestOf(want[i])
			for j := range v {
				if math.Abs(v[j]-want[i][j]) > bound {
					t.Fatalf("%v in float64, gradient %d, element %d: %v, want %v", shape, i, j, v[j], want[i][j])
				}
			}
		}
	}
}

func largestOf(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}
