package nn

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// Bags of embeddings: of the vectors that are looked up one is made for each bag.

// A BagMode says how an EmbeddingBag makes one vector of those of a bag.
type BagMode uint8

// The modes; PyTorch's default is MeanBag.
const (
	MeanBag BagMode = iota
	SumBag
	MaxBag // of each feature the largest
)

// String returns PyTorch's name: "mean", "sum" or "max".
func (m BagMode) String() string {
	if m > MaxBag {
		return fmt.Sprintf("BagMode(%d)", uint8(m))
	}
	return [...]string{"mean", "sum", "max"}[m]
}

// LastOffset says that offsets have one more number than there are bags, which is where the last bag ends: the number of indices. It is for
// EmbeddingBag alone. (PyTorch: include_last_offset.)
func LastOffset() EmbeddingOption { return func(e *Embedding) { e.lastOffset = true } }

// EmbeddingBag is an Embedding that returns the mean, the sum or the maximum of the vectors of a bag: what stands for a set of words or of
// features. A bag without any is zeros. The PaddingRow is left out of bags, as if its index were not there. Half weights are widened for what is
// computed of them, and the result is rounded once; autocast changes nothing. (PyTorch: nn.EmbeddingBag.)
//
//	bag := nn.NewEmbeddingBag(root, 1000, 16, nn.SumBag)
//	y := bag.Run(s, amp.From([]int64{1, 2, 4, 5, 4}), amp.From([]int64{0, 2}), nil) // rows 1 and 2, and 4, 5 and 4
type EmbeddingBag struct {
	Embedding
	Mode BagMode
}

// NewEmbeddingBag returns a table as NewEmbedding does, and takes its options and LastOffset.
func NewEmbeddingBag(s *amp.Scope, rows, features int, mode BagMode, opts ...EmbeddingOption) *EmbeddingBag {
	const op = "NewEmbeddingBag"
	if mode > MaxBag {
		misused(op, "use nn.MeanBag, nn.SumBag or nn.MaxBag", "mode %v", mode)
	}
	return &EmbeddingBag{Embedding: *newEmbedding(op, s, rows, features, opts), Mode: mode}
}

// Forward returns a vector for each row of index, int64 [bags size]: [bags features].
func (e *EmbeddingBag) Forward(s *amp.Scope, index *amp.Tensor) *amp.Tensor {
	return e.Run(s, index, nil, nil)
}

// Run returns the vectors of bags, [bags features], of different sizes: index is int64 [n], and offsets, int64 [bags], say where each bag begins,
// from 0 up; one that begins where the next does is empty. Without offsets index is [bags size]. Weights in the shape of index, which only a
// SumBag takes, nil for none, multiply the vectors before they are added, and get gradients too. (PyTorch: offsets and per_sample_weights.)
//
// It panics with amp.ErrShape and amp.ErrArgument for what is not so; what is wrong with offsets on a device, which is not waited for, is told at
// the next read, as amp.BagIndex says.
func (e *EmbeddingBag) Run(s *amp.Scope, index, offsets, weights *amp.Tensor) *amp.Tensor {
	built("EmbeddingBag", e != nil && e.Weight != nil)
	e.check(index, offsets, weights)
	in := newBags(s, index, offsets, e.lastOffset)
	e.shorten(s, index)
	rows := amp.Embedding(s, e.weight(s, e.Weight), index)
	if rows.DType().IsHalf() {
		rows = amp.To(s, rows, amp.Float32)
	}
	if weights != nil {
		rows = amp.Mul(s, rows, amp.Unsqueeze(s, weights, -1))
	}
	var pads *amp.Tensor // where index is the padding row, [… 1]
	if e.padded {
		pads = amp.Unsqueeze(s, amp.EqScalar(s, index, float64(e.padding)), -1)
	}
	return amp.To(s, e.reduce(s, in, rows, pads), e.Weight.DType())
}

// reduce makes one vector of each bag's rows.
func (e *EmbeddingBag) reduce(s *amp.Scope, in bags, rows, pads *amp.Tensor) *amp.Tensor {
	if e.Mode == MaxBag {
		if pads != nil {
			rows = amp.MaskedFill(s, rows, pads, math.Inf(-1))
		}
		return amp.MaskedFill(s, in.max(s, rows), amp.EqScalar(s, in.sizes(s, rows, pads), 0), 0)
	}
	if pads != nil {
		rows = amp.MaskedFill(s, rows, pads, 0)
	}
	y := in.sum(s, rows)
	if e.Mode == MeanBag {
		y = amp.Div(s, y, amp.ClampMin(s, in.sizes(s, rows, pads), 1))
	}
	return y
}

// check refuses what is no input of bags.
func (e *EmbeddingBag) check(index, offsets, weights *amp.Tensor) {
	const op = "EmbeddingBag"
	switch {
	case index == nil:
		misused(op, "pass int64 [bags size], or [n] with offsets", "the index is nil")
	case index.DType() != amp.Int64 || offsets != nil && offsets.DType() != amp.Int64:
		misused(op, "use int64: amp.From([]int64{…})", "the index is %v, offsets are %v", index.DType(), dtypeOf(offsets))
	case offsets == nil && index.Rank() != 2:
		misshapen(op, "pass [bags size], or offsets, which say where each bag begins", "an index of shape %v without offsets", index.Shape())
	case offsets != nil && (index.Rank() != 1 || offsets.Rank() != 1):
		misshapen(op, "pass an index [n] with offsets [bags]; bags of one size, [bags size], take none", "an index of shape %v and offsets of shape %v", index.Shape(), offsets.Shape())
	case weights != nil && e.Mode != SumBag:
		misused(op, "make it with nn.SumBag", "weights for the %v of a bag", e.Mode)
	case weights != nil && (!weights.DType().IsFloat() || fmt.Sprint(weights.Shape()) != fmt.Sprint(index.Shape())):
		misshapen(op, "pass one float for each index", "weights %v of shape %v for an index of shape %v", weights.DType(), weights.Shape(), index.Shape())
	}
}

func dtypeOf(t *amp.Tensor) amp.DType {
	if t == nil {
		return amp.Int64
	}
	return t.DType()
}
