package nn

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// BatchNorm normalizes the channels of its input over the batch, then scales and shifts them; in evaluation (s.Eval()) by running
// statistics, which training moves. Parameters and statistics are float32 whatever the activations are.
type BatchNorm struct {
	Weight, Bias            *amp.Tensor // [channels], ones and zeros at first; nil without
	RunningMean, RunningVar *amp.Tensor // [channels], float32, zeros and ones at first; nil without
	NumBatches              *amp.Tensor // int64, batches seen in training; nil without running statistics
	Momentum                float64     // weight of the present batch in the running statistics
	Cumulative              bool        // average over all batches instead (PyTorch's momentum None)
	Eps                     float64     // added to the variance
	name                    string
	least, most             int // dimensions of the input
	one                     *amp.Tensor
}

// A NormOption configures a norm of channels.
type NormOption func(*normConfig)

type normConfig struct {
	momentum, eps       float64
	cumulative, noStats bool
	affine, tracked     bool
}

// Momentum sets the weight of the present batch in the running statistics; the default is 0.1.
func Momentum(m float64) NormOption {
	return func(c *normConfig) { c.momentum, c.cumulative = m, false }
}

// CumulativeAverage makes the running statistics the mean over all batches seen.
func CumulativeAverage() NormOption { return func(c *normConfig) { c.cumulative = true } }

// Eps sets the number added to the variance; the default is 1e-5.
func Eps(eps float64) NormOption { return func(c *normConfig) { c.eps = eps } }

// NoAffine leaves weight and bias out.
func NoAffine() NormOption { return func(c *normConfig) { c.affine = false } }

// Affine gives an instance norm a weight and a bias, which it has not unless asked.
func Affine() NormOption { return func(c *normConfig) { c.affine = true } }

// NoRunningStats keeps no running statistics: evaluation uses those of the batch.
func NoRunningStats() NormOption { return func(c *normConfig) { c.noStats = true } }

// TrackRunningStats makes an instance norm keep running statistics, which it has not unless asked: evaluation uses them.
func TrackRunningStats() NormOption { return func(c *normConfig) { c.tracked = true } }

// NewBatchNorm1d returns a layer for x [n channels] or [n channels w]; see NewBatchNorm2d.
func NewBatchNorm1d(s *amp.Scope, channels int, opts ...NormOption) *BatchNorm {
	return newBatchNorm(s, "NewBatchNorm1d", 2, 3, channels, opts)
}

// NewBatchNorm2d returns a layer for x [n channels h w]. Parameters are named weight and bias, buffers running_mean, running_var and
// num_batches_tracked, as in PyTorch. Options: Momentum, CumulativeAverage, Eps, NoAffine, NoRunningStats. It panics with
// amp.ErrArgument for less than one channel.
func NewBatchNorm2d(s *amp.Scope, channels int, opts ...NormOption) *BatchNorm {
	return newBatchNorm(s, "NewBatchNorm2d", 4, 4, channels, opts)
}

// NewBatchNorm3d returns a layer for x [n channels d h w]; see NewBatchNorm2d.
func NewBatchNorm3d(s *amp.Scope, channels int, opts ...NormOption) *BatchNorm {
	return newBatchNorm(s, "NewBatchNorm3d", 5, 5, channels, opts)
}

func newBatchNorm(s *amp.Scope, name string, least, most, channels int, opts []NormOption) *BatchNorm {
	checkSizes(name, []int{channels})
	c := normConfig{momentum: 0.1, eps: 1e-5, affine: true}
	optional.Apply(name, opts, &c, misused)
	b := &BatchNorm{Momentum: c.momentum, Cumulative: c.cumulative, Eps: c.eps, name: name, least: least, most: most}
	if c.affine {
		b.Weight, b.Bias = affine(s, channels)
		b.Weight.KeepFloat32()
		b.Bias.KeepFloat32()
	}
	if !c.noStats {
		b.RunningMean = amp.Full(s, amp.Float32, 0, channels).SetName("running_mean").KeepFloat32()
		b.RunningVar = amp.Full(s, amp.Float32, 1, channels).SetName("running_var").KeepFloat32()
		b.NumBatches = amp.Full(s, amp.Int64, 0).SetName("num_batches_tracked")
		b.one = amp.Full(s, amp.Int64, 1)
	}
	return b
}

// affine returns a weight of ones and a bias of zeros.
func affine(s *amp.Scope, channels int) (weight, bias *amp.Tensor) {
	return amp.Full(s, amp.Float32, 1, channels).SetName("weight").RequireGrad(), amp.Full(s, amp.Float32, 0, channels).SetName("bias").RequireGrad()
}

// Forward returns the normalized x, in x's dtype.
func (b *BatchNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if x.Rank() < b.least || x.Rank() > b.most {
		fix := "use the layer for as many dimensions as x has"
		if x.Rank() == b.least-1 {
			fix += "; one sample alone is a batch of 1: amp.Unsqueeze(s, x, 0)"
		}
		misshapen("batch_norm", fix, "x %v for a layer made by %s", x.Shape(), b.name)
	}
	st := amp.BatchNormState{RunningMean: b.RunningMean, RunningVar: b.RunningVar, Momentum: b.Momentum, Eps: b.Eps}
	switch {
	case !s.Training() || b.NumBatches == nil || s.Recomputing():
	case b.estimating(s) || b.Cumulative: // in this order: UpdateBN begins the statistics of those that are cumulative anew, too
		amp.AddInPlace(s.NoGrad(), b.NumBatches, b.one)
		st.Momentum = 1 / b.NumBatches.Item()
	default: // counted with the statistics
		st.Batches = b.NumBatches
	}
	return amp.BatchNorm(s, x, b.Weight, b.Bias, st)
}

// Parameters returns weight and bias, if there are any.
func (b *BatchNorm) Parameters() []*amp.Tensor { return present(b.Weight, b.Bias) }

// Buffers returns running_mean, running_var and num_batches_tracked, if they are kept.
func (b *BatchNorm) Buffers() []*amp.Tensor {
	return present(b.RunningMean, b.RunningVar, b.NumBatches)
}

func present(tensors ...*amp.Tensor) []*amp.Tensor {
	var out []*amp.Tensor
	for _, t := range tensors {
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}

// GroupNorm normalizes groups of channels of each image, then scales and shifts the channels.
type GroupNorm struct {
	Weight, Bias *amp.Tensor // [channels], ones and zeros at first; nil without
	Groups       int
	Eps          float64 // added to the variance
}

// NewGroupNorm returns a layer that normalizes channels in groups. Options: Eps, NoAffine. It panics with amp.ErrArgument for sizes
// below 1, or groups that do not divide the channels.
func NewGroupNorm(s *amp.Scope, groups, channels int, opts ...NormOption) *GroupNorm {
	checkSizes("NewGroupNorm", []int{groups, channels})
	if channels%groups != 0 {
		misused("NewGroupNorm", "use groups that divide the channels", "%d channels in %d groups", channels, groups)
	}
	c := normConfig{eps: 1e-5, affine: true}
	optional.Apply("NewGroupNorm", opts, &c, misused)
	g := &GroupNorm{Groups: groups, Eps: c.eps}
	if c.affine {
		g.Weight, g.Bias = affine(s, channels)
	}
	return g
}

// Forward returns the normalized x for x [n channels …]; float32 under autocast.
func (g *GroupNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.GroupNorm(s, x, g.Groups, g.Weight, g.Bias, g.Eps)
}

// Parameters returns weight and bias, if there are any.
func (g *GroupNorm) Parameters() []*amp.Tensor { return present(g.Weight, g.Bias) }
