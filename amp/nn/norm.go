package nn

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// LayerNorm normalizes over the last dimensions of its input, then scales and shifts.
type LayerNorm struct {
	Weight *amp.Tensor // of the normalized shape, ones at first
	Bias   *amp.Tensor // of the normalized shape, zeros at first
	Eps    float64     // added to the variance
}

// NewLayerNorm returns a layer that normalizes over dimensions of the given sizes, with eps 1e-5. It panics with
// amp.ErrArgument for no size, or one below 1.
func NewLayerNorm(s *amp.Scope, shape ...int) *LayerNorm {
	checkSizes("NewLayerNorm", shape)
	return &LayerNorm{
		Weight: amp.Full(s, amp.Float32, 1, shape...).SetName("weight").RequireGrad(),
		Bias:   amp.Full(s, amp.Float32, 0, shape...).SetName("bias").RequireGrad(),
		Eps:    1e-5,
	}
}

// Forward returns the normalized x for x [… shape].
func (l *LayerNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.LayerNorm(s, x, l.Weight, l.Bias, l.Eps)
}

// Parameters returns weight and bias.
func (l *LayerNorm) Parameters() []*amp.Tensor { return []*amp.Tensor{l.Weight, l.Bias} }

// RMSNorm divides its input by its root mean square over the last dimensions, then scales.
type RMSNorm struct {
	Weight *amp.Tensor // of the normalized shape, ones at first
	Eps    float64     // added to the mean square
}

// NewRMSNorm returns a layer that normalizes over dimensions of the given sizes, with eps 1e-6. It panics with amp.ErrArgument for
// no size, or one below 1.
func NewRMSNorm(s *amp.Scope, shape ...int) *RMSNorm {
	checkSizes("NewRMSNorm", shape)
	return &RMSNorm{Weight: amp.Full(s, amp.Float32, 1, shape...).SetName("weight").RequireGrad(), Eps: 1e-6}
}

// Forward returns the normalized x for x [… shape].
func (l *RMSNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.RMSNorm(s, x, l.Weight, l.Eps)
}

// Parameters returns the weight.
func (l *RMSNorm) Parameters() []*amp.Tensor { return []*amp.Tensor{l.Weight} }

// Embedding maps numbers to vectors by looking them up in a table.
type Embedding struct {
	Weight  *amp.Tensor // [rows features]
	padding int         // row that stands for padding, plus one; 0 for none
}

// An EmbeddingOption configures NewEmbedding.
type EmbeddingOption func(*Embedding)

// PaddingRow makes a row stand for padding: it is zeros at first and gets no gradient (padding_idx in PyTorch).
func PaddingRow(row int) EmbeddingOption { return func(e *Embedding) { e.padding = row + 1 } }

// NewEmbedding returns a table of rows vectors of the given number of features, drawn from the standard normal distribution as
// PyTorch does. It panics with amp.ErrArgument for sizes below 1 and for a padding row that is not in the table.
func NewEmbedding(s *amp.Scope, rows, features int, opts ...EmbeddingOption) *Embedding {
	checkSizes("NewEmbedding", []int{rows, features})
	e := &Embedding{Weight: amp.Randn(s, amp.Float32, 0, 1, rows, features).SetName("weight").RequireGrad()}
	optional.Apply("NewEmbedding", opts, e, misused)
	row := e.padding - 1
	if row < -1 || row >= rows || len(opts) > 0 && row < 0 {
		misused("NewEmbedding", "name a row of the table", "padding row %d of %d", row, rows)
	}
	if row >= 0 {
		values := amp.Values[float32](e.Weight)
		clear(values[row*features : (row+1)*features])
		amp.SetValues(e.Weight, values)
	}
	return e
}

// Forward returns the vectors of index, int64 of any shape: [index… features].
func (e *Embedding) Forward(s *amp.Scope, index *amp.Tensor) *amp.Tensor {
	if e.padding > 0 {
		return amp.EmbeddingPadded(s, e.Weight, index, e.padding-1)
	}
	return amp.Embedding(s, e.Weight, index)
}

// Parameters returns the table.
func (e *Embedding) Parameters() []*amp.Tensor { return []*amp.Tensor{e.Weight} }

// checkSizes refuses a layer without elements.
// mostElements is the limit of amp's shapes.
const mostElements = 1 << 48

func checkSizes(op string, sizes []int) {
	ok := len(sizes) > 0
	for _, n := range sizes {
		ok = ok && n >= 1
	}
	if !ok {
		misused(op, "use at least one size, each of 1 and above", "sizes %v", sizes)
	}
	for i, n := range sizes { // weights are made of two that follow each other; more are counted where a tensor is made of them
		if n > mostElements || i > 0 && n > mostElements/sizes[i-1] {
			misused(op, "use smaller sizes", "sizes %v make a weight of too many elements", sizes)
		}
	}
}
