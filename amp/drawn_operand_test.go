package amp

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Sizes that are drawn at random, and tensors of them that lie in every way.

// A sizeDraw draws sizes near those at which kernels change their ways.
type sizeDraw struct{ *rand.Rand }

func (r sizeDraw) size(most int) int {
	n := 1 + r.IntN(most)
	switch r.IntN(5) {
	case 0:
		n = 1 << r.IntN(11)
	case 1: // about a multiple of a vector or a tile
		n = (1+r.IntN(8))*(8<<r.IntN(4)) + r.IntN(3) - 1
	case 2:
		n = 1 + r.IntN(9)
	}
	return max(1, min(n, most))
}

// coin is true one time in n.
func (r sizeDraw) coin(n int) bool { return r.IntN(n) == 0 }

// A drawnOperand is a tensor as it is, transposed, a piece of a larger one, or one that repeats.
type drawnOperand struct {
	shape, leaf    []int // what is taken of the leaf, and its own
	d, e           int   // dimensions that are transposed, or one that is cut or repeated
	first, repeats int
}

func (r sizeDraw) operand(shape ...int) *drawnOperand {
	o := &drawnOperand{shape: shape, leaf: slices.Clone(shape), d: r.IntN(len(shape)), e: r.IntN(len(shape)), first: -1, repeats: 1}
	switch r.IntN(6) {
	case 0:
		o.leaf[o.d], o.leaf[o.e] = shape[o.e], shape[o.d]
		return o
	case 1:
		o.first = r.IntN(4)
		o.leaf[o.d] += o.first + r.IntN(3)
	case 2:
		o.repeats = shape[o.d]
		o.leaf[o.d] = 1
	}
	o.e = o.d
	return o
}

func (o *drawnOperand) String() string {
	switch {
	case o.first >= 0:
		return fmt.Sprintf("%v (from %d on along %d of %v)", o.shape, o.first, o.d, o.leaf)
	case o.repeats > 1:
		return fmt.Sprintf("%v (%v expanded)", o.shape, o.leaf)
	case o.d != o.e:
		return fmt.Sprintf("%v (%v transposed)", o.shape, o.leaf)
	}
	return fmt.Sprint(o.shape)
}

// take appends the leaf to a list and returns what is taken of it.
func (o *drawnOperand) take(s *Scope, drawn, dt DType, leaves *[]*Tensor) *Tensor {
	x := To(s, To(s, Randn(s, Float32, 0, 1, o.leaf...), drawn), dt).RequireGrad()
	*leaves = append(*leaves, x)
	return o.of(s, x)
}

// of returns what is taken of a leaf.
func (o *drawnOperand) of(s *Scope, x *Tensor) *Tensor {
	switch {
	case o.first >= 0:
		return Narrow(s, x, o.d, o.first, o.shape[o.d])
	case o.repeats > 1:
		return Expand(s, x, o.shape...)
	case o.d != o.e:
		return Transpose(s, x, o.d, o.e)
	}
	return x
}
