package nn

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// WeightNorm splits a layer's weight into lengths g and directions v, weight = g·v/‖v‖, which training moves instead of it (Salimans and
// Kingma, Weight Normalization, 2016), and returns the layer. There is a length for each output, and NormDim and WholeNorm say otherwise. At
// first g is ‖v‖, and v the weight: the layer computes what it did.
//
//	conv := nn.WeightNorm(root, nn.NewConv1d(root, 80, 512, 7, nn.Padding(3)))
//
// The layer's field Weight holds v from then on, and WeightOf returns the weight. The parameters are named as in PyTorch,
// "parametrizations.weight.original0" is g, [out 1 …], and "parametrizations.weight.original1" v; a state of PyTorch's older weight_norm has
// weight_g and weight_v for them. Call it before the optimizer is made, which is to move g too, and on layers of a model in a loop over
// NamedModules. Under autocast too the weight is computed in float32, then cast for the layer's op each time it runs.
//
// It panics with amp.ErrArgument for a layer that has a parametrization, an Embedding with MaxNorm, or a dimension the weight has not.
// (PyTorch: torch.nn.utils.parametrizations.weight_norm.)
func WeightNorm[L Parametrizable](s *amp.Scope, layer L, opts ...ParametrizationOption) L {
	const op = "WeightNorm"
	var c parametrizationConfig
	optional.Apply(op, opts, &c, misused)
	if c.spectral {
		misused(op, "use NormDim or WholeNorm", "there are no power iterations in it")
	}
	parametrize(op, layer, func(weight *amp.Tensor) parametrization {
		w := &weightNorm{dim: -1}
		if !c.whole {
			w.dim = c.axisOf(op, weight)
			w.others = otherDims(weight, w.dim)
		}
		step := s.Child()
		defer step.Close()
		norm := w.norm(step.NoGrad().Autocast(amp.Float32), weight)
		w.g = amp.Zeros(s, weight.DType(), norm.Shape()...)
		amp.Assign(w.g, norm)
		if weight.RequiresGrad() {
			w.g.RequireGrad()
		}
		return w
	})
	return layer
}

// weightNorm is the rule of WeightNorm.
type weightNorm struct {
	g      *amp.Tensor
	dim    int   // -1: one norm for all
	others []int // the dimensions but dim
}

// norm is ‖v‖ in the shape of g.
func (w *weightNorm) norm(s *amp.Scope, v *amp.Tensor) *amp.Tensor {
	return amp.VectorNorm(s, v, 2, w.others, w.dim >= 0)
}

func (w *weightNorm) weight(s *amp.Scope, v *amp.Tensor) *amp.Tensor {
	return amp.Mul(s, v, amp.Div(s, w.g, w.norm(s, v)))
}

func (w *weightNorm) parameters(v *amp.Tensor) []part {
	return []part{{"original0", w.g}, {"original1", v}}
}

func (w *weightNorm) buffers() []part { return nil }

// String is the rule with its dimension.
func (w *weightNorm) String() string {
	if w.dim < 0 {
		return "weight_norm(whole)"
	}
	return fmt.Sprintf("weight_norm(dim=%d)", w.dim)
}

// otherDims are the dimensions of t but one.
func otherDims(t *amp.Tensor, dim int) (others []int) {
	for d := range t.Rank() {
		if d != dim {
			others = append(others, d)
		}
	}
	return others
}
