package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// prelu, whose slope is learned, glu, whose second half gates the first, and softmin.

var opPReLU, opPReLUBackward, opGLU, opGLUBackward, opSoftmin *Op

func init() {
	opPReLU = define(Op{
		Name: "prelu", Doc: "x above 0, weight·x below, one weight for all or one per channel", Args: []string{"x", "weight"}, Class: Lower, CPUList: Lower,
		Why: "on the reference's lower list: as safe as relu, and its input comes from a convolution", CUDA: "prelu", Saves: SaveIn0 | SaveIn1,
		Check: checkPReLU,
		CPU: func(c *Call) {
			x, w := c.In[0], perChannel(c.In[1], c.In[0])
			binary(preluK[float32], preluK[float64], nil)(&Call{Op: c.Op, In: []*Tensor{x, w}, Out: c.Out})
		},
		Backward: func(b *Back) {
			x, w := b.In(0), b.In(1)
			if b.Needs(0) {
				b.Set(0, b.S.apply(opPReLUBackward, Attrs{}, b.DY, x, w))
			}
			if b.Needs(1) { // Σ dy·min(x, 0)
				b.Set(1, b.sumChannels(1, Neg(b.S, Mul(b.S, b.DY, ReLU(b.S, Neg(b.S, x))))))
			}
		},
	})
	opPReLUBackward = define(Op{
		Name: "prelu_backward", Doc: "dy where x > 0, else weight·dy", Args: []string{"dy", "x", "weight"}, Why: whyBackward, CUDA: "prelu_backward", Saves: SaveIn0 | SaveIn1 | SaveIn2,
		Check: func(c *Call) []int { c.floats(); c.sameShape(); return c.In[0].shape },
		CPU: func(c *Call) {
			w := perChannel(c.In[2], c.In[0])
			three(func(_ *Call, dy, x, w float64) float64 {
				if x > 0 {
					return dy
				}
				return w * dy
			})(&Call{Op: c.Op, In: []*Tensor{c.In[0], c.In[1], w}, Out: c.Out})
		},
		Backward: func(b *Back) { // linear in dy and in weight, flat in x
			dy, x := b.In(0), b.In(1)
			if b.Needs(0) {
				b.Set(0, b.S.apply(opPReLUBackward, Attrs{}, b.DY, x, b.In(2)))
			}
			if b.Needs(2) {
				g := Mul(b.S, b.DY, dy)
				b.Set(2, b.sumChannels(2, Sub(b.S, g, positivePart(b.S, g, x))))
			}
		},
	})
	opGLU = define(Op{
		Name: "glu", Doc: "a·sigmoid(b) for the two halves a and b of x along a dimension", Args: []string{"x"}, Why: whyCloseToX, CUDA: "glu", Saves: SaveIn0,
		Check: checkGLU,
		CPU: func(c *Call) {
			a, b := halves(c.In[0], c.Dims[0])
			binary(gluK[float32], gluK[float64], nil)(&Call{Op: c.Op, In: []*Tensor{a, b}, Out: c.Out})
		},
		Backward: func(b *Back) { b.Set(0, b.S.apply(opGLUBackward, b.Attrs(), b.DY, b.In(0))) },
	})
	opGLUBackward = define(Op{
		Name: "glu_backward", Doc: "dy·sigmoid(b) and dy·a·sigmoid'(b), one half after the other", Args: []string{"dy", "x"}, Why: whyBackward, CUDA: "glu_backward", Saves: SaveIn0 | SaveIn1,
		Check: func(c *Call) []int { c.floats(); return c.In[1].shape }, CPU: gluBackwardCPU, Backward: gluSecond,
	})
	opSoftmin = define(Op{
		Name: "softmin", Doc: "softmax of -x along one dimension", Args: []string{"x"}, Class: FP32, Why: "its softmax gives float32", CUDA: "softmax",
		Composite: []string{"neg", "softmax"}, Parts: ApartOnCUDA,
	})
}

func checkPReLU(c *Call) []int {
	c.floats()
	x, w := c.In[0], c.In[1]
	channels := 1
	if len(x.shape) > 1 {
		channels = x.shape[1]
	}
	if len(w.shape) > 1 || w.Len() != 1 && w.Len() != channels {
		fix := "use a weight of [1]"
		if channels > 1 {
			fix += fmt.Sprintf(" or of [%d], the size of dimension 1 of x", channels)
		}
		fail("prelu", ErrShape, fix, "%s", c.shapes())
	}
	return x.shape
}

// perChannel views a weight of one element, or one per channel, in a shape that broadcasts to x.
func perChannel(w, x *Tensor) *Tensor {
	v := *w
	if w.Len() == 1 || len(x.shape) < 2 {
		v.shape, v.strides = nil, nil
		return &v
	}
	v.shape, v.strides = make([]int, len(x.shape)-1), make([]int, len(x.shape)-1)
	for i := range v.shape {
		v.shape[i] = 1
	}
	v.shape[0], v.strides[0] = w.shape[0], w.strides[0]
	return &v
}

// sumChannels sums g over everything but the channels that input i, a weight of prelu, has.
func (b *Back) sumChannels(i int, g *Tensor) *Tensor {
	want := b.Shape(i)
	if length(want) == 1 {
		return Reshape(b.S, Sum(b.S, g), want...)
	}
	var dims []int
	for d := range g.shape {
		if d != 1 {
			dims = append(dims, d)
		}
	}
	return Sum(b.S, g, dims...)
}

func preluK[T float32 | float64](dst, x, w []T) {
	for i, v := range x {
		if !(v > 0) {
			v *= w[i]
		}
		dst[i] = v
	}
}

func checkGLU(c *Call) []int {
	c.floats()
	d := c.Dims[0]
	shape := slices.Clone(c.In[0].shape)
	if shape[d]%2 != 0 {
		fail("glu", ErrShape, "use a dimension of even size", "%s: dimension %d has %d elements", c.shapes(), d, shape[d])
	}
	shape[d] /= 2
	return shape
}

// halves views the two halves of a dimension.
func halves(x *Tensor, d int) (a, b *Tensor) {
	first, second := *x, *x
	first.shape = slices.Clone(x.shape)
	first.shape[d] /= 2
	second.shape = first.shape
	second.off += first.shape[d] * x.strides[d]
	return &first, &second
}

func gluK[T float32 | float64](dst, a, b []T) {
	var gates [256]float64
	for len(a) > 0 {
		gate := gates[:min(len(gates), len(a))]
		for i := range gate {
			gate[i] = float64(b[i])
		}
		cpu.Sigmoid.F64(gate, gate)
		for i, y := range gate {
			dst[i] = T(float64(a[i]) * y)
		}
		dst, a, b = dst[len(gate):], a[len(gate):], b[len(gate):]
	}
}

func gluBackwardCPU(c *Call) {
	dy, x, d := c.In[0], c.In[1], c.Dims[0]
	a, b := halves(x, d)
	da, db := halves(c.Out, d)
	for k, out := range []*Tensor{da, db} {
		w := newRowWalk(out, dy, a, b)
		pool := scratches[float64]()
		w.run(func(off [4]int, n int) {
			s := pool.Get().(*scratch[float64])
			g := fetch(&s.buf[0], dy, off[1], w.step[1], n)
			first := fetch(&s.buf[1], a, off[2], w.step[2], n)
			gate := fetch(&s.buf[2], b, off[3], w.step[3], n)
			dst := s.buf[3][:n]
			cpu.Sigmoid.F64(dst, gate)
			for i, v := range g {
				y := dst[i]
				dst[i] = v * y
				if k == 1 {
					dst[i] *= first[i] * (1 - y)
				}
			}
			if w.step[0] == 1 || n == 1 {
				store(out, off[0], dst)
			} else {
				for i := range dst {
					store(out, off[0]+i*w.step[0], dst[i:i+1])
				}
			}
			pool.Put(s)
		})
	}
}

// gluSecond is the gradient of glu_backward. With halves ga and gb of its own gradient, y = sigmoid(b) and y' = y·(1 - y):
// ga·y + gb·a·y' for dy, gb·dy·y' for a and dy·(ga·y' + gb·a·y'·(1 - 2y)) for b.
func gluSecond(b *Back) {
	s, d := b.S, b.Attrs().Dims[0]
	half := b.Shape(0)[d]
	split := func(t *Tensor) (*Tensor, *Tensor) { return Narrow(s, t, d, 0, half), Narrow(s, t, d, half, half) }
	ga, gb := split(b.DY)
	a, gate := split(b.In(1))
	y := Sigmoid(s, gate)
	rate := Mul(s, y, oneMinus(s, y))
	if b.Needs(0) {
		b.Set(0, Add(s, Mul(s, ga, y), Mul(s, gb, Mul(s, a, rate))))
	}
	if b.Needs(1) {
		g := Mul(s, b.In(0), rate)
		second := Add(s, ga, Mul(s, Mul(s, gb, a), AddScalar(s, MulScalar(s, y, -2), 1)))
		b.Set(1, Cat(s, d, Mul(s, gb, g), Mul(s, g, second)))
	}
}

// PReLU returns x above 0 and weight·x below. weight has one element, or as many as dimension 1 of x. In the lower dtype under
// autocast. It panics with ErrShape for another weight.
func PReLU(s *Scope, x, weight *Tensor) *Tensor { return s.apply(opPReLU, Attrs{}, x, weight) }

// GLU returns a·sigmoid(b) for the halves a and b of x along dim, whose size must be even and is halved.
func GLU(s *Scope, x *Tensor, dim int) *Tensor {
	x.live("glu")
	return s.apply(opGLU, Attrs{Dims: []int{x.axis("glu", dim)}}, x)
}

// Softmin returns Softmax of -x along dim. An explicit dtype wins over autocast, which otherwise gives float32.
func Softmin(s *Scope, x *Tensor, dim int, dtype ...DType) *Tensor {
	s, in := s.enter(opSoftmin, x)
	return Softmax(s, Neg(s, in[0]), dim, dtype...)
}
