package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Systems whose matrix is triangular.

var opSolveTriangular *Op

// A Triangular says which systems SolveTriangular solves; none of it set, a·x = b for a lower triangular a.
type Triangular struct {
	Upper bool // a is upper triangular
	Right bool // x·a = b (PyTorch's left=False)
	Unit  bool // the diagonal of a counts as 1 and is not read (unitriangular)
}

// triangularChecked is the mode of cholesky_inverse: a 0 on the diagonal is an error.
const triangularChecked = "inv"

func init() {
	opSolveTriangular = define(Op{
		Name: "linalg_solve_triangular", Doc: "the x with a·x = b for a triangular a; the other triangle is not read", Args: []string{"a", "b"}, Why: whyDense,
		CUDA: "triangular", Saves: SaveIn0 | SaveOut, Wide: true, CPU: triangularCPU,
		Singular: func(mode string) (op, what, fix string) {
			if mode == triangularChecked {
				return "cholesky_inverse", "matrix %d: element %d of its diagonal is 0", fixSingular
			}
			return
		},
		Check: func(c *Call) []int { // Reverse: upper; Keep: a unit diagonal; Mode: whether it may have a 0
			c.floats()
			c.system(1)
			return c.In[1].shape
		},
		Backward: func(b *Back) {
			s, at := b.S, b.Attrs()
			g := s.apply(opSolveTriangular, Attrs{Reverse: !at.Reverse, Keep: at.Keep}, mT(s, b.In(0)), b.DY)
			if b.Needs(0) {
				d := Neg(s, MatMul(s, g, mT(s, b.Out())))
				unit := 0
				if at.Keep {
					unit = 1
				}
				if at.Reverse {
					d = Triu(s, d, unit)
				} else {
					d = Tril(s, d, -unit)
				}
				b.Set(0, d)
			}
			b.Set(1, g)
		},
	})
}

// system checks that input 0 holds square matrices, and input i right-hand sides for them, of one batch.
func (c *Call) system(i int) {
	n := c.square(0)
	c.sameBatch(i)
	c.Op.sized(i, 2, n, c.In...)
}

func triangularCPU(c *Call) {
	a, b, out := c.In[0], c.In[1], c.Out
	r := len(b.shape)
	n, m, batch := b.shape[r-2], b.shape[r-1], b.shape[:r-2]
	var failed fault
	wide, pack := widenRoom(a, n), packRoom(n, m)
	eachDense(length(batch), n*n*m, wide+pack, func(g int, room []float64) {
		t := triangleOf(batchRows(a, batch, g), n, room[:wide])
		if failed.zero(c, g, &t) {
			return
		}
		t.Unit = c.Keep
		x := sides{from: batchRows(b, batch, g), out: out, at: out.off + g*n*m, n: n, m: m}
		if c.Reverse { // an upper triangle backwards is a lower one
			t = packed(t.Back(), room[wide:])
			x.each(func(x cpu.Sides) { t.Solve(x.Back(n)) })
			return
		}
		t = packed(t, room[wide:])
		x.each(t.Solve)
	})
	failed.raise(c)
}

// SolveTriangular returns the x of a·x = b for triangular matrices a [… n n] and b [… n m], or of x·a = b for b [… m n]; see Triangular. Batches
// are broadcast. The other triangle of a is not read. A diagonal with a 0 gives infinite numbers and NaN, as in PyTorch. It is computed in
// float64 and rounded once. (torch.linalg.solve_triangular)
func SolveTriangular(s *Scope, a, b *Tensor, opts Triangular) *Tensor {
	opSolveTriangular.need(a, b)
	matrices(opSolveTriangular.Name, a)
	matrices(opSolveTriangular.Name, b)
	if opts.Right {
		if n := len(a.shape); a.shape[n-1] != b.shape[len(b.shape)-1] { // before it is turned
			fail(opSolveTriangular.Name, ErrShape, "use matrices [… n n] and right-hand sides [… m n]", "a is %v, b %v", a.shape, b.shape)
		}
		return mT(s, SolveTriangular(s, mT(s, a), mT(s, b), Triangular{Upper: !opts.Upper, Unit: opts.Unit}))
	}
	return s.solveTriangular(a, b, Attrs{Reverse: opts.Upper, Keep: opts.Unit})
}

func (s *Scope) solveTriangular(a, b *Tensor, at Attrs) *Tensor {
	batch := batchOf(opSolveTriangular.Name, 2, a, b)
	return s.apply(opSolveTriangular, at, onBatch(s, a, batch), onBatch(s, b, batch))
}
