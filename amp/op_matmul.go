package amp

import (
	"slices"
	"strconv"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opMatMul, opLinear *Op

const whyGEMM = "matrix product: half inputs, float32 accumulator, tensor cores"

func init() {
	opMatMul = define(Op{
		Name: "matmul", Doc: "matrix product of the last two dimensions, batch dimensions broadcast", Args: []string{"a", "b"},
		Class: Lower, CPUList: Lower, Why: whyGEMM, Ints: true, CUDA: "gemm", Saves: SaveIn0 | SaveIn1,
		Check: checkMatMul, CPU: matmulCPU,
		Backward: matmulBackward,
	})
	opLinear = define(Op{
		Name: "linear", Doc: "x·weightᵀ + bias, rounded once", Args: []string{"x", "weight", "bias"},
		Class: Lower, CPUList: Lower, Why: whyGEMM, CUDA: "linear", Saves: SaveIn0 | SaveIn1,
		Check: checkLinear, CPU: linearCPU, Backward: linearBackward, Whole: wholeLinear, Short: linearShort,
	})
}

// matmulBackward: da = dy·bᵀ, db = aᵀ·dy, summed over broadcast batches.
func matmulBackward(b *Back) {
	if b.Needs(0) {
		b.Set(0, b.sumTo(0, MatMul(b.S, b.DY, Transpose(b.S, b.In(1), -1, -2))))
	}
	if !b.Needs(1) {
		return
	}
	x, dy := b.In(0), b.DY
	if len(b.Shape(1)) == 2 && len(x.shape) > 2 { // one product over all batches sums before it rounds
		x, dy = asMatrix(b.S, x), asMatrix(b.S, dy)
	}
	b.Set(1, b.sumTo(1, MatMul(b.S, Transpose(b.S, x, -1, -2), dy)))
}

// MatMul returns the matrix product a·b. Two matrices [m k] and [k n] give [m n]; more dimensions are batches, broadcast; a
// vector counts as a row on the left and a column on the right, and its dimension goes. Half inputs are accumulated in
// float32 and rounded once. In the lower dtype under autocast.
func MatMul(s *Scope, a, b *Tensor) *Tensor {
	opMatMul.need(a, b)
	a.live("matmul")
	b.live("matmul")
	if len(a.shape) == 0 || len(b.shape) == 0 {
		fail("matmul", ErrShape, "use amp.Mul for a number, or amp.MulScalar", "a %v, b %v: both need at least one dimension", a.shape, b.shape)
	}
	rowVector, columnVector := len(a.shape) == 1, len(b.shape) == 1
	if rowVector {
		a = Reshape(s, a, 1, a.Len())
	}
	if columnVector {
		b = Reshape(s, b, b.Len(), 1)
	}
	y := s.apply(opMatMul, Attrs{}, a, b)
	if !rowVector && !columnVector {
		return y
	}
	shape := slices.Clone(y.shape)
	if columnVector {
		shape = shape[:len(shape)-1]
	}
	if rowVector {
		k := len(y.shape) - 2
		shape = slices.Delete(shape, k, k+1)
	}
	return Reshape(s, y, shape...)
}

// Linear returns x·weightᵀ + bias for x [… in], weight [out in] and bias [out] or nil: [… out]. In the lower dtype under autocast;
// half inputs are accumulated in float32 and rounded once, bias included. A weight [in] without a bias gives […]: the dot products.
func Linear(s *Scope, x, weight, bias *Tensor) *Tensor {
	opLinear.need(x, weight)
	if len(weight.shape) == 1 && bias == nil {
		return MatMul(s, x, weight)
	}
	if len(x.shape) > 2 {
		x = Contiguous(s, x) // so that all rows lie at one distance
	}
	return s.apply(opLinear, Attrs{}, x, weight, bias)
}

func checkMatMul(c *Call) []int {
	a, b := c.In[0], c.In[1]
	if a.dt == Bool {
		fail("matmul", ErrDType, "convert it with amp.To", "%s", c.shapes())
	}
	c.sameDType(1)
	m, k := a.shape[len(a.shape)-2], a.shape[len(a.shape)-1]
	if b.shape[len(b.shape)-2] != k {
		fail("matmul", ErrShape, "the last size of a must be the second last of b; amp.Transpose swaps them", "%s: %d against %d", c.shapes(), k, b.shape[len(b.shape)-2])
	}
	return append(batchShape(c), m, b.shape[len(b.shape)-1])
}

// batchShape broadcasts what comes before the two matrix dimensions.
func batchShape(c *Call) []int {
	a, b := *c.In[0], *c.In[1]
	a.shape, b.shape = a.shape[:len(a.shape)-2], b.shape[:len(b.shape)-2]
	return slices.Clone(broadcast(&Call{Op: c.Op, In: []*Tensor{&a, &b}}))
}

func matmulCPU(c *Call) {
	switch c.Out.dt {
	case Float64:
		batched[float64](c)
	case Int64:
		batched[int64](c)
	default:
		batched[float32](c)
	}
}

func checkLinear(c *Call) []int {
	c.floats()
	return linearShape(c)
}

func linearShape(c *Call) []int {
	x, w, bias := c.In[0], c.In[1], c.In[2]
	if len(w.shape) != 2 || len(x.shape) == 0 || x.shape[len(x.shape)-1] != w.shape[1] {
		fix := "x needs as many features as the layer was made for"
		if len(w.shape) == 2 {
			fix = "give x a last dimension of " + strconv.Itoa(w.shape[1]) + ", or make the layer with as many inputs as x has"
		}
		fail("linear", ErrShape, fix, "%s: need x [… in], weight [out in]", c.shapes())
	}
	if bias != nil && (len(bias.shape) != 1 || bias.shape[0] != w.shape[0]) {
		fail("linear", ErrShape, "bias needs one element per output", "%s", c.shapes())
	}
	return append(slices.Clone(x.shape[:len(x.shape)-1]), w.shape[0])
}

// linearShort says whether rows, in and out are multiples of what products of short numbers need: each is summed over once, forward or backward.
func linearShort(c *Call, multiple int) bool {
	x, w := c.In[0], c.In[1]
	return w.shape[0]%multiple == 0 && w.shape[1]%multiple == 0 && length(x.shape[:len(x.shape)-1])%multiple == 0
}

func linearCPU(c *Call) {
	if c.Out.dt == Float64 {
		linearOn[float64](c)
		return
	}
	linearOn[float32](c)
}

func linearOn[T cpu.Float](c *Call) {
	x, w, bias := c.In[0], c.In[1], c.In[2]
	k := len(x.shape) - 1
	rows := newReduction(x, []int{k})
	n, in := w.shape[0], w.shape[1]
	var add []T
	if bias != nil {
		add = make([]T, n)
		load(add, bias, bias.off, bias.strides[0])
	}
	a := operand[T](x, x.off, 0, x.strides[k])
	_, a.Row, _, _ = last(rows.kept, rows.keptStride)
	b := operand[T](w, w.off, w.strides[1], w.strides[0])
	to := productInto[T](c.Out, c.Out.off, n, nil)
	to.Bias = add
	cpu.GemmTo(rows.nKept, n, in, a, b, to)
}

// linearBackward: dx = dy·W, dW = dyᵀ·x, dbias = Σ dy, over all rows.
func linearBackward(b *Back) {
	dy := b.DY
	if b.Needs(0) {
		b.Set(0, MatMul(b.S, b.short(dy, ofResult, -1), b.short(b.In(1), 1, 0)))
	}
	rows := asMatrix(b.S, dy)
	if b.Needs(1) {
		x := asMatrix(b.S, b.In(0))
		b.Set(1, MatMul(b.S, Transpose(b.S, b.shortTurned(rows, ofResult), 0, 1), b.shortTurned(x, 0)))
	}
	if b.Needs(2) {
		b.Set(2, Sum(b.S, rows, 0))
	}
}

// asMatrix returns x with all dimensions but the last as one. (A size of -1 would not do: it can be anything where the last is 0.)
func asMatrix(s *Scope, x *Tensor) *Tensor {
	if len(x.shape) == 2 {
		return x
	}
	last := len(x.shape) - 1
	return Reshape(s, x, length(x.shape[:last]), x.shape[last])
}
