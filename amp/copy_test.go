package amp

import (
	"slices"
	"testing"
)

// TestClearAround: what lies outside a range of one dimension becomes zero, the range stays as it is.
func TestClearAround(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	for _, c := range []struct {
		shape    []int
		d, at, n int
	}{
		{[]int{5}, 0, 1, 3}, {[]int{5}, 0, 0, 5}, {[]int{4, 6}, 1, 5, 1}, {[]int{4, 6}, 0, 3, 1}, {[]int{3, 4, 5}, 1, 0, 2},
		{[]int{3, 50000}, 0, 1, 1}, {[]int{3, 50000}, 1, 100, 40000}, {[]int{7, 3, 5000}, 1, 1, 1}, {[]int{0, 3}, 1, 0, 1},
	} {
		x := FromFloat64s(Int64, slices.Repeat([]float64{1}, length(c.shape)), c.shape...).To(s)
		clearAround(x, c.d, c.at, c.n)
		got := Values[int64](x)
		inner := length(c.shape[c.d+1:])
		for i, v := range got {
			k, want := i/inner%c.shape[c.d], int64(0)
			if k >= c.at && k < c.at+c.n {
				want = 1
			}
			if v != want {
				t.Fatalf("%v: element %d is %d, want %d", c, i, v, want)
			}
		}
	}
}

// TestRowsOfManyDimensions: the walk over rows finds its places by additions up to eight outer dimensions, beyond by division.
func TestRowsOfManyDimensions(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	for rank := 2; rank <= 12; rank++ {
		shape, turned := make([]int, rank), make([]int, rank)
		for d := range shape {
			shape[d], turned[d] = 2+d%2, rank-1-d
		}
		x := Reshape(s, s.Own(FromFloat64s(Int64, seq(length(shape)), length(shape)).To(s)), shape...)
		v := Permute(s, x, turned...)
		var want []int64
		v.each(func(off int) { want = append(want, elements[int64](v)[off]) })
		if got := Values[int64](Contiguous(s, v)); !slices.Equal(got, want) {
			t.Errorf("rank %d: a copy differs", rank)
		}
		if sum := Values[int64](Add(s, v, v)); sum[len(sum)-1] != 2*want[len(want)-1] || sum[len(sum)/2] != 2*want[len(want)/2] {
			t.Errorf("rank %d: sums differ", rank)
		}
	}
}

// seq returns 0, 1, … n-1.
func seq(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}
