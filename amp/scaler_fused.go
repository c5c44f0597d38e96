package amp

// A FusedOptimizer is an Optimizer whose update can unscale the gradients, and skip, itself. GradScaler.Step then only looks for infinity
// and NaN, leaving the gradients as they are, and hands over what it found; a device need not wait for the host in between.
type FusedOptimizer interface {
	Optimizer
	// Fused says whether the optimizer wants that.
	Fused() bool
	// StepFused is Step on gradients times inv, or a step that changes nothing and is not counted if found is not 0. Both are
	// 0-dimensional float32; inv is nil for gradients that Unscale has divided already.
	StepFused(inv, found *Tensor)
}

// asFused returns opt if it wants fused steps.
func asFused(opt Optimizer) FusedOptimizer {
	if f, ok := opt.(FusedOptimizer); ok && f.Fused() {
		return f
	}
	return nil
}

// stepFused lets the optimizer divide and decide. It is called for a step to skip too, as on a device that has not told the host yet.
func (g *GradScaler) stepFused(opt FusedOptimizer, st *optimizerState) {
	if g.inverse == nil {
		g.inverse, g.found = Like(g.scale).SetName("inverse scale"), Like(g.scale).SetName("found inf")
	}
	flag, inv := float32(0), g.inverse
	if st.found {
		flag = 1
	}
	if st.stage == unscaled {
		inv = nil
	}
	SetValues(g.found, []float32{flag})
	SetValues(g.inverse, []float32{float32(g.inv())})
	opt.StepFused(inv, g.found)
}
