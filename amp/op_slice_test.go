package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestSliceAsPython(t *testing.T) {
	s := NewScope()
	defer s.Close()
	const n = 7
	x := Arange(s, Int64, 0, n, 1)
	for start := -9; start <= 9; start++ {
		for end := -9; end <= 9; end++ {
			for _, step := range []int{1, 2, 3, 7, 100} {
				lo, hi := start, end
				if lo < 0 {
					lo = max(lo+n, 0)
				}
				if hi < 0 {
					hi += n
				}
				want := []float64{}
				for i := lo; i < min(hi, n); i += step {
					want = append(want, float64(i))
				}
				if y := Slice(s, x, 0, start, end, step); !slices.Equal(y.Float64s(), want) {
					t.Fatalf("[%d:%d:%d]: %v, want %v", start, end, step, y.Float64s(), want)
				}
			}
		}
	}
	if y := Slice(s, x, 0, 5, math.MaxInt, 1); !slices.Equal(y.Float64s(), []float64{5, 6}) {
		t.Errorf("to the end: %v", y.Float64s())
	}
}

func TestDimensionsInAndOut(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Reshape(s, Arange(s, Float32, 0, 12, 1), 1, 3, 1, 4)
	turned := Transpose(s, x, 1, 3) // [1 4 1 3], not contiguous
	for name, c := range map[string]struct {
		y     *Tensor
		shape []int
		first []float64
	}{
		"squeeze":        {Squeeze(s, turned), []int{4, 3}, []float64{0, 4, 8, 1}},
		"squeeze some":   {Squeeze(s, turned, 0, 1), []int{4, 1, 3}, []float64{0, 4, 8, 1}},
		"unsqueeze":      {Unsqueeze(s, turned, -2), []int{1, 4, 1, 1, 3}, []float64{0, 4, 8, 1}},
		"select":         {Select(s, turned, 3, -1), []int{1, 4, 1}, []float64{8, 9, 10, 11}},
		"flatten":        {Flatten(s, turned, 1, -1), []int{1, 12}, []float64{0, 4, 8, 1}},
		"flatten one":    {Flatten(s, Scalar(float32(3)), 0, -1), []int{1}, []float64{3}},
		"rot90":          {Rot90(s, Squeeze(s, x), 1, 0, 1), []int{4, 3}, []float64{3, 7, 11, 2}},
		"rot90 back":     {Rot90(s, Squeeze(s, x), -1, 0, 1), []int{4, 3}, []float64{8, 4, 0, 9}},
		"rot90 twice":    {Rot90(s, Squeeze(s, x), 2, 0, 1), []int{3, 4}, []float64{11, 10, 9, 8}},
		"rot90 not":      {Rot90(s, Squeeze(s, x), 4, 0, 1), []int{3, 4}, []float64{0, 1, 2, 3}},
		"unbind":         {Unbind(s, Squeeze(s, x), 1)[2], []int{3}, []float64{2, 6, 10}},
		"chunk":          {Chunk(s, Squeeze(s, x), 3, 1)[1], []int{3, 2}, []float64{2, 3, 6, 7}},
		"squeeze number": {Squeeze(s, Scalar(float32(3))), []int{}, []float64{3}},
	} {
		v := c.y.Float64s()
		if !slices.Equal(c.y.shape, c.shape) || !slices.Equal(v[:min(4, len(v))], c.first) {
			t.Errorf("%s: %v %v", name, c.y.shape, v)
		}
	}
	if squeezed := Squeeze(s, turned); squeezed.st != turned.st {
		t.Error("squeeze copies")
	}
	if parts := Chunk(s, Squeeze(s, x), 3, 1); len(parts) != 2 {
		t.Errorf("%d chunks of 4 in 3: sizes are rounded up, as in PyTorch", len(parts))
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"step":      {ErrArgument, func() { Slice(s, x, 1, 0, 2, 0) }},
		"backward":  {ErrArgument, func() { Slice(s, x, 1, 2, 0, -1) }},
		"select":    {ErrArgument, func() { Select(s, x, 1, 3) }},
		"unsqueeze": {ErrShape, func() { Unsqueeze(s, x, 5) }},
		"squeeze":   {ErrShape, func() { Squeeze(s, x, 4) }},
		"flatten":   {ErrArgument, func() { Flatten(s, x, 2, 1) }},
		"chunk":     {ErrArgument, func() { Chunk(s, x, 0, 1) }},
		"rot90":     {ErrShape, func() { Rot90(s, x, 1, 1, -3) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
