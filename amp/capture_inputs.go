package amp

import "fmt"

// What a captured step reads and changes of the tensors from outside it has as addresses. A replay makes sure that these are still theirs.

// A graphInput is memory that was there before the recording.
type graphInput struct {
	buf  Buffer
	what string
}

// uses notes the operands of an op that is recorded.
func (g *Graph) uses(c *Call) {
	if g.stage != graphRecord {
		return
	}
	for _, t := range c.In {
		if t == nil || t.st.graph == g || t.st.dev != g.s.root.dev {
			continue
		}
		if _, known := g.inputs[t.st]; !known {
			t.st.pinned = true // it is known by its address
			g.inputs[t.st] = graphInput{t.st.buf, fmt.Sprintf("%v %sof shape %v", t.dt, quoted(t.name), t.shape)}
		}
	}
}

// recordingOn returns the graph that records what is queued on a device, nil if there is none.
func recordingOn(dev Device) *Graph {
	if g := capturingOn(dev); g != nil && g.stage == graphRecord {
		return g
	}
	return nil
}

// checkInputs panics if memory that a replay would use is another's now.
func (g *Graph) checkInputs() {
	for st, in := range g.inputs {
		switch {
		case st.refs.Load() <= 0:
			fail("Graph.Replay", ErrCapture, "keep what a captured step uses until the graph's Close and change its values in place, with SetValues or Assign (gradients: call ZeroGrad in the step), or capture the step again",
				"a %s that the step uses was freed, or moved to another device, since Capture", in.what)
		case st.buf != in.buf:
			fail("Graph.Replay", ErrCapture, "make session objects, and move tensors, before Capture, or capture the step again",
				"a %s that the step uses has other memory than at Capture", in.what)
		}
	}
}
