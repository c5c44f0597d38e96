package nn

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// MultiheadAttention lets every position look at others through several heads, each with its own part of the features.
type MultiheadAttention struct {
	InProjWeight *amp.Tensor // [3·features features], for queries, keys and values; nil where those have different sizes
	QProjWeight  *amp.Tensor // [features features], in its place
	KProjWeight  *amp.Tensor // [features KeyFeatures], in its place
	VProjWeight  *amp.Tensor // [features ValueFeatures], in its place
	InProjBias   *amp.Tensor // [3·features], nil without
	BiasK, BiasV *amp.Tensor // [1 1 features], one more key and its value; nil without
	OutProj      *Linear     // [features features]
	Heads        int
	Dropout      float64 // probability of dropping a weight while training
	features     int
	zero         bool // there is one more key of zeros, and a value of zeros
}

// AttentionOptions are the settings of NewMultiheadAttention; the zero value is PyTorch's default.
type AttentionOptions struct {
	Dropout       float64   // probability of dropping a weight while training
	NoBias        bool      // leave the biases out
	KeyFeatures   int       // features of the keys, 0 for those of the queries
	ValueFeatures int       // features of the values, 0 for those of the queries
	DType         amp.DType // of the parameters; the zero value stands for float32
	BiasKV        bool      // learn one more key and its value, which every query sees (PyTorch: add_bias_kv)
	ZeroAttn      bool      // one more key and value of zeros, which every query sees (PyTorch: add_zero_attn)
}

// NewMultiheadAttention returns attention of features in so many heads. The parameters are named and drawn as in PyTorch: Xavier
// uniform for the inputs' weights, ±1/√features for out_proj.weight, zeros for the biases, Xavier normal for bias_k and bias_v. It panics
// with amp.ErrArgument unless heads divides features and dropout lies in 0 … 1.
func NewMultiheadAttention(s *amp.Scope, features, heads int, opts AttentionOptions) *MultiheadAttention {
	checkSizes("NewMultiheadAttention", []int{features, heads})
	if features%heads != 0 || !(opts.Dropout >= 0 && opts.Dropout <= 1) {
		misused("NewMultiheadAttention", "use as many features as heads, or a multiple, and a probability from 0 to 1", "%d features in %d heads, dropout %v", features, heads, opts.Dropout)
	}
	if opts.DType == amp.NoDType {
		opts.DType = amp.Float32
	}
	m := &MultiheadAttention{Heads: heads, Dropout: opts.Dropout, features: features, zero: opts.ZeroAttn}
	xavier := func(name string, out, in int) *amp.Tensor {
		bound := math.Sqrt(6 / float64(in+out))
		return amp.Rand(s, opts.DType, -bound, bound, out, in).SetName(name).RequireGrad()
	}
	k, v := opts.KeyFeatures, opts.ValueFeatures
	if k == 0 {
		k = features
	}
	if v == 0 {
		v = features
	}
	if k == features && v == features {
		m.InProjWeight = xavier("in_proj_weight", 3*features, features)
	} else {
		checkSizes("NewMultiheadAttention", []int{k, v})
		m.QProjWeight, m.KProjWeight, m.VProjWeight = xavier("q_proj_weight", features, features), xavier("k_proj_weight", features, k), xavier("v_proj_weight", features, v)
	}
	linear := []LinearOption{DType(opts.DType)}
	if opts.NoBias {
		linear = append(linear, NoBias())
	} else {
		m.InProjBias = amp.Full(s, opts.DType, 0, 3*features).SetName("in_proj_bias").RequireGrad()
	}
	if opts.BiasKV {
		m.BiasK, m.BiasV = newBiasKV(s, opts.DType, features)
	}
	m.OutProj = NewLinear(s, features, features, linear...)
	if !opts.NoBias {
		fill(m.OutProj.Bias, amp.Full(s, opts.DType, 0, features))
	}
	NameChildren(m)
	return m
}

// Children returns the linear layer at the end.
func (m *MultiheadAttention) Children() []Named { return []Named{{"out_proj", m.OutProj}} }

// Parameters returns the weights and bias of the inputs, then those of the output.
func (m *MultiheadAttention) Parameters() []*amp.Tensor {
	return append(present(m.InProjWeight, m.QProjWeight, m.KProjWeight, m.VProjWeight, m.InProjBias, m.BiasK, m.BiasV), m.OutProj.Parameters()...)
}

// Forward is self-attention: Attend of x with itself, without a mask.
func (m *MultiheadAttention) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return m.Attend(s, x, x, x, nil, false)
}

// Attend returns what the queries q [… T features] gather from the values v [… S features] by the keys k [… S features]:
// [… T features]. mask, nil for none, is broadcast to [… heads T S]: bools, where true lets a key take part (PyTorch's
// MultiheadAttention, unlike its attention function, has true leave it out), or floats that are added to the scores. A mask of padding is
// [batch 1 1 S], which KeyPaddingMask makes. causal lets query i see the keys up to i alone, of those that the mask has. A query that
// sees no key gathers zeros. It panics with amp.ErrShape for what does not fit, and for bools [batch S] where batch and T are equal,
// which say nothing of whether they are padding or a pattern [T S].
func (m *MultiheadAttention) Attend(s *amp.Scope, q, k, v, mask *amp.Tensor, causal bool) *amp.Tensor {
	mask, causal = m.masked(s, q, k, mask, causal)
	m.sequence(v)
	m.together(k, "keys", v, "values")
	if k.Dim(-2) != v.Dim(-2) {
		misshapen("MultiheadAttention", "give one value for each key", "keys %v, values %v", k.Shape(), v.Shape())
	}
	heads := m.heads(s, q, k, v)
	heads[1], heads[2] = m.more(s, heads[1], m.BiasK), m.more(s, heads[2], m.BiasV)
	y := amp.ScaledDotProductAttention(s, heads[0], heads[1], heads[2], mask, amp.Attention{Causal: causal, Dropout: m.Dropout})
	return m.output(s, y, q.Shape())
}

// heads returns those of queries, keys and values: [… heads positions features/heads].
func (m *MultiheadAttention) heads(s *amp.Scope, q, k, v *amp.Tensor) (heads [3]*amp.Tensor) {
	if q == k && k == v && m.InProjWeight != nil {
		return m.projectAll(s, q)
	}
	for i, x := range []*amp.Tensor{q, k, v} {
		heads[i] = m.project(s, x, i)
	}
	return heads
}

// output joins what the heads gathered for queries of a shape.
func (m *MultiheadAttention) output(s *amp.Scope, y *amp.Tensor, shape []int) *amp.Tensor {
	shape[len(shape)-1] = m.features
	turned := amp.Transpose(s, y, -2, -3)
	together := amp.Reshape(s, turned, shape...) // no copy where y lies as the queries do
	turned.Done()
	y.Done()
	return m.OutProj.Forward(s.In("out_proj"), together)
}

// Weights returns the weights with which Attend averages the values, [… heads T S] (S with the keys of BiasKV and ZeroAttn), before dropout
// and without a graph.
func (m *MultiheadAttention) Weights(s *amp.Scope, q, k, mask *amp.Tensor, causal bool) *amp.Tensor {
	s = s.NoGrad().Eval()
	mask, causal = m.masked(s, q, k, mask, causal)
	heads := m.more(s, m.project(s, k, 1), m.BiasK)
	ones := amp.Full(s, heads.DType(), 1, heads.Dim(-2), heads.Dim(-2))
	defer ones.Free()
	each := amp.Tril(s, amp.Triu(s, ones, 0), 0) // values that tell the keys apart
	return amp.ScaledDotProductAttention(s, m.project(s, q, 0), heads, each, mask, amp.Attention{Causal: causal})
}

// masked checks a mask and puts the causal pattern into it, since amp.ScaledDotProductAttention takes one of them.
func (m *MultiheadAttention) masked(s *amp.Scope, q, k, mask *amp.Tensor, causal bool) (*amp.Tensor, bool) {
	built("MultiheadAttention", m != nil && m.OutProj != nil && m.Heads > 0)
	m.sequence(q)
	m.sequence(k)
	m.together(q, "queries", k, "keys")
	checkMask(q, k, mask)
	if m.extra() > 0 {
		return m.moreMask(s, mask, q.Dim(-2), k.Dim(-2), causal), false
	}
	if mask == nil || !causal {
		return mask, causal
	}
	return withCausal(s, mask, q.Dim(-2), k.Dim(-2)), false
}

// together refuses sequences of different batches, of which amp.ScaledDotProductAttention would repeat one of 1 for all of the other.
func (m *MultiheadAttention) together(a *amp.Tensor, first string, b *amp.Tensor, second string) {
	if x, y := a.Shape(), b.Shape(); !slices.Equal(x[:len(x)-2], y[:len(y)-2]) {
		misshapen("MultiheadAttention", "use as many sequences of both; amp.Expand repeats one for all", "%s %v, %s %v: the batches differ", first, x, second, y)
	}
}

// projectAll returns the heads of queries, keys and values of one sequence: views of one product, as in PyTorch.
func (m *MultiheadAttention) projectAll(s *amp.Scope, x *amp.Tensor) (heads [3]*amp.Tensor) {
	shape := m.sequence(x)
	all := amp.Reshape(s, amp.Linear(s, x, m.InProjWeight, m.InProjBias), append(shape[:len(shape)-1], 3, m.Heads, m.features/m.Heads)...)
	for i := range heads {
		heads[i] = amp.Transpose(s, amp.Select(s, all, -3, i), -2, -3)
	}
	return heads
}

// sequence returns the shape of x [… positions features].
func (m *MultiheadAttention) sequence(x *amp.Tensor) []int {
	if x.Rank() < 2 {
		misshapen("MultiheadAttention", "use [… positions features]", "input is %v", x.Shape())
	}
	return x.Shape()
}

// project returns the heads' part of queries (0), keys (1) or values (2): [… heads positions features/heads].
func (m *MultiheadAttention) project(s *amp.Scope, x *amp.Tensor, part int) *amp.Tensor {
	shape := m.sequence(x)
	w := []*amp.Tensor{m.QProjWeight, m.KProjWeight, m.VProjWeight}[part]
	if w == nil {
		w = amp.Narrow(s, m.InProjWeight, 0, part*m.features, m.features)
	}
	var bias *amp.Tensor
	if m.InProjBias != nil {
		bias = amp.Narrow(s, m.InProjBias, 0, part*m.features, m.features)
	}
	y := amp.Linear(s, x, w, bias)
	shape = append(shape[:len(shape)-1], m.Heads, m.features/m.Heads)
	return amp.Transpose(s, amp.Reshape(s, y, shape...), -2, -3)
}
