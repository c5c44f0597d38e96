package amp

import (
	"errors"
	"slices"
	"testing"
)

func TestPadValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range allDTypes[:5] {
		x := fromFloat64s(dt, []float64{1, 2, 3, 4}, []int{1, 4})
		for _, c := range []struct {
			mode string
			pads []int
			want []float64
		}{
			{"constant", []int{2, 1}, []float64{9, 9, 1, 2, 3, 4, 9}},
			{"constant", []int{-1, 2}, []float64{2, 3, 4, 9, 9}},
			{"constant", []int{-2, -2}, []float64{}},
			{"reflect", []int{3, 2}, []float64{4, 3, 2, 1, 2, 3, 4, 3, 2}},
			{"reflect", []int{-1, 1}, []float64{2, 3, 4, 3}},
			{"replicate", []int{2, 3}, []float64{1, 1, 1, 2, 3, 4, 4, 4, 4}},
			{"circular", []int{2, 4}, []float64{3, 4, 1, 2, 3, 4, 1, 2, 3, 4}},
			{"circular", []int{-1, 1}, []float64{2, 3, 4, 2}},
			{"circular", []int{2, -1}, []float64{2, 3, 1, 2, 3}},
		} {
			if y := Pad(s, x, c.pads, c.mode, 9); y.dt != dt || !slices.Equal(y.Float64s(), c.want) {
				t.Errorf("%v %s %v: %v, want %v", dt, c.mode, c.pads, y.Float64s(), c.want)
			}
		}
	}
	// Two dimensions, the last first: one row above, two columns behind.
	x := From([]float32{1, 2, 3, 4}, 1, 2, 2)
	for mode, want := range map[string][]float64{
		"constant":  {0, 0, 0, 1, 2, 0, 3, 4, 0},
		"reflect":   {3, 4, 3, 1, 2, 1, 3, 4, 3},
		"replicate": {1, 2, 2, 1, 2, 2, 3, 4, 4},
		"circular":  {3, 4, 3, 1, 2, 1, 3, 4, 3},
	} {
		if y := Pad(s, x, []int{0, 1, 1, 0}, mode, 0); !slices.Equal(y.shape, []int{1, 3, 3}) || !slices.Equal(y.Float64s(), want) {
			t.Errorf("%s: %v %v", mode, y.shape, y.Float64s())
		}
	}
	// The gradient counts how often an element was taken.
	w := FromFloat64s(Float64, []float64{1, 2, 3}, 1, 3).RequireGrad()
	Sum(s, Pad(s, w, []int{2, 2}, "reflect", 0)).Backward()
	if g := w.Grad().Float64s(); !slices.Equal(g, []float64{2, 3, 2}) {
		t.Errorf("gradient of reflection %v", g)
	}
	low := s.Autocast(BFloat16, UseLists(CPULists))
	if y := Pad(low, To(s, x, BFloat16), []int{1, 0, 0, 0}, "reflect", 0); y.dt != Float32 {
		t.Errorf("reflection_pad2d is on the CPU lists, got %v", y.dt)
	}
}

func TestPadRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 1, 2, 3)
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"mode":         {ErrArgument, func() { Pad(s, x, []int{1, 1}, "mirror", 0) }},
		"odd":          {ErrArgument, func() { Pad(s, x, []int{1}, "constant", 0) }},
		"too many":     {ErrArgument, func() { Pad(s, x, make([]int, 8), "constant", 0) }},
		"no channels":  {ErrArgument, func() { Pad(s, x, make([]int, 6), "reflect", 0) }},
		"reflect size": {ErrShape, func() { Pad(s, x, []int{3, 0}, "reflect", 0) }},
		"circular":     {ErrShape, func() { Pad(s, x, []int{0, 4}, "circular", 0) }},
		"crop":         {ErrShape, func() { Pad(s, x, []int{-2, -2}, "constant", 0) }},
		"crop beyond":  {ErrShape, func() { Pad(s, x, []int{-4, 4}, "replicate", 0) }},
		"nothing":      {ErrShape, func() { Pad(s, Full(s, Float32, 1, 2, 0), []int{1, 0}, "replicate", 0) }},
		"value":        {ErrArgument, func() { Pad(s, Full(s, Float16, 1, 3), []int{1, 0}, "constant", 1e9) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
