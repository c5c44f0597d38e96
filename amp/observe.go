package amp

// Observe runs f in a scope like s, with memory of its own, and returns what its ops were: what a summary or a test of precisions
// asks for. It leaves s as it is: s's own trace does not see the ops, random numbers are drawn from a copy of its stream, module
// paths start anew, and the tensors born in f's scope are freed. The newest 65,536 events are kept.
func (s *Scope) Observe(f func(s *Scope)) *Trace {
	if s.alive("Observe"); f == nil {
		fail("Observe", ErrArgument, "pass the part of the program to look at", "the function is nil")
	}
	o := s.Child()
	defer o.Close()
	o.root = &root{ctx: s.root.ctx, dev: s.root.dev, note: s.root.note, rec: newRecorder(Decisions, 1<<16, 1)}
	o.rng = NewStream(0)
	o.rng.Load(s.rng.State())
	o.path = ""
	f(o)
	return o.Trace()
}
