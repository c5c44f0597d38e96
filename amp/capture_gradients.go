package amp

// Gradients are what a step leaves to the next one without being told to: a pass adds to those that it finds. What is recorded adds to the one
// that was there at Capture, by its address.

// A graphGradient is a gradient from before the recording, which the step adds to.
type graphGradient struct{ leaf, grad *Tensor }

// addsTo notes that a pass adds to the gradient that a leaf has.
func (g *Graph) addsTo(leaf *Tensor) {
	if leaf.grad.st != nil && leaf.grad.st.graph != g {
		g.added = append(g.added, graphGradient{leaf, leaf.grad})
	}
}

// checkGradients refuses a step that leaves another gradient than the one it added to: the step after it would add to that, and a replay to the
// old one.
func (g *Graph) checkGradients() {
	for _, a := range g.added {
		if a.leaf.grad != a.grad {
			fail("Capture", ErrCapture, "begin the step with ZeroGrad",
				"the step adds to the gradient of %v %sof shape %v from before it, and leaves another one or none", a.leaf.dt, quoted(a.leaf.name), a.leaf.shape)
		}
	}
}
