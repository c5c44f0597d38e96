package nn

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TransformerEncoderLayer is attention of a sequence to itself and two linear layers, each with a residual connection and a norm.
type TransformerEncoderLayer struct {
	SelfAttn         *MultiheadAttention
	Linear1, Linear2 *Linear
	Norm1, Norm2     *LayerNorm
	opts             TransformerOptions
}

// TransformerOptions are the settings of layers and stacks of transformers; the zero value is PyTorch's default but for dropout, which
// is 0.1 there.
type TransformerOptions struct {
	PreNorm    bool    // normalize the inputs of attention and linear layers (norm_first) instead of the sums
	FinalNorm  bool    // of a TransformerEncoder or TransformerDecoder: normalize what the last layer returns, as Transformer does
	Causal     bool    // positions see themselves and those before them alone; what a decoder sees of the memory is not limited by it
	Activation Module  // between the linear layers; nil stands for ReLU
	Dropout    float64 // probability of dropout of weights, hidden features and both branches while training
	Eps        float64 // of the norms; 0 stands for 1e-5
	NoBias     bool    // leave out the biases of attention, linear layers and norms, FinalNorm's too
}

// NewTransformerEncoderLayer returns a layer for sequences of features, with hidden features between its linear layers. The
// parameters are named and drawn as in PyTorch. It panics with amp.ErrArgument for sizes that do not fit.
func NewTransformerEncoderLayer(s *amp.Scope, features, heads, hidden int, opts TransformerOptions) *TransformerEncoderLayer {
	opts = opts.filled()
	l := &TransformerEncoderLayer{
		SelfAttn: NewMultiheadAttention(s, features, heads, AttentionOptions{Dropout: opts.Dropout, NoBias: opts.NoBias}),
		Linear1:  opts.linear(s, features, hidden), Linear2: opts.linear(s, hidden, features),
		Norm1: opts.norm(s, features), Norm2: opts.norm(s, features), opts: opts,
	}
	NameChildren(l)
	return l
}

// filled puts in what the zero value stands for.
func (o TransformerOptions) filled() TransformerOptions {
	if o.Activation == nil {
		o.Activation = ReLU
	}
	return o
}

// linear returns a linear layer of a transformer.
func (o TransformerOptions) linear(s *amp.Scope, in, out int) *Linear {
	if o.NoBias {
		return NewLinear(s, in, out, NoBias())
	}
	return NewLinear(s, in, out)
}

// norm returns a norm of a transformer.
func (o TransformerOptions) norm(s *amp.Scope, features int) *LayerNorm {
	var opts []LayerNormOption
	if o.NoBias {
		opts = append(opts, NoBias())
	}
	n := NewLayerNormOf(s, []int{features}, opts...)
	if o.Eps != 0 {
		n.Eps = o.Eps
	}
	return n
}

// Children returns attention, linear layers and norms.
func (l *TransformerEncoderLayer) Children() []Named {
	return []Named{{"self_attn", l.SelfAttn}, {"linear1", l.Linear1}, {"linear2", l.Linear2}, {"norm1", l.Norm1}, {"norm2", l.Norm2}}
}

// Parameters returns those of attention, linear layers and norms.
func (l *TransformerEncoderLayer) Parameters() []*amp.Tensor { return ChildParameters(l) }

// Forward is Run without a mask.
func (l *TransformerEncoderLayer) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return l.Run(s, x, nil)
}

// Run returns the layer's output for x [… positions features]: of the same shape. mask, nil or one as of MultiheadAttention.Attend,
// says which positions see which; in a causal layer those of them that do not lie behind.
func (l *TransformerEncoderLayer) Run(s *amp.Scope, x, mask *amp.Tensor) *amp.Tensor {
	built("TransformerEncoderLayer", l != nil && l.SelfAttn != nil)
	return l.run(s, x, func(s *amp.Scope, in *amp.Tensor) *amp.Tensor {
		return l.SelfAttn.Attend(s, in, in, in, mask, l.opts.Causal)
	})
}

// run is Run with attention of any kind.
func (l *TransformerEncoderLayer) run(s *amp.Scope, x *amp.Tensor, attend func(s *amp.Scope, in *amp.Tensor) *amp.Tensor) *amp.Tensor {
	built("TransformerEncoderLayer", l.Norm1 != nil && l.Linear1 != nil && l.opts.Activation != nil)
	x = l.opts.branch(s, l.Norm1, "norm1", x, func(in *amp.Tensor, done func()) *amp.Tensor {
		defer done()
		return attend(s.In("self_attn"), in)
	})
	return l.opts.branch(s, l.Norm2, "norm2", x, l.opts.feedForward(s, l.Linear1, l.Linear2))
}

// SinusoidalPositions returns the table of Vaswani et al., Attention Is All You Need, 2017: row p holds the sines and cosines of p at
// wavelengths from 2π to 20000π, [positions features]. It belongs to no scope. It panics with amp.ErrArgument for sizes below 1 or
// an odd number of features.
func SinusoidalPositions(s *amp.Scope, dt amp.DType, positions, features int) *amp.Tensor {
	checkSizes("SinusoidalPositions", []int{positions, features})
	if features%2 != 0 {
		misused("SinusoidalPositions", "use an even number: sines and cosines come in pairs", "%d features", features)
	}
	t := amp.Full(s, dt, 0, positions, features)
	table := make([]float64, positions*features)
	for i := range table {
		p, k := i/features, i%features
		angle := float64(p) * cpu.Pow(10000, -float64(k-k%2)/float64(features))
		if k%2 == 0 {
			table[i] = cpu.Sin.Of(angle)
		} else {
			table[i] = cpu.Cos.Of(angle)
		}
	}
	fill(t, amp.FromFloat64s(dt, table, positions, features))
	return t
}

// PositionalEncoding adds a vector per position to a sequence.
type PositionalEncoding struct {
	Table   *amp.Tensor // [positions features]
	Dropout float64     // of the sum, while training
	learned bool
}

// NewPositionalEncoding returns fixed sines and cosines for sequences of up to positions; see SinusoidalPositions.
func NewPositionalEncoding(s *amp.Scope, positions, features int) *PositionalEncoding {
	return &PositionalEncoding{Table: SinusoidalPositions(s, amp.Float32, positions, features).SetName("table")}
}

// NewLearnedPositions returns vectors to be learned for sequences of up to positions, drawn with deviation 0.02. It panics with
// amp.ErrArgument for sizes below 1.
func NewLearnedPositions(s *amp.Scope, positions, features int) *PositionalEncoding {
	checkSizes("NewLearnedPositions", []int{positions, features})
	return &PositionalEncoding{Table: amp.Randn(s, amp.Float32, 0, 0.02, positions, features).SetName("weight").RequireGrad(), learned: true}
}

// Forward returns x [… positions features] plus the first rows of the table. It panics with amp.ErrShape for a sequence longer than
// the table.
func (p *PositionalEncoding) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return p.from(s, x, 0) }

// from is Forward for positions from a place on.
func (p *PositionalEncoding) from(s *amp.Scope, x *amp.Tensor, at int) *amp.Tensor {
	if x.Rank() < 2 || at+x.Dim(-2) > p.Table.Dim(0) {
		misshapen("PositionalEncoding", "use [… positions features] of at most as many positions as the table has", "x %v, table %v", x.Shape(), p.Table.Shape())
	}
	return amp.Dropout(s, amp.Add(s, x, amp.Narrow(s, p.Table, 0, at, x.Dim(-2))), p.Dropout)
}

// Parameters returns the table if it is learned.
func (p *PositionalEncoding) Parameters() []*amp.Tensor {
	if !p.learned {
		return nil
	}
	return []*amp.Tensor{p.Table}
}
