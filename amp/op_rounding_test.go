package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestRoundingAndRemainders(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{-2.5, -1.5, -0.4, 0.5, 1.5, 2.7})
	wantValues(t, "floor", Floor(s, x), -3, -2, -1, 0, 1, 2)
	wantValues(t, "ceil", Ceil(s, x), -2, -1, 0, 1, 2, 3)
	wantValues(t, "round", Round(s, x), -2, -2, 0, 0, 2, 3)
	wantValues(t, "trunc", Trunc(s, x), -2, -1, 0, 0, 1, 2)
	wantValues(t, "frac", Frac(s, x), -0.5, -0.5, -0.4, 0.5, 0.5, 0.7)
	a, b := From([]float64{-7, 7, -7, 7, 6}), From([]float64{3, 3, -3, -3, 3})
	wantValues(t, "fmod", Fmod(s, a, b), -1, 1, -1, 1, 0)
	wantValues(t, "remainder", Remainder(s, a, b), 2, 1, -1, -2, 0)
	wantValues(t, "floor_divide", FloorDivide(s, a, b), -3, 2, 2, -3, 2)
	ai, bi := From([]int64{-7, 7, -7, 7, 6}), From([]int64{3, 3, -3, -3, 3})
	if got := Values[int64](Fmod(s, ai, bi)); !slices.Equal(got, []int64{-1, 1, -1, 1, 0}) {
		t.Errorf("fmod of integers %v", got)
	}
	if got := Values[int64](Remainder(s, ai, bi)); !slices.Equal(got, []int64{2, 1, -1, -2, 0}) {
		t.Errorf("remainder of integers %v", got)
	}
	if got := Values[int64](FloorDivide(s, ai, bi)); !slices.Equal(got, []int64{-3, 2, 2, -3, 2}) {
		t.Errorf("floor_divide of integers %v", got)
	}
	least := From([]int64{math.MinInt64})
	if got := Values[int64](FloorDivide(s, least, From([]int64{-1})))[0]; got != math.MinInt64 {
		t.Errorf("the least integer by -1 is %d", got)
	}
	if err := Maybe(settled(s, func() { FloorDivide(s, ai, From([]int64{0})) })); !errors.Is(err, ErrArgument) {
		t.Errorf("integers divided by 0: %v", err)
	}
	if err := Maybe(settled(s, func() { Fmod(s, ai, From([]int64{0})) })); !errors.Is(err, ErrArgument) {
		t.Errorf("integers modulo 0: %v", err)
	}
	if v := Fmod(s, a, From([]float64{0})).Float64s()[0]; v == v {
		t.Errorf("fmod by 0.0 is %v, want NaN", v)
	}
	// ∂(a mod b)/∂b = -floor(a/b)
	w := From([]float64{3}).RequireGrad()
	Sum(s, Remainder(s, From([]float64{-7}), w)).Backward()
	wantValues(t, "slope", w.Grad(), 3)
}

func TestLogic(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		x := FromFloat64s(dt, []float64{0, 1, inf, -inf, nan}, 5)
		for name, c := range map[string]struct {
			f    func(*Scope, *Tensor) *Tensor
			want []bool
		}{
			"isnan":       {IsNaN, []bool{false, false, false, false, true}},
			"isinf":       {IsInf, []bool{false, false, true, true, false}},
			"isfinite":    {IsFinite, []bool{true, true, false, false, false}},
			"logical_not": {LogicalNot, []bool{true, false, false, false, false}},
		} {
			if got := Values[bool](c.f(s, x)); !slices.Equal(got, c.want) {
				t.Errorf("%s of %v: %v, want %v", name, dt, got, c.want)
			}
		}
	}
	a, b := From([]bool{false, false, true, true}), From([]int64{0, 5, 0, -1})
	for name, c := range map[string]struct {
		f    func(s *Scope, a, b *Tensor) *Tensor
		want []bool
	}{
		"and": {LogicalAnd, []bool{false, false, false, true}},
		"or":  {LogicalOr, []bool{false, true, true, true}},
		"xor": {LogicalXor, []bool{false, true, true, false}},
	} {
		y := c.f(s.Autocast(Float16), a, b)
		if got := Values[bool](y); !slices.Equal(got, c.want) {
			t.Errorf("logical_%s: %v, want %v", name, got, c.want)
		}
	}
	if y := LogicalAnd(s, From([]float32{1, 0}, 2, 1), From([]float64{2, 3, 0})); !slices.Equal(y.Shape(), []int{2, 3}) {
		t.Errorf("shape %v", y.Shape())
	}
	if err := Maybe(func() { LogicalOr(s, a, From([]int64{1, 2, 3})) }); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	if y := IsFinite(s, From([]int64{3})); !Values[bool](y)[0] {
		t.Error("an integer is finite")
	}
}

// TestInverseFunctions compares with what they invert, and looks at the ends of their ranges.
func TestInverseFunctions(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{-0.9, -0.3, 0, 0.4, 0.8})
	for name, y := range map[string]*Tensor{
		"erfinv": Erf(s, Erfinv(s, x)),
		"atan":   Tan(s, Atan(s, x)),
		"asinh":  Sinh(s, Asinh(s, x)),
		"atanh":  Tanh(s, Atanh(s, x)),
		"acosh":  AddScalar(s, Cosh(s, Acosh(s, AddScalar(s, x, 2))), -2),
		"exp2":   Log2(s, Exp2(s, x)),
		"rpow":   MulScalar(s, Log(s, ScalarPow(s, 3, x)), 1/math.Log(3)),
		"rdiv":   AddScalar(s, ScalarDiv(s, 1, ScalarDiv(s, 1, AddScalar(s, x, 2))), -2),
		"square": Mul(s, Sign(s, x), Sqrt(s, Square(s, x))),
	} {
		wantValues(t, name, y, x.Float64s()...)
	}
	inf, nan := math.Inf(1), math.NaN()
	wantValues(t, "erfinv", Erfinv(s, From([]float64{-1, 1, 1.5})), -inf, inf, nan)
	wantValues(t, "atanh", Atanh(s, From([]float64{-1, 1, 1.5})), -inf, inf, nan)
	wantValues(t, "rdiv", ScalarDiv(s, 6, From([]float64{0, 2, inf})), inf, 3, 0)
	zero := From([]float64{-1, 0, 2}).RequireGrad()
	y := ScalarPow(s, 0, zero)
	wantValues(t, "0^x", y, inf, 1, 0)
	Sum(s, y).Backward()
	wantValues(t, "slope of 0^x", zero.Grad(), -inf, 0, 0)
	half := s.Autocast(Float16)
	h := FromFloat64s(Float16, []float64{300}, 1)
	for name, c := range map[string]struct {
		y    *Tensor
		want DType
	}{
		"square is pow":           {Square(half, h), Float32},
		"so are numbers ^ tensor": {ScalarPow(half, 2, h), Float32},
		"and numbers / tensor":    {ScalarDiv(half, 2, h), Float32},
		"erfinv":                  {Erfinv(half, h), Float32},
		"exp2 is not exp":         {Exp2(half, h), Float16},
		"nor is square on a CPU":  {Square(s.Autocast(Float16, UseLists(CPULists)), h), Float16},
	} {
		if c.y.dt != c.want {
			t.Errorf("%s: %v, want %v", name, c.y.dt, c.want)
		}
	}
	if v := Square(half, h).Item(); v != 90000 {
		t.Errorf("300² under autocast is %v", v)
	}
}
