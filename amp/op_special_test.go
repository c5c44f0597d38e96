package amp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestSpecialFunctions(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	wantValues(t, "erfc", Erfc(s, From([]float64{0, -inf, inf})), 1, 2, 0)
	if v := Erfc(s, From([]float64{10})).Item(); math.Abs(v/2.088487583762545e-45-1) > 1e-13 {
		t.Errorf("erfc(10) = %v", v)
	}
	wantValues(t, "hypot", Hypot(s, From([]float64{3, 3e200, 0, inf, 0}), From([]float64{4, 4e200, 0, nan, nan})), 5, 5e200, 0, inf, nan)
	wantValues(t, "logaddexp", LogAddExp(s, From([]float64{0, 1000, -inf, inf, -inf}), From([]float64{0, 1000, 3, inf, -inf})), math.Ln2, 1000+math.Ln2, 3, inf, -inf)
	x, y := From([]float64{0}).RequireGrad(), From([]float64{0}).RequireGrad()
	Sum(s, Hypot(s, x, y)).Backward()
	wantValues(t, "slope at the origin", x.Grad(), 0)
	lo, hi := From([]float64{0, 0, 0, 3, nan}), From([]float64{1, 1, 1, 2, 1})
	wantValues(t, "clamp", ClampTensors(s, From([]float64{-1, 0.5, 2, 0, 0}), lo, hi), 0, 0.5, 1, 2, nan)
	wantValues(t, "clamp above", ClampTensors(s, From([]float64{-1, 5}), nil, From([]float64{2})), -1, 2)
}

// TestClampGradients holds who gets the gradient of clamp to PyTorch 2.15, at and beyond bounds that are apart, equal or crossed.
func TestClampGradients(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, lo, hi float64
		want      [3]float64 // of x, of lo, of hi
		alone     float64    // of x, where the bounds are numbers
	}{
		{-1, 0, 2, [3]float64{0, 1, 0}, 0},
		{0, 0, 2, [3]float64{0.5, 0.5, 0}, 0},
		{1, 0, 2, [3]float64{1, 0, 0}, 1},
		{2, 0, 2, [3]float64{0.5, 0, 0.5}, 0},
		{3, 0, 2, [3]float64{0, 0, 1}, 0},
		{0, 1, 1, [3]float64{0, 1, 0}, 0},
		{1, 1, 1, [3]float64{1, 0, 0}, 0},
		{2, 1, 1, [3]float64{0, 0, 1}, 0},
		{1, 2, 0, [3]float64{0, 0, 1}, nan},
		{0, 2, 0, [3]float64{0, 0, 1}, nan},
		{nan, 0, 1, [3]float64{1, 0, 0}, 0},
		{0.5, nan, 1, [3]float64{1, 0, 0}, nan},
		{0.5, 0, nan, [3]float64{1, 0, 0}, nan},
		{0, 0, inf, [3]float64{0.5, 0.5, 0}, 0},
		{inf, 0, inf, [3]float64{0.5, 0, 0.5}, 1}, // a number that is infinite is no bound, as in clamp_min
		{-inf, -inf, 0, [3]float64{0.5, 0.5, 0}, 1},
	} {
		in := []*Tensor{From([]float64{c.x}).RequireGrad(), From([]float64{c.lo}).RequireGrad(), From([]float64{c.hi}).RequireGrad()}
		for i, g := range Grad(s, []*Tensor{ClampTensors(s, in[0], in[1], in[2])}, in) {
			wantValues(t, fmt.Sprintf("clamp(%v, %v, %v), gradient of input %d", c.x, c.lo, c.hi, i), g, c.want[i])
		}
		if c.alone == c.alone {
			y := Clamp(s, in[0], c.lo, c.hi)
			wantValues(t, fmt.Sprintf("clamp(%v) between %v and %v", c.x, c.lo, c.hi), Grad(s, []*Tensor{y}, in[:1])[0], c.alone)
		}
	}
}

// TestClampOfOneBound holds a clamp with a bound on one side to PyTorch 2.15: an infinite x is no bound there, and a NaN gives both the
// gradient. The other side is the same with all signs turned.
func TestClampOfOneBound(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, high, want float64
		grads         [2]float64 // of x, of high
	}{
		{0, 1, 0, [2]float64{1, 0}},
		{1, 1, 1, [2]float64{0.5, 0.5}},
		{2, 1, 1, [2]float64{0, 1}},
		{0, inf, 0, [2]float64{1, 0}},
		{inf, inf, inf, [2]float64{0.5, 0.5}},
		{inf, 0, 0, [2]float64{0, 1}},
		{-inf, 0, -inf, [2]float64{1, 0}},
		{-inf, -inf, -inf, [2]float64{0.5, 0.5}},
		{-inf, inf, -inf, [2]float64{1, 0}},
		{0, -inf, -inf, [2]float64{0, 1}},
		{nan, 0, nan, [2]float64{1, 1}},
		{0, nan, nan, [2]float64{1, 1}},
		{nan, inf, nan, [2]float64{1, 1}},
		{inf, nan, nan, [2]float64{1, 1}},
		{nan, nan, nan, [2]float64{1, 1}},
	} {
		for _, sign := range []float64{1, -1} {
			in := []*Tensor{From([]float64{sign * c.x}).RequireGrad(), From([]float64{sign * c.high}).RequireGrad()}
			low, high := (*Tensor)(nil), in[1]
			if sign < 0 {
				low, high = high, low
			}
			y := ClampTensors(s, in[0], low, high)
			what := fmt.Sprintf("clamp(%v, %v, %v)", sign*c.x, low, high)
			wantValues(t, what, y, sign*c.want)
			for i, g := range Grad(s, []*Tensor{y}, in) {
				wantValues(t, fmt.Sprintf("%s, gradient of input %d", what, i), g, c.grads[i])
			}
		}
	}
	if err := Maybe(func() { ClampTensors(s, Scalar(1.0), nil, nil) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	if y := ClampTensors(s, From([]int64{1, 5}), nil, From([]int64{2})); y.DType() != Int64 {
		t.Errorf("integers give %v", y)
	}
}

// TestRReLU: slopes are uniform between the bounds, the same in backward, their mean in evaluation, and repeat with the seed.
func TestRReLU(t *testing.T) {
	run := func(seed uint64, dt DType) (y, dx []float64) {
		s := NewScope(Seed(seed))
		defer s.Close()
		x := Full(s, dt, -1, 1000).RequireGrad()
		out := RReLU(s, x, 0.25, 0.75)
		Sum(s, out).Backward()
		return out.Float64s(), x.Grad().Float64s()
	}
	y, dx := run(1, Float64)
	sum, low, high := 0.0, 1.0, 0.0
	for i, v := range y {
		if -v != dx[i] {
			t.Fatalf("element %d: %v, slope %v", i, v, dx[i])
		}
		sum, low, high = sum+dx[i], min(low, dx[i]), max(high, dx[i])
	}
	if mean := sum / 1000; math.Abs(mean-0.5) > 0.02 || low < 0.25 || low > 0.26 || high > 0.75 || high < 0.74 {
		t.Errorf("slopes from %v to %v, mean %v", low, high, mean)
	}
	again, _ := run(1, Float64)
	other, _ := run(2, Float64)
	half, _ := run(1, Float16)
	if !slices.Equal(y, again) || slices.Equal(y, other) || math.Abs(half[7]-y[7]) > 1e-3 {
		t.Error("the seed does not decide")
	}
	s := NewScope()
	defer s.Close()
	wantValues(t, "evaluation", RReLU(s.Eval(), From([]float64{-2, 2}), 0.25, 0.75), -1, 2)
	wantValues(t, "above 0", RReLU(s, From([]float64{2}), 0.25, 0.75), 2)
	if err := Maybe(func() { RReLU(s, From([]float64{2}), 1, 0.5) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
