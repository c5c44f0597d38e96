package amp

import (
	"fmt"
	"slices"
)

// repeat and repeat_interleave write elements several times.

var opRepeat, opRepeatInterleave *Op

func init() {
	opRepeat = define(Op{
		Name: "repeat", Doc: "x written several times along its dimensions", Args: []string{"x"}, Why: whyView, Ints: true,
		Composite: []string{"reshape", "expand", "contiguous"}, CUDA: "copy",
	})
	opRepeatInterleave = define(Op{
		Name: "repeat_interleave", Doc: "every slice of a dimension several times in a row", Args: []string{"x"}, Why: whyView, Ints: true,
		Composite: []string{"reshape", "expand", "contiguous"}, CUDA: "copy",
	})
}

// RepeatInterleave returns x with every slice of dimension dim repeated n times in a row.
func RepeatInterleave(s *Scope, x *Tensor, n, dim int) *Tensor {
	x.live("repeat_interleave")
	dim = x.axis("repeat_interleave", dim)
	if n < 0 {
		fail("repeat_interleave", ErrArgument, "use a number of 0 and above", "%d times", n)
	}
	wide, shape := slices.Insert(slices.Clone(x.shape), dim+1, n), slices.Clone(x.shape)
	count("repeat_interleave", wide)
	shape[dim] *= n
	return s.widen(opRepeatInterleave, x, slices.Insert(slices.Clone(x.shape), dim+1, 1), wide, shape)
}

// Repeat returns x written times[d] times along dimension d; leading dimensions may be added.
func Repeat(s *Scope, x *Tensor, times ...int) *Tensor {
	x.live("repeat")
	lead := len(times) - len(x.shape)
	if lead < 0 || slices.ContainsFunc(times, func(n int) bool { return n < 0 }) {
		fail("repeat", ErrArgument, fmt.Sprintf("give at least %d numbers of 0 and above", len(x.shape)), "x of shape %v %v times", x.shape, times)
	}
	count("repeat", slices.Concat(x.shape, times))
	var thin, wide, shape []int
	for d, n := range times {
		size := 1
		if d >= lead {
			size = x.shape[d-lead]
		}
		thin, wide, shape = append(thin, 1, size), append(wide, n, size), append(shape, n*size)
	}
	return s.widen(opRepeat, x, thin, wide, shape)
}

// widen writes x out along the dimensions that thin has and x has not.
func (s *Scope) widen(o *Op, x *Tensor, thin, wide, shape []int) *Tensor {
	s, in := s.enter(o, x)
	return Reshape(s, Expand(s, Reshape(s, in[0], thin...), wide...), shape...)
}
