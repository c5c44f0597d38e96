package amp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestProductGradientAtZeros differentiates products of lines with no, one, two and only zeros, twice, and compares with the sums of
// products of the others that the derivatives are.
func TestProductGradientAtZeros(t *testing.T) {
	for _, line := range [][]float64{{2, -3, 0.5, 4}, {2, 0, 0.5, 4}, {0, 2, 3, 5}, {2, 3, 0}, {2, 0, 3, 0, 5}, {0, 0, 0}, {0}, {7}} {
		s := NewScope()
		x := FromFloat64s(Float64, line).RequireGrad()
		n := len(line)
		without := func(upTo int, skip ...int) float64 {
			p := 1.0
			for k := range upTo + 1 {
				if !slices.Contains(skip, k) {
					p *= line[k]
				}
			}
			return p
		}
		dy := weights(n, 4)
		for name, c := range map[string]struct {
			y *Tensor
			// first is the derivative to element i, second that of it to element j.
			first  func(i int) float64
			second func(i, j int) float64
		}{
			"prod": {MulScalar(s, Prod(s, x), 3), func(i int) float64 { return 3 * without(n-1, i) }, func(i, j int) float64 { return 3 * without(n-1, i, j) }},
			"cumprod": {Sum(s, Mul(s, Cumprod(s, x, 0), FromFloat64s(Float64, dy))), func(i int) float64 {
				sum := 0.0
				for k := i; k < n; k++ {
					sum += dy[k] * without(k, i)
				}
				return sum
			}, func(i, j int) float64 {
				sum := 0.0
				for k := max(i, j); k < n; k++ {
					sum += dy[k] * without(k, i, j)
				}
				return sum
			}},
		} {
			g := Grad(s, []*Tensor{c.y}, []*Tensor{x}, CreateGraph())[0]
			for i, got := range g.Float64s() {
				if want := c.first(i); !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
					t.Errorf("%s of %v: derivative %d is %v, want %v", name, line, i, got, want)
				}
				if n == 1 {
					continue // the derivative is a number
				}
				h := Grad(s, []*Tensor{Reshape(s, Narrow(s, g, 0, i, 1))}, []*Tensor{x}, RetainGraph())[0]
				for j, got := range h.Float64s() {
					want := 0.0
					if i != j {
						want = c.second(i, j)
					}
					if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
						t.Errorf("%s of %v: second derivative %d, %d is %v, want %v", name, line, i, j, got, want)
					}
				}
			}
		}
		s.Close()
	}
}

func TestProductValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]int64{1, -2, 3, 4, 5, 6}, 2, 3)
	if y := Prod(s, x); y.dt != Int64 || y.Item() != -720 {
		t.Errorf("product of integers %v %v", y.dt, y.Item())
	}
	big := From([]int64{1<<31 + 1, 1<<31 - 1})
	if y := Prod(s, big); Values[int64](y)[0] != 1<<62-1 {
		t.Errorf("a product that float64 does not hold: %v", Values[int64](y))
	}
	if y := ProdDim(s, Transpose(s, x, 0, 1), 0); !slices.Equal(y.Float64s(), []float64{-6, 120}) {
		t.Errorf("rows: %v", y.Float64s())
	}
	if y := Cumprod(s, x, 0); y.dt != Int64 || !slices.Equal(y.Float64s(), []float64{1, -2, 3, 4, -10, 18}) {
		t.Errorf("columns: %v", y.Float64s())
	}
	if y := Prod(s, From([]float32{}, 0)); y.Item() != 1 {
		t.Errorf("product of nothing: %v", y.Item())
	}
	// 300·300 leaves float16, and does not under autocast.
	h := fromFloat64s(Float16, []float64{300, 300}, []int{2}).RequireGrad()
	if y := Prod(s, h); y.dt != Float16 || !math.IsInf(y.Item(), 1) {
		t.Errorf("half product %v %v", y.dt, y.Item())
	}
	y := Prod(s.Autocast(Float16), h)
	y.Backward()
	if y.dt != Float32 || y.Item() != 90000 || h.Grad().dt != Float16 || !slices.Equal(h.Grad().Float64s(), []float64{300, 300}) {
		t.Errorf("under autocast %v %v, gradient %v", y.dt, y.Item(), h.Grad().Float64s())
	}
	if y := Prod(s.Autocast(BFloat16, UseLists(CPULists)), fromFloat64s(BFloat16, []float64{300, 300}, []int{2})); y.dt != Float32 {
		t.Errorf("on the CPU lists: %v", y.dt)
	}
}

// TestExplicitDTypes: the dtype argument of sums, products and softmax wins over autocast, and x is brought to it first.
func TestExplicitDTypes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	auto := s.Autocast(Float16)
	x := From([]float32{1.7, -2.6, 2049, 0.1})
	half := To(s, x, Float16)
	for name, f := range map[string]func(s *Scope, x *Tensor, dt ...DType) *Tensor{
		"sum": func(s *Scope, x *Tensor, dt ...DType) *Tensor {
			if len(dt) == 0 {
				return Sum(s, x)
			}
			return SumAs(s, x, dt[0])
		},
		"cumsum":  func(s *Scope, x *Tensor, dt ...DType) *Tensor { return Cumsum(s, x, 0, dt...) },
		"prod":    func(s *Scope, x *Tensor, dt ...DType) *Tensor { return Prod(s, x, dt...) },
		"cumprod": func(s *Scope, x *Tensor, dt ...DType) *Tensor { return Cumprod(s, x, 0, dt...) },
		"softmax": func(s *Scope, x *Tensor, dt ...DType) *Tensor { return Softmax(s, x, 0, dt...) },
	} {
		for _, to := range []DType{Float16, BFloat16, Float32, Float64, Int64} {
			if name == "softmax" && to == Int64 {
				continue
			}
			for _, in := range []*Tensor{x, half, From([]int64{3, -2, 7, 1})} {
				got := f(auto, in, to)
				if want := f(s, To(s, in, to)); got.dt != to || !slices.EqualFunc(got.Float64s(), want.Float64s(), alike) {
					t.Errorf("%s of %v as %v: %v %v, want %v", name, in.dt, to, got.dt, got.Float64s(), want.Float64s())
				}
			}
		}
	}
	// Integers of a float sum are cut off one by one, as in PyTorch.
	if y := SumAs(s, From([]float32{1.7, 1.7}), Int64); y.Item() != 2 {
		t.Errorf("sum of 1.7 and 1.7 as integers: %v", y.Item())
	}
	w := To(s, x, Float32)
	w = Detach(s, w).RequireGrad()
	SumAs(s, Cumprod(s, w, 0, Float64), Float16).Backward()
	if w.Grad().dt != Float32 {
		t.Errorf("gradient %v", w.Grad().dt)
	}
	for _, f := range []func(){func() { Prod(s, x, Bool) }, func() { Softmax(s, x, 0, Int64) }} {
		if err := Maybe(f); !errors.Is(err, ErrDType) {
			t.Error(err)
		}
	}
}

// alike says that numbers are equal; on a device but for the order of four products or sums in float64, which its kernels choose by dtype.
func alike(a, b float64) bool {
	return a == b || home() != "cpu" && math.Abs(a-b) <= 0x1p-50*math.Abs(b)
}

// TestProductsOfColumns compares products that lie side by side with those in the order of the factors in float64, bit for bit, over sizes that
// leave parts of registers and tasks, unaligned and beyond what float64 holds, with zeros, infinities and NaN.
func TestProductsOfColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 6))
	s := NewScope()
	defer s.Close()
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 6e-8}
	for _, shape := range [][]int{{1, 24}, {3, 25}, {40, 257}, {300, 531}, {2, 7, 70}, {3, 33, 24}} {
		x := make([]float64, length(shape))
		for i := range x {
			if x[i] = 4 * r.NormFloat64(); r.IntN(200) == 0 {
				x[i] = special[r.IntN(len(special))]
			}
		}
		d := len(shape) - 2
		rows, columns := shape[d], shape[d+1]
		for _, dt := range []DType{Float32, Float16, BFloat16} {
			whole := fromFloat64s(dt, x, shape)
			for skip := range 2 {
				part := Narrow(s, whole, d+1, skip, columns-skip)
				in, got := Contiguous(s, part).Float64s(), ProdDim(s, part, d).Float64s()
				n := columns - skip
				want := make([]float64, len(got))
				for i := range want {
					want[i] = 1
					for k := range rows {
						want[i] *= in[(i/n*rows+k)*n+i%n]
					}
				}
				for i, p := range rounded(dt, want) {
					if v := got[i]; math.Float64bits(p) != math.Float64bits(v) && (p == p || v == v) {
						t.Fatalf("%v %v from column %d: product %d is %v, want %v", dt, shape, skip, i, v, p)
					}
				}
			}
		}
	}
}
