package amp

import "math"

func attentionCase(name string, opts Attention, mask func(x *Tensor) *Tensor, in ...input) opCase {
	return opCase{name: name, terms: 4, inputs: in, call: func(s *Scope, x []*Tensor) *Tensor {
		var m *Tensor
		switch {
		case len(x) > 3:
			m = x[3]
		case mask != nil:
			m = mask(x[0])
		}
		if fixtures == nil {
			s.rng.Load(StreamState{Seed: 4}) // the same weights are dropped in every call
		}
		return ScaledDotProductAttention(s, x[0], x[1], x[2], m, opts)
	}}
}

// someKeys is a mask for three queries and four keys; the last query sees none.
func someKeys(*Tensor) *Tensor {
	return fixed([]bool{true, false, true, true, false, false, true, true, false, false, false, false}, 3, 4)
}

// packedCase calls attention_backward itself.
func packedCase(name string, opts Attention, mask func(x *Tensor) *Tensor, in ...input) opCase {
	return opCase{name: name, terms: 4, inputs: in, call: func(s *Scope, x []*Tensor) *Tensor {
		var m *Tensor
		switch {
		case len(x) > 4:
			m = x[4]
		case mask != nil:
			m = mask(x[0])
		}
		return s.apply(opAttentionBackward, Attrs{Attention: &opts}, x[0], x[1], x[2], x[3], m)
	}}
}

func init() {
	q, k, v := in(-1, 1, 2, 3, 2), in(-1, 1, 2, 4, 2), in(-1, 1, 2, 4, 3)
	dy := in(-1, 1, 2, 3, 3)
	infinite := func(x *Tensor) *Tensor {
		return fixedAs(x.dt, []float64{0.5, math.Inf(-1), -1, 0}, []int{4})
	}
	addCases(map[string][]opCase{
		"scaled_dot_product_attention": {
			attentionCase("plain", Attention{}, nil, q, k, v),
			attentionCase("causal", Attention{Causal: true}, nil, q, k, v),
			attentionCase("mask", Attention{Scale: 0.5}, someKeys, q, k, v),
			attentionCase("bias", Attention{}, nil, q, k, v, in(-1, 1, 3, 4)),
			attentionCase("keys", Attention{}, nil, q, k, v, in(-1, 1, 4)),
			attentionCase("infinite", Attention{}, infinite, q, k, v),
			attentionCase("broadcast", Attention{}, nil, in(-1, 1, 2, 2, 3, 2), in(-1, 1, 2, 1, 2, 2), in(-1, 1, 2, 2)),
			attentionCase("dropout", Attention{Dropout: 0.4}, nil, q, k, v),
			attentionCase("grouped", Attention{Grouped: true, Causal: true}, nil, in(-1, 1, 4, 3, 2), in(-1, 1, 2, 3, 2), in(-1, 1, 2, 3, 2)),
		},
		"attention_backward": {
			packedCase("plain", Attention{Scale: 0.7}, nil, dy, q, k, v),
			packedCase("causal", Attention{Scale: 0.7, Causal: true}, nil, dy, q, k, v),
			packedCase("mask", Attention{Scale: 0.7}, someKeys, dy, q, k, v),
			packedCase("bias", Attention{Scale: 0.7}, nil, dy, q, k, v, in(-1, 1, 2, 3, 4)),
			packedCase("dropout", Attention{Scale: 0.7, Dropout: 0.3}, nil, dy, q, k, v),
			packedCase("infinite", Attention{Scale: 0.7}, infinite, dy, q, k, v),
		},
	})
}
