package amp

import (
	"math"
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// LU factors with partial pivoting, and the systems, inverses and determinants that are made of them. The row of factors gives float64, whatever
// the dtype, so that results are rounded once.

var opLU, opLUSolve, opLUDet *Op

// luMore is the number of columns behind those of the factors: the row, from 1, that changed places with each, and the order that made, from 0.
const luMore = 2

// Modes of lu_substitute and lu_determinant.
const (
	luChecked = ""       // a pivot that is 0 is an error, of linalg_solve
	luInverse = "inv"    // of linalg_inv
	luPlain   = "plain"  // it is taken as it is
	luNudged  = "nudged" // it becomes a small number: for the gradient of a determinant that is 0
	luLog     = "log"    // the logarithm of the determinant's amount
	luSign    = "sign"   // its sign
)

func init() {
	opLU = define(Op{
		Name: "lu_packed", Doc: "L and U of P·x = L·U in one matrix of float64, pivots by amount; then the pivots and the order of rows", Args: []string{"x"}, Why: whyDense,
		CUDA: "lu", Saves: SaveOut, CPU: luCPU, Backward: luBackward,
		Check: func(c *Call) []int {
			c.floats()
			n := c.square(0)
			shape := slices.Clone(c.In[0].shape)
			shape[len(shape)-1] = n + luMore
			return shape
		},
		Result: func(*Call) DType { return Float64 },
	})
	opLUSolve = define(Op{
		Name: "lu_substitute", Doc: "the x with a·x = b, or aᵀ·x = b, by the factors that lu_packed gives of a", Args: []string{"a", "b", "factors"}, Why: whyDense,
		CUDA: "lu_substitute", Saves: SaveIn0 | SaveIn2 | SaveOut, Wide: true, CPU: luSolveCPU,
		Singular: func(mode string) (op, what, fix string) {
			switch what = "matrix %d: pivot %d is 0"; mode {
			case luChecked:
				op = "linalg_solve"
			case luInverse:
				op = "linalg_inv"
			}
			return op, what, fixSingular
		},
		Check: func(c *Call) []int {
			c.isFloat(0)
			c.isFloat(1)
			c.sameDType(1)
			c.system(1)
			c.sameBatch(2)
			return c.In[1].shape
		},
		Backward: func(b *Back) { // Reverse: aᵀ
			s, at := b.S, b.Attrs()
			a, turned := b.In(0), at
			turned.Reverse = !at.Reverse
			g := s.apply(opLUSolve, turned, a, b.DY, b.In(2))
			if b.Needs(0) {
				y, z := g, b.Out()
				if at.Reverse {
					y, z = z, y
				}
				b.Set(0, Neg(s, MatMul(s, y, mT(s, z))))
			}
			b.Set(1, g)
		},
	})
	opLUDet = define(Op{
		Name: "lu_determinant", Doc: "the determinant of a, its sign, or the logarithm of its amount, by the factors that lu_packed gives of a", Args: []string{"a", "factors"}, Why: whyDense,
		CUDA: "lu_determinant", Saves: SaveIn0 | SaveIn1, CPU: luDetCPU,
		Check: func(c *Call) []int {
			c.isFloat(0)
			c.square(0)
			c.sameBatch(1)
			return c.In[0].shape[:len(c.In[0].shape)-2]
		},
		// Jacobi's formula: det(a)·a⁻ᵀ, the cofactors, and a⁻ᵀ for the logarithm. Cofactors of a singular matrix are those of one near to it. In
		// float64, since the determinant may be a very small number, or a large one, where the cofactors are neither.
		Backward: func(b *Back) {
			s, a, factors := b.S, To(b.S, b.In(0), Float64), b.In(1)
			n := a.shape[len(a.shape)-1]
			d, mode := To(s, b.DY, Float64), luPlain
			switch b.Attrs().Mode {
			case luSign:
				return
			case luLog:
			default:
				mode = luNudged
				d = Mul(s, d, s.apply(opLUDet, Attrs{Mode: luNudged}, a, factors))
			}
			d = onDiagonals(s, addDim(s, d, 0), n)
			b.Set(0, To(s, s.apply(opLUSolve, Attrs{Mode: mode, Reverse: true}, a, d, factors), b.DType(0)))
		},
	})
}

// orders lends memory for the pivots of a matrix, and the order of rows that they make.
var orders = sync.Pool{New: func() any { return new([]int) }}

func luCPU(c *Call) {
	x, out := c.In[0], c.Out
	n := c.square(0)
	batch := x.shape[:len(x.shape)-2]
	eachDense(length(batch), n*n*n, 0, func(g int, _ []float64) {
		a := elements[float64](out)[out.off+g*n*(n+luMore):][:n*(n+luMore)]
		own := orders.Get().(*[]int)
		defer orders.Put(own)
		*own = resize(*own, 2*n)
		rows, pivots, order := batchRows(x, batch, g), (*own)[:n], (*own)[n:]
		for i := range n {
			loadRow(a[i*(n+luMore):][:n], rows, i, 0)
			order[i] = i
		}
		cpu.LU(a, n, n+luMore, pivots)
		for k, at := range pivots {
			order[k], order[at] = order[at], order[k]
		}
		for i := range n {
			a[i*(n+luMore)+n], a[i*(n+luMore)+n+1] = float64(pivots[i]+1), float64(order[i])
		}
	})
}

// luBackward is the gradient of the factors of square matrices: Pᵀ·L⁻ᵀ·(tril(Lᵀ·dL, -1) + triu(dU·Uᵀ))·U⁻ᵀ, as PyTorch has it.
func luBackward(b *Back) {
	s, n := b.S, b.Shape(0)[len(b.Shape(0))-1]
	square := func(t *Tensor) *Tensor { return Narrow(s, t, -1, 0, n) }
	lu, g := square(b.Out()), square(b.DY)
	l, u := Add(s, Tril(s, lu, -1), identities(s, lu, n)), Triu(s, lu, 0)
	d := Add(s, Tril(s, MatMul(s, mT(s, l), Tril(s, g, -1)), -1), Triu(s, MatMul(s, Triu(s, g, 0), mT(s, u)), 0))
	d = SolveTriangular(s, mT(s, l), d, Triangular{Upper: true, Unit: true})
	d = SolveTriangular(s, mT(s, u), d, Triangular{Right: true})
	order := Argsort(s, Narrow(s, Detach(s, b.Out()), -1, n+1, 1), -2, false) // where each row of x has gone
	b.Set(0, To(s, Gather(s, d, -2, Expand(s, order, d.shape...)), b.DType(0)))
}

// nudgeOf is what stands for a pivot that is 0 in a mode.
func nudgeOf(mode string, f *cpu.Triangle) float64 {
	if mode != luNudged {
		return 0
	}
	most := 0.0
	for k := range f.N {
		most = max(most, math.Abs(f.At(k, k)))
	}
	if most == 0 {
		most = 1
	}
	return most * 0x1p-52
}

func luSolveCPU(c *Call) {
	b, factors, out := c.In[1], c.In[2], c.Out
	r := len(b.shape)
	n, m, batch := b.shape[r-2], b.shape[r-1], b.shape[:r-2]
	var failed fault
	pack := packRoom(n, m)
	eachDense(length(batch), n*n*m, 2*pack, func(g int, room []float64) {
		f := triangleOf(batchRows(factors, batch, g), n, nil)
		if failed.zero(c, g, &f) {
			return
		}
		f.Nudge = nudgeOf(c.Mode, &f)
		unit := f
		unit.Unit = true
		first, second := unit, f.Back() // L, and U backwards
		order := func(i int) int { return int(f.At(i, n+1)) }
		x := sides{from: batchRows(b, batch, g), out: out, at: out.off + g*n*m, n: n, m: m}
		if c.Reverse {
			first, second = f.Transposed(), unit.Transposed().Back()
			x.to = order
		} else {
			x.source = order
		}
		first, second = packed(first, room[:pack]), packed(second, room[pack:])
		x.each(func(x cpu.Sides) {
			first.Solve(x)
			second.Solve(x.Back(n))
		})
	})
	failed.raise(c)
}

func luDetCPU(c *Call) {
	factors, out := c.In[1], c.Out
	n, batch := c.square(0), out.shape
	eachDense(length(batch), n, 0, func(g int, _ []float64) {
		f := triangleOf(batchRows(factors, batch, g), n, nil)
		store(out, out.off+g, []float64{determinant(c.Mode, &f)})
	})
}

// determinant is what a mode of lu_determinant asks for of factors.
func determinant(mode string, f *cpu.Triangle) float64 {
	nudge := nudgeOf(mode, f)
	y, logs := 1.0, 0.0
	for k := range f.N {
		v := f.At(k, k)
		if v == 0 {
			v = nudge
		}
		if int(f.At(k, f.N)) != k+1 { // rows changed places
			y = -y
		}
		switch mode {
		case luLog:
			logs += cpu.Log.Of(math.Abs(v))
		case luSign:
			switch {
			case v < 0:
				y = -y
			case !(v > 0):
				y *= v
			}
		default:
			y *= v
		}
	}
	if mode == luLog {
		return logs
	}
	return y + 0 // no -0
}
