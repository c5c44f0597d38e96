package amp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestTransposedCopies: copies by tiles hold what element by element copies do, for sizes that leave parts of tiles, whichever kernels the
// machine has.
func TestTransposedCopies(t *testing.T) {
	defer cpu.SetMode(cpu.Current())
	for _, v := range cpu.Variants() {
		cpu.SetMode(cpu.Mode{Variant: v})
		t.Run(v.String(), testTransposedCopies)
	}
}

func testTransposedCopies(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float16, Float32, Float64, Bool} {
		for _, shape := range [][]int{{64, 70}, {17, 301}, {3, 40, 50}, {3, 40, 2, 33}} {
			x := To(s, Randn(s, Float32, 0, 1, shape...), dt)
			for d := range len(shape) - 1 {
				y := Transpose(s, x, d, -1)
				got, want := Contiguous(s, y).Float64s(), y.Float64s()
				for i, v := range want {
					if got[i] != v {
						t.Fatalf("%v %v, dimension %d: element %d is %v, want %v", dt, shape, d, i, got[i], v)
					}
				}
			}
		}
	}
}

// TestSumsInPasses: sums of rows, columns and everything, of contiguous tensors and views, against sums in float64.
func TestSumsInPasses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float32, Float16, BFloat16} {
		x := To(s, Randn(s, Float32, 1, 1, 700, 133), dt)
		for name, y := range map[string]*Tensor{"whole": x, "part": Narrow(s, x, 1, 5, 101), "transposed": Transpose(s, x, 0, 1)} {
			n, m := y.shape[0], y.shape[1]
			rows, columns, all, v := make([]float64, n), make([]float64, m), 0.0, y.Float64s()
			for i, e := range v {
				rows[i/m], columns[i%m], all = rows[i/m]+e, columns[i%m]+e, all+e
			}
			for _, c := range []struct {
				kind string
				got  *Tensor
				want []float64
			}{{"rows", Sum(s, y, 1), rows}, {"columns", Sum(s, y, 0), columns}, {"all", Sum(s, y), []float64{all}}} {
				for i, e := range c.got.Float64s() {
					tolerance := map[DType]float64{Float32: 1e-6, Float16: 1e-3, BFloat16: 8e-3}[dt] * (math.Abs(c.want[i]) + 10)
					if dt == Float16 && math.Abs(c.want[i]) > 65504 {
						continue
					}
					if !(math.Abs(e-c.want[i]) <= tolerance) {
						t.Errorf("%v, %s of %s: element %d is %v, want %v", dt, c.kind, name, i, e, c.want[i])
						break
					}
				}
			}
		}
	}
}

// TestPassesOfFew: what is done by a loop for few numbers and by a pass for many gives the same bits, special numbers included.
func TestPassesOfFew(t *testing.T) {
	s := NewScope()
	defer s.Close()
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1, -1, 1e-45, -1e-45, 3e38}
	rng := rand.New(rand.NewPCG(1, 2))
	a, b := make([]float32, 200), make([]float32, 200)
	for i := range a {
		a[i], b[i] = special[rng.IntN(len(special))], special[rng.IntN(len(special))]
	}
	x, y := From(a), From(b)
	for name, f := range map[string]func(x, y *Tensor) *Tensor{
		"add": func(x, y *Tensor) *Tensor { return Add(s, x, y) }, "sub": func(x, y *Tensor) *Tensor { return Sub(s, x, y) },
		"mul": func(x, y *Tensor) *Tensor { return Mul(s, x, y) }, "div": func(x, y *Tensor) *Tensor { return Div(s, x, y) },
		"maximum": func(x, y *Tensor) *Tensor { return Maximum(s, x, y) }, "minimum": func(x, y *Tensor) *Tensor { return Minimum(s, x, y) },
		"neg": func(x, _ *Tensor) *Tensor { return Neg(s, x) }, "relu": func(x, _ *Tensor) *Tensor { return ReLU(s, x) },
		"clamp": func(x, _ *Tensor) *Tensor { return Clamp(s, x, -1, 2) }, "abs": func(x, _ *Tensor) *Tensor { return Abs(s, x) },
	} {
		all := Values[float32](f(x, y))
		for i := 0; i < len(a); i += 5 {
			part := Values[float32](f(Narrow(s, x, 0, i, 5), Narrow(s, y, 0, i, 5)))
			for k, v := range part {
				if w := all[i+k]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
					t.Errorf("%s of %v and %v: %v alone, %v among many", name, a[i+k], b[i+k], v, w)
				}
			}
		}
	}
}

// TestEmbeddingGradientByRow: rows used never, once and often, and dy with a stride.
func TestEmbeddingGradientByRow(t *testing.T) {
	s := NewScope()
	defer s.Close()
	index := From([]int64{4, 1, 4, 4, 0, 2, 2, 4})
	dy := Randn(s, Float32, 0, 1, 8, 6)
	for name, g := range map[string]*Tensor{"contiguous": dy, "strided": Transpose(s, Contiguous(s, Transpose(s, dy, 0, 1)), 0, 1)} {
		table := Randn(s, Float32, 0, 1, 5, 6).RequireGrad()
		Embedding(s, table, index).Backward(GradOutputs(g))
		want := make([]float64, 30)
		v := dy.Float64s()
		for i, r := range Values[int64](index) {
			for k := range 6 {
				want[int(r)*6+k] += v[i*6+k]
			}
		}
		for i, got := range table.Grad().Float64s() {
			if !(math.Abs(got-want[i]) <= 1e-6) {
				t.Errorf("%s: element %d is %v, want %v", name, i, got, want[i])
			}
		}
	}
}

// TestNormSample: mean and variance are right though the elements that stand in for the mean at first be far from it.
func TestNormSample(t *testing.T) {
	s := NewScope(Seed(1))
	defer s.Close()
	x := make([]float32, 3000)
	values := Randn(s, Float64, 0, 1, len(x)).Float64s()
	for i := range x {
		x[i] = float32(values[i])
		if i < normSample {
			x[i] += 1000
		}
	}
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		square += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	var w lineWork
	w.normRate(x, true, 0)
	if got := float64(w.Arg[0]) + float64(w.Arg[4]); !(math.Abs(got-mean) <= 1e-6*1000) {
		t.Errorf("mean %v, want %v", got, mean)
	}
	if got, want := float64(w.Arg[1]), 1/math.Sqrt(square); !(math.Abs(got-want) <= 1e-5*want) {
		t.Errorf("1/σ %v, want %v", got, want)
	}
}
