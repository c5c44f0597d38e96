package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// drawnMachine is one of this computer's ways, with one to three threads.
func (r sizeDraw) drawnMachine() machine {
	machines := productMachines()
	m := machines[r.IntN(len(machines))]
	m.threads, m.poison = 1+r.IntN(3), 0xff
	return m
}

// TestDrawnCasts: every dtype to every other, of odd sizes, from views that begin anywhere, is what one number at a time gives.
func TestDrawnCasts(t *testing.T) {
	computesOnCPU(t)
	seed := uint64(0)
	for _, from := range AllDTypes() {
		for _, to := range AllDTypes() {
			for range 4 {
				seed++
				r := newSizeDraw(seed)
				o := r.operand(r.shape(1+r.IntN(3), 1<<(10+r.IntN(8)))...)
				values := make([]float64, length(o.leaf))
				for i := range values {
					values[i] = float64(r.IntN(200)-100) * math.Ldexp(1, r.IntN(4)-2)
					switch {
					case to == Int64 || to == Bool || !from.IsFloat():
						values[i] = math.Trunc(values[i])
					case r.coin(9):
						values[i] *= []float64{math.Inf(1), math.NaN(), 0x1p-24, 0x1p-130, 0x1p10, 1.0009765625, 0x1p125}[r.IntN(7)]
					}
				}
				m := r.drawnMachine()
				m.on(func() {
					s := NewScope(On("cpu"))
					defer s.Close()
					x := o.of(s, fromFloat64s(from, values, o.leaf))
					list, got := x.Float64s(), To(s, x, to).Float64s()
					for i, v := range list {
						if want := fromFloat64s(to, []float64{v}, []int{1}).Float64s()[0]; got[i] != want && (got[i] == got[i] || want == want) {
							t.Fatalf("seed %d: %v to %v of %v on %v with %d threads: element %d, %v, becomes %v, not %v", seed, from, to, o, m.mode.Variant, m.threads, i, v, got[i], want)
						}
					}
				})
			}
		}
	}
}

// TestDrawnRandom: what is drawn is the same on one thread as on three and on every kind of processor, its first numbers are those of a
// smaller tensor, and dropout drops in backward what it dropped in forward.
func TestDrawnRandom(t *testing.T) {
	computesOnCPU(t)
	makers := map[string]func(s *Scope, n int) *Tensor{
		"rand":    func(s *Scope, n int) *Tensor { return Rand(s, Float32, 0, 1, n) },
		"randn":   func(s *Scope, n int) *Tensor { return Randn(s, Float64, 1, 2, n) },
		"half":    func(s *Scope, n int) *Tensor { return Randn(s, Float16, 0, 1, n) },
		"integer": func(s *Scope, n int) *Tensor { return RandInt(s, 0, 1000, n) },
		"dropout": func(s *Scope, n int) *Tensor { return Dropout(s, Full(s, Float32, 1, n), 0.3) },
	}
	for seed := uint64(1); seed <= 12; seed++ {
		r := newSizeDraw(seed)
		n := r.size(100000)
		if seed%3 == 0 {
			n += 1 << 17
		}
		less := 1 + r.IntN(n)
		for name, f := range makers {
			draw := func(m machine, n int) (list []float64) {
				m.on(func() {
					s := NewScope(On("cpu"), Seed(seed))
					defer s.Close()
					list = f(s, n).Float64s()
				})
				return list
			}
			machines := []machine{r.drawnMachine(), r.drawnMachine()}
			for i := range machines {
				machines[i].mode.Reproducible, machines[i].threads = true, 1+2*i
			}
			one, three, front := draw(machines[0], n), draw(machines[1], n), draw(machines[1], less)
			if !slices.Equal(one, three) || !slices.Equal(one[:less], front) {
				t.Errorf("seed %d: %s of %d, and %d, differs on %v and %v", seed, name, n, less, machines[0].mode.Variant, machines[1].mode.Variant)
			}
		}
		m := r.drawnMachine()
		m.on(func() {
			s := NewScope(On("cpu"), Seed(seed))
			defer s.Close()
			o := r.operand(r.shape(3, 1<<17)...)
			for k, drop := range []func(s *Scope, x *Tensor, p float64) *Tensor{Dropout, Dropout1d, AlphaDropout} {
				leaf := Full(s, []DType{Float32, BFloat16, Float16}[r.IntN(3)], 1, o.leaf...).RequireGrad()
				x := o.of(s, leaf)
				y := drop(s, x, 0.4)
				g := Grad(s, []*Tensor{y}, []*Tensor{x}, GradOutputs(Full(s, y.dt, 1, y.shape...)))[0].Float64s()
				for i, v := range y.Float64s() {
					if kept := v > 0; kept != (g[i] != 0) || k < 2 && v != g[i] {
						t.Fatalf("seed %d: dropout %d of %v on %v with %d threads: element %d becomes %v, its gradient %v", seed, k, o, m.mode.Variant, m.threads, i, v, g[i])
					}
				}
			}
		})
	}
}

// TestRandomMoments: means and variances of a million numbers are those of their distribution within 6 standard errors. The seed is fixed.
func TestRandomMoments(t *testing.T) {
	const n = 1<<20 - 5
	for name, c := range map[string]struct {
		x              func(s *Scope) *Tensor
		mean, variance float64
		fourth         float64 // central moment
	}{
		"rand":  {func(s *Scope) *Tensor { return Rand(s, Float32, -1, 3, n) }, 1, 16.0 / 12, 256.0 / 80},
		"randn": {func(s *Scope) *Tensor { return Randn(s, Float32, 0.5, 2, n) }, 0.5, 4, 48},
		"drop":  {func(s *Scope) *Tensor { return Dropout(s, Full(s, Float32, 1, n), 0.25) }, 1, 1.0 / 3, 0.25*1 + 0.75/81},
	} {
		s := NewScope(On("cpu"), Seed(11))
		list := c.x(s).Float64s()
		s.Close()
		if mean := total(list) / n; math.Abs(mean-c.mean) > 6*math.Sqrt(c.variance/n) {
			t.Errorf("%s: mean %v, not %v", name, mean, c.mean)
		}
		if v := spread(list, 0); math.Abs(v-c.variance) > 6*math.Sqrt((c.fourth-c.variance*c.variance)/n) {
			t.Errorf("%s: variance %v, not %v", name, v, c.variance)
		}
	}
}

// TestDrawnAccumulation: gradients of a leaf that is used several times, through views and expanded, add up over backward passes and through
// a checkpoint as the sum of the uses does.
func TestDrawnAccumulation(t *testing.T) {
	computesOnCPU(t)
	for seed := uint64(1); seed <= 60; seed++ {
		r := newSizeDraw(seed)
		shape := r.shape(2+r.IntN(2), 1<<(9+3*(seed%4)))
		d, m := r.IntN(len(shape)), r.drawnMachine()
		n, last := shape[d], len(shape)-1
		cut := r.IntN(n)
		values := weights(length(shape), seed)
		uses := func(s *Scope, in ...*Tensor) *Tensor {
			x := in[0]
			part := Narrow(s, x, d, cut, n-cut)
			wide := Expand(s, Unsqueeze(s, x, 0), append([]int{3}, shape...)...)
			y := Add(s, Sum(s, Mul(s, x, x)), Sum(s, Mul(s, part, part)))
			y = Add(s, y, Sum(s, MulScalar(s, Transpose(s, wide, 1, -1), 0.5)))
			y = Add(s, y, Sum(s, MaskedFill(s, Flip(s, x, d), From([]bool{false}), 0)))
			return Add(s, y, Sum(s, Mul(s, Select(s, x, last, shape[last]-1), Select(s, x, last, 0))))
		}
		m.on(func() {
			s := NewScope(On("cpu"))
			defer s.Close()
			x := fromFloat64s(Float64, values, shape).RequireGrad()
			uses(s, x).Backward()
			Checkpoint(s, uses, x).Backward()
			first, size := x.Grad().Float64s(), length(shape[d+1:])
			for i, v := range values {
				want := 2*v + 1.5 + 1
				if i/size%n >= cut {
					want += 2 * v
				}
				row, col := i/shape[last]*shape[last], i%shape[last]
				if col == 0 {
					want += values[row+shape[last]-1]
				}
				if col == shape[last]-1 {
					want += values[row]
				}
				if math.Abs(first[i]-2*want) > 1e-12*(1+math.Abs(want)) {
					t.Fatalf("seed %d: %v, cut %d along %d, on %v %v with %d threads: gradient of element %d is %v, not %v", seed, shape, cut, d, m.mode.Variant, m.dot, m.threads, i, first[i], 2*want)
				}
			}
		})
	}
}

// TestParallelCoversAll: every item is in one range, whatever the numbers.
func TestParallelCoversAll(t *testing.T) {
	defer cpu.SetThreads(0)
	for seed := range uint64(300) {
		r := newSizeDraw(seed)
		n, grain := r.size(3000), r.size(400)
		cpu.SetThreads(1 + r.IntN(4))
		seen := make([]uint8, n)
		cpu.Parallel(n, grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				seen[i]++
			}
		})
		if slices.ContainsFunc(seen, func(k uint8) bool { return k != 1 }) {
			t.Fatal(fmt.Sprint(n, " items of grain ", grain, ": ", seen))
		}
	}
}
