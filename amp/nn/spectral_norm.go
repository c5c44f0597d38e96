package nn

import (
	"fmt"
	"math"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// SpectralNorm divides a layer's weight by its largest singular value σ, so that the layer stretches no input by more than about 1 (Miyato
// et al., Spectral Normalization for Generative Adversarial Networks, 2018), and returns the layer. The weight is seen as a matrix with a row for each output
// (see NormDim), and σ = uᵀ·W·v for vectors u and v that power iteration brings near the singular ones: each run of the layer in training
// moves them once, or PowerIterations times, none does in evaluation, and no gradient flows through them.
//
//	d := nn.NewSequential(
//		nn.SpectralNorm(root, nn.NewConv2d(root, 3, 64, 4, nn.Stride(2), nn.Padding(1))), nn.LeakyReLU(0.2),
//		nn.Flatten, nn.SpectralNorm(root, nn.NewLinear(root, 64*16*16, 1)))
//
// The layer's field Weight holds what training moves from then on, and WeightOf returns the weight. Names are PyTorch's:
// "parametrizations.weight.original" is the parameter, "parametrizations.weight.0._u" and "….0._v" are buffers, drawn from the scope's stream
// and moved 15 times at first. They are float32 for a weight in halves too, unless a whole model is cast, as amp.O3 does, and are saved with the
// model's state. Under autocast, and for a weight in halves, the
// weight is computed in float32, as PyTorch does on a CPU; on a GPU it multiplies W with u and v in the lower dtype. It is then cast for the
// layer's op each time it runs.
//
// It panics with amp.ErrArgument for a layer that has a parametrization, a weight that layers share or that is all zeros, an Embedding with
// MaxNorm, a dimension the weight has not, less than one iteration, or an eps below 0. (PyTorch: torch.nn.utils.parametrizations.spectral_norm.)
func SpectralNorm[L Parametrizable](s *amp.Scope, layer L, opts ...ParametrizationOption) L {
	const op = "SpectralNorm"
	c := parametrizationConfig{iterations: 1, eps: 1e-12}
	if conv, ok := any(layer).(*Conv); ok && conv != nil && strings.HasPrefix(conv.name, "ConvTranspose") {
		c.dim = 1
	}
	optional.Apply(op, opts, &c, misused)
	switch {
	case c.whole:
		misused(op, "use NormDim", "a whole weight is no matrix")
	case c.iterations < 1:
		misused(op, "use 1 or more", "%d power iterations", c.iterations)
	case !(c.eps >= 0) || math.IsInf(c.eps, 1):
		misused(op, "use a small number such as 1e-12", "eps %v", c.eps)
	}
	parametrize(op, layer, func(weight *amp.Tensor) parametrization {
		p := &spectralNorm{dim: c.axisOf(op, weight), iterations: c.iterations, eps: c.eps}
		p.begin(s, weight)
		return p
	})
	return layer
}

// spectralNorm is the rule of SpectralNorm.
type spectralNorm struct {
	u, v            *amp.Tensor // singular vectors, [rows] and [columns] of the weight as a matrix
	dim, iterations int
	eps             float64
}

// begin draws u and v and moves them near the singular vectors.
func (p *spectralNorm) begin(s *amp.Scope, weight *amp.Tensor) {
	dt := amp.Float32
	if weight.DType() == amp.Float64 {
		dt = amp.Float64
	}
	rows := weight.Dim(p.dim)
	p.u = amp.Randn(s, dt, 0, 1, rows).KeepFloat32()
	p.v = amp.Randn(s, dt, 0, 1, weight.Len()/rows).KeepFloat32()
	if s.SkipsInit() { // the weight has no values yet
		return
	}
	step := s.Child()
	defer step.Close()
	quiet := step.NoGrad().Autocast(amp.Float32)
	if amp.Norm(quiet, weight).Item() == 0 {
		misused("SpectralNorm", "give the layer its weight first, by nn.KaimingUniform for example", "the weight is zeros, and σ would be 0")
	}
	for _, t := range []*amp.Tensor{p.u, p.v} {
		amp.Assign(t, amp.Normalize(quiet, t, 2, 0, p.eps))
	}
	p.move(quiet, p.matrix(quiet, weight), 15)
}

// matrix is the weight with dim in front and the other dimensions as one.
func (p *spectralNorm) matrix(s *amp.Scope, weight *amp.Tensor) *amp.Tensor {
	if p.dim != 0 {
		weight = amp.Permute(s, weight, append([]int{p.dim}, otherDims(weight, p.dim)...)...)
	}
	return amp.Reshape(s, weight, weight.Dim(0), -1)
}

// move runs n power iterations, writes u and v, and returns them as tensors of their own.
func (p *spectralNorm) move(s *amp.Scope, m *amp.Tensor, n int) []*amp.Tensor {
	u, v := p.u, amp.To(s, p.v, m.DType()) // another dtype in a model that was cast since
	for range n {
		u = amp.Normalize(s, amp.MV(s, m, v), 2, 0, p.eps)
		v = amp.Normalize(s, amp.MV(s, amp.Transpose(s, m, 0, 1), u), 2, 0, p.eps)
	}
	amp.CopyInPlace(s, p.u, u)
	amp.CopyInPlace(s, p.v, v)
	return []*amp.Tensor{u, v}
}

// vectors are the u and v to run with, moved in training. A graph keeps them, and a checkpointed part remembers them, so they are tensors of
// their own: the layer may run again before Backward, as a discriminator does.
func (p *spectralNorm) vectors(s *amp.Scope, m *amp.Tensor) (u, v *amp.Tensor) {
	both := s.Remember(p, func(s *amp.Scope) []*amp.Tensor {
		if s.Training() {
			return p.move(s, m, p.iterations)
		}
		return []*amp.Tensor{copyAs(s, p.u, m.DType()), copyAs(s, p.v, m.DType())}
	})
	return both[0], both[1]
}

// copyAs is a copy of t in a dtype.
func copyAs(s *amp.Scope, t *amp.Tensor, dt amp.DType) *amp.Tensor {
	if t.DType() != dt {
		return amp.To(s, t, dt)
	}
	return amp.Clone(s, t)
}

func (p *spectralNorm) weight(s *amp.Scope, weight *amp.Tensor) *amp.Tensor {
	m := p.matrix(s, weight)
	u, v := p.vectors(s, m)
	return amp.Div(s, weight, amp.Vdot(s, u, amp.MV(s, m, v)))
}

func (p *spectralNorm) parameters(original *amp.Tensor) []part {
	return []part{{"original", original}}
}

func (p *spectralNorm) buffers() []part { return []part{{"0._u", p.u}, {"0._v", p.v}} }

// String is the rule with its numbers.
func (p *spectralNorm) String() string {
	return fmt.Sprintf("spectral_norm(dim=%d, iterations=%d)", p.dim, p.iterations)
}
