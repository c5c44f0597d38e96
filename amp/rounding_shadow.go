package amp

import "slices"

// The reference of TraceRounding: for each tensor of the forward pass its shadow, the same in float64.

// A shadow is that of the elements that a tensor has in a storage, while they are at a version. Tensors with the same elements, such as what Detach
// returns, share it.
type shadow struct {
	t              *Tensor
	dt             DType
	off            int
	shape, strides []int
	version        uint32
	ref            *Tensor
	unrounded      *Tensor // of what is part of the op that reads it; else nil
}

// of says whether s is the shadow of t.
func (s *shadow) of(t *Tensor) bool {
	if s.dt != t.dt || s.off != t.off || !slices.Equal(s.shape, t.shape) || s.version != t.st.version.Load() {
		return false
	}
	for d, n := range t.shape {
		if n != 1 && s.strides[d] != t.strides[d] {
			return false
		}
	}
	return true
}

// find returns the shadow of t, nil where it has none that still holds. Its own comes before that of another tensor with the same elements,
// which may have another gradient: an op of the program's own may return its operand.
func (r *rounding) find(t *Tensor) (found *shadow) {
	all := r.shadows[t.st]
	for k := len(all) - 1; k >= 0; k-- {
		switch s := &all[k]; {
		case !s.of(t):
		case s.t == t:
			return s
		case found == nil:
			found = s
		}
	}
	return found
}

// put makes ref the shadow of t, in the order of memory that t has where that is row-major, and returns it. The storage is held, for that of a
// tensor that is freed would serve another.
func (r *rounding) put(t, ref *Tensor) *Tensor {
	if t.contiguous() && !ref.contiguous() {
		ref = r.s.apply(opContiguous, Attrs{}, ref)
	}
	r.hold(t)
	r.held += t.Len()
	r.shadows[t.st] = append(r.shadows[t.st], shadow{t, t.dt, t.off, slices.Clone(t.shape), slices.Clone(t.strides), t.st.version.Load(), ref, nil})
	return ref
}

// pass gives t the shadow of another tensor, whose numbers it has, times a factor unless that is nil.
func (r *rounding) pass(t, from, by *Tensor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle() {
		return
	}
	ref := r.shadow(from)
	if by != nil {
		ref = Mul(r.s, ref, r.shadow(by))
	}
	r.put(t, ref)
}

// shadow returns that of t, or a new one of the numbers that t holds.
func (r *rounding) shadow(t *Tensor) *Tensor {
	if s := r.find(t); s != nil {
		return s.ref
	}
	return r.put(t, r.leaf(t))
}

// leaf returns the numbers of t in float64, in the order of memory that t has: kernels rely on it. A derivative is wanted, so that those of all
// that is made of it are computed.
func (r *rounding) leaf(t *Tensor) *Tensor {
	span := 1
	for d, n := range t.shape {
		span += (n - 1) * t.strides[d]
	}
	if t.Len() == 0 {
		span = 0
	}
	whole := alloc("TraceRounding", theCPU, Float64, []int{span})
	whole.scope = r.s
	r.s.arena.own(whole)
	ref := whole.alias(t.shape, t.strides)
	ref.scope = r.s
	r.s.arena.own(ref)
	dst, values, k := elements[float64](whole), t.wide64(), 0
	ref.each(func(off int) { dst[off] = values[k]; k++ })
	ref.needs = true
	return ref
}

// operands returns what the reference calls an op with: shadows of floats, and other tensors as they are.
func (r *rounding) operands(in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	for i, t := range in {
		switch {
		case t == nil:
		case t.dt.IsFloat():
			out[i] = r.shadow(t)
		default:
			out[i] = r.s.toDevice(t)
		}
	}
	return out
}

// part follows a row that an op has for a part, with no gradient of its own: the op's counts it in. So the op is unrounded if this is, too.
func (r *rounding) part(c *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle() {
		return
	}
	w := r.s.Child().NoGrad()
	defer w.arena.drop()
	unrounded := w.Keep(w.apply(c.Op, c.Attrs, exactly(w, c.In)...))
	r.put(c.Out, r.s.apply(c.Op, c.Attrs, r.operands(c.In)...))
	r.find(c.Out).unrounded = unrounded
}

// got returns what exactly does, and in place of a part the unrounded one.
func (r *rounding) got(s *Scope, in []*Tensor) []*Tensor {
	out := exactly(s, in)
	for i, t := range in {
		if t == nil {
			continue
		}
		if p := r.find(t); p != nil && p.unrounded != nil {
			out[i] = p.unrounded
		}
	}
	return out
}

// exactly returns the operands that an op really got, floats in float64.
func exactly(s *Scope, in []*Tensor) []*Tensor {
	out := make([]*Tensor, len(in))
	for i, t := range in {
		if t == nil {
			continue
		}
		out[i] = s.toDevice(t)
		if t.dt.IsFloat() {
			out[i] = To(s, out[i], Float64)
		}
	}
	return out
}

// hold keeps the elements of t until the trace is done, though the program may let them go; nil stays nil.
func (r *rounding) hold(t *Tensor) *Tensor {
	if t == nil {
		return nil
	}
	v := t.alias(t.shape, t.strides)
	v.copiedAt = t.st.version.Load()
	r.s.arena.own(v)
	return v
}
