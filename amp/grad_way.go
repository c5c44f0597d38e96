package amp

// Grad goes the ways that lead to its inputs alone: what lies beside them costs nothing, is not used up and may have changed, as in PyTorch's
// engine. A trace is to show all gradients, and a checkpointed part may use any tensor: both are gone through.

// leads says whether a gradient of n's result is on the way to a tensor that Grad was asked about; in Backward all are.
func (e *engine) leads(n *node) bool {
	if e.want == nil || e.tracer != nil || n.replay != nil {
		return true
	}
	if known, ok := e.ways[n]; ok {
		return known
	}
	found := false
	for _, in := range n.in {
		if in != nil && in.needs && e.wants(in) {
			found = true
			break
		}
	}
	if e.ways == nil {
		e.ways = map[*node]bool{}
	}
	e.ways[n] = found
	return found
}

// wants says whether t's gradient is asked for, or needed on the way to one that is.
func (e *engine) wants(t *Tensor) bool {
	if e.want == nil || e.tracer != nil {
		return true
	}
	_, asked := e.want[t]
	return asked || t.node != nil && e.leads(t.node)
}
