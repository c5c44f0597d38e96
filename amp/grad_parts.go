package amp

import "slices"

// Gradients of parts: where a tensor was cut along one dimension, as the product of attention's three projections is, the gradients of the
// pieces are put one after another when all have come, in one pass over memory. Alone each would be written into zeros of the whole size,
// and the wholes added up.

// A part is the gradient of a range of one dimension of a tensor.
type part struct {
	g          *Tensor
	dim, start int
	from       *node // that cut it out
	among      bool  // g has the whole size, with zeros around the range
}

func (p *part) end() int { return p.start + p.g.shape[p.dim] }

// waits says whether gradients of t's parts are kept until all gradients of t have come: the order in which they are added is then the
// same, whether they are put together or not.
func (e *engine) waits(t *Tensor) bool {
	_, wanted := e.want[t]
	return !wanted && (t.node != nil || e.want == nil)
}

// gathers says whether they are put together: not where their graph or the fate of each is asked for.
func (e *engine) gathers(t *Tensor) bool { return !e.cfg.create && e.tracer == nil && e.waits(t) }

// deliverPart keeps the gradient of a part of t.
func (e *engine) deliverPart(t *Tensor, p part) {
	if t.node == nil {
		if _, seen := e.leaves[t]; !seen {
			e.order = append(e.order, t)
			e.leaves[t] = nil
		}
	} else {
		e.reach(t.node)
	}
	if e.parts == nil {
		e.parts = map[*Tensor][]part{}
	}
	e.parts[t] = append(e.parts[t], p)
	e.held[p.g]++
}

// join delivers what was kept of t's parts: one tensor if they make up the whole of t, else each of them among zeros.
func (e *engine) join(t *Tensor) {
	parts := e.parts[t]
	if parts == nil {
		return
	}
	delete(e.parts, t)
	if g := e.whole(t, parts); g != nil {
		e.deliver(t, g)
	} else {
		for _, p := range parts {
			g := p.g
			if !p.among {
				g = e.from(t, p).apply(opNarrowBackward, Attrs{Dims: []int{p.dim}, Start: p.start, Shape: t.shape}, g)
			}
			e.deliver(t, g)
		}
	}
	for _, p := range parts {
		e.drop(p.g)
	}
}

// whole returns the parts one after another; nil if they do not cover t exactly once along one dimension.
func (e *engine) whole(t *Tensor, parts []part) *Tensor {
	dim, at := parts[0].dim, 0
	list := make([]*Tensor, len(parts))
	for i, k := range placesInOrder(len(parts), func(a, b int) int { return parts[a].start - parts[b].start }) {
		p := &parts[k]
		if p.among || p.dim != dim || p.start != at {
			return nil
		}
		list[i], at = p.g, p.end()
	}
	switch {
	case at != t.shape[dim]:
		return nil
	case len(list) == 1:
		return list[0]
	}
	if g := e.inPlace(t, list, dim); g != nil {
		return g
	}
	return e.from(t, parts[0]).apply(opCat, Attrs{Dims: []int{dim}}, list...)
}

// inPlace returns parts that lie in memory as the whole does, as those of attention do; nil if they do not.
func (e *engine) inPlace(t *Tensor, list []*Tensor, dim int) *Tensor {
	first := list[0]
	step := (list[1].off - first.off) / max(1, first.shape[dim])
	strides := slices.Clone(first.strides)
	strides[dim] = step
	off := first.off
	for _, p := range list {
		for d, n := range p.strides {
			if n != strides[d] && p.shape[d] != 1 {
				return nil
			}
		}
		if p.st != first.st || p.dt != first.dt || p.off != off {
			return nil
		}
		off += step * p.shape[dim]
	}
	g := first.alias(t.shape, strides)
	if lo, hi := g.span(); hi-lo != g.Len() { // with gaps, or repeated
		g.release()
		return nil
	}
	s := e.on(t)
	g.scope = s
	s.arena.own(g)
	return g
}

// from is the scope of what is computed for t's gradient: on its device, in the name of the op that cut the part.
func (e *engine) from(t *Tensor, p part) *Scope {
	s := e.on(t).derive()
	s.inherit, s.path = p.from, p.from.path
	return s
}
