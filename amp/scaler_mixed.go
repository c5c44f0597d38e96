package amp

// Gradients of a scaled loss that are added to gradients already divided by the scale outweigh them by as much: a Backward between Unscale and
// Step, or the next one where ZeroGrad was forgotten. PyTorch says nothing of it. What a scaler divides gets a mark,
// Backward marks what it adds to such a gradient, and the scaler looks for that.

// markDivided notes that the gradients of opt carry no loss scale any more.
func markDivided(opt Optimizer) {
	for _, p := range opt.Parameters() {
		if p.grad != nil {
			p.grad.divided = true
		}
	}
}

// scaled says whether the gradients of a loss carry a loss scale. A scale of 1 changes nothing; that of a device is not waited for.
func scaled(loss *Tensor) bool {
	scale := loss.node.lossScale()
	return scale != nil && !(scale.IsCPU() && scale.Item() == 1)
}

// mix notes that a scaled gradient is about to be added to the one of p, if a scaler has divided that. p is locked. It is no fault yet: a
// loss of a generator adds to the gradients of a discriminator that has had its step, and that ZeroGrad removes before the next.
func (p *Tensor) mix() {
	if p.grad != nil && p.grad.divided {
		p.grad.mixed = true
	}
}

// warnMixed warns once where such a sum is about to be used. It takes the marks away.
func warnMixed(method string, opt Optimizer) {
	name := ""
	for i, p := range opt.Parameters() {
		if p.grad == nil || !p.grad.mixed {
			continue
		}
		p.grad.mixed = false
		if name == "" {
			name = paramName(p, i)
		}
	}
	if name != "" {
		warnOnce("scaled onto unscaled", "GradScaler.%s: Backward of a scaled loss has added to the gradient of %s, which GradScaler had divided by the loss scale before: the sum is of two scales; run every Backward of a step before scaler.Unscale(opt), and call opt.ZeroGrad() after scaler.Step(opt)", method, name)
	}
}

// lossScale is what GradScaler.Scale multiplied a loss by, where the node is that product; else nil.
func (n *node) lossScale() *Tensor {
	if n != nil && n.op == opMul && len(n.in) == 2 && n.in[1] != nil && n.in[1].name == lossScaleName && n.in[1].Len() == 1 {
		return n.in[1]
	}
	return nil
}
