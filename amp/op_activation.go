package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Smooth activations. None is listed but softplus: they run in the dtype of their inputs. Each has a row of its own for its
// gradient, so that the slope is computed wide and rounded once.

var opGELU, opGELUTanh, opSiLU, opSoftplus, opELU, opSELU, opCELU, opMish, opSoftsign, opTanhshrink, opLogSigmoid, opHardswish *Op

const whyCloseToX = "close to x or to a bound, so it stays in the range of its input"

// A curve is a smooth function of one number: its value and slope, and in table ops g times its second derivative.
type curve struct {
	f, slope func(a *Attrs, x float64) float64

	of, slopeOf *cpu.Function   // instead of f and slope, where package cpu has them
	slopeBy     *cpu.LineKernel // dy times the slope, for float32

	// by and slopesBy, where not nil, are the passes for float32 that take the place of f and, times dy, of slope; nil for settings
	// that they are not for.
	by       func(a *Attrs) func(dst, x []float32)
	slopesBy func(a *Attrs) func(dst, x, dy []float32)

	bend  func(s *Scope, a *Attrs, x, g *Tensor) *Tensor
	bound float64 // the row's Bound
}

// smooth defines the row of a curve and that of its gradient, name_backward.
func smooth(name, doc string, class Class, why string, v curve) *Op {
	var slope *Op
	slope = define(Op{
		Name: name + "_backward", Doc: "dy times the slope of " + name + " at x", Args: []string{"dy", "x"}, Why: whyBackward, CUDA: name + "_backward", Saves: SaveIn0 | SaveIn1,
		Check: checkSlope, CPU: v.slopeCPU(),
		Backward: func(b *Back) { // linear in dy
			a, x := b.Attrs(), b.In(1)
			b.Set(0, b.S.apply(slope, a, b.DY, x))
			if b.Needs(1) {
				b.Set(1, v.bend(b.S, &a, x, Mul(b.S, b.DY, b.In(0))))
			}
		},
	})
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Class: class, Why: why, Bound: v.bound, CUDA: name, Saves: SaveIn0, Check: checkUnary,
		CPU:      v.valueCPU(),
		Backward: func(b *Back) { b.Set(0, b.S.apply(slope, b.Attrs(), b.DY, b.In(0))) },
	})
}

const whyBackward = "runs in the dtype its forward ran in"

func checkSlope(c *Call) []int {
	c.floats()
	c.sameShape()
	return c.In[0].shape
}

func (v curve) valueCPU() func(c *Call) {
	if v.of != nil {
		return mapped(v.of)
	}
	return func(c *Call) {
		a := c.Attrs
		if v.by != nil && c.In[0].dt != Float64 {
			if f := v.by(&a); f != nil {
				unaryOn(c.Out, c.In[0], f)
				return
			}
		}
		mapped(func(x float64) float64 { return v.f(&a, x) })(c)
	}
}

// slopeCPU makes the kernel of dy times the slope.
func (v curve) slopeCPU() func(c *Call) {
	if v.slopeOf != nil {
		compute := binary(v.slope32, slopeK[float64](v.slopeOf), nil)
		return func(c *Call) {
			if !halfPass(v.slopeBy, c.Out, []*Tensor{c.In[1], c.In[0]}) {
				compute(c)
			}
		}
	}
	return func(c *Call) {
		a := c.Attrs
		if v.slopesBy != nil && c.In[0].dt != Float64 {
			if f := v.slopesBy(&a); f != nil {
				binaryOn(c.Out, c.In[1], c.In[0], f)
				return
			}
		}
		binary(
			func(dst, dy, x []float32) {
				for i, y := range dy {
					dst[i] = float32(float64(y) * v.slope(&a, float64(x[i])))
				}
			},
			func(dst, dy, x []float64) {
				for i, y := range dy {
					dst[i] = y * v.slope(&a, x[i])
				}
			}, nil)(c)
	}
}

// slope32 multiplies dy by the slope at x.
func (v curve) slope32(dst, dy, x []float32) {
	w := lineWorks.Get().(*lineWork)
	w.F32[0], w.F32[1], w.F32[2] = x, dy, dst
	v.slopeBy.Run(len(dst), &w.Line)
	w.release()
}

// slopeK multiplies dy by a function of x.
func slopeK[T float32 | float64](slope *cpu.Function) func(dst, dy, x []T) {
	return func(dst, dy, x []T) {
		pool := scratches[float64]()
		s := pool.Get().(*scratch[float64])
		for len(x) > 0 {
			wide := s.buf[0][:min(chunk, len(x))]
			for i := range wide {
				wide[i] = float64(x[i])
			}
			slope.F64(wide, wide)
			for i, v := range wide {
				dst[i] = T(float64(dy[i]) * v)
			}
			n := len(wide)
			dst, dy, x = dst[n:], dy[n:], x[n:]
		}
		pool.Put(s)
	}
}

// byPass and slopesByPass are curve's fields of passes without settings.
func byPass(k *cpu.LineKernel) func(a *Attrs) func(dst, x []float32) {
	return func(*Attrs) func(dst, x []float32) { return pass(k) }
}

func slopesByPass(k *cpu.LineKernel) func(a *Attrs) func(dst, x, dy []float32) {
	return func(*Attrs) func(dst, x, dy []float32) { return pass2(k) }
}

func init() {
	opGELU = smooth("gelu", "x·Φ(x), Φ the normal distribution function", Unlisted, whyCloseToX, curve{
		bound: 4, // its slope is a sum that cancels below 0
		of:    cpu.Gelu, slopeOf: cpu.GeluSlope, slopeBy: &cpu.LineGeluGrad,
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // φ(x)·(2 - x²)
			square := Mul(s, x, x)
			density := MulScalar(s, Exp(s, MulScalar(s, square, -0.5)), 1/math.Sqrt(2*math.Pi))
			return Mul(s, g, Mul(s, density, AddScalar(s, Neg(s, square), 2)))
		},
	})
	opGELUTanh = smooth("gelu_tanh", "x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))", Unlisted, whyCloseToX, curve{
		bound: 4, // as gelu
		of:    cpu.GeluTanh, slopeOf: cpu.GeluTanhSlope, slopeBy: &cpu.LineGeluTanhGrad, bend: geluTanhBend,
	})
	opSiLU = smooth("silu", "x / (1 + e^-x)", Unlisted, whyCloseToX, curve{
		of: cpu.Silu, slopeOf: cpu.SiluSlope, slopeBy: &cpu.LineSiluGrad,
		bend: func(s *Scope, _ *Attrs, x, g *Tensor) *Tensor { // σ'·(2 + x·(1 - 2σ))
			y := Sigmoid(s, x)
			rest := AddScalar(s, Mul(s, x, AddScalar(s, MulScalar(s, y, -2), 1)), 2)
			return Mul(s, g, Mul(s, Mul(s, y, oneMinus(s, y)), rest))
		},
	})
	opSoftplus = smooth("softplus", "log(1 + e^(beta·x))/beta, and x where beta·x is above a threshold", FP32, whyExponential, curve{
		f: func(a *Attrs, x float64) float64 {
			if beta := a.Pair[0]; beta*x <= a.Pair[1] {
				return softplus(beta*x) / beta
			}
			return x
		},
		slope: func(a *Attrs, x float64) float64 {
			bx := a.Pair[0] * x
			if bx > a.Pair[1] {
				return 1
			}
			return sigmoid(bx) // also of NaN
		},
		by: func(a *Attrs) func(dst, x []float32) { return pass(&cpu.LineSoftplus, a.Pair[0], a.Pair[1]) },
		slopesBy: func(a *Attrs) func(dst, x, dy []float32) {
			return pass2(&cpu.LineSoftplusGrad, a.Pair[0], a.Pair[1])
		},
		bend: func(s *Scope, a *Attrs, x, g *Tensor) *Tensor {
			bx := MulScalar(s, x, a.Pair[0])
			y := Sigmoid(s, bx)
			g = MulScalar(s, Mul(s, g, Mul(s, y, oneMinus(s, y))), a.Pair[0])
			return positivePart(s, g, AddScalar(s, Neg(s, bx), a.Pair[1]))
		},
	})
}

// softplus is log(1 + e^x).
func softplus(x float64) float64 { return cpu.Softplus.Of(x) }

// positivePart returns g where y > 0, else 0, whatever g is there.
func positivePart(s *Scope, g, y *Tensor) *Tensor { return s.apply(opReLUBackward, Attrs{}, g, y) }

// The cubic inside of gelu's approximation.
const geluCubic = 0.044715

var geluRate = math.Sqrt(2 / math.Pi)

// geluTanhBend: (1 - t²)·(u' + x/2·(u" - 2·t·u'²)) for t = tanh u.
func geluTanhBend(s *Scope, _ *Attrs, x, g *Tensor) *Tensor {
	square := Mul(s, x, x)
	u := MulScalar(s, Mul(s, x, AddScalar(s, MulScalar(s, square, geluCubic), 1)), geluRate)
	t := Tanh(s, u)
	rate := MulScalar(s, AddScalar(s, MulScalar(s, square, 3*geluCubic), 1), geluRate)
	curved := Sub(s, MulScalar(s, x, 6*geluCubic*geluRate), MulScalar(s, Mul(s, t, Mul(s, rate, rate)), 2))
	sum := Add(s, rate, MulScalar(s, Mul(s, x, curved), 0.5))
	return Mul(s, g, Mul(s, oneMinus(s, Mul(s, t, t)), sum))
}

// GELU returns x·Φ(x), by the error function as PyTorch's default.
func GELU(s *Scope, x *Tensor) *Tensor { return s.apply(opGELU, Attrs{}, x) }

// GELUTanh returns the approximation of GELU by the hyperbolic tangent: PyTorch's gelu with approximate="tanh", as GPT-2 has it.
func GELUTanh(s *Scope, x *Tensor) *Tensor { return s.apply(opGELUTanh, Attrs{}, x) }

// SiLU returns x·sigmoid(x), also called swish.
func SiLU(s *Scope, x *Tensor) *Tensor { return s.apply(opSiLU, Attrs{}, x) }

// Softplus returns log(1 + e^x); float32 under autocast. PyTorch gives x above 20, where float32 can't tell the two apart.
func Softplus(s *Scope, x *Tensor) *Tensor { return SoftplusBeta(s, x, 1, math.Inf(1)) }

// SoftplusBeta returns log(1 + e^(beta·x))/beta, and x where beta·x is above threshold; float32 under autocast. It panics with
// ErrArgument for a beta of 0.
func SoftplusBeta(s *Scope, x *Tensor, beta, threshold float64) *Tensor {
	if beta == 0 || beta != beta {
		fail("softplus", ErrArgument, "use a beta other than 0; the usual one is 1", "beta %v", beta)
	}
	return s.apply(opSoftplus, Attrs{Pair: [2]float64{beta, threshold}}, x)
}
