package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Masks of attention. In all of them true lets a key take part, where PyTorch's modules of attention have true leave it out; amp.LogicalNot
// turns one into the other. A mask of floats is added to the scores in both.

// LengthMask returns which of so many positions lie within each sequence: bool [batch positions] for int64 lengths [batch]. It panics
// with amp.ErrShape or amp.ErrDType for lengths that are none, and with amp.ErrArgument for a negative number of positions.
func LengthMask(s *amp.Scope, lengths *amp.Tensor, positions int) *amp.Tensor {
	if lengths.Rank() != 1 {
		misshapen("LengthMask", "use one length per sequence, [batch]", "lengths are %v", lengths.Shape())
	}
	if lengths.DType() != amp.Int64 {
		panic(&amp.Error{Op: "LengthMask", Kind: amp.ErrDType, Detail: fmt.Sprintf("lengths are %v", lengths.DType()), Fix: "use int64: amp.From([]int64{5, 3})"})
	}
	if positions < 0 {
		misused("LengthMask", "use the positions that the batch is padded to", "%d positions", positions)
	}
	return amp.Lt(s, s.Own(amp.Arange(s, amp.Int64, 0, float64(positions), 1)), amp.Unsqueeze(s, lengths, 1))
}

// KeyPaddingMask returns a mask of attention that leaves padding out, [batch 1 1 S], for keep [batch S], true for the keys that count:
// LengthMask's result, or amp.Ne(s, tokens, pad). (PyTorch's key_padding_mask is [batch S] and true for padding.) It panics with
// amp.ErrDType for another dtype than bool and with amp.ErrShape for other dimensions.
func KeyPaddingMask(s *amp.Scope, keep *amp.Tensor) *amp.Tensor {
	if keep.DType() != amp.Bool {
		panic(&amp.Error{Op: "KeyPaddingMask", Kind: amp.ErrDType, Detail: fmt.Sprintf("keep is %v", keep.DType()), Fix: "use bools, true for keys that count; nn.LengthMask makes them of lengths"})
	}
	if keep.Rank() != 2 {
		misshapen("KeyPaddingMask", "use [batch S]", "keep is %v", keep.Shape())
	}
	return amp.Reshape(s, keep, keep.Dim(0), 1, 1, keep.Dim(1))
}

// CausalMask returns the pattern by which each of n positions sees itself and those before it: bool [n n].
func CausalMask(s *amp.Scope, n int) *amp.Tensor { return causalPattern(s, n, n) }

// causalPattern has T queries see the keys up to their own place, as Causal of amp.ScaledDotProductAttention does.
func causalPattern(s *amp.Scope, T, S int) *amp.Tensor {
	return amp.Tril(s, s.Own(amp.Full(s, amp.Bool, 1, T, S)), 0)
}

// withCausal joins a mask and the causal pattern.
func withCausal(s *amp.Scope, mask *amp.Tensor, T, S int) *amp.Tensor {
	pattern := causalPattern(s, T, S)
	if mask.DType() == amp.Bool {
		return amp.LogicalAnd(s, mask, pattern)
	}
	return amp.Where(s, pattern, mask, s.Own(amp.Full(s, mask.DType(), math.Inf(-1))))
}

// checkMask refuses a mask of two dimensions that is, or may be, one of padding [batch S]: it would be read as [T S], by which
// sequence i of the batch says what position i of every sequence sees.
func checkMask(q, k, mask *amp.Tensor) {
	if mask == nil || mask.Rank() != 2 || q.Rank() != 3 || q.Dim(0) == 1 {
		return
	}
	batch, T, S := q.Dim(0), q.Dim(1), k.Dim(-2)
	if mask.DType() != amp.Bool || !slices.Equal(mask.Shape(), []int{batch, S}) {
		return
	}
	if batch != T {
		misshapen("MultiheadAttention", "pass nn.KeyPaddingMask(s, mask) for padding", "a mask %v of %d queries and %d keys has to be [%d %d], or [… heads %[2]d %[3]d]", mask.Shape(), T, S, T, S)
	}
	misshapen("MultiheadAttention", fmt.Sprintf("for padding pass nn.KeyPaddingMask(s, mask), for a pattern of queries and keys amp.Reshape(s, mask, 1, %d, %d)", T, S),
		"a mask %v may be one of padding, [batch S], or a pattern, [T S]: the batch has %d sequences of %[2]d queries", mask.Shape(), batch)
}
