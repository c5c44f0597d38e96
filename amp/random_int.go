package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// RandInt returns int64 numbers uniform in [lo, hi), drawn from the scope's stream; see Rand for their life. It panics with ErrArgument
// unless lo < hi and they lie within 2⁵³ of each other.
func RandInt(s *Scope, lo, hi int64, shape ...int) *Tensor {
	if !(lo < hi) || uint64(hi-lo) > 1<<53 {
		fail("RandInt", ErrArgument, "use a lower limit below the upper one", "from %d to %d", lo, hi)
	}
	s.alive("RandInt")
	t := alloc("RandInt", s.root.dev, Int64, shape)
	whole := false
	defer t.giveUp(&whole)
	if !s.drawn(t, Numbers{What: "RandInt", Kind: WholeNumbers, Low: lo, Span: hi - lo}) {
		t.rewrite("RandInt", func(t *Tensor) {
			numbers := elements[int64](t)[t.off:]
			s.rng.draw(t.Len(), units.onHost(Float64), func(at int, values []float64) { cpu.Whole(numbers[at:][:len(values)], values, lo, hi-lo) })
		})
	}
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
	if capturingOn(s.root.dev) != nil {
		_, order := Sort(s, draw(s, Float64, []int{n}, Numbers{What: "RandPerm", Kind: UniformNumbers, B: 1}), 0, false)
		return order
	}
	t := alloc("RandPerm", s.root.dev, Int64, []int{n})
	whole := false
	defer t.giveUp(&whole)
	p := keysPool.Get().(*[]uint64)
	defer keysPool.Put(p)
	*p = resize(*p, 2*n)
	keys := (*p)[:n]
	s.rng.draw(n, units.onHost(Float64), func(at int, values []float64) {
		for i, v := range values {
			keys[at+i] = math.Float64bits(v)
		}
	})
	t.rewrite("RandPerm", func(t *Tensor) { evenOrder(elements[int64](t)[t.off:][:n], keys, (*p)[n:]) })
	whole = true
	return s.born(t)
}

// orderBits are the bits of a number that lie above those of its place while evenOrder sorts, and orderPass those that one pass sorts by.
const (
	orderBits = 22
	orderPass = 11
)

// evenOrder writes the order of numbers that are spread evenly over [0,1], given by their bits, equal ones as they come: sorted by their first
// digits to base 2, which hardly two of them share, and then past the few neighbors that the other digits say lie otherwise. room has
// the numbers' length, which is below 2^42.
func evenOrder(order []int64, keys, room []uint64) {
	var count [2][1 << orderPass]int
	digits := func(k uint64) uint64 { return min(uint64(math.Float64frombits(k)*(1<<orderBits)), 1<<orderBits-1) }
	for i, k := range keys {
		d := digits(k)
		count[0][d%(1<<orderPass)]++
		count[1][d>>orderPass]++
		room[i] = d<<(64-orderBits) | uint64(i)
	}
	for pass := range count {
		at := 0
		for d, n := range count[pass] {
			count[pass][d] = at
			at += n
		}
	}
	begin := &count[0]
	for _, v := range room {
		d := v >> (64 - orderBits) % (1 << orderPass)
		order[begin[d]] = int64(v)
		begin[d]++
	}
	begin = &count[1]
	for _, v := range order {
		d := uint64(v) >> (64 - orderBits + orderPass)
		room[begin[d]] = uint64(v)
		begin[d]++
	}
	const place = 1<<(64-orderBits) - 1
	last := ^uint64(0)
	for i, v := range room {
		order[i] = int64(v & place)
		if v>>(64-orderBits) != last {
			last = v >> (64 - orderBits)
			continue
		}
		for j := i; j > 0 && keys[order[j]] < keys[order[j-1]]; j-- { // positive numbers are in the order of their bits
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
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
