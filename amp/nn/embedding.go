package nn

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// Embedding maps numbers to vectors by looking them up in a table.
type Embedding struct {
	Weight *amp.Tensor // [rows features]
	reparametrized
	padded  bool // padding is a row that stands for padding
	padding int
	maxNorm float64 // of a row that Forward looks up; 0 for none
	norm    float64 // which one it is

	lastOffset bool // of an EmbeddingBag
}

// An EmbeddingOption configures NewEmbedding and NewEmbeddingBag.
type EmbeddingOption func(*Embedding)

// PaddingRow makes a row stand for padding: it is zeros at first and gets no gradient. A negative one counts from the end, -1 is the last
// row. (PyTorch: padding_idx.)
func PaddingRow(row int) EmbeddingOption {
	return func(e *Embedding) { e.padded, e.padding = true, row }
}

// NewEmbedding returns a table of rows vectors of the given number of features, drawn from the standard normal distribution as
// PyTorch does. It panics with amp.ErrArgument for sizes below 1 and for a padding row that is not in the table. Options: PaddingRow,
// MaxNorm, MaxNormType.
func NewEmbedding(s *amp.Scope, rows, features int, opts ...EmbeddingOption) *Embedding {
	const op = "NewEmbedding"
	e := newEmbedding(op, s, rows, features, opts)
	if e.lastOffset {
		misused(op, "use NewEmbeddingBag", "LastOffset for an embedding that has no bags")
	}
	return e
}

func newEmbedding(op string, s *amp.Scope, rows, features int, opts []EmbeddingOption) *Embedding {
	checkSizes(op, []int{rows, features})
	e := &Embedding{norm: 2, Weight: amp.Randn(s, amp.Float32, 0, 1, rows, features).SetName("weight").RequireGrad()}
	optional.Apply(op, opts, e, misused)
	e.checkNorm(op)
	if !e.padded {
		return e
	}
	if e.padding < -rows || e.padding >= rows {
		misused(op, "name a row of the table, or count from its end with -1 and below", "padding row %d of %d", e.padding, rows)
	}
	if e.padding < 0 {
		e.padding += rows
	}
	values := amp.Values[float32](e.Weight)
	clear(values[e.padding*features : (e.padding+1)*features])
	amp.SetValues(e.Weight, values)
	return e
}

// Forward returns the vectors of index, int64 of any shape: [index… features]. With MaxNorm it shortens those in the table first.
func (e *Embedding) Forward(s *amp.Scope, index *amp.Tensor) *amp.Tensor {
	e.shorten(s, index)
	if e.padded {
		return amp.EmbeddingPadded(s, e.weight(s, e.Weight), index, e.padding)
	}
	return amp.Embedding(s, e.weight(s, e.Weight), index)
}

// Parameters returns the table.
func (e *Embedding) Parameters() []*amp.Tensor { return e.parameters(e.Weight, nil) }

func (e *Embedding) parametrized() (**amp.Tensor, *reparametrized) {
	return &e.Weight, &e.reparametrized
}

func (e *Embedding) table() *Embedding { return e }
