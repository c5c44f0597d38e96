package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of elementwise kernels (kernels/map.h).

// mapThreads is MAP_THREADS; mapVector is MAP_VECTOR, mapTwice MAP_TWICE, and mapStream MAP_STREAM.
const (
	mapThreads = 128
	mapVector  = 1
	mapTwice   = 2
	mapStream  = 4
)

// longMap is from how many elements on a thread takes two vectors of one input: then there are blocks enough, and a thread should have as many
// bytes on their way as one with two inputs. Tests make it smaller.
var longMap = 1 << 21

// streamedMap is from how many bytes on a result is written past the cache, which is smaller (60 MiB on an H200). Tests make it smaller.
var streamedMap = 64 << 20

func streamed(n int, dt amp.DType) bool { return n*dt.Size() >= streamedMap }

// mapArgs is struct Map.
type mapArgs struct {
	ptr         [5]uint64
	n           int64
	rank, flags int32
	shape       [maxRank]int32
	stride      [5][maxRank]int64
	attr        [4]float64
	seed, block uint64
}

// lay writes the operands, result first, into m, broadcast to the result and with dimensions merged. It reports false for what the
// kernels do not take: 2^32 elements or more that are not one row, which inPieces divides.
func (m *mapArgs) lay(ops ...*view) bool {
	out := ops[0]
	*m = mapArgs{n: int64(out.len())}
	rank := 0
	if m.n == 0 {
		return true
	}
	for d := range out.rank {
		size := out.shape[d]
		if size == 1 {
			continue
		}
		var cur [5]int64
		for i, v := range ops {
			if k := d - out.rank + v.rank; k >= 0 && v.shape[k] != 1 {
				cur[i] = int64(v.stride[k])
			}
		}
		if rank > 0 && m.follows(rank-1, &cur, size, len(ops)) {
			m.shape[rank-1] *= int32(size) // may overflow for a single row, which the kernels know by n
			for i := range ops {
				m.stride[i][rank-1] = cur[i]
			}
			continue
		}
		m.shape[rank] = int32(min(size, 1<<31-1)) // of one row the kernels read n
		for i := range ops {
			m.stride[i][rank] = cur[i]
		}
		rank++
	}
	if rank == 0 { // one element
		rank = 1
		m.shape[0] = 1
		m.stride[0][0] = 1
	}
	m.rank = int32(rank)
	for i, v := range ops {
		m.ptr[i] = v.ptr
	}
	m.vectorize(ops)
	return rank == 1 || m.n <= int64(mostElements)
}

// follows says whether a dimension runs on where dimension last ends, in each of n operands.
func (m *mapArgs) follows(last int, cur *[5]int64, size, n int) bool {
	if int64(m.shape[last])*int64(size) >= 1<<31 && last > 0 {
		return false
	}
	for i := range n {
		if m.stride[i][last] != cur[i]*int64(size) {
			return false
		}
	}
	return true
}

// vectorize allows 16-byte accesses where every operand lies so.
func (m *mapArgs) vectorize(ops []*view) {
	v := vectorOf(ops)
	inner := m.rank - 1
	if m.rank > 1 && int(m.shape[inner])%v != 0 {
		return
	}
	for i, op := range ops {
		switch m.stride[i][inner] {
		case 0:
			if i == 0 {
				return
			}
			continue
		case 1:
		default:
			return
		}
		if op.ptr%uint64(v*op.dt.Size()) != 0 {
			return
		}
		for d := range inner {
			if m.stride[i][d]%int64(v) != 0 {
				return
			}
		}
	}
	m.flags = mapVector
}

// vectorOf is vec_of: how many elements a thread takes at a time.
func vectorOf(ops []*view) int {
	v := 8
	for _, op := range ops {
		v = min(v, 16/op.dt.Size())
	}
	return v
}

// apply queues an elementwise kernel on what lay has written.
func (l *launcher) apply(f driver.Function, ops ...*view) {
	m := &l.mapArgs
	if m.n == 0 {
		return
	}
	per := mapThreads
	if m.flags&mapVector != 0 {
		v := vectorOf(ops)
		per *= v
		if len(ops) == 2 && m.rank == 1 && m.stride[1][0] == 1 && m.n >= int64(longMap) && m.n%int64(v) == 0 {
			m.flags |= mapTwice
			per *= 2
		}
		if streamed(int(m.n), ops[0].dt) {
			m.flags |= mapStream
		}
	}
	l.run(f, [3]uint32{blocks(int(m.n), per), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, unsafe.Pointer(m), unsafe.Sizeof(*m))
}

// elementwise is the launch of a row whose kernel is named after a stem and the dtype of its input dt.
func (l *launcher) elementwise(stem string, dt amp.DType, attr func(c *amp.Call, m *mapArgs), ops ...*view) bool {
	f := l.kernel(stem, dt, amp.NoDType)
	if f == 0 {
		return false
	}
	if !l.mapArgs.lay(ops...) {
		return l.inPieces(f, func(m *mapArgs) {
			if attr != nil {
				attr(l.c, m)
			}
		}, ops...)
	}
	if attr != nil {
		attr(l.c, &l.mapArgs)
	}
	l.apply(f, ops...)
	return true
}

// The rows that are one elementwise kernel, by the number of their inputs.
var (
	unaryRows = []string{"neg", "relu", "sign", "abs", "isnan", "isinf", "isfinite", "logical_not", "exp", "log", "sqrt", "tanh", "sigmoid", "rsqrt", "reciprocal",
		"expm1", "log1p", "log2", "log10", "exp2", "sin", "cos", "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma",
		"floor", "ceil", "round", "trunc", "frac", "gelu", "gelu_tanh", "silu", "mish", "softsign", "tanhshrink", "logsigmoid", "hardswish", "hardsigmoid"}
	binaryRows = []string{"sub", "mul", "div", "div_nonzero", "xmul", "maximum", "minimum", "relu_backward", "eq", "ne", "lt", "le", "gt", "ge", "pow", "atan2", "hypot", "logaddexp", "gelu_backward", "gelu_tanh_backward", "silu_backward", "sigmoid_backward", "tanh_backward", "mish_backward",
		"softsign_backward", "tanhshrink_backward", "logsigmoid_backward", "hardswish_backward", "hardsigmoid_backward"}
	ternaryRows = []string{"where", "lerp", "clamp_tensor"}
)

// The rows whose kernels read numbers: how the call's become the kernel's.
var attrRows = map[string]func(c *amp.Call, m *mapArgs){
	"add_scalar": scalarAttr, "mul_scalar": scalarAttr, "mul_scalar_": scalarAttr, "lerp_scalar": scalarAttr, "addcmul": scalarAttr, "addcdiv": scalarAttr,
	"abs_pow": scalarAttr, "signed_pow": scalarAttr, "__rpow__": scalarAttr, "pow_scalar": powAttr, "digamma": scalarAttr, "polygamma": scalarAttr,
	"bitwise":    startAttr,
	"leaky_relu": scalarAttr, "leaky_relu_backward": scalarAttr,
	"clamp": pairAttr, "softplus": pairAttr, "softplus_backward": pairAttr,
	"elu": eluAttr, "elu_backward": eluAttr, "selu": seluAttr, "selu_backward": seluAttr, "celu": celuAttr, "celu_backward": celuAttr,
	"hardtanh": boundsAttr, "hardtanh_backward": boundsAttr, "threshold": thresholdAttr, "threshold_backward": thresholdAttr,
	"hardshrink": shrinkAttr, "hardshrink_backward": shrinkAttr, "softshrink": shrinkAttr, "softshrink_backward": shrinkAttr,
}

// The numbers that make selu keep mean 0 and variance 1.
const (
	seluAlpha = 1.6732632423543772848170429916717
	seluScale = 1.0507009873554804934193349852946
)

// as rounds v to the arithmetic of a dtype: float32 but for float64.
func as(dt amp.DType, v float64) float64 {
	if dt == amp.Float64 {
		return v
	}
	return float64(float32(v))
}

func scalarAttr(c *amp.Call, m *mapArgs) { m.attr[0] = c.Scalar }
func pairAttr(c *amp.Call, m *mapArgs)   { m.attr[0], m.attr[1] = c.Pair[0], c.Pair[1] }
func startAttr(c *amp.Call, m *mapArgs)  { m.attr[0] = float64(c.Start) }
func eluAttr(c *amp.Call, m *mapArgs)    { m.attr[0], m.attr[1], m.attr[2] = c.Scalar, 1, 1 }
func seluAttr(_ *amp.Call, m *mapArgs)   { m.attr[0], m.attr[1], m.attr[2] = seluAlpha, 1, seluScale }
func celuAttr(c *amp.Call, m *mapArgs)   { m.attr[0], m.attr[1], m.attr[2] = c.Scalar, 1/c.Scalar, 1 }

// The CPU row takes the power in the arithmetic of the dtype, but for the roots.
func powAttr(c *amp.Call, m *mapArgs) { m.attr[0] = as(c.In[0].DType(), c.Scalar) }

func boundsAttr(c *amp.Call, m *mapArgs) {
	dt := c.In[0].DType()
	m.attr = [4]float64{c.Pair[0], c.Pair[1], as(dt, c.Pair[0]), as(dt, c.Pair[1])}
}

func thresholdAttr(c *amp.Call, m *mapArgs) {
	m.attr = [4]float64{c.Pair[0], c.Pair[1], as(c.In[0].DType(), c.Pair[0])}
}

func shrinkAttr(c *amp.Call, m *mapArgs) {
	dt := c.In[0].DType()
	m.attr = [4]float64{c.Scalar, 0, as(dt, -c.Scalar), as(dt, c.Scalar)}
}

func init() {
	for _, name := range unaryRows {
		register(func(l *launcher) bool { return l.elementwise(name, l.in[0].dt, nil, &l.out, &l.in[0]) }, name)
	}
	for _, name := range binaryRows {
		register(func(l *launcher) bool {
			return l.in[0].dt == l.in[1].dt && l.elementwise(name, l.in[0].dt, nil, &l.out, &l.in[0], &l.in[1])
		}, name)
	}
	for _, name := range ternaryRows {
		register(ternary(name, nil), name)
	}
	for name, attr := range attrRows {
		register(func(l *launcher) bool {
			stem := l.c.Op.CUDA
			switch len(l.c.In) {
			case 1:
				return l.elementwise(stem, l.in[0].dt, attr, &l.out, &l.in[0])
			case 2:
				return l.in[0].dt == l.in[1].dt && l.elementwise(stem, l.in[0].dt, attr, &l.out, &l.in[0], &l.in[1])
			}
			return ternary(stem, attr)(l)
		}, name)
	}
	register(func(l *launcher) bool { return l.elementwise("clamp", l.in[0].dt, pairAttr, &l.out, &l.in[0]) }, "clamp_")
	register(func(l *launcher) bool { return l.copy(&l.out, &l.in[0]) }, "contiguous", "to_device")
	register(launchMaskedFill, "masked_fill")
	register(launchGLU, "glu")
	register(launchGLUBackward, "glu_backward")
	register(launchPReLU, "prelu")
	register(launchPReLUBackward, "prelu_backward")
}

func ternary(stem string, attr func(c *amp.Call, m *mapArgs)) func(l *launcher) bool {
	return func(l *launcher) bool {
		a, b, c := &l.in[0], &l.in[1], &l.in[2]
		return a.dt == b.dt && b.dt == c.dt && l.elementwise(stem, a.dt, attr, &l.out, a, b, c)
	}
}

// cast queues the conversion of in to out.
func (l *launcher) cast(out, in *view) bool {
	f := l.kernel("cast", in.dt, out.dt)
	if f == 0 {
		return false
	}
	if !l.mapArgs.lay(out, in) {
		return l.inPieces(f, nil, out, in)
	}
	l.apply(f, out, in)
	return true
}

// Words move elements of any dtype by their size.
var wordStems = map[int][3]string{1: {"copy_w8", "fill_w8", "masked_fill_w8"}, 2: {"copy_w16", "fill_w16", "masked_fill_w16"},
	4: {"copy_w32", "fill_w32", "masked_fill_w32"}, 8: {"copy_w64", "fill_w64", "masked_fill_w64"}}

// copy queues a copy between tensors of one dtype.
func (l *launcher) copy(out, in *view) bool {
	f := l.kernel(wordStems[out.dt.Size()][0], amp.NoDType, amp.NoDType)
	if f == 0 {
		return false
	}
	if !l.mapArgs.lay(out, in) {
		return l.inPieces(f, nil, out, in)
	}
	l.apply(f, out, in)
	return true
}

// fill queues setting every element to a word of the dtype's size.
func (l *launcher) fill(out *view, word uint64) bool {
	f := l.kernel(wordStems[out.dt.Size()][1], amp.NoDType, amp.NoDType)
	if f == 0 {
		return false
	}
	if !l.mapArgs.lay(out) {
		return l.inPieces(f, func(m *mapArgs) { m.seed = word }, out)
	}
	l.mapArgs.seed = word
	l.apply(f, out)
	return true
}

func launchMaskedFill(l *launcher) bool {
	f := l.kernel(wordStems[l.out.dt.Size()][2], amp.NoDType, amp.NoDType)
	if f == 0 {
		return false
	}
	word := wordOf(l.out.dt, l.c.Scalar)
	if !l.mapArgs.lay(&l.out, &l.in[0], &l.in[1]) {
		return l.inPieces(f, func(m *mapArgs) { m.seed = word }, &l.out, &l.in[0], &l.in[1])
	}
	l.mapArgs.seed = word
	l.apply(f, &l.out, &l.in[0], &l.in[1])
	return true
}

// halfOf is one half of a view along dimension d.
func halfOf(v view, d, which int) view {
	v.shape[d] /= 2
	v.shift(which * v.shape[d] * v.stride[d])
	return v
}

func launchGLU(l *launcher) bool {
	d := l.c.Dims[0]
	a, b := halfOf(l.in[0], d, 0), halfOf(l.in[0], d, 1)
	return l.elementwise("glu", a.dt, nil, &l.out, &a, &b)
}

func launchGLUBackward(l *launcher) bool {
	d := l.c.Dims[0]
	dy, dt := l.in[0], l.in[0].dt
	a, b := halfOf(l.in[1], d, 0), halfOf(l.in[1], d, 1)
	da, db := halfOf(l.out, d, 0), halfOf(l.out, d, 1)
	return l.elementwise("glu", dt, nil, &da, &dy, &b) && l.elementwise("glu_gate_backward", dt, nil, &db, &dy, &a, &b)
}

// perChannel gives prelu's weight a shape that broadcasts to x.
func perChannel(w, x *view) view {
	v := *w
	if w.len() == 1 || x.rank < 2 {
		v.rank = 0
		return v
	}
	v.rank = x.rank - 1
	stride := w.stride[0]
	for d := range v.rank {
		v.shape[d], v.stride[d] = 1, 0
	}
	v.shape[0], v.stride[0] = w.shape[0], stride
	return v
}

func launchPReLU(l *launcher) bool {
	w := perChannel(&l.in[1], &l.in[0])
	return l.in[0].dt == w.dt && l.elementwise("prelu", w.dt, nil, &l.out, &l.in[0], &w)
}

func launchPReLUBackward(l *launcher) bool {
	w := perChannel(&l.in[2], &l.in[0])
	return ternaryOf(l, "prelu_backward", &l.in[0], &l.in[1], &w)
}

func ternaryOf(l *launcher, stem string, a, b, c *view) bool {
	return a.dt == b.dt && b.dt == c.dt && l.elementwise(stem, a.dt, nil, &l.out, a, b, c)
}
