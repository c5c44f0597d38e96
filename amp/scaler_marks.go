package amp

// Two mistakes with gradients let training go on, and PyTorch says nothing of either. Gradients that are clipped before they are unscaled are
// clipped at the bound over the loss scale. Gradients of a scaled loss that are added to ones already divided by the scale outweigh them by as
// much: a Backward between Unscale and Step, or the next one where ZeroGrad was forgotten. What clips by a bound and what adds leave marks on
// the gradient, and the scaler looks for them.

// A gradMarks has the name of the first parameter whose gradient has the mark, "" if none has it.
type gradMarks struct{ clipped, mixed string }

// takeMarks reads the marks of opt's gradients and takes them away.
func takeMarks(opt Optimizer) (m gradMarks) {
	for i, p := range opt.Parameters() {
		grad := p.grad
		if grad == nil || !grad.clipped && !grad.mixed {
			continue
		}
		if grad.clipped && m.clipped == "" {
			m.clipped = paramName(p, i)
		}
		if grad.mixed && m.mixed == "" {
			m.mixed = paramName(p, i)
		}
		grad.clipped, grad.mixed = false, false
	}
	return m
}

// warnMarks warns once of each mistake where its gradients are about to be used. Clipping is none once they are divided, or with a scale of 1;
// that of a device is not waited for.
func (g *GradScaler) warnMarks(method string, opt Optimizer, divided bool) {
	m := takeMarks(opt)
	if m.clipped != "" && !divided && (g.far != nil || g.current() != 1) {
		warnOnce("clipped before unscaled", "GradScaler.%s: the gradient of %s was clipped while it was multiplied by the loss scale, so that the bound was smaller by as much; call scaler.Unscale(opt) after Backward, then clip, then scaler.Step(opt)", method, m.clipped)
	}
	if m.mixed != "" {
		warnOnce("scaled onto unscaled", "GradScaler.%s: Backward of a scaled loss has added to the gradient of %s, which GradScaler had divided by the loss scale before: the sum is of two scales; run every Backward of a step before scaler.Unscale(opt), and call opt.ZeroGrad() after scaler.Step(opt)", method, m.mixed)
	}
}

// markDivided notes that the gradients of opt carry no loss scale any more.
func markDivided(opt Optimizer) {
	for _, p := range opt.Parameters() {
		if p.grad != nil {
			p.grad.divided = true
		}
	}
}

// mix notes that a scaled gradient is about to be added to the one of p, if a scaler has divided that. p is locked. It is no fault yet: a
// loss of a generator adds to the gradients of a discriminator that has had its step, and that ZeroGrad removes before the next.
func (p *Tensor) mix() {
	if p.grad != nil && p.grad.divided {
		p.grad.mixed = true
	}
}

// scaled says whether the gradients of a loss carry a loss scale. A scale of 1 changes nothing; that of a device is not waited for.
func scaled(loss *Tensor) bool {
	scale := loss.node.lossScale()
	return scale != nil && !(scale.IsCPU() && scale.Item() == 1)
}

// lossScale is what GradScaler.Scale multiplied a loss by, where the node is that product; else nil.
func (n *node) lossScale() *Tensor {
	if n != nil && n.op == opMul && len(n.in) == 2 && n.in[1] != nil && n.in[1].name == lossScaleName && n.in[1].Len() == 1 {
		return n.in[1]
	}
	return nil
}
