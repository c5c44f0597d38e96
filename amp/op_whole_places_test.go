package amp

import (
	"slices"
	"testing"
)

// TestPlacesOfLargeIntegers: integers are compared as such, not as float64, which does not tell those beyond 2^53 apart.
func TestPlacesOfLargeIntegers(t *testing.T) {
	const n = 1 << 60
	s := NewScope()
	defer s.Close()
	x := From([]int64{n + 1, n + 3, n + 2, -n - 1, -n - 3, -n - 2}, 2, 3)
	place := func(name string, got *Tensor, want ...int64) {
		t.Helper()
		if v := Values[int64](got); !slices.Equal(v, want) {
			t.Errorf("%s: %v, want %v", name, v, want)
		}
	}
	place("argmax", ArgMax(s, x, 1), 1, 0)
	place("argmin", ArgMin(s, x, 1), 0, 1)
	place("argmax of columns", ArgMax(s, Transpose(s, x, 0, 1), 0), 1, 0)
	high, _ := Max(s, x, 1)
	low, _ := Min(s, x, -1)
	place("max", high, n+3, -n-1)
	place("min", low, n+1, -n-3)
	edges := From([]int64{n + 1, n + 2, n + 3})
	place("bucketize", Bucketize(s, x, edges, false), 0, 2, 1, 0, 0, 0)
	place("bucketize, right", Bucketize(s, x, edges, true), 1, 3, 2, 0, 0, 0)
	place("bucketize booleans", Bucketize(s, From([]bool{true, false}), From([]bool{false, true}), true), 2, 1)
}
