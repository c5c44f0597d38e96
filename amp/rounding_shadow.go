package amp

// The reference of TraceRounding: for each tensor of the forward pass its shadow, the same in float64.

// A shadow is a tensor's, while its elements are at a version.
type shadow struct {
	ref     *Tensor
	version uint32
}

// known says whether t has a shadow of its own that still holds.
func (r *rounding) known(t *Tensor) bool {
	s, ok := r.shadows[t]
	return ok && s.version == t.st.version.Load()
}

// put makes ref the shadow of t, in the order of memory that t has where that is row-major, and returns it.
func (r *rounding) put(t, ref *Tensor) *Tensor {
	if t.contiguous() && !ref.contiguous() {
		ref = r.s.apply(opContiguous, Attrs{}, ref)
	}
	if _, ok := r.shadows[t]; !ok {
		r.same[t.st] = append(r.same[t.st], t)
	}
	r.shadows[t] = shadow{ref, t.st.version.Load()}
	return ref
}

// pass gives t the shadow of another tensor, whose numbers it has.
func (r *rounding) pass(t, from *Tensor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		r.put(t, r.shadow(from))
	}
}

// shadow returns that of t, of a tensor with the same elements (Detach, a copy of a view), or a new one of the numbers that t holds.
func (r *rounding) shadow(t *Tensor) *Tensor {
	if r.known(t) {
		return r.shadows[t].ref
	}
	for _, other := range r.same[t.st] {
		if other.st == t.st && r.known(other) && other.places(t) {
			return r.put(t, r.shadows[other].ref)
		}
	}
	return r.put(t, r.leaf(t))
}

// places says whether t and u are the same elements of one storage.
func (t *Tensor) places(u *Tensor) bool {
	if t.off != u.off || t.dt != u.dt || len(t.shape) != len(u.shape) {
		return false
	}
	for d, n := range t.shape {
		if n != u.shape[d] || n != 1 && t.strides[d] != u.strides[d] {
			return false
		}
	}
	return true
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
