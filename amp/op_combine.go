package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The promote list: ops of several inputs that all run in the widest dtype among them.

var opAddcmul, opAddcdiv, opAtan2, opDot *Op

const whyCombine = "combines numbers of different origin, so none may be narrowed"

func init() {
	opAddcmul = define(Op{
		Name: "addcmul", Doc: "x + c·a·b for a number c, broadcast", Args: []string{"x", "a", "b"}, Class: Promote, Why: whyCombine, Widens: true, Whole: wholeAddcmul, CUDA: "addcmul",
		Check: checkThree, CPU: threeLines(&cpu.LineAddcmul, func(c *Call, x, a, b float64) float64 { return x + float64(c.Scalar*a*b) }), Saves: SaveIn1 | SaveIn2,
		Wide: true,
		Backward: func(b *Back) {
			b.Set(0, b.sumTo(0, b.DY))
			dy := MulScalar(b.S, b.DY, b.Attrs().Scalar)
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Mul(b.S, dy, b.In(2))))
			}
			if b.Needs(2) {
				b.Set(2, b.sumTo(2, Mul(b.S, dy, b.In(1))))
			}
		},
	})
	opAddcdiv = define(Op{
		Name: "addcdiv", Doc: "x + c·a/b for a number c, broadcast", Args: []string{"x", "a", "b"}, Class: Promote, Why: whyCombine, Widens: true, CUDA: "addcdiv",
		Check: checkThree, CPU: threeLines(&cpu.LineAddcdiv, func(c *Call, x, a, b float64) float64 { return x + c.Scalar*a/b }), Saves: SaveIn1 | SaveIn2,
		Wide: true,
		Backward: func(b *Back) {
			b.Set(0, b.sumTo(0, b.DY))
			q := Div(b.S, MulScalar(b.S, b.DY, b.Attrs().Scalar), b.In(2))
			b.Set(1, b.sumTo(1, q))
			if b.Needs(2) {
				b.Set(2, b.sumTo(2, Neg(b.S, Mul(b.S, q, Div(b.S, b.In(1), b.In(2))))))
			}
		},
	})
	opAtan2 = define(Op{
		Name: "atan2", Doc: "angle of the point (x, y), broadcast", Args: []string{"y", "x"}, Class: Promote, Why: whyCombine, Widens: true, CUDA: "atan2", Floats: true,
		Check: checkBinary, CPU: binary(atan2K[float32], atan2K[float64], nil), Saves: SaveIn0 | SaveIn1,
		Wide: true,
		Backward: func(b *Back) { // (x·dy, -y·dx) / (x² + y²), and 0 at the origin
			y, x := b.In(0), b.In(1)
			square := Add(b.S, Mul(b.S, x, x), Mul(b.S, y, y))
			square = MaskedFill(b.S, square, Eq(b.S, square, Full(b.S, square.dt, 0)), math.Inf(1))
			g := Div(b.S, b.DY, square)
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, Mul(b.S, g, x)))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Neg(b.S, Mul(b.S, g, y))))
			}
		},
	})
	opDot = define(Op{
		Name: "dot", Doc: "Σ a·b of two vectors", Args: []string{"a", "b"}, Class: Promote, Why: whyCombine, Whole: wholeDot, CUDA: "dot", Saves: SaveIn0 | SaveIn1,
		Check: func(c *Call) []int {
			c.sameShape()
			if len(c.In[0].shape) != 1 {
				fail("dot", ErrShape, "use amp.MatMul for matrices", "%s: both must be vectors", c.shapes())
			}
			c.floats()
			return nil
		},
		CPU: func(c *Call) {
			sum := 0.0
			a, b := c.In[0].Float64s(), c.In[1].Float64s()
			for i, v := range a {
				sum += float64(v * b[i])
			}
			store(c.Out, c.Out.off, []float64{sum})
		},
		Backward: func(b *Back) {
			if b.Needs(0) {
				b.Set(0, Mul(b.S, b.DY, b.In(1)))
			}
			if b.Needs(1) {
				b.Set(1, Mul(b.S, b.DY, b.In(0)))
			}
		},
	})
}

func atan2K[T float32 | float64](dst, y, x []T) {
	for i, v := range y {
		dst[i] = T(cpu.Atan2(float64(v), float64(x[i])))
	}
}

// checkThree broadcasts three inputs of one dtype.
func checkThree(c *Call) []int {
	c.floats()
	return broadcast(&Call{Op: c.Op, In: []*Tensor{{dt: c.In[0].dt, shape: broadcast(c)}, c.In[2]}})
}

// three makes the kernel of a function of three inputs, computed in float64 and rounded once.
func three(f func(c *Call, x, a, b float64) float64) func(c *Call) {
	return func(c *Call) {
		pool := scratches[float64]()
		w := newRowWalk(c.Out, c.In[0], c.In[1], c.In[2])
		w.run(func(off [4]int, n int) {
			s := pool.Get().(*scratch[float64])
			x := fetch(&s.buf[0], c.In[0], off[1], w.step[1], n)
			a := fetch(&s.buf[1], c.In[1], off[2], w.step[2], n)
			b := fetch(&s.buf[2], c.In[2], off[3], w.step[3], n)
			dst := s.buf[3][:n]
			for i, v := range x {
				dst[i] = f(c, v, a[i], b[i])
			}
			store(c.Out, off[0], dst)
			pool.Put(s)
		})
	}
}

// threeLines makes the kernel of such a function that is computed in float32 by a line kernel, which has c.Scalar for a0; of float64 it is f.
func threeLines(k *cpu.LineKernel, f func(c *Call, x, a, b float64) float64) func(c *Call) {
	wide := three(f)
	return func(c *Call) {
		out := c.Out
		if out.dt == Float64 {
			wide(c)
			return
		}
		if halfPass(k, out, c.In, c.Scalar) {
			return
		}
		w := newRowWalk(out, c.In[0], c.In[1], c.In[2])
		size := chunk
		if out.dt == Float32 && w.step == [4]int{w.step[0], 1, 1, 1} {
			size = grain // nothing to widen
		}
		w.runBy(size, func(off [4]int, n int) {
			s, l := scratch32.Get().(*scratch[float32]), lineWorks.Get().(*lineWork)
			defer func() { scratch32.Put(s); l.release() }()
			for i, t := range c.In {
				l.F32[i] = fetch(&s.buf[i], t, off[i+1], w.step[i+1], n)
			}
			l.F32[3] = l.target(3, out, off[0], 1, n)
			dst := l.F32[3]
			l.Arg[0] = float32(c.Scalar)
			k.Run(n, &l.Line)
			l.write(out, off[0], 1, dst)
		})
	}
}

// Addcmul returns x + value·a·b; under autocast in the widest dtype of the three. Of integers it is an integer, for a whole value.
func Addcmul(s *Scope, x, a, b *Tensor, value float64) *Tensor {
	return s.apply(opAddcmul, Attrs{Scalar: value}, x, a, b)
}

// Addcdiv returns x + value·a/b; under autocast in the widest dtype of the three.
func Addcdiv(s *Scope, x, a, b *Tensor, value float64) *Tensor {
	return s.apply(opAddcdiv, Attrs{Scalar: value}, x, a, b)
}

// Atan2 returns the angle of the point (x, y) in radians; under autocast in the wider dtype of the two.
func Atan2(s *Scope, y, x *Tensor) *Tensor { return s.apply(opAtan2, Attrs{}, y, x) }

// Dot returns Σ a·b of two vectors, of floats or of integers; under autocast in the wider dtype of the two.
func Dot(s *Scope, a, b *Tensor) *Tensor { return s.apply(opDot, Attrs{}, a, b) }
