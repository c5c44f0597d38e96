package nn

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// Linear is y = x·Weightᵀ + Bias.
type Linear struct {
	Weight *amp.Tensor // [out in]
	Bias   *amp.Tensor // [out], nil without
	reparametrized
}

// A LinearOption configures NewLinear.
type LinearOption func(*linearConfig)

type linearConfig struct {
	bias  bool
	dtype amp.DType
}

// NoBias leaves the bias out.
func NoBias() LinearOption { return func(c *linearConfig) { c.bias = false } }

// DType sets the parameters' dtype; the default is float32.
func DType(dt amp.DType) LinearOption { return func(c *linearConfig) { c.dtype = dt } }

// NewLinear returns a layer from in to out features. Weight and bias are drawn from the scope's stream, uniform in ±1/√in, as
// PyTorch initialises its Linear (Kaiming uniform with a = √5). It panics with amp.ErrArgument for sizes below 1.
func NewLinear(s *amp.Scope, in, out int, opts ...LinearOption) *Linear {
	checkSizes("NewLinear", []int{in, out})
	c := linearConfig{bias: true, dtype: amp.Float32}
	optional.Apply("NewLinear", opts, &c, misused)
	bound := 1 / math.Sqrt(float64(in))
	l := &Linear{Weight: amp.Rand(s, c.dtype, -bound, bound, out, in).SetName("weight").RequireGrad()}
	if c.bias {
		l.Bias = amp.Rand(s, c.dtype, -bound, bound, out).SetName("bias").RequireGrad()
	}
	return l
}

// Forward returns x·Weightᵀ + Bias for x [… in]: [… out].
func (l *Linear) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.Linear(s, x, l.weight(s, l.Weight), l.Bias)
}

// Parameters returns weight and bias.
func (l *Linear) Parameters() []*amp.Tensor { return l.parameters(l.Weight, l.Bias) }

func (l *Linear) parametrized() (**amp.Tensor, *reparametrized) { return &l.Weight, &l.reparametrized }
