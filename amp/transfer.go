package amp

// Tensors from device to device.

// To returns t on the scope's device: t itself if it is there, else a copy. Copying to a device does not wait for it; copying from one does.
// It is the op to_device, which the trace shows, and gradients flow back through it to the device they came from: parts of a model may
// live on several devices. What wants no gradient is copied as data, which belongs to a step's or Child's scope and in a root scope to
// none. A copy of a parameter is no parameter; Move moves one. (PyTorch: t.to(device).)
func (t *Tensor) To(s *Scope) *Tensor {
	t.live("To")
	s.alive("To")
	if sameDevice(t.st.dev, s.root.dev) {
		return t
	}
	c := s.toDevice(t)
	if c.node == nil && s.arena.parent == nil && s.arena.disown(c) { // data, which no op made
		c.scope = nil
	}
	return c
}

// IsCPU says whether the host reaches the tensor's memory, so that reading it waits for nothing.
func (t *Tensor) IsCPU() bool {
	t.live("IsCPU")
	return t.st.mem != nil
}

// CPU returns t where the host reaches its memory, else a copy on the CPU that belongs to no scope, without gradient. (PyTorch:
// t.detach().cpu().)
func (t *Tensor) CPU() *Tensor {
	t.live("CPU")
	if t.st.mem != nil {
		return t
	}
	return t.copyTo("CPU", theCPU)
}

// Move brings a leaf and its gradient to the scope's device, in place: the model and the optimizer that hold it go on with it. Views
// of it stay where they were. It returns t. (PyTorch: module.to(device); for a whole model see nn.To.)
func (t *Tensor) Move(s *Scope) *Tensor {
	t.live("Move")
	s.alive("Move")
	if t.node != nil {
		fail("Move", ErrGrad, "move parameters and data, and compute results where they are needed", "result of %s", t.node.op.Name)
	}
	if sameDevice(t.st.dev, s.root.dev) {
		return t
	}
	c := t.copyTo("Move", s.root.dev)
	c.st, t.st = t.st, c.st
	t.layout(t.shape)
	t.off, t.view = 0, false
	c.release()
	if t.grad != nil {
		if t.grad.node != nil {
			fail("Move", ErrGrad, "call ZeroGrad first", "the gradient of %sof shape %v is part of a graph", quoted(t.name), t.shape)
		}
		t.grad.Move(s)
		t.grad.scope = nil
	}
	return t
}

// copyTo returns a contiguous copy on a device.
func (t *Tensor) copyTo(op string, dev Device) *Tensor {
	c := alloc(op, dev, t.dt, t.shape)
	c.name, c.norm = t.name, t.norm
	whole := false
	defer c.giveUp(&whole)
	c.copyOf(op, t)
	whole = true
	return c
}

// copyOf copies the elements of a tensor of the same shape and dtype, wherever they are, to a contiguous one.
func (t *Tensor) copyOf(op string, src *Tensor) {
	if src.contiguous() {
		t.copyFrom(op, src)
		return
	}
	h := src.onHost(op)
	t.rewrite(op, func(t *Tensor) { moveElements(t, h) })
}

// moveElements copies elements bit for bit between tensors of one dtype and shape on the host.
func moveElements(dst, src *Tensor) { pickAlong(dst, src, make([][]int, len(dst.shape)), 0) }
