package nn

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// Bilinear is y[o] = Σ a[i]·Weight[o,i,j]·b[j] + Bias[o]. It takes two inputs, so that it is no Module; NoForward
// makes one of it.
type Bilinear struct {
	Weight *amp.Tensor // [out first second]
	Bias   *amp.Tensor // [out], nil without
	reparametrized
}

// NewBilinear returns a layer from first and second to out features. Weight and bias are drawn from the scope's stream, uniform in
// ±1/√first, as PyTorch does. It panics with amp.ErrArgument for sizes below 1.
func NewBilinear(s *amp.Scope, first, second, out int, opts ...LinearOption) *Bilinear {
	checkSizes("NewBilinear", []int{first, second, out})
	c := linearConfig{bias: true, dtype: amp.Float32}
	optional.Apply("NewBilinear", opts, &c, misused)
	bound := 1 / math.Sqrt(float64(first))
	l := &Bilinear{Weight: amp.Rand(s, c.dtype, -bound, bound, out, first, second).SetName("weight").RequireGrad()}
	if c.bias {
		l.Bias = amp.Rand(s, c.dtype, -bound, bound, out).SetName("bias").RequireGrad()
	}
	return l
}

// Forward returns the layer's output for a [… first] and b [… second]: [… out].
func (l *Bilinear) Forward(s *amp.Scope, a, b *amp.Tensor) *amp.Tensor {
	return amp.Bilinear(s, a, b, l.weight(s, l.Weight), l.Bias)
}

// Parameters returns weight and bias.
func (l *Bilinear) Parameters() []*amp.Tensor { return l.parameters(l.Weight, l.Bias) }

func (l *Bilinear) parametrized() (**amp.Tensor, *reparametrized) {
	return &l.Weight, &l.reparametrized
}

// CosineSimilarity returns amp.CosineSimilarity with PyTorch's numbers: along dimension 1, norms held at 1e-8.
func CosineSimilarity(s *amp.Scope, a, b *amp.Tensor) *amp.Tensor {
	return amp.CosineSimilarity(s, a, b, 1, 1e-8)
}

// PairwiseDistance returns amp.PairwiseDistance with PyTorch's numbers: 2-norms of a - b + 1e-6 along the last dimension.
func PairwiseDistance(s *amp.Scope, a, b *amp.Tensor) *amp.Tensor {
	return amp.PairwiseDistance(s, a, b, 2, 1e-6, false)
}
