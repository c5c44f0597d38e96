package amp

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opQuantizeScaled *Op

func init() {
	opQuantizeScaled = define(Op{
		Name: "quantize_scaled", Doc: "round(x·2^k)·2^-k in another format, with the largest k whose 2^k·amax the format holds; the gradient passes straight through",
		Args: []string{"x", "amax"}, Why: "asks what 8 bits and a scale would do, in the dtype at hand", CUDA: "quantize_scaled",
		Check: func(c *Call) []int {
			c.floats()
			c.sameDType(1)
			x, amax := c.In[0].shape, c.In[1].shape
			fits := len(x) == len(amax)
			for d := 0; fits && d < len(x); d++ {
				fits = amax[d] == 1 || amax[d] == x[d] || amax[d]*scaleBlock == x[d]
			}
			if !fits {
				fail(c.Op.Name, ErrShape, "give amax the sizes of x, 1, or along one dimension a 32nd", "%s", c.shapes())
			}
			return x
		},
		CPU:      quantizeScaledCPU,
		Backward: func(b *Back) { b.Set(0, b.DY) }, // the straight-through estimator; what a scale does to a result is rounding too
	})
}

// A Granularity says how many numbers share one scale when they are rounded to a short format.
type Granularity uint8

// The granularities. PerBlock is that of the OCP Microscaling Formats (MX), version 1.0.
const (
	PerTensor Granularity = iota // one scale for all
	PerRow                       // one for each line along a dimension: in a product the one that it sums over
	PerBlock                     // one for each 32 neighbors along it
)

var granularityNames = [...]string{"tensor", "row", "block"}

// scaleBlock is the number of neighbors that share a scale PerBlock: the block size k of the MX formats.
const scaleBlock = 32

// String returns "tensor", "row" or "block".
func (g Granularity) String() string {
	if int(g) >= len(granularityNames) {
		return fmt.Sprintf("granularity(%d)", uint8(g))
	}
	return granularityNames[g]
}

// ParseGranularity returns the granularity of a name, as Granularity.String gives it.
func ParseGranularity(name string) (Granularity, error) {
	if i := slices.Index(granularityNames[:], name); i >= 0 {
		return Granularity(i), nil
	}
	return 0, fmt.Errorf("amp: unknown granularity %q; use %s", name, strings.Join(granularityNames[:], ", "))
}

// check panics with ErrArgument for a number that is no granularity.
func (g Granularity) check(op string) {
	if int(g) >= len(granularityNames) {
		fail(op, ErrArgument, "use amp.PerTensor, amp.PerRow or amp.PerBlock", "there is no granularity number %d", uint8(g))
	}
}

// QuantizeScaled returns x rounded to numbers of format f times a scale, in x's dtype and shape: what a tensor in 8 bits and its scales hold.
// A scale is a power of two that float32 holds with its inverse, from 2^-126 to 2^126, the smallest with which f holds the largest |x| that
// shares it: no number overflows. All of x shares one (PerTensor), or each line along dim (PerRow), or each 32 neighbors along dim (PerBlock; with
// ErrShape it panics where dim is no multiple of 32). What is infinite or NaN stays what it is, for a GradScaler to see; the scale beside it is 1,
// with which f's largest stands for what is larger, as it does in float64 for what is larger with a scale of 2^126. A number that would be
// rounded up past the largest of x's dtype becomes the largest of f's that the dtype holds. The gradient passes straight through (Bengio et al., 2013).
func QuantizeScaled(s *Scope, x *Tensor, f Format, g Granularity, dim int) *Tensor {
	o, in := opQuantizeScaled, []*Tensor{x}
	defer s.locate(o, in)
	s.alive(o.Name)
	notKept(o.Name, s.root.dev)
	f.info()
	g.check(o.Name)
	o.need(x)
	if s.calling != nil {
		s.calling.inspect(in)
	}
	return s.quantizeScaled(x, casting{format: f, granularity: g, dim: dim})
}

// A casting says for whom a tensor is cast, and of one that is rounded to a short format how.
type casting struct {
	format      Format
	granularity Granularity
	margin      int // scales leave room for 2^margin times the largest number
	dim         int
	rule        rule // of a cast for an op (by); 0: the program asked for the op quantize_scaled
	by          *Op
	operand     int
	name        string // of the tensor that x was cast from; "": that of x
}

// quantizeScaled is QuantizeScaled, recorded as what it is made for.
func (s *Scope) quantizeScaled(x *Tensor, to casting) *Tensor {
	const op = "quantize_scaled"
	s.admit(opQuantizeScaled, 0, x)
	(&Call{Op: opQuantizeScaled, In: []*Tensor{x}}).floats()
	dim := to.dim
	if to.granularity != PerTensor {
		dim = x.axis(op, dim)
	}
	if to.granularity == PerBlock && x.shape[dim]%scaleBlock != 0 {
		fail(op, ErrShape, "use amp.PerRow, or pad it with amp.Pad", "dimension %d of shape %v has %d elements, which are no blocks of %d", dim, x.shape, x.shape[dim], scaleBlock)
	}
	amax, spent := s.largest(x, to.granularity, dim)
	ran := false
	defer spent.clockUnless(&ran)
	if amax != x {
		defer amax.release()
	}
	var pc uintptr
	rec := s.root.rec
	if rec != nil {
		pc = s.callSite()
	}
	in := []*Tensor{x, amax}
	c := newCall(opQuantizeScaled, &Attrs{Start: int(to.format), Scalar: float64(to.margin)}, in)
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

// largest returns the largest |x| of all that share a scale, in the dimensions of x, for a row to read: the trace does not have it, and no
// gradient flows through it. It is x itself where x has no elements. The time is the caller's to record.
func (s *Scope) largest(x *Tensor, g Granularity, dim int) (*Tensor, took) {
	if x.Len() == 0 {
		return x, took{}
	}
	at := Attrs{Dims: []int{dim}, Keep: true, Scalar: math.Inf(1)}
	switch g {
	case PerTensor:
		at.Dims = reducedAxes(opVectorNorm.Name, x, nil)
	case PerBlock:
		x, at.Dims, at.Keep = x.split(dim, scaleBlock), []int{dim + 1}, false
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

// ScaledBlocks returns the dimension along which a call of quantize_scaled has a scale for each block, and the size of a block; -1 if it has none.
func (c *Call) ScaledBlocks() (dim, size int) {
	x, amax := c.In[0].shape, c.In[1].shape
	for d, n := range amax {
		if n != 1 && n != x[d] {
			return d, scaleBlock
		}
	}
	return -1, 0
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
	x, amax, out, f := c.In[0], c.In[1], c.Out, Format(c.Start)
	if d, _ := c.ScaledBlocks(); d >= 0 {
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
