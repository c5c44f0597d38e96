package amp

// Tensors from device to device.

// To returns t on the scope's device: t itself if it is there, else a copy, which belongs to a step's or Child's scope and in a root
// scope to none, as data made there does. Copying to a device does not wait for it; copying from one does. The copy is a leaf without
// gradient, so a tensor that wants one is refused (ErrGrad): bring inputs to the device before the forward pass, and move
// parameters with Move. (PyTorch: t.to(device).)
func (t *Tensor) To(s *Scope) *Tensor {
	t.live("To")
	s.alive("To")
	if sameDevice(t.st.dev, s.root.dev) {
		return t
	}
	if t.needs && !s.noGrad {
		fail("To", ErrGrad, "use t.Move(s) for a parameter, amp.Detach first for data, or a NoGrad scope to copy values alone",
			"%sof shape %v on %s wants a gradient, which does not flow to %s", quoted(t.name), t.shape, t.st.dev.Name(), s.root.dev.Name())
	}
	return s.born(t.copyTo("To", s.root.dev))
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
	if t.contiguous() {
		c.copyFrom(op, t)
		return c
	}
	h := t.onHost(op)
	c.rewrite(op, func(c *Tensor) { moveElements(c, h) })
	return c
}

// moveElements copies elements bit for bit between tensors of one dtype and shape on the host.
func moveElements(dst, src *Tensor) { pickAlong(dst, src, make([][]int, len(dst.shape)), 0) }
