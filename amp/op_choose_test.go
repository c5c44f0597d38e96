package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestComparisons walks the six rows over every pair of numbers, NaN included, in every dtype that holds them.
func TestComparisons(t *testing.T) {
	s := NewScope()
	defer s.Close()
	numbers := []float64{-1, 0, 2, math.Inf(1), math.NaN()}
	for _, c := range []struct {
		op   func(*Scope, *Tensor, *Tensor) *Tensor
		want func(a, b float64) bool
	}{
		{Eq, func(a, b float64) bool { return a == b }},
		{Ne, func(a, b float64) bool { return a != b }},
		{Lt, func(a, b float64) bool { return a < b }},
		{Le, func(a, b float64) bool { return a <= b }},
		{Gt, func(a, b float64) bool { return a > b }},
		{Ge, func(a, b float64) bool { return a >= b }},
	} {
		for _, dt := range []DType{Float16, BFloat16, Float32, Float64, Int64} {
			list := numbers
			if dt == Int64 {
				list = numbers[:3]
			}
			n := len(list)
			column, row := fromFloat64s(dt, list, []int{n, 1}), fromFloat64s(dt, list, []int{n})
			y := c.op(s.Autocast(Float16), column, row)
			if y.DType() != Bool || y.RequiresGrad() {
				t.Fatalf("a comparison gives %v", y.DType())
			}
			for i, got := range Values[bool](y) {
				if a, b := list[i/n], list[i%n]; got != c.want(a, b) {
					t.Errorf("%v and %v in %v: %v", a, b, dt, got)
				}
			}
		}
	}
	// 2049 is no float16: comparing in the widest dtype must not round it to 2048.
	if Values[bool](Eq(s, fromFloat64s(Float16, []float64{2048}, []int{1}), From([]float32{2049})))[0] {
		t.Error("float16 2048 equals float32 2049")
	}
}

func TestWhere(t *testing.T) {
	s := NewScope()
	defer s.Close()
	mask := Gt(s, From([]float32{1, -1, 2}), From([]float32{0}))
	for _, c := range []struct {
		a, b *Tensor
		want DType
	}{
		{From([]float32{10}), From([]float32{1, 2, 3}), Float32},
		{fromFloat64s(Float16, []float64{10}, []int{1}), fromFloat64s(Float16, []float64{1, 2, 3}, []int{3}), Float16},
		{fromFloat64s(Float16, []float64{10}, []int{1}), From([]float32{1, 2, 3}), Float32},
		{From([]int64{10}), From([]int64{1, 2, 3}), Int64},
		{From([]int64{10}), From([]float64{1, 2, 3}), Float64},
	} {
		y := Where(s, mask, c.a, c.b)
		if y.DType() != c.want || !slices.Equal(y.Float64s(), []float64{10, 2, 10}) {
			t.Errorf("%v, %v: %v %v", c.a.dt, c.b.dt, y.DType(), y.Float64s())
		}
	}
	// What is not chosen has no say in the gradient, even where it is infinite.
	x := From([]float32{0, 4}).RequireGrad()
	safe := Where(s, Gt(s, x, Scalar(float32(0))), x, Scalar(float32(1)))
	Sum(s, Log(s, safe)).Backward()
	if g := x.Grad().Float64s(); !slices.Equal(g, []float64{0, 0.25}) {
		t.Errorf("gradient %v", g)
	}
	if err := Maybe(func() { Where(s, mask, From([]float32{1, 2}), From([]float32{1, 2})) }); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}

// TestExtremes checks functions where a plain formula would overflow or cancel.
func TestExtremes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		f    func(*Scope, *Tensor) *Tensor
		x    float64
		want float64
	}{
		{"softplus", Softplus, 1000, 1000}, {"softplus", Softplus, -1000, 0}, {"softplus", Softplus, -30, math.Exp(-30)},
		{"sigmoid", Sigmoid, 1000, 1}, {"sigmoid", Sigmoid, -1000, 0}, {"tanh", Tanh, 1000, 1},
		{"gelu", GELU, -1000, 0}, {"gelu", GELU, 1000, 1000}, {"silu", SiLU, 1000, 1000},
		{"expm1", Expm1, 1e-12, 1e-12}, {"log1p", Log1p, 1e-12, 1e-12}, {"log", Log, 0, -inf}, {"log", Log, -1, nan},
		{"rsqrt", Rsqrt, 0, inf}, {"reciprocal", Reciprocal, 0, inf}, {"asin", Asin, 2, nan}, {"sign", Sign, nan, nan}, {"abs", Abs, -inf, inf},
		{"relu", ReLU, nan, nan},
		{"logsumexp", all(LogSumExp), 1000, 1000}, {"logsumexp", all(LogSumExp), -inf, -inf}, {"logsumexp", all(LogSumExp), inf, inf}, {"logsumexp", all(LogSumExp), nan, nan},
		{"norm", all(Norm), 1e200, inf}, {"norm", all(Norm), -3, 3},
	} {
		got := c.f(s, From([]float64{c.x})).Item()
		if !sameFloat(got, c.want) && math.Abs(got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, got, c.want)
		}
	}
}

// all is a reduction over every dimension.
func all(f func(*Scope, *Tensor, ...int) *Tensor) func(*Scope, *Tensor) *Tensor {
	return func(s *Scope, x *Tensor) *Tensor { return f(s, x) }
}

func TestNormAtZero(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{0, 0}).RequireGrad()
	Norm(s, x).Backward()
	if g := x.Grad().Float64s(); g[0] != 0 || g[1] != 0 {
		t.Errorf("gradient %v", g)
	}
	if c := Cumsum(s, From([]bool{true, true, false}), 0); c.DType() != Int64 || !slices.Equal(Values[int64](c), []int64{1, 2, 2}) {
		t.Errorf("cumsum of booleans: %v", c.DType())
	}
}
