package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// sign and abs; comparisons, where and clamp: rows that choose instead of computing.

var opSign, opAbs, opWhere, opEq, opNe, opLt, opLe, opGt, opGe *Op

const whyChoose = "only chooses among its inputs: exact in any dtype"

func init() {
	opSign = define(Op{
		Name: "sign", Doc: "-1, 0 or 1; NaN stays NaN", Args: []string{"x"}, Why: "exact in any dtype", CUDA: "sign", Check: checkUnary, Whole: wholeSign,
		CPU: mappedBy(&cpu.LineSign, func(x float64) float64 {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return x
		}),
		Backward: func(b *Back) { b.Set(0, b.flat(0)) }, // but at 0
	})
	opAbs = define(Op{
		Name: "abs", Doc: "|x|", Args: []string{"x"}, Why: "exact in any dtype", CUDA: "abs", Check: checkUnary, Whole: wholeAbs, Saves: SaveIn0,
		CPU: inHalves(&cpu.LineAbs, unary(pass(&cpu.LineAbs), func(dst, x []float64) {
			for i, v := range x {
				dst[i] = math.Abs(v)
			}
		})),
		Backward: func(b *Back) { b.Set(0, Mul(b.S, b.DY, Sign(b.S, b.In(0)))) },
	})
	opWhere = define(Op{
		Name: "where", Doc: "a where mask is not 0, else b; broadcast", Args: []string{"mask", "a", "b"}, Why: whyChoose, Widens: true, Ints: true, CUDA: "where",
		Check: checkWhere, CPU: whereCPU, Saves: SaveIn0,
		Backward: func(b *Back) {
			zero := constant(b.S, b.DY.dt, 0) // not 0·dy, which is NaN where dy is infinite
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, b.S.apply(opWhere, Attrs{}, b.In(0), b.DY, zero)))
			}
			if b.Needs(2) {
				b.Set(2, b.sumTo(2, b.S.apply(opWhere, Attrs{}, b.In(0), zero, b.DY)))
			}
			if b.Needs(0) { // flat in the mask
				b.Set(0, b.flat(0))
			}
		},
	})
	opEq = comparison("eq", "a = b", func(o order) bool { return o == equal })
	opNe = comparison("ne", "a ≠ b", func(o order) bool { return o != equal })
	opLt = comparison("lt", "a < b", func(o order) bool { return o == less })
	opLe = comparison("le", "a ≤ b", func(o order) bool { return o == less || o == equal })
	opGt = comparison("gt", "a > b", func(o order) bool { return o == greater })
	opGe = comparison("ge", "a ≥ b", func(o order) bool { return o == greater || o == equal })
}

// flat is the gradient of input i where the result does not change with it: zeros, whatever dy is; 0·dy would be NaN where dy is infinite.
func (b *Back) flat(i int) *Tensor {
	return b.S.Own(ZerosOn(b.DY, b.DY.dt, b.Shape(i)...))
}

// order is how two numbers compare; NaN compares with nothing.
type order uint8

const (
	unordered order = iota
	less
	equal
	greater
)

func compareK[T number](holds func(order) bool) func(dst, x, y []T) {
	return func(dst, x, y []T) {
		for i, v := range x {
			o := unordered
			switch w := y[i]; {
			case v < w:
				o = less
			case v == w:
				o = equal
			case v > w:
				o = greater
			}
			dst[i] = 0
			if holds(o) {
				dst[i] = 1
			}
		}
	}
}

// comparePass is compareK for float32.
func comparePass(holds func(order) bool) func(dst, x, y []float32) {
	var number [4]float64
	for i, o := range []order{less, equal, greater, unordered} {
		if holds(o) {
			number[i] = 1
		}
	}
	return pass2(&cpu.LineCompare, number[:]...)
}

// comparison defines a row with a bool result, true where holds says so.
func comparison(name, doc string, holds func(order) bool) *Op {
	return define(Op{
		Name: name, Doc: doc + ", broadcast, as bool", Args: []string{"a", "b"}, Why: "compares in the widest dtype of its inputs", Widens: true, Ints: true, CUDA: name,
		Check: func(c *Call) []int { c.sameDType(1); return broadcast(c) }, Result: func(*Call) DType { return Bool },
		CPU: binary(comparePass(holds), compareK[float64](holds), compareK[int64](holds)),
	})
}

func checkWhere(c *Call) []int {
	c.sameDType(1)
	c.sameDType(2)
	shape := broadcast(c)
	return broadcast(&Call{Op: c.Op, In: []*Tensor{{dt: c.In[0].dt, shape: shape}, c.In[2]}})
}

func whereCPU(c *Call) {
	switch c.Out.dt {
	case Float64:
		whereOn[float64](c)
	case Int64, Bool:
		whereOn[int64](c)
	default:
		whereOn[float32](c)
	}
}

func whereOn[T number](c *Call) {
	mask, x, y, out := c.In[0], c.In[1], c.In[2], c.Out
	w := newRowWalk(out, mask, x, y)
	pool := scratches[T]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		m := fetch(&s.buf[0], mask, off[1], w.step[1], n)
		a := fetch(&s.buf[1], x, off[2], w.step[2], n)
		b := fetch(&s.buf[2], y, off[3], w.step[3], n)
		dst := s.buf[3][:n]
		if short, ok := any(dst).([]float32); ok {
			l := lineWorks.Get().(*lineWork)
			l.F32[0], l.F32[1], l.F32[2], l.F32[3] = any(m).([]float32), any(a).([]float32), any(b).([]float32), short
			cpu.LineWhere.Run(n, &l.Line)
			l.release()
			store(out, off[0], dst)
			pool.Put(s)
			return
		}
		for i, v := range m {
			dst[i] = b[i]
			if v != 0 {
				dst[i] = a[i]
			}
		}
		store(out, off[0], dst)
		pool.Put(s)
	})
}

// Sign returns -1, 0 or 1.
func Sign(s *Scope, x *Tensor) *Tensor { return s.apply(opSign, Attrs{}, x) }

// Abs returns |x|. Its gradient at 0 is 0.
func Abs(s *Scope, x *Tensor) *Tensor { return s.apply(opAbs, Attrs{}, x) }

// Where returns a where cond is true (not 0), else b; shapes are broadcast, and a and b brought to their common dtype.
func Where(s *Scope, cond, a, b *Tensor) *Tensor {
	for _, t := range []*Tensor{cond, a, b} {
		t.live("where")
	}
	in := s.bring(opWhere, []*Tensor{cond, a, b})
	cond, a, b = in[0], in[1], in[2]
	// A mask is no number: it takes the dtype of the others rather than deciding it.
	common := opAdd.common([]*Tensor{a, b})
	if promoteTypes(cond.dt, common) != common { // a small one is not 0, but would round to it
		cond = To(s, cond, Bool)
	}
	cond = To(s, cond, common)
	return s.apply(opWhere, Attrs{}, cond, a, b)
}

// Eq returns a = b elementwise, as bool.
func Eq(s *Scope, a, b *Tensor) *Tensor { return s.apply(opEq, Attrs{}, a, b) }

// Ne returns a ≠ b elementwise, as bool; NaN differs from everything.
func Ne(s *Scope, a, b *Tensor) *Tensor { return s.apply(opNe, Attrs{}, a, b) }

// Lt returns a < b elementwise, as bool.
func Lt(s *Scope, a, b *Tensor) *Tensor { return s.apply(opLt, Attrs{}, a, b) }

// Le returns a ≤ b elementwise, as bool.
func Le(s *Scope, a, b *Tensor) *Tensor { return s.apply(opLe, Attrs{}, a, b) }

// Gt returns a > b elementwise, as bool.
func Gt(s *Scope, a, b *Tensor) *Tensor { return s.apply(opGt, Attrs{}, a, b) }

// Ge returns a ≥ b elementwise, as bool.
func Ge(s *Scope, a, b *Tensor) *Tensor { return s.apply(opGe, Attrs{}, a, b) }
