package amp

import "slices"

// Reductions beside the rows: with the reduced dimensions kept, of integers, and counts.

// KeepDims returns what a reduction makes of x over dims, all dimensions without any, with those as dimensions of size 1, so that it can be
// broadcast against x: amp.KeepDims(s, amp.Amax, x, 1). (PyTorch's keepdim=True; SumKeep and MeanKeep are the same for those. For results of
// Max or ArgMax use Unsqueeze.) It panics as the reduction does.
func KeepDims(s *Scope, reduce func(s *Scope, x *Tensor, dims ...int) *Tensor, x *Tensor, dims ...int) *Tensor {
	s.alive("KeepDims")
	x.live("KeepDims")
	if reduce == nil {
		fail("KeepDims", ErrArgument, "pass a reduction such as amp.Amax", "the reduction is nil")
	}
	shape := slices.Clone(x.shape)
	for _, d := range reducedAxes("KeepDims", x, dims) {
		if d < len(shape) { // a number has no dimension, and may be reduced over it
			shape[d] = 1
		}
	}
	return Reshape(s, reduce(s, x, dims...), shape...)
}

// CountNonzero returns how many elements over dims are not 0, int64, over all dimensions without any. NaN is not 0. It has no gradient.
func CountNonzero(s *Scope, x *Tensor, dims ...int) *Tensor {
	s.alive("CountNonzero")
	x.live("CountNonzero")
	return s.apart(func(s *Scope) *Tensor {
		return Sum(s, To(s, Ne(s, x, s.Own(Full(s, x.dt, 0))), Int64), dims...)
	})
}

// IsClose says of each element, as bool, whether |a-b| ≤ atol + rtol·|b|, broadcast; infinities are close to themselves, NaN to nothing. PyTorch's
// defaults are 1e-5 and 1e-8. It panics with ErrArgument for a tolerance below 0, and as Sub does. AllClose reads one answer for all.
func IsClose(s *Scope, a, b *Tensor, rtol, atol float64) *Tensor {
	s.alive("IsClose")
	a.live("IsClose")
	b.live("IsClose")
	if !(rtol >= 0 && atol >= 0) {
		fail("IsClose", ErrArgument, "use tolerances of 0 and above", "rtol %v, atol %v", rtol, atol)
	}
	return s.apart(func(s *Scope) *Tensor {
		near := Le(s, Abs(s, Sub(s, a, b)), AddScalar(s, MulScalar(s, Abs(s, b), rtol), atol))
		return LogicalOr(s, Eq(s, a, b), LogicalAnd(s, near, IsFinite(s, b)))
	})
}

// extremeOver is Amax or Amin: of floats the row, of integers and bools, which have no gradient to share, what stands at the first place of lines
// of all that is reduced.
func extremeOver(s *Scope, o *Op, place func(s *Scope, x *Tensor, dim int) *Tensor, x *Tensor, dims []int) *Tensor {
	x.live(o.Name)
	dims = reducedAxes(o.Name, x, dims)
	if x.dt.IsFloat() {
		return s.apply(o, Attrs{Dims: dims}, x)
	}
	s.alive(o.Name)
	var kept, shape []int
	n := 1
	for d, size := range x.shape {
		if slices.Contains(dims, d) {
			n *= size
		} else {
			kept, shape = append(kept, d), append(shape, size)
		}
	}
	if n == 0 {
		fail(o.Name, ErrShape, "reduce over at least one element", "x %v over dimensions %v", x.shape, dims)
	}
	return s.apart(func(s *Scope) *Tensor {
		lines := Reshape(s, Permute(s, x, append(slices.Clone(kept), dims...)...), append(slices.Clone(shape), n)...)
		return Reshape(s, Gather(s, lines, -1, Unsqueeze(s, place(s, lines, -1), -1)), shape...)
	})
}
