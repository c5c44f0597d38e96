package amp

import (
	"fmt"
	"slices"
	"testing"
)

// cuts are the ways in which a test cuts a tensor [3 6 4] up; each piece is multiplied by a number of its own.
var cuts = map[string]struct {
	pieces func(s *Scope, x *Tensor) []*Tensor
	joined bool // the pieces make up the whole
}{
	"thirds":      {func(s *Scope, x *Tensor) []*Tensor { return Split(s, x, 2, 1) }, true},
	"backwards":   {func(s *Scope, x *Tensor) []*Tensor { p := Split(s, x, 4, 1); slices.Reverse(p); return p }, true},
	"rows":        {func(s *Scope, x *Tensor) []*Tensor { return Unbind(s, x, 0) }, true},
	"all":         {func(s *Scope, x *Tensor) []*Tensor { return []*Tensor{Narrow(s, x, 2, 0, 4)} }, true},
	"gap":         {func(s *Scope, x *Tensor) []*Tensor { return []*Tensor{Narrow(s, x, 1, 0, 2), Narrow(s, x, 1, 3, 3)} }, false},
	"first":       {func(s *Scope, x *Tensor) []*Tensor { return []*Tensor{Narrow(s, x, 1, 0, 5)} }, false},
	"overlap":     {func(s *Scope, x *Tensor) []*Tensor { return []*Tensor{Narrow(s, x, 1, 0, 4), Narrow(s, x, 1, 3, 3)} }, false},
	"twice":       {func(s *Scope, x *Tensor) []*Tensor { return []*Tensor{Select(s, x, 0, 1), Select(s, x, 0, 1)} }, false},
	"both ways":   {func(s *Scope, x *Tensor) []*Tensor { return []*Tensor{Narrow(s, x, 1, 0, 3), Narrow(s, x, 0, 0, 3)} }, false},
	"and another": {func(s *Scope, x *Tensor) []*Tensor { return append(Split(s, x, 3, 1), Exp(s, x)) }, true},
	"of a piece":  {func(s *Scope, x *Tensor) []*Tensor { return Split(s, Narrow(s, x, 1, 0, 6), 3, 1) }, true},
}

// TestGradientsOfParts: gradients of pieces put together are those of pieces among zeros, added up, which CreateGraph still takes; for
// leaves, for results of ops and for what Grad is asked about.
func TestGradientsOfParts(t *testing.T) {
	for name, c := range cuts {
		for _, leaf := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, leaf %v", name, leaf), func(t *testing.T) {
				s := NewScope(Seed(3))
				defer s.Close()
				x := Randn(s, Float64, 0, 1, 3, 6, 4).RequireGrad()
				run := func() *Tensor {
					y := x
					if !leaf {
						y = Sin(s, x)
					}
					var sum *Tensor
					for i, p := range c.pieces(s, y) {
						part := Sum(s, MulScalar(s, Mul(s, p, p), float64(1+i)))
						if sum == nil {
							sum = part
						} else {
							sum = Add(s, sum, part)
						}
					}
					return sum
				}
				want := Grad(s, []*Tensor{run()}, []*Tensor{x}, CreateGraph())[0].Float64s()
				if got := Grad(s, []*Tensor{run()}, []*Tensor{x})[0].Float64s(); !slices.Equal(got, want) {
					t.Errorf("Grad: %v, want %v", got, want)
				}
				for range 2 { // and once more, onto what is there
					run().Backward()
				}
				got := x.Grad().Float64s()
				for i, v := range want {
					if got[i] != 2*v {
						t.Fatalf("element %d is %v, want %v", i, got[i], 2*v)
					}
				}
				if !x.Grad().IsContiguous() {
					t.Error("the leaf's gradient has gaps")
				}
			})
		}
	}
}

// TestPartsInOnePass: no piece that has its place is written among zeros.
func TestPartsInOnePass(t *testing.T) {
	for name, c := range cuts {
		root := NewScope(Record(Decisions), Seed(3))
		w := Randn(root, Float32, 0, 1, 3, 6, 4).RequireGrad()
		for s := range root.Steps(1) {
			var sum *Tensor
			for _, p := range c.pieces(s, MulScalar(s, w, 2)) {
				if part := Sum(s, p); sum == nil {
					sum = part
				} else {
					sum = Add(s, sum, part)
				}
			}
			sum.Backward()
		}
		among := slices.ContainsFunc(root.Trace().Events, func(e Event) bool { return e.Op == "narrow_backward" })
		if among == c.joined {
			t.Errorf("%s: pieces among zeros: %v", name, among)
		}
		w.ZeroGrad()
		root.Close()
	}
}
