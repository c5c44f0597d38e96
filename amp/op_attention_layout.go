package amp

import (
	"cmp"
	"slices"
)

// Where the results of attention lie. Heads are mostly turned views of a projection [batch positions heads features], and what comes out is
// turned back: the result lies in memory as the queries do, so that this moves nothing. PyTorch's kernels do the same. Queries, keys and
// values of a sequence that looks at itself are cut out of one projection besides: their gradients then lie side by side as those do, and are
// the gradient of the projection as they are.

// attentionOrder is the order in memory of the result's dimensions: that of q's.
func attentionOrder(c *Call, shape []int) []int {
	q, r := c.In[0], len(shape)
	if len(q.shape) != r || !slices.Equal(q.shape[:r-1], shape[:r-1]) {
		return nil
	}
	for d, n := range q.shape {
		if q.strides[d] == 0 && n > 1 {
			return nil
		}
	}
	order := placesInOrder(r, func(a, b int) int { return cmp.Compare(q.strides[b], q.strides[a]) })
	if order[r-1] != r-1 { // kernels write the features of a row one after another
		return nil
	}
	return order
}

// arrange lays out a tensor that is being made, its dimensions in the order of memory.
func (t *Tensor) arrange(order []int) {
	step := 1
	for _, d := range slices.Backward(order) {
		t.strides[d] = step
		step *= t.shape[d]
	}
}

// sideBySide returns the dimensions of a gradient in the order of memory, -1 among them for which of the three it is, where q, k and v are
// all of one tensor, cut along one dimension; else nil, which has the gradients one after another.
func (a *attention) sideBySide() []int {
	q, k, v := a.q, a.k, a.v
	r, step := len(q.shape), k.off-q.off
	for _, t := range []*Tensor{k, v} {
		if t.st != q.st || !slices.Equal(t.shape, q.shape) || !slices.Equal(t.strides, q.strides) {
			return nil
		}
	}
	if step <= 0 || v.off-k.off != step || !slices.Equal(q.shape[:r-2], a.batch) {
		return nil
	}
	type side struct{ dim, size, stride int }
	sides := []side{{-1, 3, step}}
	for d, n := range q.shape {
		sides = append(sides, side{d, n, q.strides[d]})
	}
	places := placesInOrder(len(sides), func(i, k int) int {
		a, b := sides[i], sides[k]
		if (a.size == 1) != (b.size == 1) { // wherever they lie
			return cmp.Compare(a.size, b.size)
		}
		return cmp.Compare(b.stride, a.stride)
	})
	if sides[places[r]].dim != r-1 {
		return nil
	}
	order, n := make([]int, r+1), 1
	for i, at := range slices.Backward(places) {
		s := sides[at]
		if s.size == 0 || s.size != 1 && s.stride != n {
			return nil
		}
		order[i] = s.dim
		n *= s.size
	}
	return order
}

// gradients returns where attention_backward has those of q, k and v in its result, by the order that sideBySide gave: views that are not
// counted.
func (a *attention) gradients(all *Tensor, order []int) (g [3]*Tensor) {
	off := all.off
	for i, size := range [3][2]int{{a.T, a.d}, {a.S, a.d}, {a.S, a.e}} {
		g[i] = &Tensor{dt: all.dt, st: all.st, off: off}
		g[i].layout(append(slices.Clone(a.batch), size[:]...))
		off += g[i].Len()
	}
	step := 1
	for _, d := range slices.Backward(order) {
		for i, t := range g {
			if d < 0 {
				t.off = all.off + i*step
			} else {
				t.strides[d] = step
			}
		}
		if d < 0 {
			step *= 3
		} else {
			step *= g[0].shape[d]
		}
	}
	return g
}

// AttentionGradients returns where a call of attention_backward is to write the gradients of q, k and v, each over the whole batch, within
// its result. That of an additive mask comes after them.
func (c *Call) AttentionGradients() (at [3]Layout) {
	for i, g := range newAttention(c.In[1:], &c.Attrs).gradients(c.Out, c.Dims) {
		at[i] = g.Layout()
	}
	return at
}

// split cuts the vector of attention_backward into the gradients of q, k, v and mask over the whole batch.
func (a *attention) split(s *Scope, all *Tensor, order []int) [4]*Tensor {
	var out [4]*Tensor
	at, sizes := 0, a.sizes()
	if order != nil {
		at = 3 * sizes[0]
		copy(out[:], a.apart(s, Narrow(s, all, 0, 0, at), order))
	}
	for i, dims := range [4][2]int{{a.T, a.d}, {a.S, a.d}, {a.S, a.e}, {a.T, a.S}} {
		if out[i] != nil || i == 3 && !a.additive() {
			continue
		}
		out[i] = Reshape(s, Narrow(s, all, 0, at, sizes[i]), append(slices.Clone(a.batch), dims[0], dims[1])...)
		at += sizes[i]
	}
	return out
}

// apart returns the gradients of q, k and v that lie side by side.
func (a *attention) apart(s *Scope, all *Tensor, order []int) (g []*Tensor) {
	shape, turn := make([]int, len(order)), make([]int, len(order)-1)
	which := slices.Index(order, -1)
	for i, d := range order {
		switch {
		case i == which:
			shape[i] = 3
			continue
		case i > which:
			turn[d] = i - 1
		default:
			turn[d] = i
		}
		shape[i] = a.q.shape[d]
	}
	all = Reshape(s, all, shape...)
	for i := range 3 {
		g = append(g, Permute(s, Select(s, all, which, i), turn...))
	}
	return g
}

// storeRows rounds rows of matrix n of the batch, from one on, to their places in t.
func storeRows[T number](a *attention, t *Tensor, n, first int, rows []T) {
	r := len(t.shape)
	width, step := t.shape[r-1], t.strides[r-2]
	at := a.at(t, n) + first*step
	if step == width {
		store(t, at, rows)
		return
	}
	for ; len(rows) > 0; rows = rows[width:] {
		store(t, at, rows[:width])
		at += step
	}
}
