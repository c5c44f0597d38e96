package amp

// Layers of LSTMs and GRUs as one node of the graph. Steps write into tensors that hold all of them, and once the gates' gradients of all
// steps are there, those of the weights are one product each, as in Appleyard, Kočiský and Blunsom, "Optimizing Performance of Recurrent
// Neural Networks on GPUs" (2016). All arithmetic is in rows of the table.

// A wholeLayer is what tells an LSTM from a GRU here.
type wholeLayer struct {
	forward  func(l *layerPass, t int)
	backward func(l *layerPass, t int)
	cell     bool // there is a cell state
	apart    bool // gates and products have gradients of their own
}

// A layerPass is one pass through a layer, forward or backward. The states of all steps lie in one tensor [slots batch hidden]: h before the
// first step and after each, in the order of x, and then c likewise.
type layerPass struct {
	r                      *recurrence
	s                      *Scope
	steps, batch, hidden   int
	reverse                bool
	w                      CellWeights
	states                 *Tensor
	gates                  *Tensor   // [steps batch gates·hidden]: products with x, then gates
	products               []*Tensor // of a GRU with its weight_hh, by step, where backward asks for them
	keep                   bool
	dStates, dGates, dProd *Tensor
	carry                  *Tensor // [batch hidden]: gradient of c, or of h in part
	back                   *Tensor // [batch hidden]: gradient of h through the products of the step after; nil at first
}

// before and after are the slots of the states around step t.
func (l *layerPass) before(t int) int {
	if l.reverse {
		return t + 1
	}
	return t
}

func (l *layerPass) after(t int) int {
	if l.reverse {
		return t
	}
	return t + 1
}

// cells is the slot where cell states begin.
func (l *layerPass) cells() int { return l.steps + 1 }

// at views one step, or slot, of x, for a row that reads or changes it; free lets go of it.
func (l *layerPass) at(x *Tensor, i int) *Tensor {
	v := x.alias(x.shape[1:], x.strides[1:])
	v.off += i * x.strides[0]
	v.scope = l.s
	return v
}

// apply runs a row in place and frees the views that it was given.
func (l *layerPass) apply(o *Op, in ...*Tensor) {
	l.s.apply(o, Attrs{}, in...)
	for _, t := range in {
		if t != nil && t != l.carry && t != l.back {
			t.release()
		}
	}
}

// first and last are the steps that run first and last.
func (l *layerPass) first() int {
	if l.reverse {
		return l.steps - 1
	}
	return 0
}

func (l *layerPass) last() int { return l.steps - 1 - l.first() }

// order calls f with every step, first to last or the other way round.
func (l *layerPass) order(f func(t int), back bool) {
	for i := range l.steps {
		if l.reverse != back {
			i = l.steps - 1 - i
		}
		f(i)
	}
}

var wholeLSTM = wholeLayer{cell: true,
	forward: func(l *layerPass, t int) {
		h, c := l.at(l.states, l.before(t)), l.cells()
		products := Linear(l.s, h, l.w.HH, l.w.BiasHH)
		h.release()
		l.apply(opLSTMGates, l.at(l.gates, t), l.at(l.states, l.after(t)), l.at(l.states, c+l.after(t)), products, l.at(l.states, c+l.before(t)))
	},
	backward: func(l *layerPass, t int) {
		c := l.cells()
		l.apply(opLSTMGatesBackward, l.at(l.dGates, t), l.carry, l.at(l.gates, t), l.at(l.states, c+l.before(t)), l.at(l.states, c+l.after(t)),
			l.at(l.dStates, l.after(t)), l.back)
	},
}

var wholeGRU = wholeLayer{apart: true,
	forward: func(l *layerPass, t int) {
		h := l.at(l.states, l.before(t))
		products := Linear(l.s, h, l.w.HH, l.w.BiasHH)
		if l.keep {
			l.products[t] = products
			products = Detach(l.s, products)
		}
		l.apply(opGRUGates, l.at(l.gates, t), l.at(l.states, l.after(t)), products, h)
	},
	backward: func(l *layerPass, t int) {
		l.apply(opGRUGatesBackward, l.at(l.dGates, t), l.at(l.dProd, t), l.carry, l.at(l.gates, t), Detach(l.s, l.products[t]), l.at(l.states, l.before(t)),
			l.at(l.dStates, l.after(t)), l.back)
	},
}

// turnedFrom is the number of steps from which weight_hh is turned round in memory first: products pack it in each step, which is then a copy.
const turnedFrom = 4

// runWhole is run for a layer, or a cell, o that computes all steps at once.
func (r *recurrence) runWhole(s *Scope, o *Op, x *Tensor, state []*Tensor, w CellWeights, reverse bool) (*Tensor, []*Tensor) {
	c := newCall(o, &Attrs{Reverse: reverse}, append(append([]*Tensor{x}, state...), w.IH, w.HH, w.BiasIH, w.BiasHH))
	defer c.free()
	c.node = s.newNode(c, x.dt)
	l := &layerPass{r: r, s: s.NoGrad(), steps: x.shape[0], batch: length(x.shape[1 : len(x.shape)-1]), hidden: w.HH.shape[1], reverse: reverse, w: w, keep: c.node != nil}
	x = Reshape(l.s, x, l.steps, l.batch, x.shape[len(x.shape)-1])
	x = Contiguous(l.s, x)
	l.gates = Linear(l.s, x, w.IH, w.BiasIH)
	l.states = alloc(o.Name, s.root.dev, x.dt, []int{len(state) * (l.steps + 1), l.batch, l.hidden})
	l.states.scope = s
	s.arena.own(l.states)
	for i, t := range state {
		slot := l.at(l.states, i*l.cells()+l.before(l.first()))
		CopyInPlace(l.s, slot, Reshape(l.s, t, l.batch, l.hidden))
		slot.release()
	}
	if l.keep {
		l.products = make([]*Tensor, l.steps)
	}
	if l.steps >= turnedFrom && !x.dt.IsHalf() {
		l.w.HH = Transpose(l.s, Contiguous(l.s, Transpose(l.s, w.HH, 0, 1)), 0, 1)
	}
	l.order(func(t int) { r.whole.forward(l, t) }, false)
	c.Out = l.states
	if l.keep {
		l.record(c, x)
	} else {
		l.gates.release()
	}
	return l.results(s, state)
}

// record puts the layer on the tape. Backward reads x, the weights, the gates and what a GRU's products were; a gradient that is to be
// differentiated again reads the other inputs, too.
func (l *layerPass) record(c *Call, x *Tensor) {
	var pc uintptr
	if l.s.root.rec != nil {
		pc = l.s.callSite()
	}
	n := c.node
	l.s.tape(c, pc)
	n.custom = &Context{}
	n.custom.Save(x, l.gates, l.states)
	if l.r.whole.apart {
		n.custom.Save(l.products...)
	}
	k := len(c.In) - 4
	n.custom.Save(c.In[k], c.In[k+1])
	n.custom.Value = len(n.custom.saved)
	for _, t := range c.In {
		if t != nil {
			n.custom.Save(t)
		}
	}
}

// results cuts the states into those of all steps and the last.
func (l *layerPass) results(s *Scope, state []*Tensor) (*Tensor, []*Tensor) {
	from, last := min(l.after(0), l.after(l.steps-1)), l.after(l.last())
	lead := state[0].shape
	y := Reshape(s, Narrow(s, l.states, 0, from, l.steps), append([]int{l.steps}, lead...)...)
	out := make([]*Tensor, len(state))
	for i := range out {
		out[i] = Reshape(s, Narrow(s, l.states, 0, i*l.cells()+last, 1), lead...)
	}
	return y, out
}
