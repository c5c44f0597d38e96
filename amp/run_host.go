package amp

// Ops that a device has no kernel for run on the host: what they read is copied out of the device, what they changed is copied in.

// A Copier moves bytes between host memory and a device's buffers, as Device.CopyIn and CopyOut do.
type Copier interface {
	CopyIn(dst Buffer, at int, src []byte) error
	CopyOut(dst []byte, src Buffer, at int) error
}

// RunOnHost runs the row's CPU kernel on copies of its tensors in host memory: what a Device's Run does where it has no kernel. It waits
// for the device. The result is the CPU's, bit for bit.
func RunOnHost(c *Call, m Copier) error {
	h := hostCall{call: *c, m: m}
	h.call.In = make([]*Tensor, len(c.In))
	for _, t := range c.In {
		h.stretch(t)
	}
	h.stretch(c.Out)
	defer h.free()
	if err := h.load(c); err != nil {
		return err
	}
	for i, t := range c.In {
		h.call.In[i] = h.at(t)
	}
	if h.call.Out = h.at(c.Out); c.Op.InPlace {
		h.call.Out = h.call.In[0]
	}
	c.Op.CPU(&h.call)
	return h.save(c)
}

// A hostCall is a call with its storages in host memory.
type hostCall struct {
	call Call
	m    Copier
	copy []hostCopy
}

// A hostCopy is the part of one storage that the call's tensors cover.
type hostCopy struct {
	of     *storage
	lo, hi int // elements
	buf    Buffer
	mem    []byte
}

func (h *hostCall) find(st *storage) *hostCopy {
	for i := range h.copy {
		if h.copy[i].of == st {
			return &h.copy[i]
		}
	}
	return nil
}

// stretch makes the copy of t's storage cover t.
func (h *hostCall) stretch(t *Tensor) {
	if t == nil {
		return
	}
	lo, hi := t.span()
	if k := h.find(t.st); k != nil {
		k.lo, k.hi = min(k.lo, lo), max(k.hi, hi)
		return
	}
	h.copy = append(h.copy, hostCopy{of: t.st, lo: lo, hi: hi})
}

// load takes host memory for every copy and fills those that the kernel reads.
func (h *hostCall) load(c *Call) error {
	for i := range h.copy {
		k := &h.copy[i]
		size := k.of.dt.Size()
		n := (k.hi - k.lo) * size
		buf, err := theCPU.Alloc(n)
		if err != nil {
			return err
		}
		k.buf, k.mem = buf, buf.Bytes()[:n]
		if k.of == c.Out.st && !c.Op.InPlace || n == 0 {
			continue
		}
		if err := h.m.CopyOut(k.mem, k.of.buf, k.lo*size); err != nil {
			return err
		}
	}
	return nil
}

// at returns t's twin in host memory.
func (h *hostCall) at(t *Tensor) *Tensor {
	if t == nil {
		return nil
	}
	k := h.find(t.st)
	return t.mirror(k.mem, k.lo)
}

// save copies back what the op changed.
func (h *hostCall) save(c *Call) error {
	changed := []*Tensor{c.Out}
	if c.Op.InPlace {
		changed = c.In[:min(len(c.In), c.Op.Changed())]
	}
	for _, t := range changed {
		if t == nil {
			continue
		}
		k := h.find(t.st)
		if k.buf == nil || len(k.mem) == 0 {
			continue
		}
		if err := h.m.CopyIn(k.of.buf, k.lo*k.of.dt.Size(), k.mem); err != nil {
			return err
		}
	}
	return nil
}

func (h *hostCall) free() {
	for _, k := range h.copy {
		if k.buf != nil {
			k.buf.Free()
		}
	}
}
