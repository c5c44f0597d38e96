package amp

// layerBackward is the gradient of a layer.
func layerBackward(b *Back) {
	r := &lstm
	if b.n.op == opGRU || b.n.op == opGRUCell {
		r = &gru
	}
	if !b.S.noGrad {
		r.differentiable(b)
		return
	}
	k := len(b.n.in) - 4 // the weights follow x and the states
	kept, states := b.n.custom, b.n.out
	l := &layerPass{r: r, s: b.S, steps: states.shape[0]/(k-1) - 1, batch: states.shape[1], hidden: states.shape[2], reverse: b.Attrs().Reverse}
	for i := range kept.Value.(int) {
		kept.Saved(i)
	}
	l.w = CellWeights{IH: b.n.in[k], HH: b.n.in[k+1]}
	if b.exact {
		wide := *kept
		wide.widen(b)
		kept = &wide
		l.w = CellWeights{IH: b.exactly(l.w.IH), HH: b.exactly(l.w.HH)}
	}
	x := kept.saved[0]
	l.gates, l.states, l.products = kept.saved[1], kept.saved[2], kept.saved[3:kept.Value.(int)-2]
	l.dStates = Contiguous(l.s, b.DY)
	l.dGates = l.temporary(l.gates.dt, l.gates.shape)
	l.dProd = l.dGates
	if r.whole.apart {
		l.dProd = l.temporary(l.gates.dt, l.gates.shape)
	}
	l.begin()
	l.order(func(t int) {
		r.whole.backward(l, t)
		if l.back != nil {
			l.back.release()
			l.back = nil
		}
		if t == l.first() && !b.Needs(1) {
			return
		}
		d := l.at(l.dProd, t)
		l.back = MatMul(l.s, d, l.w.HH)
		d.release()
	}, true)
	l.gradients(b, x, k)
}

// begin sets the gradient that is carried before the last step: that of the last cell state, or nothing.
func (l *layerPass) begin() {
	l.carry = l.temporary(carried(l.dStates.dt), []int{l.batch, l.hidden})
	if !l.r.whole.cell {
		l.carry.fill(0)
		return
	}
	CopyInPlace(l.s, l.carry, Reshape(l.s, Narrow(l.s, l.dStates, 0, l.cells()+l.after(l.last()), 1), l.batch, l.hidden))
}

// temporary returns a tensor whose elements are anything.
func (l *layerPass) temporary(dt DType, shape []int) *Tensor {
	t := alloc(l.r.layer.Name, l.s.root.dev, dt, shape)
	t.scope = l.s
	l.s.arena.own(t)
	return t
}

// gradients makes those of the inputs from those of the gates: of the weights in one product each.
func (l *layerPass) gradients(b *Back, x *Tensor, k int) {
	s, rows := l.s, l.steps*l.batch
	flat := func(t *Tensor) *Tensor { return Reshape(s, t, rows, t.shape[len(t.shape)-1]) }
	d, dProd := flat(l.dGates), flat(l.dProd)
	if b.Needs(0) {
		b.Set(0, Reshape(s, MatMul(s, d, l.w.IH), b.Shape(0)...))
	}
	if b.Needs(1) {
		dh := l.back
		if !l.r.whole.cell {
			dh = Add(s, l.carry, dh)
		}
		b.Set(1, Reshape(s, To(s, dh, b.DType(1)), b.Shape(1)...))
	}
	if l.r.whole.cell && b.Needs(2) {
		b.Set(2, Reshape(s, To(s, l.carry, b.DType(2)), b.Shape(2)...))
	}
	if b.Needs(k) {
		b.Set(k, MatMul(s, Transpose(s, d, 0, 1), flat(x)))
	}
	if b.Needs(k + 1) {
		before := flat(Narrow(s, l.states, 0, min(l.before(0), l.before(l.steps-1)), l.steps))
		b.Set(k+1, MatMul(s, Transpose(s, dProd, 0, 1), before))
	}
	for i, g := range []*Tensor{d, dProd} {
		if b.Needs(k + 2 + i) {
			b.Set(k+2+i, Sum(s, g, 0))
		}
	}
}

// differentiable is layerBackward for a gradient that will be differentiated again: that of the layer step by step.
func (r *recurrence) differentiable(b *Back) {
	for i := range b.n.custom.saved { // biases and states are read as well
		b.n.custom.Saved(i)
	}
	s, k := b.S, len(b.n.in)-4
	in := make([]*Tensor, len(b.n.in)) // views, so that the gradient of one holds nothing of how another was made from it
	for i, t := range b.n.in {
		if t != nil {
			in[i] = Reshape(s, t, t.shape...)
		}
	}
	l := layerPass{steps: in[0].shape[0], reverse: b.Attrs().Reverse}
	y, states := r.stepwise(s, in[0], in[1:k], CellWeights{in[k], in[k+1], in[k+2], in[k+3]}, l.reverse)
	outputs := []*Tensor{y}
	dy := []*Tensor{Reshape(s, Narrow(s, b.DY, 0, min(l.after(0), l.after(l.steps-1)), l.steps), y.shape...)}
	if r.whole.cell {
		outputs = append(outputs, states[1])
		dy = append(dy, Reshape(s, Narrow(s, b.DY, 0, l.cells()+l.after(l.last()), 1), states[1].shape...))
	}
	var wanted []*Tensor
	var at []int
	for i, t := range in {
		if b.Needs(i) {
			wanted, at = append(wanted, t), append(at, i)
		}
	}
	for i, g := range Grad(s, outputs, wanted, GradOutputs(dy...), CreateGraph(), AllowUnused()) {
		b.Set(at[i], g)
	}
}
