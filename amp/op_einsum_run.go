package amp

import "slices"

// run carries out an equation: operands are contracted one after another from the left, each pair by one batched matrix product.
func (e *equation) run(s *Scope, operands []*Tensor) *Tensor {
	acc := diagonals(s, labeled{operands[0], e.in[0]})
	for i := 1; i < len(operands); i++ {
		later := slices.Clone(e.out)
		for _, labels := range e.in[i+1:] {
			later = append(later, labels...)
		}
		acc = contract(s, acc, diagonals(s, labeled{operands[i], e.in[i]}), later)
	}
	acc = summed(s, acc, func(l label) bool { return !slices.Contains(e.out, l) })
	return acc.as(s, e.out).t
}

// diagonals brings a label that an operand has twice to one dimension.
func diagonals(s *Scope, x labeled) labeled {
	for i := 0; i < len(x.labels); i++ {
		for j := i + 1; j < len(x.labels); j++ {
			if l := x.labels[i]; x.labels[j] == l {
				x.t = Diagonal(s, x.t, 0, i, j) // which puts it last
				rest := slices.Delete(slices.Delete(slices.Clone(x.labels), j, j+1), i, i+1)
				return diagonals(s, labeled{x.t, append(rest, l)})
			}
		}
	}
	return x
}

// summed sums over the dimensions that gone names.
func summed(s *Scope, x labeled, gone func(l label) bool) labeled {
	var dims []int
	var rest []label
	for d, l := range x.labels {
		if gone(l) {
			dims = append(dims, d)
		} else {
			rest = append(rest, l)
		}
	}
	if len(dims) == 0 {
		return x
	}
	return labeled{Sum(s, x.t, dims...), rest}
}

// drop removes dimensions of size 1.
func (x labeled) drop(s *Scope, gone func(l label) bool) labeled {
	var rest []label
	var shape []int
	for d, l := range x.labels {
		if !gone(l) {
			rest, shape = append(rest, l), append(shape, x.t.shape[d])
		}
	}
	if len(rest) == len(x.labels) {
		return x
	}
	return labeled{Reshape(s, x.t, shape...), rest}
}

// as puts the dimensions in the order of labels.
func (x labeled) as(s *Scope, labels []label) labeled {
	if slices.Equal(x.labels, labels) {
		return x
	}
	dims := make([]int, len(labels))
	for i, l := range labels {
		dims[i] = slices.Index(x.labels, l)
	}
	return labeled{Permute(s, x.t, dims...), labels}
}

func (x labeled) has(l label) bool { return slices.Contains(x.labels, l) }

// size is that of the dimensions of labels together.
func (x labeled) size(labels []label) int {
	n := 1
	for _, l := range labels {
		n *= x.t.shape[slices.Index(x.labels, l)]
	}
	return n
}

// contract multiplies two operands and sums over what they share and nobody needs later.
func contract(s *Scope, a, b labeled, later []label) labeled {
	needed := func(l label) bool { return slices.Contains(later, l) }
	// A dimension of size 1 against a larger one is no dimension: the product repeats it. Nor is one of size 1 in both that is to be summed: as
	// in PyTorch, it makes no product of matrices, which autocast would run in the lower dtype.
	one := func(x, y labeled) func(l label) bool {
		return func(l label) bool {
			return y.has(l) && x.size([]label{l}) == 1 && (y.size([]label{l}) != 1 || !needed(l))
		}
	}
	a, b = a.drop(s, one(a, b)), b.drop(s, one(b, a))
	// What only one of them has and nobody needs is summed before the product.
	shared := b
	a = summed(s, a, func(l label) bool { return !shared.has(l) && !needed(l) })
	b = summed(s, b, func(l label) bool { return !a.has(l) && !needed(l) })

	var batch, left, right, sum []label
	for _, l := range a.labels {
		switch {
		case !b.has(l):
			left = append(left, l)
		case needed(l):
			batch = append(batch, l)
		default:
			sum = append(sum, l)
		}
	}
	for _, l := range b.labels {
		if !a.has(l) {
			right = append(right, l)
		}
	}
	out := slices.Concat(batch, left, right)
	shape := make([]int, 0, len(out))
	for _, l := range out {
		if a.has(l) {
			shape = append(shape, a.size([]label{l}))
		} else {
			shape = append(shape, b.size([]label{l}))
		}
	}
	if len(sum) == 0 { // nothing to add up: broadcasting multiplies faster
		x := a.as(s, slices.Concat(batch, left)).t
		x = Reshape(s, x, append(x.Shape(), slices.Repeat([]int{1}, len(right))...)...)
		y := b.as(s, slices.Concat(batch, right)).t
		if len(left) > 0 {
			y = Reshape(s, y, slices.Insert(y.Shape(), len(batch), slices.Repeat([]int{1}, len(left))...)...)
		}
		return labeled{Mul(s, x, y), out}
	}
	n, k := a.size(batch), a.size(sum)
	x := Reshape(s, a.as(s, slices.Concat(batch, left, sum)).t, n, a.size(left), k)
	y := Reshape(s, b.as(s, slices.Concat(batch, sum, right)).t, n, k, b.size(right))
	return labeled{Reshape(s, BMM(s, x, y), shape...), out}
}
