package cudart

// Launches of rows that move elements: every one is some copies between parts of tensors, which are views.

func init() {
	register(launchCat, "cat")
	register(launchNarrowBackward, "narrow_backward")
	register(launchSliceBackward, "slice_backward")
	register(launchDiagonalBackward, "diagonal_backward")
	register(launchFlip, "flip")
	register(launchRoll, "roll")
	register(launchConstantPad, "constant_pad_nd")
	register(launchPad, "_pad_circular", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d")
}

// part is n elements of dimension d from the first-th on.
func part(v view, d, first, n int) view {
	v.shift(first * v.stride[d])
	v.shape[d] = n
	return v
}

// backward is a view with a dimension in reverse.
func backward(v view, d int) view {
	v.shift((v.shape[d] - 1) * v.stride[d])
	v.stride[d] = -v.stride[d]
	return v
}

// launchCat takes more inputs than a launcher has views for.
func launchCat(l *launcher) bool {
	d, at := l.c.Dims[0], 0
	for _, t := range l.c.In {
		if t.DType() != l.out.dt || !l.view(&l.in[0], t) {
			return false
		}
	}
	for _, t := range l.c.In {
		l.view(&l.in[0], t)
		n := l.in[0].shape[d]
		to := part(l.out, d, at, n)
		if !l.copy(&to, &l.in[0]) {
			return false
		}
		at += n
	}
	return true
}

// intoZeros copies dy to a part of the result, whose other elements are 0.
func (l *launcher) intoZeros(to view) bool { return l.fill(&l.out, 0) && l.copy(&to, &l.in[0]) }

func launchNarrowBackward(l *launcher) bool {
	d := l.c.Dims[0]
	return l.intoZeros(part(l.out, d, l.c.Start, l.in[0].shape[d]))
}

func launchSliceBackward(l *launcher) bool {
	d, n := l.c.Dims[0], l.in[0].shape[l.c.Dims[0]]
	to := l.out
	if l.in[0].len() > 0 {
		to = part(l.out, d, l.c.Start, n)
	}
	to.shape[d] = n
	to.stride[d] *= l.c.Dims[1]
	return l.intoZeros(to)
}

// launchDiagonalBackward: the diagonal is the last dimension of dy.
func launchDiagonalBackward(l *launcher) bool {
	first, second, start := l.c.Dims[0], l.c.Dims[1], l.c.Start
	to := view{ptr: l.out.ptr, dt: l.out.dt}
	for d := range l.out.rank {
		if d != first && d != second {
			to.shape[to.rank], to.stride[to.rank] = l.out.shape[d], l.out.stride[d]
			to.rank++
		}
	}
	n := l.in[0].shape[l.in[0].rank-1]
	to.shape[to.rank], to.stride[to.rank] = n, l.out.stride[first]+l.out.stride[second]
	to.rank++
	if n > 0 {
		to.shift(max(0, -start)*l.out.stride[first] + max(0, start)*l.out.stride[second])
	}
	return l.intoZeros(to)
}

func launchFlip(l *launcher) bool {
	x := l.in[0]
	if x.len() == 0 {
		return true
	}
	for _, d := range l.c.Dims {
		x = backward(x, d)
	}
	return l.copy(&l.out, &x)
}

func launchRoll(l *launcher) bool { return l.roll(l.out, l.in[0], 0) }

// roll moves dimension c.Dims[k] and those after it in the list.
func (l *launcher) roll(out, x view, k int) bool {
	if k == len(l.c.Dims) {
		return x.len() == 0 || l.copy(&out, &x)
	}
	d := l.c.Dims[k]
	n := x.shape[d]
	if n == 0 {
		return true
	}
	by := (l.c.Shape[k]%n + n) % n
	return l.roll(part(out, d, by, n-by), part(x, d, 0, n-by), k+1) && l.roll(part(out, d, 0, by), part(x, d, n-by, by), k+1)
}

func launchConstantPad(l *launcher) bool {
	to, from := l.out, l.in[0]
	for k := 0; 2*k < len(l.c.Shape); k++ {
		d, before, after := from.rank-1-k, l.c.Shape[2*k], l.c.Shape[2*k+1]
		n := from.shape[d] + min(before, 0) + min(after, 0)
		if n <= 0 {
			return l.fill(&l.out, wordOf(l.out.dt, l.c.Scalar))
		}
		to, from = part(to, d, max(before, 0), n), part(from, d, max(-before, 0), n)
	}
	return l.fill(&l.out, wordOf(l.out.dt, l.c.Scalar)) && l.copy(&to, &from)
}

func launchPad(l *launcher) bool { return l.pad(l.out, l.in[0], 0) }

// pad fills the k-th padded dimension, counted from the last, and those before it: what lies before, within and behind.
func (l *launcher) pad(out, x view, k int) bool {
	if 2*k >= len(l.c.Shape) {
		return out.len() == 0 || l.copy(&out, &x)
	}
	d, before, after := x.rank-1-k, l.c.Shape[2*k], l.c.Shape[2*k+1]
	n := x.shape[d]
	first := max(-before, 0)
	left := n - first + min(after, 0)
	if left > 0 && !l.pad(part(out, d, max(before, 0), left), part(x, d, first, left), k+1) {
		return false
	}
	if before > 0 && !l.pad(part(out, d, 0, before), l.edge(x, d, before, first, left, false), k+1) {
		return false
	}
	return after <= 0 || l.pad(part(out, d, out.shape[d]-after, after), l.edge(x, d, after, first, left, true), k+1)
}

// edge is what n elements before or behind dimension d of x are copies of; of x, left elements from the first-th on are kept.
func (l *launcher) edge(x view, d, n, first, left int, behind bool) view {
	size := x.shape[d]
	switch l.c.Mode {
	case "reflect":
		if behind {
			return backward(part(x, d, size-1-n, n), d)
		}
		return backward(part(x, d, 1, n), d)
	case "replicate":
		at := 0
		if behind {
			at = size - 1
		}
		x = part(x, d, at, n)
		x.stride[d] = 0
		return x
	}
	if behind {
		return part(x, d, first, n)
	}
	return part(x, d, first+left-n, n)
}
