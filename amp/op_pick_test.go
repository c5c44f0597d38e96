package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestExtremeIndices(t *testing.T) {
	s := NewScope()
	defer s.Close()
	nan := float32(math.NaN())
	x := From([]float32{3, 1, 3, -1, nan, 2}, 2, 3)
	v, i := Max(s, x, 1)
	if got := Values[int64](i); !slices.Equal(got, []int64{0, 1}) { // the first of equals; NaN wins
		t.Errorf("argmax %v", got)
	}
	if f := v.Float64s(); f[0] != 3 || f[1] == f[1] {
		t.Errorf("max %v", f)
	}
	v, i = Min(s, Transpose(s, x, 0, 1), 0)
	if got := Values[int64](i); !slices.Equal(got, []int64{1, 1}) || v.Float64s()[0] != 1 {
		t.Errorf("argmin %v, min %v", got, v.Float64s())
	}
	if v, i := Max(s, From([]int64{4, 9, 2}), 0); v.Rank() != 0 || v.DType() != Int64 || v.Item() != 9 || i.Item() != 1 {
		t.Errorf("max of integers %v at %v", v, i)
	}
	// The gradient goes to one of equals, not to both.
	w := From([]float32{5, 5, 1}).RequireGrad()
	top, _ := Max(s, w, 0)
	top.Backward()
	if g := w.Grad().Float64s(); !slices.Equal(g, []float64{1, 0, 0}) {
		t.Errorf("gradient %v", g)
	}
}

func TestJoinAndCut(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float32{1, 2, 3, 4}, 2, 2), fromFloat64s(Float16, []float64{5, 6}, []int{2, 1})
	y := Cat(s, 1, a, b)
	if y.DType() != Float32 || !slices.Equal(y.Float64s(), []float64{1, 2, 5, 3, 4, 6}) {
		t.Errorf("cat %v %v", y.DType(), y.Float64s())
	}
	parts := Split(s, y, 2, -1)
	if len(parts) != 2 || !slices.Equal(parts[0].Float64s(), a.Float64s()) || !slices.Equal(parts[1].shape, []int{2, 1}) {
		t.Errorf("split into %d", len(parts))
	}
	if z := Stack(s, -1, a, a); !slices.Equal(z.shape, []int{2, 2, 2}) || !slices.Equal(z.Float64s(), []float64{1, 1, 2, 2, 3, 3, 4, 4}) {
		t.Errorf("stack %v %v", z.shape, z.Float64s())
	}
	if m := Cat(s, 0, From([]bool{true}), From([]bool{false})); m.DType() != Bool || !slices.Equal(Values[bool](m), []bool{true, false}) {
		t.Errorf("cat of booleans: %v", m.DType())
	}
	e := Embedding(s, Transpose(s, a, 0, 1), From([]int64{1, 1, 0}))
	if !slices.Equal(e.Float64s(), []float64{2, 4, 2, 4, 1, 3}) {
		t.Errorf("embedding of a view: %v", e.Float64s())
	}
	i := From([]int64{0, 5})
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"narrow":       {ErrShape, "start 1, length 2", func() { Narrow(s, a, 0, 1, 2) }},
		"cat":          {ErrShape, "tensor 1 is [2 1]", func() { Cat(s, 0, a, b) }},
		"cat nothing":  {ErrArgument, "nothing to join", func() { Cat(s, 0) }},
		"stack":        {ErrShape, "amp.Cat", func() { Stack(s, 0, a, b) }},
		"split":        {ErrArgument, "size 0", func() { Split(s, a, 0, 0) }},
		"gather":       {ErrArgument, "is 5", func() { Gather(s, From([]float32{1, 2}), 0, i) }},
		"gather float": {ErrDType, "int64", func() { Gather(s, a, 0, a) }},
		"gather shape": {ErrShape, "as many dimensions", func() { Gather(s, a, 0, i) }},
		"embedding":    {ErrArgument, "index 1 is 5", func() { Embedding(s, a, i) }},
		"clamp":        {ErrArgument, "smaller bound first", func() { Clamp(s, a, 1, 0) }},
		"argmax":       {ErrShape, "is empty", func() { ArgMax(s, From([]float32{}, 0, 3), 0) }},
		"huber":        {ErrArgument, "delta 0", func() { HuberLoss(s, a, a, 0) }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
