package amp

// Composite ops are made of other rows. Where PyTorch has one kernel for such an op, or a list names it, autocast decides it as a
// whole, on its inputs, and its parts follow them. Where PyTorch decomposes it first, each part decides for itself.

// enter begins a composite: it returns the scope and the inputs for its parts. Optional inputs may be nil.
func (s *Scope) enter(o *Op, in ...*Tensor) (*Scope, []*Tensor) {
	s.alive(o.Name)
	for i, t := range in {
		if t != nil {
			s.admit(o, i, t)
		}
	}
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
	listed := s.auto.class(o) != Unlisted
	return listed && (o.Parts == Apart || s.auto.lists == CPULists)
}

// Lists names the lists of ops that autocast goes by.
type Lists uint8

// The reference's lists.
const (
	CUDALists Lists = iota // the default, on every device
	CPULists               // those of PyTorch's CPU autocast: exp, softmax, layer_norm and others stay in the lower dtype
)

// UseLists chooses the lists: amp.UseLists(amp.CPULists) decides as PyTorch does on a CPU. Nested scopes inherit it.
func UseLists(l Lists) AutocastOption {
	if l > CPULists {
		fail("UseLists", ErrArgument, "use amp.CUDALists or amp.CPULists", "lists %d", l)
	}
	return func(a *autocast) { a.lists = l }
}

// class returns the op's class on the chosen lists.
func (a *autocast) class(o *Op) Class {
	if a.lists == CPULists {
		return o.CPUList
	}
	return o.Class
}
