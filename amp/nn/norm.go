package nn

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/limits"
	"github.com/halftone-ml/halftone/internal/optional"
)

// LayerNorm normalizes over the last dimensions of its input, then scales and shifts.
type LayerNorm struct {
	Weight *amp.Tensor // of the normalized shape, ones at first; nil without
	Bias   *amp.Tensor // of the normalized shape, zeros at first; nil without
	Eps    float64     // added to the variance
	shape  []int       // normalized; nil of a literal, which goes by the weight, or the last dimension
}

// NewLayerNorm returns a layer that normalizes over dimensions of the given sizes, with weight, bias and eps 1e-5; see NewLayerNormOf for
// others. It panics with amp.ErrArgument for no size, or one below 1.
func NewLayerNorm(s *amp.Scope, shape ...int) *LayerNorm {
	return newLayerNorm(s, "NewLayerNorm", shape, nil)
}

// NewLayerNormOf is NewLayerNorm with options: NoBias, NoAffine, which leaves out weight and bias, and Eps.
//
//	nn.NewLayerNormOf(s, []int{768}, nn.NoBias(), nn.Eps(1e-6))
func NewLayerNormOf(s *amp.Scope, shape []int, opts ...LayerNormOption) *LayerNorm {
	return newLayerNorm(s, "NewLayerNormOf", shape, opts)
}

func newLayerNorm(s *amp.Scope, op string, shape []int, opts []LayerNormOption) *LayerNorm {
	c := layerNormOf(op, shape, 1e-5, opts)
	l := &LayerNorm{Eps: c.eps, shape: slices.Clone(shape)}
	if c.affine {
		l.Weight = amp.Full(s, amp.Float32, 1, shape...).SetName("weight").RequireGrad()
	}
	if c.affine && c.bias {
		l.Bias = amp.Full(s, amp.Float32, 0, shape...).SetName("bias").RequireGrad()
	}
	return l
}

// A LayerNormOption configures NewLayerNormOf and NewRMSNormOf: NoBias, NoAffine, Eps.
type LayerNormOption interface{ layerNorm(c *layerNormConfig) }

type layerNormConfig struct {
	linearConfig
	normConfig
}

func (o LinearOption) layerNorm(c *layerNormConfig) { o(&c.linearConfig) }

func (o NormOption) layerNorm(c *layerNormConfig) { o(&c.normConfig) }

// layerNormOf checks the sizes of a norm over last dimensions, and gathers its options.
func layerNormOf(op string, shape []int, eps float64, opts []LayerNormOption) layerNormConfig {
	checkSizes(op, shape)
	c := layerNormConfig{linearConfig{bias: true}, normConfig{eps: eps, affine: true}}
	optional.Given(op, opts, misused)
	for _, o := range opts {
		o.layerNorm(&c)
	}
	if c.dtype != amp.NoDType || c.momentum != 0 || c.cumulative || c.noStats {
		misused(op, "use nn.NoBias(), nn.NoAffine() and nn.Eps(1e-6)", "an option that a norm without running statistics and in float32 has not")
	}
	return c
}

// Forward returns the normalized x for x [… shape].
func (l *LayerNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return bare(s, x, l.shape, l.Weight, func(x *amp.Tensor) *amp.Tensor {
		return amp.LayerNorm(s, x, l.Weight, l.Bias, l.Eps)
	})
}

// bare runs a norm that has no weight to say how many dimensions it is over: as one dimension, in the shape's place.
func bare(s *amp.Scope, x *amp.Tensor, shape []int, weight *amp.Tensor, norm func(x *amp.Tensor) *amp.Tensor) *amp.Tensor {
	if weight != nil || shape == nil {
		return norm(x)
	}
	full := x.Shape()
	lead := len(full) - len(shape)
	if lead < 0 || !slices.Equal(full[lead:], shape) {
		misshapen("layer_norm", "use x that ends in the sizes that the layer was made for", "x %v, normalized over %v", full, shape)
	}
	if len(shape) == 1 {
		return norm(x)
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	flat := amp.Reshape(s, x, append(slices.Clone(full[:lead]), n)...)
	return amp.Reshape(s, norm(flat), full...)
}

// Parameters returns weight and bias, if there are any.
func (l *LayerNorm) Parameters() []*amp.Tensor { return present(l.Weight, l.Bias) }

// RMSNorm divides its input by its root mean square over the last dimensions, then scales.
type RMSNorm struct {
	Weight *amp.Tensor // of the normalized shape, ones at first; nil without
	Eps    float64     // added to the mean square; NaN stands for x's dtype's, which halves, computed in float32, have of that
	shape  []int       // as LayerNorm's
}

// NewRMSNorm returns a layer that normalizes over dimensions of the given sizes, with a weight; see NewRMSNormOf for others. Its eps is that
// of the dtype it computes in, as PyTorch's: 2⁻²³ for float32 and halves, 2⁻⁵² for float64. It panics with amp.ErrArgument for no size, or
// one below 1.
func NewRMSNorm(s *amp.Scope, shape ...int) *RMSNorm { return newRMSNorm(s, "NewRMSNorm", shape, nil) }

// NewRMSNormOf is NewRMSNorm with options: NoAffine, which leaves out the weight, and Eps.
func NewRMSNormOf(s *amp.Scope, shape []int, opts ...LayerNormOption) *RMSNorm {
	return newRMSNorm(s, "NewRMSNormOf", shape, opts)
}

func newRMSNorm(s *amp.Scope, op string, shape []int, opts []LayerNormOption) *RMSNorm {
	c := layerNormOf(op, shape, math.NaN(), opts)
	l := &RMSNorm{Eps: c.eps, shape: slices.Clone(shape)}
	if c.affine {
		l.Weight = amp.Full(s, amp.Float32, 1, shape...).SetName("weight").RequireGrad()
	}
	return l
}

// Forward returns the normalized x for x [… shape].
func (l *RMSNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	eps := l.Eps
	if math.IsNaN(eps) {
		if eps = 0x1p-23; x.DType() == amp.Float64 {
			eps = 0x1p-52
		}
	}
	return bare(s, x, l.shape, l.Weight, func(x *amp.Tensor) *amp.Tensor { return amp.RMSNorm(s, x, l.Weight, eps) })
}

// Parameters returns the weight, if there is one.
func (l *RMSNorm) Parameters() []*amp.Tensor { return present(l.Weight) }

// checkSizes refuses a layer without elements.
func checkSizes(op string, sizes []int) {
	ok := len(sizes) > 0
	for _, n := range sizes {
		ok = ok && n >= 1
	}
	if !ok {
		misused(op, "use at least one size, each of 1 and above", "sizes %v", sizes)
	}
	for i, n := range sizes { // weights are made of two that follow each other; more are counted where a tensor is made of them
		if n > limits.Elements || i > 0 && n > limits.Elements/sizes[i-1] {
			misused(op, "use smaller sizes", "sizes %v make a weight of too many elements", sizes)
		}
	}
}
