package amp

import "slices"

// Functions that a program hands over, to Checkpoint or as the Forward of an op of its own, are given the scope to call ops in. In Go such a
// function also sees the scope around it, and one called with that would run under another autocast state, keep what a checkpoint is to
// give up, and draw other numbers when it runs again. That is refused as soon as it shows.

// A calling is one call of such a function: what scopes derived from the one it was given have in common.
type calling struct {
	op    string
	mark  uint64 // the youngest node before the call
	outer *calling
}

// calls returns s for a function that op calls; s is a scope of its own already.
func (s *Scope) calls(op string) *Scope {
	s.calling = &calling{op: op, mark: nodeSeq.Load(), outer: s.calling}
	return s
}

// within says whether a scope of c was derived from one of call.
func (c *calling) within(call *calling) bool {
	for ; c != nil; c = c.outer {
		if c == call {
			return true
		}
	}
	return false
}

// strayed says whether t was made during the call, and not in its scope. Only what is on the tape tells when it was made.
func (call *calling) strayed(t *Tensor) bool {
	return t != nil && t.node != nil && t.node.seq > call.mark && t.scope != nil && !t.scope.calling.within(call)
}

// inspect refuses the operands of an op in the function that were made in another scope during the call.
func (call *calling) inspect(in []*Tensor) {
	if i := slices.IndexFunc(in, call.strayed); i >= 0 {
		call.refuse("an operand within", in[i])
	}
}

// result refuses the function's result where an op in another scope made it. What it was given, or what is known to have been there before, it
// may return.
func (call *calling) result(y *Tensor, given ...*Tensor) {
	before := y.node != nil && y.node.seq <= call.mark
	if y.scope != nil && !before && !y.scope.calling.within(call) && !slices.Contains(given, y) {
		call.refuse("the result of", y)
	}
}

func (call *calling) refuse(what string, t *Tensor) {
	fail(call.op, ErrArgument, "call every op in the scope that the function is given, not in one around it; give it what is made outside as one of its inputs, or, if that needs no gradient, through amp.Detach in that scope",
		"%s the function was made in another scope than it was given: %sof shape %v, in %s", what, quoted(t.name), t.shape, t.scope.label())
}
