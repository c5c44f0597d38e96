package amp

import (
	"errors"
	"slices"
	"testing"
)

// TestScalarSub against c - x of PyTorch 2.15 for x = torch.tensor([0.1, -3, 7.3, 0, 2.5]) in each dtype.
func TestScalarSub(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, c := range []struct {
		dt, out DType
		c       float64
		want    []float64
	}{
		{Float16, Float16, 1, []float64{0.89990234375, 4, -6.30078125, 1, -1.5}},
		{Float16, Float16, 0.3, []float64{0.2000732421875, 3.30078125, -7, 0.300048828125, -2.19921875}},
		{BFloat16, BFloat16, 2, []float64{1.8984375, 5, -5.3125, 2, -0.5}},
		{Float32, Float32, 0.3, []float64{0.20000001788139343, 3.299999952316284, -7, 0.30000001192092896, -2.200000047683716}},
		{Int64, Int64, 2, []float64{2, 5, -5, 2, 0}},
		{Int64, Float32, 0.3, []float64{0.30000001192092896, 3.299999952316284, -6.699999809265137, 0.30000001192092896, -1.7000000476837158}},
	} {
		y := ScalarSub(s, c.c, To(s, From([]float32{0.1, -3, 7.3, 0, 2.5}), c.dt))
		if got := y.Float64s(); !slices.Equal(got, c.want) || y.DType() != c.out {
			t.Errorf("%v - %v: %v %v, want %v %v", c.c, c.dt, y.DType(), got, c.out, c.want)
		}
	}
	w := From([]float32{2, 3}).RequireGrad()
	Sum(s, Square(s, ScalarSub(s, 5, w))).Backward()
	if got, want := w.Grad().Float64s(), []float64{-6, -4}; !slices.Equal(got, want) { // -2(5-w)
		t.Errorf("gradient %v, want %v", got, want)
	}
	if err := Maybe(func() { ScalarSub(s, 1, Ones(s, Bool, 2)) }); !errors.Is(err, ErrDType) {
		t.Errorf("of booleans: %v", err)
	}
}
