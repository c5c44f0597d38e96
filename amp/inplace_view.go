package amp

import "slices"

// In-place ops on views. What they change may be any view whose elements are distinct places of the memory: a row, a column, a diagonal,
// every other element. Kernels that write rows without gaps alone go through a copy that has none.

// disjoint says whether no two elements of t lie at the same place. Taken from the smallest step on, each dimension must reach beyond all that
// those before it cover; every view that this package makes of distinct elements does.
func (t *Tensor) disjoint() bool {
	var dims []int
	for d, n := range t.shape {
		if n == 0 {
			return true
		}
		if n > 1 {
			dims = append(dims, d)
		}
	}
	slices.SortFunc(dims, func(a, b int) int { return t.strides[a] - t.strides[b] })
	covered := 0 // the largest distance from the first element so far
	for _, d := range dims {
		if t.strides[d] <= covered {
			return false
		}
		covered += (t.shape[d] - 1) * t.strides[d]
	}
	return true
}

// writable refuses to write a view some of whose elements are the same memory, such as Expand's: what it would hold is not defined.
func (t *Tensor) writable(op, what string) {
	if !t.contiguous() && !t.disjoint() {
		fail(op, ErrArgument, "change the tensor that it repeats, or a copy of it by amp.Clone", "%s %sof shape %v with strides %v has elements that share memory",
			what, quoted(t.name), t.shape, t.strides)
	}
}

// onViews makes a kernel that changes its first input, row by row without gaps, one that takes any view.
func onViews(kernel func(c *Call)) func(c *Call) {
	return func(c *Call) {
		if c.Out.contiguous() {
			kernel(c)
			return
		}
		dst := c.Out
		rows := dst.gapless(c.Op.Name)
		defer rows.release()
		copyRows(rows, dst)
		c.Out, c.In[0] = rows, rows
		kernel(c)
		c.Out, c.In[0] = dst, dst
		copyRows(dst, rows)
	}
}

// gapless returns a tensor like t on the host whose elements lie in row-major order, and hold anything.
func (t *Tensor) gapless(op string) *Tensor { return alloc(op, theCPU, t.dt, t.shape) }
