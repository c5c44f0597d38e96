package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opQuantizeScaled *Op

func init() {
	opQuantizeScaled = define(Op{
		Name: "quantize_scaled", Doc: "x rounded to a format's numbers times a scale that neighbors share; the gradient passes straight through",
		Args: []string{"x", "amax", "top"}, Why: "asks what 8 or 4 bits and a scale would do, in the dtype at hand", CUDA: "quantize_scaled",
		Check: func(c *Call) []int {
			c.floats()
			x, amax := c.In[0].shape, c.In[1].shape
			dims, size := c.ScaledBlocks()
			fits := len(x) == len(amax) && (len(c.In) < 3 || c.In[2].Len() == 1)
			for d := 0; fits && d < len(x); d++ {
				if slices.Contains(dims, d) {
					fits = amax[d]*size == x[d]
				} else {
					fits = amax[d] == 1 || amax[d] == x[d]
				}
			}
			if !fits {
				fail(c.Op.Name, ErrShape, "give amax the sizes of x, 1, or along dimensions with blocks their number, and top one element", "%s", c.shapes())
			}
			return x
		},
		CPU:      quantizeScaledCPU,
		Backward: func(b *Back) { b.Set(0, b.DY) }, // the straight-through estimator; what a scale does to a result is rounding too
	})
}

// QuantizeScaled returns x rounded to numbers of format f times a scale, in x's dtype and shape: what a tensor in 8 or 4 bits and its scales hold.
// A scale is a power of two that float32 holds with its inverse, from 2^-126 to 2^126, the smallest with which f holds the largest |x| that
// shares it: no number overflows. All of x shares one (PerTensor), or each line along dim (PerRow), or each 32 neighbors along dim (PerBlock; with
// ErrShape it panics where dim is no multiple of 32). What is infinite or NaN stays what it is, for a GradScaler to see; the scale beside it is 1,
// with which f's largest stands for what is larger, as it does in float64 for what is larger with a scale of 2^126. A number that would be
// rounded up past the largest of x's dtype becomes the largest of f's that the dtype holds. The gradient passes straight through (Bengio et al., 2013).
//
// PerBlock16 is NVFP4, for FormatE2M1 alone (ErrArgument): each 16 neighbors along dim share a scale s·2^k, with s the number of E4M3 nearest to
// amax/6·2^-k, with amax their largest |x|, and one k for all of x, the least from -126 to 126 with which E4M3 holds all s. NVIDIA's scale for all
// is a float32, amax/2688 of all; a power of two makes every number times its scales one of bfloat16 and float16, too. s may be rounded down, and 6 then
// stands for what is up to 1/16 larger, or to 0 where a block is tiny beside all, and the block with it. At the ends of x's dtype numbers times scales
// are its own, too: k is no less than what makes the smallest one of the dtype's (-14 in float16, where scales of blocks below 6e-6 have fewer digits), and
// where 6·s·2^k would be past its largest, s is the next below.
func QuantizeScaled(s *Scope, x *Tensor, f Format, g Granularity, dim int) *Tensor {
	return s.quantizeAsked(x, casting{format: f, granularity: g, dim: dim})
}

// QuantizeScaledStochastic is QuantizeScaled with stochastic rounding: each element becomes one of the two numbers around it, with a mean of itself
// where neither is past the format's largest. The numbers come from the scope's stream.
func QuantizeScaledStochastic(s *Scope, x *Tensor, f Format, g Granularity, dim int) *Tensor {
	return s.quantizeAsked(x, casting{format: f, granularity: g, dim: dim, random: true})
}

// quantizeAsked is quantizeScaled for the program.
func (s *Scope) quantizeAsked(x *Tensor, to casting) *Tensor {
	o, in := opQuantizeScaled, []*Tensor{x}
	defer s.locate(o, in)
	s.alive(o.Name)
	notKept(o.Name, s.root.dev)
	to.format.info()
	to.granularity.check(o.Name)
	if to.granularity == PerBlock16 && to.format != FormatE2M1 {
		fail(o.Name, ErrArgument, "use amp.FormatE2M1, or amp.PerBlock", "scales in e4m3 are for e2m1, not for %v", to.format)
	}
	o.need(x)
	if s.calling != nil {
		s.calling.inspect(in)
	}
	return s.quantizeScaled(x, to)
}

// A casting says for whom a tensor is cast, and of one that is rounded to a short format how.
type casting struct {
	format      Format
	granularity Granularity
	square      bool // blocks go along both of the last two dimensions
	random      bool // rounding is stochastic
	margin      int  // scales leave room for 2^margin times the largest number
	dim         int
	rule        rule // of a cast for an op (by); 0: the program asked for the op quantize_scaled
	by          *Op
	operand     int
	name        string // of the tensor that x was cast from; "": that of x
}

// dims returns the dimensions of x along which numbers share a scale, in order; nil where all do.
func (to *casting) dims(op string, x *Tensor) []int {
	if to.granularity == PerTensor {
		return nil
	}
	dims := []int{x.axis(op, to.dim)}
	if to.square {
		if len(x.shape) < 2 {
			fail(op, ErrShape, "give it the two dimensions of a weight", "squares of a tensor of shape %v", x.shape)
		}
		dims = []int{len(x.shape) - 2, len(x.shape) - 1}
	}
	size := to.granularity.block()
	for _, d := range dims {
		if size > 0 && x.shape[d]%size != 0 {
			fail(op, ErrShape, "use amp.PerRow, or pad it with amp.Pad", "dimension %d of shape %v has %d elements, which are no blocks of %d", d, x.shape, x.shape[d], size)
		}
	}
	return dims
}

// quantizeScaled is QuantizeScaled, recorded as what it is made for.
func (s *Scope) quantizeScaled(x *Tensor, to casting) *Tensor {
	s.admit(opQuantizeScaled, 0, x)
	(&Call{Op: opQuantizeScaled, In: []*Tensor{x}}).floats()
	at := Attrs{Start: int(to.format), Scalar: float64(to.margin)}
	in, spent := s.scaledBy(x, &to, &at)
	if to.random {
		at.Reverse, at.Draw = true, s.draw((x.Len()+3)/4)
	}
	ran := false
	defer spent.clockUnless(&ran)
	defer func() {
		for _, t := range in[1:] {
			if t != x {
				t.release()
			}
		}
	}()
	var pc uintptr
	rec := s.root.rec
	if rec != nil {
		pc = s.callSite()
	}
	c := newCall(opQuantizeScaled, &at, in)
	defer c.free()
	t := s.execute(c).and(spent)
	ran = true
	switch {
	case rec == nil:
	case to.rule != 0:
		rec.castEvent(s, x, c.Out, to, pc, t)
	default:
		rec.op(s, c, in, ruleUnlisted, pc, t)
	}
	s.tape(c, pc)
	return c.Out
}

// scaledBy returns what the row reads for a casting of x, and notes in at where the blocks are. It is x itself for what it would read beside an x
// without elements. The time is the caller's to record.
func (s *Scope) scaledBy(x *Tensor, to *casting, at *Attrs) ([]*Tensor, took) {
	dims := to.dims(opQuantizeScaled.Name, x)
	if x.Len() == 0 {
		return []*Tensor{x, x}, took{}
	}
	if to.granularity.block() > 0 {
		at.Dims = dims
	}
	amax, spent := s.largest(x, to.granularity.block(), dims)
	if to.granularity != PerBlock16 {
		return []*Tensor{x, amax}, spent
	}
	at.Pair[0] = float64(leastExponent(x.dt))
	top, more := s.largest(amax, 0, nil)
	return []*Tensor{x, amax, top}, spent.and(more)
}

// largest returns the largest |x| of all that share a scale along dims, of blocks of a size or of all for 0, in the dimensions of x, for a row to
// read: the trace does not have it, and no gradient flows through it.
func (s *Scope) largest(x *Tensor, block int, dims []int) (*Tensor, took) {
	at := Attrs{Dims: dims, Keep: true, Scalar: math.Inf(1)}
	if dims == nil {
		at.Dims = reducedAxes(opVectorNorm.Name, x, nil)
	}
	if block > 0 {
		at.Dims, at.Keep = nil, false
		for i, d := range dims {
			x = x.split(d+i, block)
			at.Dims = append(at.Dims, d+i+1)
		}
	}
	quiet := s.derive()
	quiet.noGrad = true
	c := newCall(opVectorNorm, &at, []*Tensor{x})
	defer c.free()
	t := quiet.execute(c)
	return c.Out, t
}

// split returns t for a kernel to see: dimension d is two, the second of a size that divides it. It lives as long as t does.
func (t *Tensor) split(d, size int) *Tensor {
	v := &Tensor{dt: t.dt, off: t.off, st: t.st, view: true}
	v.shape = slices.Insert(slices.Clone(t.shape), d+1, size)
	v.shape[d] /= size
	v.strides = slices.Insert(slices.Clone(t.strides), d+1, t.strides[d])
	v.strides[d] *= size
	return v
}

// ScaledBlocks returns the dimensions along which a call of quantize_scaled has a scale for each block, in order, and the size of a block.
func (c *Call) ScaledBlocks() (dims []int, size int) {
	if len(c.In) > 2 {
		return c.Dims, e4m3Block
	}
	return c.Dims, scaleBlock
}

// scaleExponent returns the largest k from -126 to 126 with amax·2^(k+margin) ≤ the largest number of the format; 0 for an amax that says nothing.
func (f Format) scaleExponent(amax float64, margin int) int {
	if !(amax > 0) || math.IsInf(amax, 0) {
		return 0
	}
	m, e := math.Frexp(amax)
	top, k := math.Frexp(f.info().max)
	if k -= e; m > top {
		k--
	}
	return min(max(k-margin, -126), 126)
}

// roundScaled returns v rounded to f's numbers times 2^-k; most is the largest finite number of v's dtype.
func (f Format) roundScaled(v float64, k int, most float64) float64 {
	if v != v || math.IsInf(v, 0) {
		return v
	}
	r := math.Abs(math.Ldexp(v, k))
	if top := f.info().max; r < top {
		r = f.Round(r)
	} else {
		r = top
	}
	y := math.Ldexp(r, -k)
	if y > most { // rounded up to a power of two: the number below it
		y = math.Ldexp(r-math.Ldexp(r, -f.info().mantissa-1), -k)
	}
	return math.Copysign(y, v)
}

func quantizeScaledCPU(c *Call) {
	if c.Reverse || len(c.In) > 2 || len(c.Dims) > 1 {
		quantizeByScales(c)
		return
	}
	x, amax, out, f := c.In[0], c.In[1], c.Out, Format(c.Start)
	for _, d := range c.Dims {
		x, out, amax = x.split(d, scaleBlock), out.split(d, scaleBlock), amax.split(d, 1)
	}
	margin, most := int(c.Scalar), x.dt.Max()
	if x.dt != Float64 && f.info().exponent < 8 { // float32 has room for the format's smallest numbers, and for a rounding below them
		args := cpu.ShortArgs(f.info().mantissa, f.MinNormal(), f.Max(), margin, most)
		if !quantizeBlocks(out, x, amax, args[:]) && !halfPass(&cpu.LineShort, out, []*Tensor{x, amax}, args[:]...) {
			binaryOn(out, x, amax, pass2(&cpu.LineShort, args[:]...))
		}
		return
	}
	w := newRowWalk(out, x, amax)
	pool := scratches[float64]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[float64])
		dst := s.buf[1][:n]
		largest := fetch(&s.buf[2], amax, off[2], w.step[2], n)
		for i, v := range fetch(&s.buf[0], x, off[1], w.step[1], n) {
			dst[i] = f.roundScaled(v, f.scaleExponent(largest[i], margin), most)
		}
		store(out, off[0], dst)
		pool.Put(s)
	})
}

// quantizeBlocks is the kernel for blocks of neighbors, several of which make a line that pays; it says whether x holds such blocks.
func quantizeBlocks(out, x, amax *Tensor, args []float64) bool {
	n := len(x.shape)
	if n == 0 || len(amax.shape) != n || x.shape[n-1] != scaleBlock || amax.shape[n-1] != 1 || amax.Len()*scaleBlock != x.Len() || !x.IsContiguous() || !amax.IsContiguous() {
		return false
	}
	cpu.Parallel(amax.Len(), chunk/scaleBlock, func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		w.numbers(args)
		for lo < hi {
			blocks := min(hi-lo, chunk/scaleBlock)
			at, size := lo*scaleBlock, blocks*scaleBlock
			largest, each := w.read(1, amax, amax.off+lo, 1, blocks), w.buffer(2, size)
			for i, v := range largest {
				fill(each[i*scaleBlock:][:scaleBlock], v)
			}
			w.F32[0], w.F32[1], w.F32[2] = w.read(0, x, x.off+at, 1, size), each, w.target(3, out, out.off+at, 1, size)
			cpu.LineShort.Run(size, &w.Line)
			w.write(out, out.off+at, 1, w.F32[2])
			lo += blocks
		}
	})
	return true
}
