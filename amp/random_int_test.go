package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestRandomIntegers(t *testing.T) {
	s := NewScope(Seed(5))
	defer s.Close()
	x := Values[int64](RandInt(s, -3, 4, 7000))
	count := map[int64]int{}
	for _, v := range x {
		count[v]++
	}
	for v := int64(-3); v < 4; v++ {
		if n := count[v]; n < 850 || n > 1150 { // 1000 expected, 5 standard deviations are 146
			t.Errorf("%d of 7000 are %d", n, v)
		}
	}
	if len(count) != 7 {
		t.Errorf("%v", count)
	}
	p := Values[int64](RandPerm(s, 100))
	if again := Values[int64](RandPerm(s, 100)); slices.Equal(p, again) || slices.IsSorted(p) {
		t.Error("no new order was drawn")
	}
	slices.Sort(p)
	for i, v := range p {
		if v != int64(i) {
			t.Fatalf("place %d of the sorted order holds %d", i, v)
		}
	}
	same := NewScope(Seed(5))
	defer same.Close()
	if !slices.Equal(x, Values[int64](RandInt(same, -3, 4, 7000))) {
		t.Error("the same seed gave other numbers")
	}
	for _, f := range []func(){func() { RandInt(s, 2, 2) }, func() { RandInt(s, math.MinInt64, math.MaxInt64, 1) }, func() { RandPerm(s, -1) }} {
		if err := Maybe(f); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
	}
}

func TestAllClose(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for i, c := range []struct {
		a, b []float64
		want bool
	}{
		{[]float64{1, inf}, []float64{1.000009, inf}, true},
		{[]float64{1}, []float64{1.00002}, false},
		{[]float64{1}, []float64{inf}, false},
		{[]float64{inf}, []float64{-inf}, false},
		{[]float64{nan}, []float64{nan}, false},
		{[]float64{1}, []float64{1, 1}, false},
		{nil, nil, true},
	} {
		if AllClose(From(c.a), From(c.b), 1e-5, 1e-8) != c.want {
			t.Errorf("case %d: not %v", i, c.want)
		}
	}
}
