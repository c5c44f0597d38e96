package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// minimum, maximum and lerp of two tensors.

var opMaximum, opMinimum, opLerp, opLerpScalar *Op

func init() {
	opMaximum = extremum("maximum", "the larger of a and b", &cpu.LineMaximum, pass2OrShort(&cpu.LineMaximum, maximumK[float32]), maximumK[float64], maximumK[int64], func(s *Scope, a, b *Tensor) *Tensor { return Lt(s, a, b) })
	opMinimum = extremum("minimum", "the smaller of a and b", &cpu.LineMinimum, pass2OrShort(&cpu.LineMinimum, minimumK[float32]), minimumK[float64], minimumK[int64], func(s *Scope, a, b *Tensor) *Tensor { return Gt(s, a, b) })
	opMaximum.Whole, opMinimum.Whole = ofBools(LogicalOr), ofBools(LogicalAnd)
	opLerp = define(Op{
		Name: "lerp", Doc: "a + weight·(b - a), broadcast", Args: []string{"a", "b", "weight"}, Why: "between its inputs", CUDA: "lerp", Wide: true, Saves: SaveIn0 | SaveIn1 | SaveIn2,
		Check: checkThree, CPU: threeLines(&cpu.LineLerp, func(_ *Call, a, b, w float64) float64 { return lerp(a, b, w) }),
		Backward: func(b *Back) {
			dy, w := b.DY, b.In(2)
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, Mul(b.S, dy, oneMinus(b.S, w))))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Mul(b.S, dy, w)))
			}
			if b.Needs(2) {
				b.Set(2, b.sumTo(2, Mul(b.S, dy, Sub(b.S, b.In(1), b.In(0)))))
			}
		},
	})
	opLerpScalar = define(Op{
		Name: "lerp_scalar", Doc: "a + c·(b - a) for a number c, broadcast", Args: []string{"a", "b"}, Why: "between its inputs", CUDA: "lerp_scalar", Check: checkBinary,
		CPU: func(c *Call) {
			w := c.Scalar
			if halfPass(&cpu.LineLerpNumber, c.Out, c.In, w) {
				return
			}
			binary(pass2(&cpu.LineLerpNumber, w), func(dst, x, y []float64) {
				for i, v := range x {
					dst[i] = lerp(v, y[i], w)
				}
			}, nil)(c)
		},
		Backward: func(b *Back) {
			w := b.Attrs().Scalar
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, MulScalar(b.S, b.DY, 1-w)))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, MulScalar(b.S, b.DY, w)))
			}
		},
	})
}

// extremum defines maximum or minimum; loses says where a does not count. Equal elements share the gradient.
func extremum(name, doc string, halves *cpu.LineKernel, f32 func(dst, x, y []float32), f64 func(dst, x, y []float64), i64 func(dst, x, y []int64), loses func(s *Scope, a, b *Tensor) *Tensor) *Op {
	return define(Op{
		Name: name, Doc: doc + "; NaN where either is, broadcast", Args: []string{"a", "b"}, Why: whyChoose, Widens: true, Ints: true, CUDA: name, Saves: SaveIn0 | SaveIn1,
		Check: checkBinary, CPU: inHalves(halves, binary(f32, f64, i64)),
		Backward: func(b *Back) {
			x, y := b.In(0), b.In(1)
			equal := Eq(b.S, x, y)
			half, zero := MulScalar(b.S, b.DY, 0.5), constant(b.S, b.DY.dt, 0)
			share := func(i int, lost *Tensor) {
				b.Set(i, b.sumTo(i, Where(b.S, equal, half, Where(b.S, lost, zero, b.DY))))
			}
			if b.Needs(0) {
				share(0, loses(b.S, x, y))
			}
			if b.Needs(1) {
				share(1, loses(b.S, y, x))
			}
		},
	})
}

func maximumK[T number](dst, x, y []T) {
	for i, v := range x {
		dst[i] = max(v, y[i])
	}
}

func minimumK[T number](dst, x, y []T) {
	for i, v := range x {
		dst[i] = min(v, y[i])
	}
}

// Maximum returns the larger of a and b elementwise, NaN where either is; broadcast. Equal elements share the gradient.
func Maximum(s *Scope, a, b *Tensor) *Tensor { return s.apply(opMaximum, Attrs{}, a, b) }

// Minimum returns the smaller of a and b elementwise, NaN where either is; broadcast. Equal elements share the gradient.
func Minimum(s *Scope, a, b *Tensor) *Tensor { return s.apply(opMinimum, Attrs{}, a, b) }

// Lerp returns a + weight·(b - a) for tensors of one dtype, broadcast; a 0-dimensional weight may have another.
func Lerp(s *Scope, a, b, weight *Tensor) *Tensor {
	opLerp.need(a, b, weight)
	if len(weight.shape) == 0 && a.dt.IsFloat() {
		weight = To(s, weight, a.dt)
	}
	return s.apply(opLerp, Attrs{}, a, b, weight)
}

// LerpScalar returns a + weight·(b - a) for a number weight; a and b have one dtype and are broadcast.
func LerpScalar(s *Scope, a, b *Tensor, weight float64) *Tensor {
	return s.apply(opLerpScalar, Attrs{Scalar: weight}, a, b)
}
