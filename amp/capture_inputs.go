package amp

import "fmt"

// What a captured step reads and changes of the tensors from outside it has as addresses. A replay makes sure that these are still theirs.

// A graphInput is memory that was there before the recording.
type graphInput struct {
	buf     Buffer
	what    string
	unnamed bool // nobody has said which tensor's it is
}

// Uses notes tensors that what is recorded reads or changes without being an op's, as a kernel of one's own: a replay makes sure that they are
// still there. It does nothing but where ops are recorded.
func (g *Graph) Uses(ts ...*Tensor) {
	if g.stage != graphRecord {
		return
	}
	for _, t := range ts {
		if t == nil || t.st == nil {
			continue
		}
		if in, known := g.inputs[t.st]; !known || in.unnamed {
			g.input(t.st, graphInput{t.st.buf, fmt.Sprintf("%v %sof shape %v", t.dt, quoted(t.name), t.shape), false})
		}
	}
}

// input notes memory that was there before the recording.
func (g *Graph) input(st *storage, in graphInput) {
	if st.graph == g || st.dev != g.s.root.dev {
		return
	}
	st.pinned = true // it is known by its address
	g.inputs[st] = in
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

// played panics if t is of a recording that was never replayed, and so holds whatever was in its memory before.
func (t *Tensor) played(op string) {
	if g := t.st.graph; g != nil && g.stage == graphReady && !g.played {
		fail(op, ErrCapture, "call Replay first, or let the step Assign it to a tensor made before Capture, which the step's first run sets too",
			"%v %sof shape %v is what the captured step makes, and that was not replayed yet", t.dt, quoted(t.name), t.shape)
	}
}

// unread says why t has no values to print, though there may be some later; "" if it has.
func (t *Tensor) unread() string {
	switch g := t.st.graph; {
	case t.st.mem != nil:
		return ""
	case recordingOn(t.st.dev) != nil:
		return "(no values while a step is captured)"
	case g != nil && g.stage == graphReady && !g.played:
		return "(no values before the first Replay)"
	}
	return ""
}
