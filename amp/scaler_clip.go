package amp

// Gradients that are clipped before they are unscaled are clipped at the bound over the loss scale: training goes on, and learns next to
// nothing. PyTorch says nothing of it. What clips by a bound leaves a mark on the gradient, and the scaler looks for it.

// clippedAs is the name of the first parameter of opt whose gradient was clipped, "" if none was. It takes the marks away.
func clippedAs(opt Optimizer) (name string) {
	for i, p := range opt.Parameters() {
		if p.grad == nil || !p.grad.clipped {
			continue
		}
		p.grad.clipped = false
		if name == "" {
			name = paramName(p, i)
		}
	}
	return name
}

// warnClipped warns once where gradients that are about to be unscaled were clipped. A scale of 1 changes no bound; that of a device is
// not waited for.
func (g *GradScaler) warnClipped(method string, opt Optimizer) {
	name := clippedAs(opt)
	if name == "" || g.far == nil && g.current() == 1 {
		return
	}
	warnOnce("clipped before unscaled", "GradScaler.%s: the gradient of %s was clipped while it was multiplied by the loss scale, so that the bound was smaller by as much; call scaler.Unscale(opt) after Backward, then clip, then scaler.Step(opt)", method, name)
}
