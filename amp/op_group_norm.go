package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Group norm and instance norm: batch norm's arithmetic over the channels of one image.

var opGroupNorm, opInstanceNorm *Op

func init() {
	opGroupNorm = define(Op{
		Name: "group_norm", Doc: "(x - mean) / √(variance + eps) over groups of channels of each image, · weight + bias per channel", Args: []string{"x", "weight", "bias"},
		Class: FP32, Why: whyNorm, CUDA: "group_norm", Saves: SaveIn0 | SaveIn1, Wide: true,
		Check: checkGroupNorm, CPU: floatKernel(groupNormLines, groupNormCPU[float64]), Backward: groupNormBackward,
	})
	opInstanceNorm = define(Op{
		Name: "instance_norm", Doc: "batch_norm of each image by itself", Args: []string{"x", "weight", "bias"}, Why: whyBatchNorm, CUDA: "batch_norm",
		Composite: []string{"reshape", "batch_norm"}, Parts: Apart,
	})
}

func checkGroupNorm(c *Call) []int {
	x, groups := c.In[0], c.Start
	if !x.dt.IsFloat() {
		fail(c.Op.Name, ErrDType, "convert it with amp.To(s, t, amp.Float32)", "x is %v, need a float dtype", x.dt)
	}
	if len(x.shape) < 2 || groups < 1 || x.shape[1]%groups != 0 {
		fail(c.Op.Name, ErrShape, "x is [n c …], and the number of groups divides c", "%s, %d groups", c.shapes(), groups)
	}
	if x.Len() == groups { // one number each, of one image
		fail(c.Op.Name, ErrShape, "use fewer groups, or a larger batch", "%s, %d groups of one number, of which no variance can be taken", c.shapes(), groups)
	}
	c.checkAffine(c.In[1:])
	return x.shape
}

// GroupNorm normalizes x [n c …] over each of groups groups of neighboring channels of each image to mean 0 and variance 1, then
// multiplies by weight [c] and adds bias [c], either of which may be nil. float32 under autocast; outside it
// weight and bias may be float32 while x is half. It panics with ErrShape where shapes do not fit, and, as PyTorch does, for a batch of one image
// whose groups have one number each.
func GroupNorm(s *Scope, x *Tensor, groups int, weight, bias *Tensor, eps float64) *Tensor {
	x.live("group_norm")
	return s.apply(opGroupNorm, Attrs{Start: groups, Scalar: eps}, Contiguous(s, x), contiguousOrNil(s, weight), contiguousOrNil(s, bias))
}

// InstanceNorm normalizes each channel of each image of x [n c …] to mean 0 and variance 1, then multiplies by weight [c] and adds bias
// [c], either of which may be nil: y = (x - mean) / √(variance + eps) · weight + bias. In the dtype of x; weight and bias may be
// float32 while x is half.
func InstanceNorm(s *Scope, x, weight, bias *Tensor, eps float64) *Tensor {
	s, in := s.enter(opInstanceNorm, x, weight, bias)
	x = in[0]
	if len(x.shape) < 3 || length(x.shape[2:]) == 1 {
		fail("instance_norm", ErrShape, "x is [n c …] with more than one element per channel", "x %v", x.shape)
	}
	n, c := x.shape[0], x.shape[1]
	for i, t := range in[1:] {
		if t == nil {
			continue
		}
		if len(t.shape) != 1 || t.shape[0] != c {
			fail("instance_norm", ErrShape, "weight and bias have one element per channel", "%s %v for x %v", opInstanceNorm.argName(i+1), t.shape, x.shape)
		}
		in[i+1] = Reshape(s, Expand(s, t, n, c), -1)
	}
	y := BatchNorm(s, Reshape(s, x, append([]int{1, n * c}, x.shape[2:]...)...), in[1], in[2], BatchNormState{Eps: eps})
	return Reshape(s, y, x.shape...)
}

// groupNormBackward sees each group of an image as a channel of batch_norm.
func groupNormBackward(b *Back) {
	s, x, dy := b.S, b.In(0), b.DY
	groups := b.Attrs().Start
	at := Attrs{Scalar: b.Attrs().Scalar}
	shape := b.Shape(0)
	if s.noGrad && length(shape[2:]) >= shortPlane {
		groupNormOfSums(b, at, groups)
		return
	}
	flat := []int{1, shape[0] * groups, length(shape[1:]) / groups}
	seen := Reshape(s, x, flat...)
	stats := s.apply(opBatchStats, Attrs{}, seen)
	dims, channel := []int{0}, slices.Repeat([]int{1}, len(shape))
	for d := 2; d < len(shape); d++ {
		dims = append(dims, d)
	}
	channel[1] = -1
	if b.Needs(0) {
		g := dy
		if w := b.optional(1); w != nil {
			g = Mul(s, g, Reshape(s, w, channel...))
		}
		g = Reshape(s, g, flat...)
		sums := s.batchSums(at, g, seen, stats)
		b.Set(0, Reshape(s, s.apply(opBatchNormBackward, at, g, seen, nil, stats, sums), shape...))
	}
	if b.Needs(1) {
		xhat := Reshape(s, s.apply(opBatchNorm, at, seen, nil, nil, stats), shape...)
		b.Set(1, Sum(s, Mul(s, dy, xhat), dims...))
	}
	if b.Needs(2) {
		b.Set(2, Sum(s, dy, dims...))
	}
}

// groupNormOfSums is groupNormBackward where nobody differentiates it again: one pass over dy and x for Σ dy·x̂ and Σ dy of each plane,
// of which the gradients of weight and bias and the sums of the groups are made. (The rows' own gradients take the statistics for those
// of the planes that are summed, so that the graph of a second gradient is made by groups throughout.)
func groupNormOfSums(b *Back, at Attrs, groups int) {
	s, x, dy, shape := b.S, b.In(0), Contiguous(b.S, b.DY), b.Shape(0)
	n, channels, plane := shape[0], shape[1], length(shape[2:])
	per := channels / groups
	flat := func(t *Tensor) *Tensor { return Reshape(s, t, 1, n*groups, per*plane) }
	stats := s.apply(opBatchStats, Attrs{}, flat(x))
	repeated := Reshape(s, Contiguous(s, Expand(s, Reshape(s, stats, 2, n*groups, 1), 2, n*groups, per)), 2, n*channels)
	sums := Reshape(s, s.batchSums(at, Reshape(s, dy, 1, n*channels, plane), Reshape(s, x, 1, n*channels, plane), repeated), 2, n, channels)
	for i := range 2 {
		if b.Needs(1 + i) {
			b.Set(1+i, To(s, Sum(s, Reshape(s, Narrow(s, sums, 0, i, 1), n, channels), 0), b.DType(1+i)))
		}
	}
	if !b.Needs(0) {
		return
	}
	g := dy
	if w := b.optional(1); w != nil {
		g = Mul(s, Reshape(s, dy, n, channels, plane), Reshape(s, w, 1, channels, 1))
		sums = Mul(s, sums, Reshape(s, To(s, w, sums.dt), 1, 1, channels))
	}
	sums = Reshape(s, Sum(s, Reshape(s, sums, 2, n*groups, per), 2), 2, n*groups)
	b.Set(0, Reshape(s, s.apply(opBatchNormBackward, at, flat(g), flat(x), nil, stats, sums), shape...))
}

// groupNormLines is groupNormCPU in passes: over a group for its mean and variance, then over each of its channels.
func groupNormLines(c *Call) {
	x, groups := c.In[0], c.Start
	size, channels := length(x.shape[1:])/groups, x.shape[1]/groups
	if channels == 0 || size/channels < shortLine {
		groupNormCPU[float32](c)
		return
	}
	plane := size / channels
	weight, bias := channelValues[float32](c.In[1]), channelValues[float32](c.In[2])
	cpu.Parallel(x.shape[0]*groups, grainOf(2*size), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for g := lo; g < hi; g++ {
			w.lookAhead(0, false)
			group := w.read(0, x, x.off+g*size, 1, size)
			w.normRate(group, true, c.Scalar)
			rate, mean, rest := float64(w.Arg[1]), w.Arg[0], float64(w.Arg[4])
			dst := w.target(1, c.Out, c.Out.off+g*size, 1, size)
			for ch := range channels {
				k, scale, shift := g%groups*channels+ch, rate, 0.0
				if weight != nil {
					scale *= float64(weight[k])
				}
				if bias != nil {
					shift = float64(bias[k])
				}
				w.Arg[0], w.Arg[1], w.Arg[2] = mean, float32(scale), float32(shift-float64(rest*scale))
				w.F32[0], w.F32[1] = group[ch*plane:][:plane], dst[ch*plane:][:plane]
				cpu.LineChannel.Run(plane, &w.Line)
			}
			w.write(c.Out, c.Out.off+g*size, 1, dst)
		}
	})
}

func groupNormCPU[T cpu.Float](c *Call) {
	x, groups := c.In[0], c.Start
	w := channelWalk{n: 1, c: x.shape[0] * groups, plane: length(x.shape[1:]) / groups}
	channels := x.shape[1] / groups
	plane := w.plane / max(1, channels)
	weight, bias := channelValues[T](c.In[1]), channelValues[T](c.In[2])
	reduceChannels(w, func(s *scratch[T], g int) {
		mean, variance := pieceStats(w, s, x, g)
		rate := 1 / math.Sqrt(variance+c.Scalar)
		for ch := range channels {
			k := g%groups*channels + ch
			scale, shift := T(rate), T(0)
			if weight != nil {
				scale *= weight[k]
			}
			if bias != nil {
				shift = bias[k]
			}
			base := g*w.plane + ch*plane
			for at := 0; at < plane; at += chunk {
				n := min(chunk, plane-at)
				dst := s.buf[1][:n]
				for i, v := range fetch(&s.buf[0], x, x.off+base+at, 1, n) {
					dst[i] = T((v-T(mean))*scale) + shift
				}
				store(c.Out, c.Out.off+base+at, dst)
			}
		}
	})
}

// channelValues reads a weight or bias, nil if there is none.
func channelValues[T cpu.Float](t *Tensor) []T {
	if t == nil {
		return nil
	}
	v := make([]T, t.Len())
	load(v, t, t.off, 1)
	return v
}
