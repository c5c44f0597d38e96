package amp

import (
	"cmp"
	"math"
	"slices"
)

// RandInt returns int64 numbers uniform in [lo, hi), drawn from the scope's stream; see Rand for their life. It panics with ErrArgument
// unless lo < hi and they lie within 2⁵³ of each other.
func RandInt(s *Scope, lo, hi int64, shape ...int) *Tensor {
	if !(lo < hi) || uint64(hi-lo) > 1<<53 {
		fail("RandInt", ErrArgument, "use a lower limit below the upper one", "from %d to %d", lo, hi)
	}
	s.alive("RandInt")
	t := alloc("RandInt", s.root.dev, Int64, shape)
	u := make([]float64, t.Len())
	s.rng.fill(u, func(u, v float64) (float64, float64) { return u, v })
	numbers := make([]int64, len(u))
	for i, u := range u {
		numbers[i] = lo + min(int64(math.Floor(u*float64(hi-lo))), hi-lo-1)
	}
	setElements(t, numbers)
	return s.born(t)
}

// RandPerm returns the numbers from 0 to n-1, int64 [n], in an order drawn from the scope's stream; see Rand for their life. It panics
// with ErrArgument for a negative n.
func RandPerm(s *Scope, n int) *Tensor {
	if n < 0 {
		fail("RandPerm", ErrArgument, "use a number of 0 and above", "%d numbers", n)
	}
	s.alive("RandPerm")
	t := alloc("RandPerm", s.root.dev, Int64, []int{n})
	keys := make([]float64, n)
	s.rng.fill(keys, func(u, v float64) (float64, float64) { return u, v })
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(keys[a], keys[b]) })
	setElements(t, order)
	return s.born(t)
}

// AllClose says whether a and b have one shape and |a-b| ≤ atol + rtol·|b| everywhere; infinities are close to themselves, NaN to nothing.
// PyTorch's defaults are 1e-5 and 1e-8; for float16 results use about 1e-3 for both.
func AllClose(a, b *Tensor, rtol, atol float64) bool {
	a.live("AllClose")
	b.live("AllClose")
	if !slices.Equal(a.shape, b.shape) {
		return false
	}
	y := b.Float64s()
	for i, x := range a.Float64s() {
		if x != y[i] && (math.IsInf(y[i], 0) || !(math.Abs(x-y[i]) <= atol+float64(rtol*math.Abs(y[i])))) {
			return false
		}
	}
	return true
}
