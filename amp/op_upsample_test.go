package amp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

func near(a, b []float64, tol float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tol })
}

// TestInterpolateExamples holds Interpolate to the examples of PyTorch's documentation of Upsample.
func TestInterpolateExamples(t *testing.T) {
	s := NewScope()
	defer s.Close()
	square := FromFloat64s(Float64, []float64{1, 2, 3, 4}, 1, 1, 2, 2)
	corner := FromFloat64s(Float64, []float64{1, 2, 0, 3, 4, 0, 0, 0, 0}, 1, 1, 3, 3)
	for _, c := range []struct {
		x    *Tensor
		o    Interpolation
		want []float64
	}{
		{square, Interpolation{}, []float64{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}},
		{square, Interpolation{Mode: "bilinear"}, []float64{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}},
		{square, Interpolation{Mode: "bilinear", AlignCorners: true}, []float64{1, 1.3333, 1.6667, 2, 1.6667, 2, 2.3333, 2.6667, 2.3333, 2.6667, 3, 3.3333, 3, 3.3333, 3.6667, 4}},
		{corner, Interpolation{Mode: "bilinear"}, []float64{
			1, 1.25, 1.75, 1.5, 0.5, 0, 1.5, 1.75, 2.25, 1.875, 0.625, 0, 2.5, 2.75, 3.25, 2.625, 0.875, 0,
			2.25, 2.4375, 2.8125, 2.25, 0.75, 0, 0.75, 0.8125, 0.9375, 0.75, 0.25, 0, 0, 0, 0, 0, 0, 0}},
		{corner, Interpolation{Mode: "bilinear", AlignCorners: true}, []float64{
			1, 1.4, 1.8, 1.6, 0.8, 0, 1.8, 2.2, 2.6, 2.24, 1.12, 0, 2.6, 3, 3.4, 2.88, 1.44, 0,
			2.4, 2.72, 3.04, 2.56, 1.28, 0, 1.2, 1.36, 1.52, 1.28, 0.64, 0, 0, 0, 0, 0, 0, 0}},
	} {
		c.o.Scale = []float64{2}
		if y := Interpolate(s, c.x, c.o); !near(y.Float64s(), c.want, 5e-5) {
			t.Errorf("%+v: %v, want %v", c.o, y.Float64s(), c.want)
		}
	}
}

// keys is the kernel of cubic convolution with a = -3/4, Keys 1981, equation 4.
func keys(x float64) float64 {
	const a = -0.75
	switch x = math.Abs(x); {
	case x <= 1:
		return (a+2)*x*x*x - (a+3)*x*x + 1
	case x <= 2:
		return a*x*x*x - 5*a*x*x + 8*a*x - 4*a
	}
	return 0
}

// TestInterpolateLines: the modes in one dimension and in three agree with the one in two and with their definitions on a ramp, and a
// constant stays.
func TestInterpolateLines(t *testing.T) {
	s := NewScope()
	defer s.Close()
	const n = 12
	ramp := make([]float64, n)
	for i := range ramp {
		ramp[i] = float64(i)
	}
	x := FromFloat64s(Float64, ramp, 1, 1, n)
	for _, m := range []int{5, 12, 17, 31} {
		for _, align := range []bool{false, true} {
			line := Interpolate(s, x, Interpolation{Size: []int{m}, Mode: "linear", AlignCorners: align}).Float64s()
			plane := Interpolate(s, Reshape(s, x, 1, 1, 1, n), Interpolation{Size: []int{1, m}, Mode: "bilinear", AlignCorners: align}).Float64s()
			space := Interpolate(s, Reshape(s, x, 1, 1, 1, n, 1), Interpolation{Size: []int{2, m, 1}, Mode: "trilinear", AlignCorners: align}).Float64s()
			cubic := Interpolate(s, Reshape(s, x, 1, 1, n, 1), Interpolation{Size: []int{m, 1}, Mode: "bicubic", AlignCorners: align}).Float64s()
			if !near(line, plane, 1e-14) || !near(line, space[:m], 1e-14) || !near(line, space[m:], 1e-14) {
				t.Fatalf("linear to %d: %v, %v, %v", m, line, plane, space)
			}
			for i := range m {
				at := (float64(i)+0.5)*n/float64(m) - 0.5
				if align {
					at = float64(i) * (n - 1) / float64(m-1)
				}
				if want := min(max(at, 0), n-1); !(math.Abs(line[i]-want) <= 1e-12) {
					t.Errorf("linear to %d, aligned %v: element %d is %v, want %v", m, align, i, line[i], want)
				}
				want := 0.0
				for k := -3; k < n+3; k++ { // the edges repeated
					want += keys(at-float64(k)) * min(max(float64(k), 0), n-1)
				}
				if !(math.Abs(cubic[i]-want) <= 1e-12) {
					t.Errorf("cubic to %d, aligned %v: element %d is %v, want %v", m, align, i, cubic[i], want)
				}
			}
		}
		exact := Interpolate(s, x, Interpolation{Size: []int{m}, Mode: "nearest-exact"}).Float64s()
		plain := Interpolate(s, x, Interpolation{Size: []int{m}}).Float64s()
		for i := range m {
			if want := math.Floor((float64(i) + 0.5) * n / float64(m)); exact[i] != want {
				t.Errorf("nearest-exact to %d: element %d is %v, want %v", m, i, exact[i], want)
			}
			if want := math.Floor(float64(i*n) / float64(m)); plain[i] != want {
				t.Errorf("nearest to %d: element %d is %v, want %v", m, i, plain[i], want)
			}
		}
	}
	ones := Full(s, Float64, 1, 1, 1, 5, 7)
	for _, o := range []Interpolation{{Mode: "bicubic"}, {Mode: "bilinear", Antialias: true}, {Mode: "bicubic", Antialias: true}} {
		for _, size := range [][]int{{2, 3}, {9, 8}, {1, 20}} {
			o.Size = size
			for _, v := range Interpolate(s, ones, o).Float64s() {
				if !(math.Abs(v-1) <= 1e-14) {
					t.Fatalf("%+v of ones: %v", o, v)
				}
			}
		}
	}
	// Halving with antialiasing weighs 1/8, 3/8, 3/8, 1/8: the triangle over four cells.
	y := Interpolate(s, FromFloat64s(Float64, []float64{0, 8, 0, 0, 0, 0, 0, 0}, 1, 1, 1, 8), Interpolation{Size: []int{1, 4}, Mode: "bilinear", Antialias: true}).Float64s()
	if !near(y, []float64{8. * 3 / 7, 1, 0, 0}, 1e-12) {
		t.Errorf("halved: %v", y)
	}
}

// TestInterpolateScale: the coordinates go by the factor as given, by the sizes if recomputed.
func TestInterpolateScale(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := FromFloat64s(Float64, []float64{0, 1, 2, 3, 4}, 1, 1, 5)
	given := Interpolate(s, x, Interpolation{Scale: []float64{1.5}, Mode: "linear"}).Float64s()
	sized := Interpolate(s, x, Interpolation{Scale: []float64{1.5}, Mode: "linear", RecomputeScale: true}).Float64s()
	if len(given) != 7 || len(sized) != 7 {
		t.Fatalf("%d and %d elements", len(given), len(sized))
	}
	for i := range 7 {
		if want := min(max((float64(i)+0.5)/1.5-0.5, 0), 4); !(math.Abs(given[i]-want) <= 1e-12) {
			t.Errorf("given: element %d is %v, want %v", i, given[i], want)
		}
		if want := min(max((float64(i)+0.5)*5/7-0.5, 0), 4); !(math.Abs(sized[i]-want) <= 1e-12) {
			t.Errorf("recomputed: element %d is %v, want %v", i, sized[i], want)
		}
	}
	half := Full(s, Float16, 1, 1, 1, 2, 2)
	if y := Interpolate(s.Autocast(Float16), half, Interpolation{Scale: []float64{2}}); y.dt != Float32 {
		t.Errorf("under autocast: %v", y.dt)
	}
	if y := Interpolate(s.Autocast(BFloat16, UseLists(CPULists)), To(s, half, BFloat16), Interpolation{Scale: []float64{2}}); y.dt != BFloat16 {
		t.Errorf("on the CPU lists: %v", y.dt)
	}
	if y := Interpolate(s, half, Interpolation{Scale: []float64{2}, Mode: "bicubic"}); y.dt != Float16 {
		t.Errorf("without autocast: %v", y.dt)
	}
}

func TestInterpolateRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 1, 1, 4, 4)
	for i, c := range []struct {
		kind error
		o    Interpolation
	}{
		{ErrArgument, Interpolation{}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, Scale: []float64{1}}},
		{ErrArgument, Interpolation{Size: []int{2}}},
		{ErrArgument, Interpolation{Scale: []float64{2, 2, 2}}},
		{ErrArgument, Interpolation{Scale: []float64{}}},
		{ErrShape, Interpolation{Size: []int{2, 0}}},
		{ErrShape, Interpolation{Scale: []float64{0.1}}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, Mode: "linear"}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, Mode: "trilinear"}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, Mode: "cubic"}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, AlignCorners: true}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, Antialias: true}},
		{ErrArgument, Interpolation{Size: []int{2, 2}, Mode: "area", AlignCorners: true}},
	} {
		if err := Maybe(func() { Interpolate(s, x, c.o) }); !errors.Is(err, c.kind) {
			t.Errorf("case %d %+v: %v", i, c.o, err)
		}
	}
	for _, shape := range [][]int{{4, 4}, {1, 1, 2, 2, 2, 2}, {1, 1, 0, 4}} {
		err := Maybe(func() { Interpolate(s, Full(s, Float32, 1, shape...), Interpolation{Size: []int{2, 2}}) })
		if !errors.Is(err, ErrShape) {
			t.Error(fmt.Sprint(shape), err)
		}
	}
	if err := Maybe(func() { Interpolate(s, Full(s, Float32, 1, 1, 1, 4), Interpolation{Size: []int{2}, Mode: "bicubic"}) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
