package nn

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Keys that are not of the sequence: a learned one, and one of zeros. Every query sees them, whatever the mask says.

// newBiasKV draws a key and its value, Xavier normal as PyTorch does.
func newBiasKV(s *amp.Scope, dt amp.DType, features int) (k, v *amp.Tensor) {
	draw := func(name string) *amp.Tensor {
		return amp.Randn(s, dt, 0, math.Sqrt(1/float64(features)), 1, 1, features).SetName(name).RequireGrad()
	}
	return draw("bias_k"), draw("bias_v")
}

// extra is the number of such keys.
func (m *MultiheadAttention) extra() int {
	n := 0
	if m.BiasK != nil {
		n++
	}
	if m.zero {
		n++
	}
	return n
}

// more puts them behind the heads of keys or values, [… heads S features/heads].
func (m *MultiheadAttention) more(s *amp.Scope, heads, bias *amp.Tensor) *amp.Tensor {
	if m.extra() == 0 {
		return heads
	}
	shape := heads.Shape()
	shape[len(shape)-2] = 1
	all := []*amp.Tensor{heads}
	if bias != nil {
		row := amp.Reshape(s, amp.To(s, bias, heads.DType()), m.Heads, 1, m.features/m.Heads)
		all = append(all, amp.Expand(s, row, shape...))
	}
	if m.zero {
		all = append(all, amp.Zeros(s, heads.DType(), shape...))
	}
	return amp.Cat(s, -2, all...)
}

// moreMask is a mask of T queries and S keys, and the causal pattern, with columns for them; nil where nothing is left out.
func (m *MultiheadAttention) moreMask(s *amp.Scope, mask *amp.Tensor, T, S int, causal bool) *amp.Tensor {
	switch {
	case causal && mask == nil:
		mask = causalPattern(s, T, S)
	case causal:
		mask = withCausal(s, mask, T, S)
	case mask == nil:
		return nil
	}
	if mask.Rank() == 0 {
		mask = amp.Expand(s, mask, T, S)
	}
	shape := mask.Shape()
	if last := len(shape) - 1; last >= 0 && shape[last] == 1 && S != 1 { // one for all keys of the sequence, but not for these
		shape[last] = S
		mask = amp.Expand(s, mask, shape...)
	}
	columns := slices.Clone(shape)
	columns[len(columns)-1] = m.extra()
	free := amp.Zeros(s, mask.DType(), columns...)
	if mask.DType() == amp.Bool {
		free = amp.Ones(s, amp.Bool, columns...)
	}
	return amp.Cat(s, -1, mask, free)
}
