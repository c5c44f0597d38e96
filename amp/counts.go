package amp

import (
	"fmt"
	"slices"
)

// Counting: of small integers by their value, and of what is equal.

// Bincount returns how often each number from 0 on occurs in x, int64 [n], or the sum of their weights: float32 for float32 weights [n], float64
// for others; without weights, nil, the counts are int64. The result has length elements, and a number at or above it panics with ErrArgument,
// as an index outside does; on a GPU it is told at the next read, of scatter_add. With length -1 it reaches to the largest number; x is
// read for it, and a device waited for. It has no gradient. It panics with ErrShape and ErrDType for other tensors. (PyTorch:
// torch.bincount(x, weights) is Bincount(s, x, weights, -1); there minlength may be exceeded, here length says it all.)
func Bincount(s *Scope, x, weights *Tensor, length int) *Tensor {
	s.alive("Bincount")
	x.live("Bincount")
	if x.dt != Int64 {
		fail("Bincount", ErrDType, "convert it with amp.To(s, x, amp.Int64)", "x %sis %v", quoted(x.name), x.dt)
	}
	if len(x.shape) != 1 || weights != nil && !slices.Equal(weights.shape, x.shape) {
		shape := "none"
		if weights != nil {
			shape = fmt.Sprintf("of shape %v", weights.shape)
		}
		fail("Bincount", ErrShape, "give a list, and a weight for each of its numbers or nil", "x %sof shape %v, weights %s", quoted(x.name), x.shape, shape)
	}
	if length < -1 {
		fail("Bincount", ErrArgument, "use a length of 0 and above, or -1 for the largest number of x and 1", "length %d", length)
	}
	switch {
	case length < 0:
		length = largestCount(x) + 1
	case x.IsCPU():
		checkCounts(x, length)
	}
	return s.apart(func(s *Scope) *Tensor {
		switch {
		case weights == nil:
			weights = FullLike(s, x, 1)
		case weights.dt != Float32:
			weights = To(s, weights, Float64)
		}
		return ScatterAdd(s, Zeros(s, weights.dt, length), 0, x, weights)
	})
}

// checkCounts refuses numbers that have no place among so many. A device says it of the op that it finds them in, once it is read.
func checkCounts(x *Tensor, length int) {
	for i, v := range Values[int64](x) {
		if v < 0 || v >= int64(length) {
			fail("Bincount", ErrArgument, "count numbers from 0 to below the length, or use the length -1", "x[%d] is %d, the length %d", i, v, length)
		}
	}
}

// largestCount reads the largest number of a list, -1 if it is empty, and refuses negative ones.
func largestCount(x *Tensor) int {
	most := -1
	for i, v := range Values[int64](x) {
		if v < 0 {
			fail("Bincount", ErrArgument, "count numbers of 0 and above", "x[%d] is %d", i, v)
		}
		most = max(most, int(v))
	}
	return most
}

// Unique returns the different elements of x in ascending order, [n]; which of them each element of x is, int64 of x's shape; and how often
// each occurs, int64 [n]. Every NaN differs from all others and comes last, and -0 and 0 are one. The host reads x and sorts it, so that a device
// is waited for and a captured step can't hold it. It has no gradient. (PyTorch: torch.unique(x, return_inverse=True, return_counts=True).)
func Unique(s *Scope, x *Tensor) (values, inverse, counts *Tensor) {
	s.alive("Unique")
	x.live("Unique")
	if x.dt == Int64 {
		return uniqueOf(s, x, Values[int64](x))
	}
	return uniqueOf(s, x, x.Float64s())
}

func uniqueOf[T float64 | int64](s *Scope, x *Tensor, v []T) (values, inverse, counts *Tensor) {
	order := placesInOrder(len(v), func(a, b int) int {
		switch x, y := v[a], v[b]; {
		case x < y || x == x && y != y:
			return -1
		case x > y || x != x && y == y:
			return 1
		}
		return 0
	})
	which, n := make([]int64, len(v)), []int64(nil)
	var different []T
	for k, i := range order {
		if k == 0 || v[i] != different[len(different)-1] { // NaN is not itself
			different, n = append(different, v[i]), append(n, 0)
		}
		which[i] = int64(len(different) - 1)
		n[len(n)-1]++
	}
	shape := []int{len(different)}
	values = s.Own(byRule("Unique", s.root.dev, x.dt, shape, func(int) []T { return different }, func(t *Tensor, v []T) {
		t.rewrite("Unique", func(t *Tensor) { store(t, t.off, v) })
	}))
	return values, Reshape(s, indices(s, which), x.shape...), indices(s, n)
}
