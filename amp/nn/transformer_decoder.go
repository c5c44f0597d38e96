package nn

import "github.com/halftone-ml/halftone/amp"

// TransformerDecoderLayer is attention of a sequence to itself, attention to a memory, such as an encoder's output, and two linear
// layers, each with a residual connection and a norm.
type TransformerDecoderLayer struct {
	SelfAttn            *MultiheadAttention
	MultiheadAttn       *MultiheadAttention // to the memory
	Linear1, Linear2    *Linear
	Norm1, Norm2, Norm3 *LayerNorm
	opts                TransformerOptions
}

// NewTransformerDecoderLayer returns a layer for sequences and memories of features, with hidden features between its linear layers.
// The parameters are named and drawn as in PyTorch. Positions see later ones unless opts.Causal is set: in PyTorch that is tgt_mask. It
// panics with amp.ErrArgument for sizes that do not fit.
func NewTransformerDecoderLayer(s *amp.Scope, features, heads, hidden int, opts TransformerOptions) *TransformerDecoderLayer {
	opts = opts.filled()
	attention := AttentionOptions{Dropout: opts.Dropout, NoBias: opts.NoBias}
	l := &TransformerDecoderLayer{
		SelfAttn: NewMultiheadAttention(s, features, heads, attention), MultiheadAttn: NewMultiheadAttention(s, features, heads, attention),
		Linear1: opts.linear(s, features, hidden), Linear2: opts.linear(s, hidden, features),
		Norm1: opts.norm(s, features), Norm2: opts.norm(s, features), Norm3: opts.norm(s, features), opts: opts,
	}
	NameChildren(l)
	return l
}

// Children returns both attentions, linear layers and norms.
func (l *TransformerDecoderLayer) Children() []Named {
	return []Named{{"self_attn", l.SelfAttn}, {"multihead_attn", l.MultiheadAttn}, {"linear1", l.Linear1}, {"linear2", l.Linear2},
		{"norm1", l.Norm1}, {"norm2", l.Norm2}, {"norm3", l.Norm3}}
}

// Parameters returns those of attention, linear layers and norms.
func (l *TransformerDecoderLayer) Parameters() []*amp.Tensor { return ChildParameters(l) }

// Forward is Run with x as its own memory, without masks.
func (l *TransformerDecoderLayer) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return l.Run(s, x, x, nil, nil)
}

// Run returns the layer's output for x [… T features] and memory [… S features]: of x's shape. mask, nil or broadcast to [… heads T T],
// says which positions of x see which, in a causal layer of those that do not lie behind; memoryMask, nil or broadcast to
// [… heads T S], which of the memory's they see. Both are masks as of MultiheadAttention.Attend: KeyPaddingMask makes one of padding.
func (l *TransformerDecoderLayer) Run(s *amp.Scope, x, memory, mask, memoryMask *amp.Tensor) *amp.Tensor {
	built("TransformerDecoderLayer", l != nil && l.SelfAttn != nil && l.opts.Activation != nil)
	x = l.opts.branch(s, l.Norm1, "norm1", x, func(in *amp.Tensor, done func()) *amp.Tensor {
		defer done()
		return l.SelfAttn.Attend(s.In("self_attn"), in, in, in, mask, l.opts.Causal)
	})
	x = l.opts.branch(s, l.Norm2, "norm2", x, func(in *amp.Tensor, done func()) *amp.Tensor {
		defer done()
		return l.MultiheadAttn.Attend(s.In("multihead_attn"), in, memory, memory, memoryMask, false)
	})
	return l.opts.branch(s, l.Norm3, "norm3", x, l.opts.feedForward(s, l.Linear1, l.Linear2))
}
