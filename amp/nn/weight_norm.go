package nn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// WeightNorm splits a layer's weight into lengths g and directions v, weight = g·v/‖v‖, which training moves instead of it (Salimans and
// Kingma, Weight Normalization, 2016), and returns the layer. There is a length for each output, which NormDim and WholeNorm change; of a transposed
// convolution, as in PyTorch, for each input channel. At first g is ‖v‖, and v the weight: the layer computes what it did.
//
//	conv := nn.WeightNorm(root, nn.NewConv1d(root, 80, 512, 7, nn.Padding(3)))
//
// The layer's field Weight holds v from then on, and WeightOf returns the weight. The parameters are named as in PyTorch,
// "parametrizations.weight.original0" is g, [out 1 …], and "parametrizations.weight.original1" v; a state of PyTorch's older weight_norm, which has
// weight_g and weight_v for them, can be loaded too. Call it before the optimizer is made, which is to move g too, and on layers of a model in a loop over
// NamedModules. Under autocast too the weight is computed in float32, then cast for the layer's op each time it runs.
//
// A v of zeros, such as that of an embedding's PaddingRow, gives a weight of zeros, where PyTorch's is NaN, and never learns; in a weight that
// has another such v to begin with it is refused.
//
// It panics with amp.ErrArgument for a layer that has a parametrization, a weight that layers share, zeros in it as said, an Embedding with
// MaxNorm, or a dimension the weight has not.
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
		w.g = amp.Zeros(s, weight.DType(), w.shape(weight)...)
		if weight.RequiresGrad() {
			w.g.RequireGrad()
		}
		if s.SkipsInit() { // the weight has no values yet
			return w
		}
		step := s.Child()
		defer step.Close()
		amp.Assign(w.g, w.norm(step.NoGrad().Autocast(amp.Float32), weight))
		w.needDirections(op, layer)
		return w
	})
	return layer
}

// shape is that of g for a weight.
func (w *weightNorm) shape(weight *amp.Tensor) []int {
	if w.dim < 0 {
		return nil
	}
	shape := slices.Repeat([]int{1}, weight.Rank())
	shape[w.dim] = weight.Dim(w.dim)
	return shape
}

// needDirections refuses parts of a new weight that are zeros, but the row that stands for padding.
func (w *weightNorm) needDirections(op string, layer Parametrizable) {
	e := tableOf(layer)
	for i, n := range w.g.Float64s() {
		if n == 0 && !(e != nil && e.padded && w.dim == 0 && i == e.padding) {
			misused(op, "give the layer its weight first, by nn.KaimingUniform for example",
				"part %d of %d of the weight is zeros, which have no direction and would stay zeros", i, w.g.Len())
		}
	}
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

// leastNorm is what a weight is divided by at least, the smallest normal float32: zeros stay zeros.
const leastNorm = 0x1p-126

func (w *weightNorm) weight(s *amp.Scope, v *amp.Tensor) *amp.Tensor {
	return amp.Mul(s, v, amp.Div(s, w.g, amp.ClampMin(s, w.norm(s, v), leastNorm)))
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

// newNames gives g and v of a state of PyTorch's older weight_norm, "0.weight_g" and "0.weight_v", the names that they have in a module now.
func newNames(own, state map[string]*amp.Tensor) map[string]*amp.Tensor {
	renamed := maps.Clone(state)
	for name := range own {
		layer, ok := strings.CutSuffix(name, weightPath+".original0")
		oldG, oldV, newV := layer+"weight_g", layer+"weight_v", layer+weightPath+".original1"
		if !ok || state[oldG] == nil || state[oldV] == nil || state[name] != nil || state[newV] != nil {
			continue
		}
		renamed[name], renamed[newV] = state[oldG], state[oldV]
		delete(renamed, oldG)
		delete(renamed, oldV)
	}
	return renamed
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
