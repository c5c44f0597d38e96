package amp

import "slices"

// tensordot, multi_dot, bilinear and kron: reshaped products.

// Tensordot returns Σ a·b over pairs of dimensions, left of a with right of b, as [the rest of a, the rest of b]. A size of 1 matches
// any: the other is summed. Under autocast in the wider dtype of the two. It panics with ErrShape for dimensions that do not match.
func Tensordot(s *Scope, a, b *Tensor, left, right []int) *Tensor {
	const op = "tensordot"
	a.live(op)
	b.live(op)
	if len(left) != len(right) {
		fail(op, ErrArgument, "give as many dimensions of a as of b", "dims %v and %v", left, right)
	}
	left, right = reducedOnes(op, a, left), reducedOnes(op, b, right)
	s, in := s.enter(opTensordot, a, b)
	a, b = in[0], in[1]
	for i, d := range left {
		n, m := a.shape[d], b.shape[right[i]]
		switch {
		case n == m:
		case n == 1:
			b = SumKeep(s, b, right[i])
		case m == 1:
			a = SumKeep(s, a, d)
		default:
			fail(op, ErrShape, "pair dimensions of one size", "a %v, b %v: dimension %d has %d elements, dimension %d has %d", a.shape, b.shape, d, n, right[i], m)
		}
	}
	restA, shapeA := others(a, left)
	restB, shapeB := others(b, right)
	k := 1
	for _, d := range left {
		k *= a.shape[d]
	}
	shape := append(shapeA, shapeB...)
	rowsOfA, columnsOfB := Permute(s, a, append(restA, left...)...), Permute(s, b, append(slices.Clone(right), restB...)...)
	m, n := length(shapeA), length(shapeB)
	if m == 1 && n == 1 && !a.isWhole() { // one number: PyTorch's dot, which is not on the CPU's list as products of matrices are
		return Reshape(s, Dot(s, Reshape(s, rowsOfA, k), Reshape(s, columnsOfB, k)), shape...)
	}
	return Reshape(s, MM(s, Reshape(s, rowsOfA, m, k), Reshape(s, columnsOfB, k, n)), shape...)
}

// TensordotN is Tensordot of the last n dimensions of a with the first n of b; PyTorch's n is 2.
func TensordotN(s *Scope, a, b *Tensor, n int) *Tensor {
	a.live("tensordot")
	b.live("tensordot")
	if n < 0 || n > len(a.shape) || n > len(b.shape) {
		fail("tensordot", ErrArgument, "use as many dimensions as both have, or fewer", "%d dimensions of %v and %v", n, a.shape, b.shape)
	}
	left, right := make([]int, n), make([]int, n)
	for i := range n {
		left[i], right[i] = len(a.shape)-n+i, i
	}
	return Tensordot(s, a, b, left, right)
}

// reducedOnes resolves dimensions in their order, each named once.
func reducedOnes(op string, t *Tensor, dims []int) []int {
	out := make([]int, len(dims))
	for i, d := range dims {
		out[i] = t.axis(op, d)
		if slices.Contains(out[:i], out[i]) {
			fail(op, ErrShape, "name each dimension once", "dims %v of shape %v", dims, t.shape)
		}
	}
	return out
}

// others returns the dimensions of t that are not in dims, and their sizes.
func others(t *Tensor, dims []int) (rest, shape []int) {
	for d, n := range t.shape {
		if !slices.Contains(dims, d) {
			rest, shape = append(rest, d), append(shape, n)
		}
	}
	return rest, shape
}

// MultiDot returns the product of matrices in the order that takes the fewest multiplications, as ChainMatMul; the first may be a
// vector, which counts as a row, and the last one, which counts as a column: torch.linalg.multi_dot. In the lower dtype under
// autocast. It panics with ErrArgument for fewer than two.
func MultiDot(s *Scope, tensors ...*Tensor) *Tensor {
	const op = "multi_dot"
	n := len(tensors)
	if n < 2 {
		fail(op, ErrArgument, "pass two or more", "%d tensors", n)
	}
	for _, t := range tensors {
		t.live(op)
	}
	tensors = slices.Clone(tensors)
	row, column := len(tensors[0].shape) == 1, len(tensors[n-1].shape) == 1
	if row {
		tensors[0] = Reshape(s, tensors[0], 1, -1)
	}
	if column {
		tensors[n-1] = Reshape(s, tensors[n-1], -1, 1)
	}
	y := chain(s, opMultiDot, tensors)
	shape := slices.Clone(y.shape)
	if column {
		shape = shape[:1]
	}
	if row {
		shape = shape[1:]
	}
	if row || column {
		y = Reshape(s, y, shape...)
	}
	return y
}

// Bilinear returns Σ a[…,i]·weight[o,i,j]·b[…,j] + bias[o] for a [… n], b [… m], weight [out n m] and bias [out] or nil: [… out]. Under
// autocast in the widest dtype of them.
func Bilinear(s *Scope, a, b, weight, bias *Tensor) *Tensor {
	const op = "bilinear"
	for _, t := range []*Tensor{a, b, weight} {
		t.live(op)
	}
	ra, rb := len(a.shape), len(b.shape)
	ok := ra >= 1 && ra == rb && slices.Equal(a.shape[:ra-1], b.shape[:ra-1]) && len(weight.shape) == 3 && weight.shape[1] == a.shape[ra-1] && weight.shape[2] == b.shape[rb-1]
	if !ok || bias != nil && (len(bias.shape) != 1 || bias.shape[0] != weight.shape[0]) {
		c := &Call{Op: opBilinear, In: []*Tensor{a, b, weight, bias}}
		fail(op, ErrShape, "use a [… n], b [… m], weight [out n m], bias [out]", "%s", c.shapes())
	}
	s, in, done := s.enterWide(opBilinear, a, b, weight, bias)
	o, n, m := weight.shape[0], weight.shape[1], weight.shape[2]
	lead := a.shape[:ra-1]
	half := MM(s, Reshape(s, in[0], length(lead), n), Reshape(s, Permute(s, in[2], 1, 0, 2), n, o*m))
	y := BMM(s, Reshape(s, half, length(lead), o, m), Reshape(s, in[1], length(lead), m, 1))
	y = Reshape(s, y, append(slices.Clone(lead), o)...)
	if in[3] != nil {
		y = Add(s, y, in[3])
	}
	return done(y)
}

// Kron returns the Kronecker product: a with every element multiplied by the whole of b, dimension by dimension; the one with fewer
// dimensions gets leading ones.
func Kron(s *Scope, a, b *Tensor) *Tensor {
	opKron.need(a, b)
	s, in := s.enter(opKron, a, b)
	r := max(len(a.shape), len(b.shape))
	spread := func(t *Tensor, first int) (*Tensor, []int) {
		sizes := append(slices.Repeat([]int{1}, r-len(t.shape)), t.shape...)
		shape := slices.Repeat([]int{1}, 2*r)
		for d, n := range sizes {
			shape[2*d+first] = n
		}
		return Reshape(s, t, shape...), sizes
	}
	x, nx := spread(in[0], 0)
	y, ny := spread(in[1], 1)
	shape := make([]int, r)
	for d := range shape {
		shape[d] = nx[d] * ny[d]
	}
	return Reshape(s, Mul(s, x, y), shape...)
}
