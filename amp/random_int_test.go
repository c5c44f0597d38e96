package amp

import (
	"cmp"
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

// TestPermutationOrder: a permutation is the order of the numbers that the stream gives, and a random integer what one of them cuts to, for any
// number of them; numbers that are equal, or equal in all that is sorted by first, stay as they come or go where the rest says.
func TestPermutationOrder(t *testing.T) {
	sorted := func(keys []float64) []int64 {
		want := make([]int64, len(keys))
		for i := range want {
			want[i] = int64(i)
		}
		slices.SortStableFunc(want, func(i, j int64) int { return cmp.Compare(keys[i], keys[j]) })
		return want
	}
	drawn := func(seed uint64, n int) []float64 {
		keys := make([]float64, n)
		NewStream(seed).draw(n, units.onHost(Float64), func(at int, values []float64) { copy(keys[at:], values) })
		return keys
	}
	for _, n := range []int{0, 1, 2, 9, 511, 513, 30001} {
		s, other := NewScope(Seed(uint64(n))), NewScope(Seed(uint64(n)))
		keys := drawn(s.rng.seed, n)
		if got := Values[int64](RandPerm(s, n)); !slices.Equal(got, sorted(keys)) {
			t.Errorf("permutation of %d: another order than that of the numbers", n)
		}
		for i, got := range Values[int64](RandInt(other, -7, 1e15, n)) {
			if want := -7 + min(int64(keys[i]*(1e15+7)), 1e15+6); got != want {
				t.Fatalf("random integer %d of %d is %d, want %d", i, n, got, want)
			}
		}
		s.Close()
		other.Close()
	}
	keys := drawn(3, 5000)
	for i := range keys {
		switch i % 4 {
		case 0:
			keys[i] = 0.25 + keys[i]*0x1p-30 // the same first digits
		case 1:
			keys[i] = math.Floor(keys[i]*5) / 4 // 0 and 1 among them
		}
	}
	bits := make([]uint64, len(keys))
	for i, v := range keys {
		bits[i] = math.Float64bits(v)
	}
	order := make([]int64, len(keys))
	if evenOrder(order, bits, make([]uint64, len(keys))); !slices.Equal(order, sorted(keys)) {
		t.Error("numbers that share their first digits are out of order")
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
