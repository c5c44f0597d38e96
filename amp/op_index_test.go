package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// at reads element i, j, … of a tensor through its strides.
func at(t *Tensor, place ...int) float64 {
	t = t.onHost("test")
	off := t.off
	for d, i := range place {
		off += i * t.strides[d]
	}
	return t.at(off)
}

// eachPlace calls f with every index of a shape.
func eachPlace(shape []int, f func(place []int)) {
	place := make([]int, len(shape))
	for i := range length(shape) {
		for d := len(shape) - 1; d >= 0; d-- {
			place[d] = i % shape[d]
			i /= shape[d]
		}
		f(place)
	}
}

// allDTypes are the dtypes of rows that move elements.
var allDTypes = []DType{Float16, BFloat16, Float32, Float64, Int64, Bool}

// TestMovers compares the rows that only move elements with their definitions, in every dtype and through a view.
func TestMovers(t *testing.T) {
	s := NewScope()
	defer s.Close()
	shape := []int{2, 3, 4}
	values := make([]float64, 24)
	for i := range values {
		values[i] = float64(i%7) - 3
	}
	index := From([]int64{2, 0, 2, 1, 1})
	list := []int{2, 0, 2, 1, 1}
	mod := func(a, n int) int { return (a%n + n) % n }
	for _, dt := range allDTypes {
		turned := Contiguous(s, Permute(s, fromFloat64s(dt, values, shape), 2, 0, 1))
		for _, x := range []*Tensor{fromFloat64s(dt, values, shape), Permute(s, turned, 1, 2, 0)} {
			for _, c := range []struct {
				name  string
				y     *Tensor
				shape []int
				from  func(p []int) float64
			}{
				{"index_select", IndexSelect(s, x, 1, index), []int{2, 5, 4}, func(p []int) float64 { return at(x, p[0], list[p[1]], p[2]) }},
				{"flip", Flip(s, x, 2, 0), shape, func(p []int) float64 { return at(x, 1-p[0], p[1], 3-p[2]) }},
				{"flip nothing", Flip(s, x), shape, func(p []int) float64 { return at(x, p...) }},
				{"roll", Roll(s, x, []int{1, -5}, []int{1, -1}), shape, func(p []int) float64 { return at(x, p[0], mod(p[1]-1, 3), mod(p[2]+5, 4)) }},
				{"roll twice", Roll(s, x, []int{1, 1}, []int{1, 1}), shape, func(p []int) float64 { return at(x, p[0], mod(p[1]-2, 3), p[2]) }},
				{"roll flat", Roll(s, x, []int{-7}, nil), shape, func(p []int) float64 {
					i := mod(p[0]*12+p[1]*4+p[2]+7, 24)
					return at(x, i/12, i/4%3, i%4)
				}},
				{"repeat", Repeat(s, x, 2, 1, 3, 2), []int{2, 2, 9, 8}, func(p []int) float64 { return at(x, p[1], p[2]%3, p[3]%4) }},
				{"repeat_interleave", RepeatInterleave(s, x, 2, -1), []int{2, 3, 8}, func(p []int) float64 { return at(x, p[0], p[1], p[2]/2) }},
				{"tril", Tril(s, x, -1), shape, func(p []int) float64 { return choose(p[2] <= p[1]-1, at(x, p...)) }},
				{"triu", Triu(s, x, 2), shape, func(p []int) float64 { return choose(p[2] >= p[1]+2, at(x, p...)) }},
			} {
				if !slices.Equal(c.y.shape, c.shape) || c.y.dt != dt {
					t.Fatalf("%v %s: %v %v, want %v", dt, c.name, c.y.dt, c.y.shape, c.shape)
				}
				eachPlace(c.shape, func(p []int) {
					if got, want := at(c.y, p...), c.from(p); got != want {
						t.Fatalf("%v %s%v: %v, want %v", dt, c.name, p, got, want)
					}
				})
			}
		}
	}
}

func choose(ok bool, v float64) float64 {
	if ok {
		return v
	}
	return 0
}

func TestMaskedFill(t *testing.T) {
	s := NewScope()
	defer s.Close()
	mask := From([]bool{true, false, false, true}, 2, 2)
	x := From([]float32{1, 2, 3, 4}, 2, 2)
	for _, dt := range allDTypes[:5] {
		y := MaskedFill(s, To(s, x, dt), mask, 1)
		if y.dt != dt || !slices.Equal(y.Float64s(), []float64{1, 2, 3, 1}) {
			t.Errorf("%v: %v %v", dt, y.dt, y.Float64s())
		}
	}
	if y := MaskedFill(s, From([]float32{1, 2}), mask, math.Inf(-1)); !slices.Equal(y.Float64s(), []float64{math.Inf(-1), 2, 1, math.Inf(-1)}) {
		t.Errorf("broadcast: %v", y.Float64s())
	}
	if y := MaskedFill(s, To(s, x, Float16), mask, 65504); y.Float64s()[0] != 65504 {
		t.Errorf("the largest float16: %v", y.Float64s())
	}
	// Autocast leaves it alone: -1e9, which popular code fills with, is refused in half precision and fine in float32.
	scores := s.Autocast(Float16)
	if y := MaskedFill(scores, x, mask, -1e9); y.dt != Float32 {
		t.Errorf("masked_fill under autocast gives %v", y.dt)
	}
	nan := MaskedFill(s, From([]float32{float32(math.NaN())}).RequireGrad(), From([]bool{true}), 2)
	if nan.Item() != 2 {
		t.Errorf("NaN stays under the mask: %v", nan.Item())
	}
}

func TestOneHot(t *testing.T) {
	s := NewScope()
	defer s.Close()
	y := OneHot(s, From([]int64{2, 0, 1, 2}, 2, 2), 4)
	if y.dt != Int64 || !slices.Equal(y.shape, []int{2, 2, 4}) || !slices.Equal(y.Float64s(), []float64{0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}) {
		t.Errorf("%v %v %v", y.dt, y.shape, y.Float64s())
	}
	if y := OneHot(s, Scalar(int64(1)), -1); !slices.Equal(y.shape, []int{2}) || !slices.Equal(y.Float64s(), []float64{0, 1}) {
		t.Errorf("counted: %v %v", y.shape, y.Float64s())
	}
}

func TestIndexRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 2, 3)
	half := Full(s, Float16, 1, 2, 3)
	mask := From([]bool{true, false, true})
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"index above":         {ErrArgument, func() { IndexSelect(s, x, 0, From([]int64{2})) }},
		"index below":         {ErrArgument, func() { IndexSelect(s, x, 0, From([]int64{-1})) }},
		"index of floats":     {ErrDType, func() { IndexSelect(s, x, 0, From([]float32{1})) }},
		"index of two dims":   {ErrDType, func() { IndexSelect(s, x, 0, From([]int64{1}, 1, 1)) }},
		"dimension":           {ErrShape, func() { IndexSelect(s, x, 2, From([]int64{1})) }},
		"mask of numbers":     {ErrDType, func() { MaskedFill(s, x, x, 1) }},
		"mask shape":          {ErrShape, func() { MaskedFill(s, x, From([]bool{true, true}), 1) }},
		"fill overflows":      {ErrArgument, func() { MaskedFill(s, half, mask, -1e9) }},
		"fill above 65504":    {ErrArgument, func() { MaskedFill(s, half, mask, 65505) }},
		"fill of integers":    {ErrArgument, func() { MaskedFill(s, From([]int64{1, 2, 3}), mask, 0.5) }},
		"fill of bfloat16":    {ErrArgument, func() { MaskedFill(s, Full(s, BFloat16, 1, 3), mask, 3.4e38) }},
		"one_hot of floats":   {ErrDType, func() { OneHot(s, x, 3) }},
		"one_hot class":       {ErrArgument, func() { OneHot(s, From([]int64{3}), 3) }},
		"one_hot of nothing":  {ErrArgument, func() { OneHot(s, From([]int64{}, 0), -1) }},
		"one_hot no classes":  {ErrArgument, func() { OneHot(s, From([]int64{1}), 0) }},
		"triangle of vectors": {ErrShape, func() { Tril(s, From([]float32{1}), 0) }},
		"flip twice":          {ErrShape, func() { Flip(s, x, 0, -2) }},
		"roll":                {ErrArgument, func() { Roll(s, x, []int{1, 2}, []int{0}) }},
		"repeat too few":      {ErrArgument, func() { Repeat(s, x, 2) }},
		"repeat below 0":      {ErrArgument, func() { Repeat(s, x, 2, -1) }},
		"interleave below 0":  {ErrArgument, func() { RepeatInterleave(s, x, -1, 0) }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIndexWithMasks: a mask stands for the indices of where it is true, as in PyTorch.
func TestIndexWithMasks(t *testing.T) {
	s := NewScope()
	defer s.Close()
	numbers := make([]float64, 12)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	x := From(numbers, 3, 4).To(s).RequireGrad()
	rows := From([]bool{true, false, true}).To(s)
	some := Gt(s, x, Full(s, Float64, 8.5))
	wantValues(t, "rows", Index(s, x, rows), 0, 1, 2, 3, 8, 9, 10, 11)
	wantValues(t, "elements", Index(s, x, some), 9, 10, 11)
	wantValues(t, "rows and columns", Index(s, x, rows, From([]int64{1, -1}).To(s)), 1, 11)
	wantValues(t, "a row's mask", Index(s, x, From([]int64{1}).To(s), From([]bool{false, true, true, false}).To(s)), 5, 6)
	if none := Index(s, x, From([]bool{false, false, false}).To(s)); !slices.Equal(none.Shape(), []int{0, 4}) {
		t.Errorf("nothing has shape %v", none.Shape())
	}
	y := Index(s, x, some)
	Sum(s, Mul(s, y, y)).Backward()
	wantValues(t, "gradient", x.Grad(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 18, 20, 22)
	z := Zeros(s, Float64, 3, 4)
	wantValues(t, "written", IndexPut(s, z, []*Tensor{rows}, From([]float64{1, 2, 3, 4}).To(s), false), 1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4)
	wantValues(t, "added", IndexPut(s, x, []*Tensor{some}, Full(s, Float64, 100), true), 0, 1, 2, 3, 4, 5, 6, 7, 8, 109, 110, 111)

	for name, indices := range map[string][]*Tensor{
		"length": {From([]bool{true, false}).To(s)}, "rank": {rows, some}, "none": {Full(s, Bool, 1)},
	} {
		if err := Maybe(func() { Index(s, x, indices...) }); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "mask") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
