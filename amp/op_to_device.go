package amp

import (
	"fmt"
	"slices"
	"strings"
)

// Copies from device to device, and what becomes of an op whose inputs are not all on its scope's device.

var opToDevice *Op

func init() {
	opToDevice = define(Op{
		Name: "to_device", Doc: "x copied to the device of the scope", Args: []string{"x"}, Why: "moves elements as they are", Ints: true, CUDA: "contiguous",
		Check: func(c *Call) []int { return c.In[0].shape },
		CPU:   func(c *Call) { moveElements(c.Out, c.In[0]) },
		Backward: func(b *Back) { // Mode names the device that x is on
			g := b.DY
			if from := b.Attrs().Mode; from != "" {
				g = b.S.onDevice(deviceNamed(from)).toDevice(g)
			}
			b.Set(0, g)
		},
	})
}

// toDevice copies t to the scope's device as an op: recorded, differentiable, and owned by the scope.
func (s *Scope) toDevice(t *Tensor) *Tensor {
	c := s.apply(opToDevice, Attrs{Mode: t.st.dev.Name()}, t)
	c.name, c.norm = t.name, t.norm
	return c
}

// onDevice returns the scope with another device, and all else its own.
func (s *Scope) onDevice(dev Device) *Scope {
	if sameDevice(dev, s.root.dev) {
		return s
	}
	c := s.derive()
	c.root = &root{ctx: s.root.ctx, dev: dev, note: s.root.note, rec: s.root.rec, gradients: s.root.gradients, rounding: s.root.rounding}
	return c
}

// deviceNamed returns an open device by its own name.
func deviceNamed(name string) Device {
	for _, d := range openDevices() {
		if d.Name() == name {
			return d
		}
	}
	return theCPU
}

// moveOver is Scope.toDevice, called by way of a variable: it applies a row itself, and the compiler would take the lists of operands
// of all rows for values that a recursion keeps, which then need memory of their own.
var moveOver func(s *Scope, t *Tensor) *Tensor

func init() { moveOver = (*Scope).toDevice }

// bring returns an op's inputs on the scope's device: a 0-dimensional tensor of the CPU may stand beside tensors of another device, as in
// PyTorch, and is copied there; gradients find their way back. Every other mixture is refused, and so is a tensor that is freed.
func (s *Scope) bring(o *Op, in []*Tensor) []*Tensor {
	here, others := 0, 0
	for _, t := range in {
		if t == nil {
			continue
		}
		if t.live(o.Name); t.st.dev == s.root.dev || sameDevice(t.st.dev, s.root.dev) {
			here++
		} else {
			others++
		}
	}
	if others == 0 || o == opToDevice {
		return in
	}
	out := slices.Clone(in)
	for i, t := range in {
		if t == nil || sameDevice(t.st.dev, s.root.dev) {
			continue
		}
		if here == 0 || len(t.shape) > 0 || t.st.mem == nil || i < o.Changed() {
			s.refuseMixture(o, i, in)
		}
		out[i] = moveOver(s, t)
	}
	return out
}

// refuseMixture panics over input i, which the op can't take from where it is.
func (s *Scope) refuseMixture(o *Op, i int, in []*Tensor) {
	var places []string
	for k, t := range in {
		if t != nil {
			places = append(places, fmt.Sprintf("%s %s%v is on %s", o.argName(k), quoted(t.name), t.shape, t.st.dev.Name()))
		}
	}
	to, from := s.root.dev.Name(), in[i].st.dev.Name()
	how := "with t.To(s)"
	if in[i].needs && in[i].node == nil {
		how = "with its model by nn.To(s, model), or alone by t.Move(s)"
	}
	name, _, _ := strings.Cut(from, " ")
	if s.phase == optimizerPhase && i >= 2 && sameDevice(in[0].st.dev, s.root.dev) { // its state, which programs have no hand on
		fail(o.Name, ErrDevice, "load the optimizer's state again, opt.LoadState(opt.State()), which brings it to its parameters, moved since", "%s, the scope on %s", strings.Join(places, ", "), to)
	}
	fail(o.Name, ErrDevice, fmt.Sprintf("bring %s to %s %s, or make the scope with amp.On(%q)", o.argName(i), to, how, name), "%s, the scope on %s", strings.Join(places, ", "), to)
}
