package nn

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

func TestDropout(t *testing.T) {
	x := amp.From(make([]float32, 4*8*2*3*2), 4, 8, 2, 3, 2)
	amp.SetValues(x, slices.Repeat([]float32{1}, x.Len()))
	for name, c := range map[string]struct {
		layer *Dropout
		x     func(s *amp.Scope) *amp.Tensor
		group int // elements that drop together
	}{
		"elements": {NewDropout(0.5), func(s *amp.Scope) *amp.Tensor { return x }, 1},
		"literal":  {&Dropout{P: 0.5}, func(s *amp.Scope) *amp.Tensor { return x }, 1},
		"1d":       {NewDropout1d(0.5), func(s *amp.Scope) *amp.Tensor { return amp.Reshape(s, x, 4, 8, 12) }, 12},
		"2d":       {NewDropout2d(0.5), func(s *amp.Scope) *amp.Tensor { return amp.Reshape(s, x, 4, 8, 3, 4) }, 12},
		"3d":       {NewDropout3d(0.5), func(s *amp.Scope) *amp.Tensor { return x }, 12},
	} {
		s := amp.NewScope(amp.Seed(3))
		in := c.x(s)
		y := c.layer.Forward(s, in).Float64s()
		zeros := 0
		for i := 0; i < len(y); i += c.group {
			group := y[i : i+c.group]
			if len(slices.Compact(slices.Clone(group))) != 1 || group[0] != 0 && group[0] != 2 {
				t.Fatalf("%s: group %v", name, group)
			}
			if group[0] == 0 {
				zeros++
			}
		}
		if n := len(y) / c.group; zeros == 0 || zeros == n {
			t.Errorf("%s: %d of %d groups dropped", name, zeros, n)
		}
		if c.layer.Forward(s.Eval(), in) != in {
			t.Errorf("%s drops in evaluation", name)
		}
		s.Close()
	}
	if len(NewDropout(0.1).Parameters()) != 0 {
		t.Error("dropout has parameters")
	}
	for _, f := range []func(){func() { NewDropout(-1) }, func() { NewAlphaDropout(1.5) }} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Error(err)
		}
	}
}
