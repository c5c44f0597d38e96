package amp

import "fmt"

// Gradients of a scaled loss that are added to gradients already divided by the scale outweigh them by as much: a Backward between Unscale and
// Step, or the next one where ZeroGrad was forgotten. PyTorch says nothing of it. What a scaler divides gets a mark, and Backward looks for it.

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

// warnMixed warns once of a scaled gradient that is about to be added to the one of p, if a scaler has divided that. p is locked.
func (p *Tensor) warnMixed() {
	if p.grad != nil && p.grad.divided {
		warnOnce("scaled onto unscaled", "Backward of a scaled loss adds to the gradient of %s, which GradScaler has divided by the loss scale before: the sum is of two scales; run every Backward of a step before scaler.Unscale(opt), and call opt.ZeroGrad() after scaler.Step(opt)", p.called())
	}
}

// called is the name of a tensor, and its shape where it has none.
func (t *Tensor) called() string {
	if t.name != "" {
		return t.name
	}
	return fmt.Sprintf("a parameter of shape %v", t.shape)
}

// lossScale is what GradScaler.Scale multiplied a loss by, where the node is that product; else nil.
func (n *node) lossScale() *Tensor {
	if n != nil && n.op == opMul && len(n.in) == 2 && n.in[1] != nil && n.in[1].name == lossScaleName && n.in[1].Len() == 1 {
		return n.in[1]
	}
	return nil
}
