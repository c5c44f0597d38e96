package amp

// Composite ops are made of other rows. Where PyTorch has one kernel for such an op, or a list names it, autocast decides it as a
// whole, on its inputs, and its parts follow them. Where PyTorch decomposes it first, each part decides for itself.

// enter begins a composite: it returns the scope and the inputs for its parts. Inputs but the first may be nil where they are optional.
func (s *Scope) enter(o *Op, in ...*Tensor) (*Scope, []*Tensor) {
	s.alive(o.Name)
	o.need(in[:1]...)
	in = s.bring(o, in)
	if !s.auto.on || !s.whole(o) {
		return s, in
	}
	var at Attrs
	d := s.decide(o, &at, in)
	c := &Call{Op: o, In: append([]*Tensor(nil), in...)}
	var pc uintptr
	if s.root.rec != nil {
		pc = s.callSite()
	}
	s.castInputs(c, &d, in, pc)
	inner := s.derive()
	inner.auto.on, inner.part = false, o
	return inner, c.In
}

// whole says whether autocast decides a composite on its inputs rather than part by part.
func (s *Scope) whole(o *Op) bool {
	if _, forced := s.auto.force[o.Name]; forced || o.Parts == Together {
		return true
	}
	switch s.auto.lists {
	case CPULists:
		return o.CPUList != Unlisted
	case PureLists:
		return true
	}
	return o.Class != Unlisted && o.Parts == Apart
}

// apart runs f in memory of its own, without gradients or autocast, and hands its result over to s: what f makes on the way goes at once.
func (s *Scope) apart(f func(s *Scope) *Tensor) *Tensor {
	c := s.Child()
	defer c.Close()
	inner := c.NoGrad()
	inner.auto, inner.noInit = autocast{}, false
	return c.Keep(f(inner))
}
