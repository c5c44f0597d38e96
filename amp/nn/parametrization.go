package nn

import (
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/absent"
)

// Weights that are computed from other tensors each time a layer runs; see WeightNorm and SpectralNorm.

// A Parametrizable layer is one whose weight WeightNorm and SpectralNorm can compute: a Linear, a Conv of any kind, an Embedding, an
// EmbeddingBag or a Bilinear, and the Linears within other modules, such as a MultiheadAttention's OutProj. The weights of recurrent networks and the
// projection into attention are not: they have no layer of their own, and do not compile here.
type Parametrizable interface {
	Parameters() []*amp.Tensor
	// parametrized returns the field with the weight and the part that says how it is computed.
	parametrized() (weight **amp.Tensor, by *reparametrized)
}

// reparametrized is the part of a layer that computes its weight from the tensor in the field Weight, which without a rule is the weight.
type reparametrized struct{ rule parametrization }

// A parametrization computes a weight from an original of the same shape and from what it owns itself.
type parametrization interface {
	weight(s *amp.Scope, original *amp.Tensor) *amp.Tensor
	// parameters and buffers are named as torch names those of the parametrizations of a weight: "original0", "0._u".
	parameters(original *amp.Tensor) []part
	buffers() []part
	String() string
}

// A part is a tensor of a parametrization with its name there.
type part struct {
	name   string
	tensor *amp.Tensor
}

func tensors(parts []part) (out []*amp.Tensor) {
	for _, p := range parts {
		out = append(out, p.tensor)
	}
	return out
}

// weightPath is where a layer keeps, and records, what its weight is computed from.
const weightPath = "parametrizations.weight"

// weight is the weight to run with. It is computed in float32, whatever autocast does around it, and in float64 from a float64 original: a
// norm of halves would be wrong in the third digit for all of the layer's output. The layer's op then casts it as any other result.
func (r *reparametrized) weight(s *amp.Scope, original *amp.Tensor) *amp.Tensor {
	if r.rule == nil {
		return original
	}
	s = s.In(weightPath).Autocast(amp.Float32)
	wide := original
	if original.DType().IsHalf() { // else a σ or a length of one number would be rounded to it: they promote nothing
		wide = amp.To(s, original, amp.Float32)
	}
	return amp.To(s, r.rule.weight(s, wide), original.DType())
}

// parameters are weight and bias, or what the weight is computed from in place of it, then behind the bias, as in torch.
func (r *reparametrized) parameters(weight, bias *amp.Tensor) []*amp.Tensor {
	if r.rule == nil {
		return present(weight, bias)
	}
	return append(present(bias), tensors(r.rule.parameters(weight))...)
}

// Buffers returns what a parametrization of the weight keeps, u and v of SpectralNorm; none without.
func (r *reparametrized) Buffers() []*amp.Tensor {
	if r.rule == nil {
		return nil
	}
	return tensors(r.rule.buffers())
}

// nameOfPart is the name of t within a layer, "" if no parametrization of the layer has it.
func nameOfPart(layer any, t *amp.Tensor) string {
	p, ok := layer.(Parametrizable)
	if !ok {
		return ""
	}
	weight, by := p.parametrized()
	if by.rule == nil {
		return ""
	}
	for _, part := range append(by.rule.parameters(*weight), by.rule.buffers()...) {
		if part.tensor == t {
			return weightPath + "." + part.name
		}
	}
	return ""
}

// parametrizedBy is what String shows of a layer's parametrization, "" without.
func parametrizedBy(layer any) string {
	if p, ok := layer.(Parametrizable); ok {
		if _, by := p.parametrized(); by.rule != nil {
			return by.rule.String()
		}
	}
	return ""
}

// parametrize gives a layer the rule that make returns for its weight, and names its tensors: what was "0.weight" is
// "0.parametrizations.weight.original" now.
func parametrize(op string, layer Parametrizable, make func(weight *amp.Tensor) parametrization) {
	if absent.Is(layer) {
		misused(op, "pass a layer", "the layer is nil")
	}
	weight, by := layer.parametrized()
	switch {
	case *weight == nil:
		misused(op, "make the layer with its constructor", "the layer has no weight")
	case by.rule != nil:
		misused(op, "call RemoveParametrization first", "the layer has %v", by.rule)
	}
	if e := tableOf(layer); e != nil && e.maxNorm != 0 {
		misused(op, "leave out MaxNorm", "the embedding shortens the rows of its table, which would be computed anew each time")
	}
	needOwn(op, *weight)
	rule := make(*weight)
	prefix := prefixOf(*weight)
	for _, p := range append(rule.parameters(*weight), rule.buffers()...) {
		p.tensor.SetName(prefix + weightPath + "." + p.name)
	}
	by.rule = rule
}

// tableOf returns an Embedding, also of an EmbeddingBag, nil for another layer.
func tableOf(layer Parametrizable) *Embedding {
	if e, ok := layer.(interface{ table() *Embedding }); ok {
		return e.table()
	}
	return nil
}

// needOwn refuses a weight that several layers share: one would run with it and another with what is computed from it, and their names in a
// state would not be PyTorch's.
func needOwn(op string, weight *amp.Tensor) {
	if names := furtherNames(weight); len(names) > 0 {
		misused(op, "give each layer a weight of its own; for one layer in several places, call "+op+" before the model is built",
			"the weight is shared: it is %s and %s", weight.Name(), strings.Join(names, ", "))
	}
	if strings.HasSuffix(prefixOf(weight), weightPath+".") {
		misused(op, "use that layer in both places", "the weight is shared with a layer whose weight is computed from it, as %s", weight.Name())
	}
}

// prefixOf is what stands before the last part of a tensor's name: "0." of "0.weight".
func prefixOf(t *amp.Tensor) string { return t.Name()[:strings.LastIndexByte(t.Name(), '.')+1] }

// WeightOf returns the weight that a layer runs with: what WeightNorm or SpectralNorm computes, with a gradient for what it is computed from,
// else the field Weight itself. In a training scope it moves u and v of SpectralNorm, as Forward does. (PyTorch: layer.weight.)
func WeightOf(s *amp.Scope, layer Parametrizable) *amp.Tensor {
	if absent.Is(layer) {
		misused("WeightOf", "pass a layer", "the layer is nil")
	}
	weight, by := layer.parametrized()
	return by.weight(s, *weight)
}

// RemoveParametrization gives a layer a plain weight again, with the values that WeightNorm or SpectralNorm computes for it in evaluation, and
// the name that it had; it returns the layer. The weight is the tensor that they were computed from, so that an optimizer of it goes on with it.
// A layer without a parametrization stays as it is. (PyTorch: remove_parametrizations.)
func RemoveParametrization[L Parametrizable](s *amp.Scope, layer L) L {
	const op = "RemoveParametrization"
	if absent.Is(layer) {
		misused(op, "pass a layer", "the layer is nil")
	}
	weight, by := layer.parametrized()
	if by.rule == nil {
		return layer
	}
	step := s.Child()
	defer step.Close()
	amp.Assign(*weight, by.weight(step.NoGrad().Eval(), *weight))
	(*weight).SetName(strings.TrimSuffix(prefixOf(*weight), weightPath+".") + "weight")
	by.rule = nil
	return layer
}

// A ParametrizationOption configures WeightNorm or SpectralNorm.
type ParametrizationOption func(*parametrizationConfig)

type parametrizationConfig struct {
	dim, iterations int
	eps             float64
	whole, spectral bool // spectral: an option that only SpectralNorm takes is there
}

// NormDim sets the dimension of the weight that counts the norms, or the rows of the matrix whose largest singular value SpectralNorm takes; -1
// is the last one. The default is 0, the outputs, and for SpectralNorm of a transposed convolution 1, which are the outputs there. (PyTorch:
// dim, whose -1 is WholeNorm for weight_norm.)
func NormDim(d int) ParametrizationOption {
	return func(c *parametrizationConfig) { c.dim, c.whole = d, false }
}

// WholeNorm makes WeightNorm use one norm for the whole weight. (PyTorch: dim=None.)
func WholeNorm() ParametrizationOption { return func(c *parametrizationConfig) { c.whole = true } }

// PowerIterations sets how often SpectralNorm moves u and v when the layer runs in training; the default is 1.
func PowerIterations(n int) ParametrizationOption {
	return func(c *parametrizationConfig) { c.iterations, c.spectral = n, true }
}

// PowerEps sets the least norm that SpectralNorm divides u and v by; the default is 1e-12.
func PowerEps(eps float64) ParametrizationOption {
	return func(c *parametrizationConfig) { c.eps, c.spectral = eps, true }
}

// axisOf resolves the dimension within a weight.
func (c *parametrizationConfig) axisOf(op string, weight *amp.Tensor) int {
	d := c.dim
	if d < 0 {
		d += weight.Rank()
	}
	if d < 0 || d >= weight.Rank() {
		misused(op, "name a dimension of the weight", "dimension %d of a weight of shape %v", c.dim, weight.Shape())
	}
	return d
}
