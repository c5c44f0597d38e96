package amp

import (
	"errors"
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
	at := From([]float64{0, 1}).RequireGrad()
	Sum(s, ClampTensors(s, at, From([]float64{0}), From([]float64{1}))).Backward()
	wantValues(t, "slope at the bounds", at.Grad(), 1, 1)
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
