package amp

import (
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
	numbers := make([]int64, t.Len())
	s.rng.draw(len(numbers), uniformly(0, 1), func(at int, values []float64) {
		for i, u := range values {
			numbers[at+i] = lo + min(int64(u*float64(hi-lo)), hi-lo-1)
		}
	})
	whole := false
	defer t.giveUp(&whole)
	setElements(t, numbers)
	whole = true
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
	s.rng.draw(n, uniformly(0, 1), func(at int, values []float64) { copy(keys[at:], values) })
	whole := false
	defer t.giveUp(&whole)
	setElements(t, evenOrder(keys))
	whole = true
	return s.born(t)
}

// evenOrder returns the order of numbers that are spread evenly over [0,1], equal ones as they come: each goes where it would lie if they were
// spread perfectly, and then past the few neighbors that say otherwise.
func evenOrder(keys []float64) []int64 {
	n := len(keys)
	order, begin := make([]int64, n), make([]int, n+1)
	place := func(k float64) int { return min(int(k*float64(n)), n-1) }
	for _, k := range keys {
		begin[place(k)+1]++
	}
	for i := range n {
		begin[i+1] += begin[i]
	}
	for i, k := range keys {
		p := place(k)
		order[begin[p]] = int64(i)
		begin[p]++
	}
	for i := range order {
		for j := i; j > 0 && keys[order[j]] < keys[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	return order
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
