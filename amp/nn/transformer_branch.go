package nn

import "github.com/halftone-ml/halftone/amp"

// What encoder and decoder layers are made of: branches beside a residual connection.

// A transformerBranch is what is added to a sequence. It calls done when it has read in for the last time.
type transformerBranch func(in *amp.Tensor, done func()) *amp.Tensor

// branch adds f of x to x, with dropout, and normalizes what f sees, or the sum.
func (o TransformerOptions) branch(s *amp.Scope, norm *LayerNorm, name string, x *amp.Tensor, f transformerBranch) *amp.Tensor {
	if !o.PreNorm {
		y := f(x, func() {})
		return norm.Forward(s.In(name), amp.Add(s, x, amp.Dropout(s, y, o.Dropout)))
	}
	in := norm.Forward(s.In(name), x)
	y := f(in, in.Done) // under autocast the graph keeps it in the lower precision, and nobody reads the float32 one
	return amp.Add(s, x, amp.Dropout(s, y, o.Dropout))
}

// feedForward is the branch of two linear layers with an activation between them.
func (o TransformerOptions) feedForward(s *amp.Scope, first, second *Linear) transformerBranch {
	return func(in *amp.Tensor, done func()) *amp.Tensor {
		y := first.Forward(s.In("linear1"), in)
		done()
		y = amp.Dropout(s, o.Activation.Forward(s.In("activation"), y), o.Dropout)
		return second.Forward(s.In("linear2"), y)
	}
}
