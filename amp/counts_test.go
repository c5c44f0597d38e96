package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestBincount against torch.bincount of PyTorch 2.15.
func TestBincount(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]int64{0, 1, 1, 3})
	for name, c := range map[string]struct {
		got  *Tensor
		dt   DType
		want []float64
	}{
		"counts":          {Bincount(s, x, nil, -1), Int64, []float64{1, 2, 0, 1}},
		"longer":          {Bincount(s, x, nil, 6), Int64, []float64{1, 2, 0, 1, 0, 0}},
		"weights":         {Bincount(s.Autocast(Float16), x, From([]float32{0.5, 1, 2, 4}), -1), Float32, []float64{0.5, 3, 0, 4}},
		"half weights":    {Bincount(s, x, FromFloat64s(Float16, []float64{0.5, 1, 2, 4}), -1), Float64, []float64{0.5, 3, 0, 4}},
		"integer weights": {Bincount(s, x, From([]int64{1, 1, 2, 4}), -1), Float64, []float64{1, 3, 0, 4}},
		"nothing":         {Bincount(s, From([]int64{}), nil, -1), Int64, []float64{}},
		"nothing, longer": {Bincount(s, From([]int64{}), nil, 2), Int64, []float64{0, 0}},
	} {
		if c.got.DType() != c.dt || !slices.Equal(c.got.Float64s(), c.want) {
			t.Errorf("%s: %v %v, want %v %v", name, c.got.DType(), c.got.Float64s(), c.dt, c.want)
		}
	}
	for name, c := range map[string]struct {
		kind error
		says string
		f    func()
	}{
		"negative":    {ErrArgument, "x[1] is -1", func() { Bincount(s, From([]int64{2, -1}), nil, -1) }},
		"beyond":      {ErrArgument, "3", func() { Bincount(s, x, nil, 3).Float64s() }}, // a device says so when it is read
		"below":       {ErrArgument, "", func() { Bincount(s, From([]int64{2, -1}), nil, 3).Float64s() }},
		"two dims":    {ErrShape, "[1 2]", func() { Bincount(s, From([]int64{1, 2}, 1, 2), nil, -1) }},
		"floats":      {ErrDType, "float32", func() { Bincount(s, From([]float32{1}), nil, -1) }},
		"few weights": {ErrShape, "[2]", func() { Bincount(s, x, From([]float32{1, 2}), -1) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBincountRefusesByItsOwnName what lies outside a length that is given.
func TestBincountRefusesByItsOwnName(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	for want, x := range map[string][]int64{"x[2] is 3, the length 3": {0, 1, 3}, "x[0] is -1, the length 3": {-1}} {
		err := Maybe(func() { Bincount(s, From(x).To(s), nil, 3) })
		if !errors.Is(err, ErrArgument) || !strings.HasPrefix(err.Error(), "amp: Bincount: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", x, err)
		}
	}
}

// TestUnique against torch.unique with inverse and counts.
func TestUnique(t *testing.T) {
	s := NewScope()
	defer s.Close()
	nan := math.NaN()
	v, which, n := Unique(s, FromFloat64s(BFloat16, []float64{3, 1, nan, 1, nan, 0}, 2, 3))
	if got := v.Float64s(); v.DType() != BFloat16 || len(got) != 5 || !slices.Equal(got[:3], []float64{0, 1, 3}) || got[3] == got[3] || got[4] == got[4] {
		t.Errorf("values %v", got)
	}
	if !slices.Equal(which.Shape(), []int{2, 3}) || !slices.Equal(Values[int64](which), []int64{2, 1, 3, 1, 4, 0}) || !slices.Equal(Values[int64](n), []int64{1, 2, 1, 1, 1}) {
		t.Errorf("which %v %v, counts %v", which.Shape(), Values[int64](which), Values[int64](n))
	}
	big := []int64{1<<60 + 1, 1 << 60, 1<<60 + 1, -5}
	v, which, n = Unique(s, From(big))
	if !slices.Equal(Values[int64](v), []int64{-5, 1 << 60, 1<<60 + 1}) || !slices.Equal(Values[int64](which), []int64{2, 1, 2, 0}) || !slices.Equal(Values[int64](n), []int64{1, 1, 2}) {
		t.Errorf("integers that float64 does not hold: %v %v %v", Values[int64](v), Values[int64](which), Values[int64](n))
	}
	v, which, n = Unique(s, From([]bool{true, false, true}))
	if !slices.Equal(Values[bool](v), []bool{false, true}) || !slices.Equal(Values[int64](which), []int64{1, 0, 1}) || !slices.Equal(Values[int64](n), []int64{1, 2}) {
		t.Errorf("truths: %v", v)
	}
	if v, which, n = Unique(s, From([]float32{}, 0, 2)); v.Len()+which.Len()+n.Len() != 0 || !slices.Equal(which.Shape(), []int{0, 2}) {
		t.Errorf("nothing: %v %v %v", v, which, n)
	}
}

// TestMeshgrid against torch.meshgrid.
func TestMeshgrid(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b, c := From([]int64{1, 2, 3}), From([]int64{4, 5}), From([]int64{7, 8})
	for name, c := range map[string]struct {
		got   []*Tensor
		shape []int
		want  [][]float64
	}{
		"ij":    {Meshgrid(s, "ij", a, b), []int{3, 2}, [][]float64{{1, 1, 2, 2, 3, 3}, {4, 5, 4, 5, 4, 5}}},
		"xy":    {Meshgrid(s, "xy", a, b), []int{2, 3}, [][]float64{{1, 2, 3, 1, 2, 3}, {4, 4, 4, 5, 5, 5}}},
		"three": {Meshgrid(s, "xy", a, b, c), []int{2, 3, 2}, [][]float64{{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}, {4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5}, {7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8}}},
		"one":   {Meshgrid(s, "xy", a), []int{3}, [][]float64{{1, 2, 3}}},
		"lone":  {Meshgrid(s, "ij", Scalar(int64(1)), b), []int{1, 2}, [][]float64{{1, 1}, {4, 5}}},
	} {
		for k, g := range c.got {
			if !slices.Equal(g.Shape(), c.shape) || !slices.Equal(g.Float64s(), c.want[k]) {
				t.Errorf("%s: tensor %d is %v %v, want %v %v", name, k, g.Shape(), g.Float64s(), c.shape, c.want[k])
			}
		}
	}
	w := From([]float32{1, 2, 3}).RequireGrad()
	Sum(s, Meshgrid(s, "ij", w, From([]float32{4, 5}))[0]).Backward()
	if got := w.Grad().Float64s(); !slices.Equal(got, []float64{2, 2, 2}) {
		t.Errorf("gradient %v", got)
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"dtypes":   {ErrDType, func() { Meshgrid(s, "ij", a, w) }},
		"matrix":   {ErrShape, func() { Meshgrid(s, "ij", a, Reshape(s, b, 2, 1)) }},
		"indexing": {ErrArgument, func() { Meshgrid(s, "ji", a, b) }},
		"nothing":  {ErrArgument, func() { Meshgrid(s, "ij") }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNanToNum against torch.nan_to_num, its gradient too.
func TestNanToNum(t *testing.T) {
	s := NewScope()
	defer s.Close()
	values := []float64{1, math.NaN(), math.Inf(1), math.Inf(-1), -2}
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		x := FromFloat64s(dt, values).RequireGrad()
		y := NanToNum(s, x)
		if want := []float64{1, 0, dt.Max(), -dt.Max(), -2}; y.DType() != dt || !slices.Equal(y.Float64s(), want) {
			t.Errorf("%v: %v %v, want %v", dt, y.DType(), y.Float64s(), want)
		}
		y.Backward(GradOutputs(FromFloat64s(dt, []float64{1, 2, 3, 4, 5})))
		if got := x.Grad().Float64s(); !slices.Equal(got, []float64{1, 0, 0, 0, 5}) {
			t.Errorf("%v: gradient %v", dt, got)
		}
		if got := NanToNum(s, x, 3, math.Inf(-1), math.NaN()).Float64s(); got[1] != 3 || !math.IsInf(got[2], -1) || got[3] == got[3] {
			t.Errorf("%v: other numbers gave %v", dt, got)
		}
	}
	if y := NanToNum(s, Scalar(float32(math.Inf(1))), 0, 7); len(y.Shape()) != 0 || y.Item() != 7 {
		t.Errorf("without dimensions: %v", y)
	}
	i := From([]int64{1, 2})
	if y := NanToNum(s, i); y == i || !slices.Equal(Values[int64](y), []int64{1, 2}) {
		t.Errorf("integers: %v", y)
	}
	if err := Maybe(func() { NanToNum(s, i, 1, 2, 3, 4) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	if err := Maybe(func() { NanToNum(s, FromFloat64s(Float16, values), 0, 1e9) }); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "NanToNum") {
		t.Error(err)
	}
}

// TestClone: a copy of its own, which gradients flow through.
func TestClone(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := From([]float32{1, 2, 3, 4}, 2, 2).RequireGrad()
	c := Clone(s, Transpose(s, w, 0, 1))
	if !slices.Equal(c.Float64s(), []float64{1, 3, 2, 4}) || !c.contiguous() || c.st == w.st {
		t.Errorf("%v", c)
	}
	c.Backward(GradOutputs(From([]float32{1, 2, 3, 4}, 2, 2)))
	if got := w.Grad().Float64s(); !slices.Equal(got, []float64{1, 3, 2, 4}) {
		t.Errorf("gradient %v", got)
	}
	d := Clone(s.NoGrad(), w)
	AddInPlace(s, d, d)
	if w.Float64s()[0] != 1 || d.Float64s()[0] != 2 {
		t.Error("a change of the copy reaches the tensor")
	}
}
