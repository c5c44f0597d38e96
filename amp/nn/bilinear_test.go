package nn

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

func TestBilinear(t *testing.T) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	l := NewBilinear(s, 4, 3, 2)
	if len(l.Parameters()) != 2 || len(NewBilinear(s, 4, 3, 2, NoBias()).Parameters()) != 1 {
		t.Error("parameters")
	}
	for _, v := range append(l.Weight.Float64s(), l.Bias.Float64s()...) {
		if math.Abs(v) > 0.5 {
			t.Errorf("%v is beyond 1/√4", v)
		}
	}
	a, b := amp.Rand(s, amp.Float32, -1, 1, 5, 4), amp.Rand(s, amp.Float32, -1, 1, 5, 3)
	y := l.Forward(s, a, b)
	x, z, w := a.Float64s(), b.Float64s(), l.Weight.Float64s()
	for n := range 5 {
		for o := range 2 {
			want := l.Bias.Float64s()[o]
			for i := range 4 {
				for j := range 3 {
					want += x[4*n+i] * w[(4*o+i)*3+j] * z[3*n+j]
				}
			}
			if got := y.Float64s()[2*n+o]; !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("output %d,%d: %v, want %v", n, o, got, want)
			}
		}
	}
	if err := amp.Maybe(func() { NewBilinear(s, 4, 0, 2) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
	if got := CosineSimilarity(s, amp.From([]float64{3, 4}, 1, 2), amp.From([]float64{4, 3}, 1, 2)).Float64s(); math.Abs(got[0]-0.96) > 1e-12 {
		t.Errorf("cosine %v", got)
	}
	if got := PairwiseDistance(s, amp.From([]float64{1, 2, 3, 4}, 2, 2), amp.From([]float64{1, 2, 0, 0}, 2, 2)); !slices.Equal(got.Shape(), []int{2}) || math.Abs(got.Float64s()[1]-5) > 1e-5 {
		t.Errorf("distance %v", got.Float64s())
	}
}
