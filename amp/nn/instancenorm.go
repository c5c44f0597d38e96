package nn

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// InstanceNorm normalizes each channel of each image, then scales and shifts the channels.
type InstanceNorm struct {
	Weight, Bias            *amp.Tensor // [channels]; nil unless Affine was asked for
	RunningMean, RunningVar *amp.Tensor // [channels], float32, zeros and ones at first; nil unless TrackRunningStats was asked for
	NumBatches              *amp.Tensor // int64, 0: PyTorch saves it with the statistics and counts nothing in it; nil without them
	Momentum                float64     // weight of the present batch in the running statistics
	Eps                     float64     // added to the variance
	name                    string
	channels, rank          int // what the constructor was given, and the spatial dimensions; 0 of a literal
}

// NewInstanceNorm2d returns a layer for x [n channels h w], or [channels h w] for one image. It keeps no running statistics
// unless TrackRunningStats, and has no weight and bias unless Affine, as in PyTorch. Options: Eps, Affine, TrackRunningStats, Momentum (0.1
// unless given).
func NewInstanceNorm2d(s *amp.Scope, channels int, opts ...NormOption) *InstanceNorm {
	return newInstanceNorm(s, "NewInstanceNorm2d", 2, channels, opts)
}

// NewInstanceNorm1d is NewInstanceNorm2d for x [n channels length] or [channels length].
func NewInstanceNorm1d(s *amp.Scope, channels int, opts ...NormOption) *InstanceNorm {
	return newInstanceNorm(s, "NewInstanceNorm1d", 1, channels, opts)
}

// NewInstanceNorm3d is NewInstanceNorm2d for x [n channels d h w] or [channels d h w].
func NewInstanceNorm3d(s *amp.Scope, channels int, opts ...NormOption) *InstanceNorm {
	return newInstanceNorm(s, "NewInstanceNorm3d", 3, channels, opts)
}

func newInstanceNorm(s *amp.Scope, name string, rank, channels int, opts []NormOption) *InstanceNorm {
	checkSizes(name, []int{channels})
	c := normConfig{momentum: 0.1, eps: 1e-5}
	optional.Apply(name, opts, &c, misused)
	if c.cumulative {
		misused(name, "use nn.Momentum(0.1)", "an instance norm has no cumulative averages")
	}
	n := &InstanceNorm{Eps: c.eps, Momentum: c.momentum, name: name, channels: channels, rank: rank}
	if c.affine {
		n.Weight, n.Bias = affine(s, channels)
	}
	if c.tracked && !c.noStats {
		n.RunningMean = amp.Full(s, amp.Float32, 0, channels).SetName("running_mean").KeepFloat32()
		n.RunningVar = amp.Full(s, amp.Float32, 1, channels).SetName("running_var").KeepFloat32()
		n.NumBatches = amp.Full(s, amp.Int64, 0).SetName("num_batches_tracked")
	}
	return n
}

// Forward returns the normalized x, in x's dtype. With running statistics training moves them by the mean of the images' own, the variances
// unbiased, and evaluation normalizes by them. It panics with amp.ErrShape for another number of dimensions or channels than the layer was
// made for.
func (n *InstanceNorm) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if n.rank == 0 {
		return n.normalize(s, x)
	}
	one := x.Rank() == n.rank+1
	if !one && x.Rank() != n.rank+2 || x.Dim(-n.rank-1) != n.channels {
		misshapen("instance_norm", "make the layer for the dimensions and channels that x has", "x %v for a layer of %d channels made by %s", x.Shape(), n.channels, n.name)
	}
	if !one {
		return n.normalize(s, x)
	}
	return amp.Squeeze(s, n.normalize(s, amp.Unsqueeze(s, x, 0)), 0)
}

// normalize is Forward for a batch.
func (n *InstanceNorm) normalize(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if n.RunningMean == nil {
		return amp.InstanceNorm(s, x, n.Weight, n.Bias, n.Eps)
	}
	if !s.Training() {
		return amp.BatchNorm(s, x, n.Weight, n.Bias, amp.BatchNormState{RunningMean: n.RunningMean, RunningVar: n.RunningVar, Eps: n.Eps})
	}
	y := amp.InstanceNorm(s, x, n.Weight, n.Bias, n.Eps)
	if !s.Recomputing() && x.Len() > 0 { // no image has no mean
		n.move(s.In("running").NoGrad().Autocast(amp.Float32), x)
	}
	return y
}

// move moves the running statistics.
func (n *InstanceNorm) move(s *amp.Scope, x *amp.Tensor) {
	x = amp.To(s, amp.Flatten(s, x, 2, -1), amp.Float32)
	toward := func(running, now *amp.Tensor) {
		step := amp.Sub(s, amp.Mean(s, now, 0), running)
		amp.AddInPlace(s, running, amp.MulScalar(s, step, n.Momentum))
	}
	toward(n.RunningMean, amp.Mean(s, x, -1))
	toward(n.RunningVar, amp.Var(s, x, -1))
}

// Parameters returns weight and bias, if there are any.
func (n *InstanceNorm) Parameters() []*amp.Tensor { return present(n.Weight, n.Bias) }

// Buffers returns running_mean, running_var and num_batches_tracked, if they are kept.
func (n *InstanceNorm) Buffers() []*amp.Tensor {
	return present(n.RunningMean, n.RunningVar, n.NumBatches)
}
