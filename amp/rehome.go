package amp

// Memory that outlives a tensor: a buffer from elsewhere takes the place of a tensor's own.

// A WatchedBuffer is a Buffer that wants to know of changes.
type WatchedBuffer interface {
	Buffer
	// BeforeChange is called before anything changes elements of a tensor in the buffer in place: an op, SetValues, Assign or ReadRaw.
	// It may be called more than once for a change, and from several goroutines; the change begins when it returns.
	BeforeChange()
}

// changing counts a change in place. Everything that changes elements in place calls it first.
func (st *storage) changing() {
	if st.watch != nil {
		st.watch.BeforeChange()
	}
	st.version.Add(1)
	if g := capturing.Load(); g != nil {
		g.noteChange(st)
	}
}

// Rehome makes b, memory of t's device, the memory of t and of its views, and returns what t had to the device. With keep the elements
// are copied to b; without, t has those that b holds, which must be valid for its dtype. The tensor stays what it is to models,
// optimizers and graphs. From then on b belongs to t, whose Free frees it; a WatchedBuffer is told of changes. t must be a whole
// tensor, no view, and no op's result (ErrArgument); b must hold t.Bytes() bytes (ErrMemory).
func (t *Tensor) Rehome(b Buffer, keep bool) {
	t.live("Rehome")
	if t.node != nil || t.view || t.off != 0 || !t.contiguous() {
		fail("Rehome", ErrArgument, "rehome the tensor it was made from", "%v %sof shape %v is a view or the result of an op", t.dt, quoted(t.name), t.shape)
	}
	if int64(b.Len()) < t.Bytes() {
		fail("Rehome", ErrMemory, "use a larger buffer", "%d bytes for the %d of %v %sof shape %v", b.Len(), t.Bytes(), t.dt, quoted(t.name), t.shape)
	}
	st, mem := t.st, b.Bytes()
	if keep {
		to := &Tensor{dt: t.dt, shape: t.shape, strides: t.strides, st: &storage{dev: st.dev, buf: b, mem: mem}}
		to.copyFrom("Rehome", t)
	}
	st.buf.Free()
	st.buf, st.mem = b, mem
	st.watch, _ = b.(WatchedBuffer)
	st.version.Add(1)
}

// SkipInit returns a scope in which Rand, Randn and the random initializers of package nn leave tensors as their memory happens to be,
// and the random stream where it is: for building a model whose values come from elsewhere, as torch.nn.utils.skip_init does. What
// else is drawn comes from a stream of its own.
func (s *Scope) SkipInit() *Scope {
	c := s.derive()
	c.noInit = true
	c.rng = NewStream(s.rng.State().Seed)
	return c
}

// SkipsInit says whether initializers are to leave a tensor alone; see SkipInit.
func (s *Scope) SkipsInit() bool { return s.known("SkipsInit").noInit }

// IncrementVersion counts a change in place that no op makes, such as that of a CUDA kernel of the program's own, which is about to be
// queued. It is torch.autograd.graph.increment_version: what backward saved of the tensor is stale from here on, and so are its cached casts.
func (t *Tensor) IncrementVersion() {
	t.live("IncrementVersion")
	t.st.changing()
}
