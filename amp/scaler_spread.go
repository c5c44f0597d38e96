package amp

// Models whose parameters live on several devices, as in PyTorch: each device looks at its own gradients, and the scaler brings together
// what they found. The host waits for each once per step.

// A farPart is what one device other than the scaler's finds.
type farPart struct{ found, first, inverse *Tensor }

// spread says whether a gradient of opt lies on another device than the scaler.
func (g *GradScaler) spread(opt Optimizer) bool {
	for _, p := range opt.Parameters() {
		if p.grad != nil && !sameDevice(p.grad.st.dev, g.scale.st.dev) {
			return true
		}
	}
	return false
}

// fused returns opt if it wants fused steps and can have them: what was found is on one device.
func (g *GradScaler) fused(opt Optimizer) FusedOptimizer {
	if g.spread(opt) {
		return nil
	}
	return asFused(opt)
}

// checkElsewhere unscales by inv the gradients of opt that lie on other devices than home, and returns the place of the first value
// that was not finite, firstNone without any.
func checkElsewhere(opt Optimizer, home Device, inv float32) (code int64, looked bool) {
	parts := map[Device]farPart{}
	for i, p := range opt.Parameters() {
		if p.grad == nil || sameDevice(p.grad.st.dev, home) {
			continue
		}
		dev := p.grad.st.dev
		part, ok := parts[dev]
		if !ok {
			part = farPart{far(dev, Float32, 0), alloc("GradScaler", dev, Int64, nil), far(dev, Float32, float64(inv))}
			setElements(part.first, []int64{firstNone})
			parts[dev] = part
		}
		optimizerScope(p).apply(opUnscale, Attrs{Start: min(i, firstScale-1)}, p.grad, part.found, part.first, part.inverse)
	}
	code = firstNone
	for _, part := range parts {
		code = min(code, Values[int64](part.first)[0])
		for _, t := range []*Tensor{part.found, part.first, part.inverse} {
			t.release()
		}
	}
	return code, len(parts) > 0
}

// checkElsewhere adds what other devices find to the flags.
func (f *farScaler) checkElsewhere(opt Optimizer, st *optimizerState) {
	code, looked := checkElsewhere(opt, f.s.root.dev, Values[float32](f.inverse)[0])
	st.checked = st.checked || looked
	if code == firstNone {
		return
	}
	fl := f.flagsOf(opt)
	fl.found.st.changing()
	fl.first.st.changing()
	setElements(fl.found, []float32{1})
	setElements(fl.first, []int64{min(code, Values[int64](fl.first)[0])})
}
