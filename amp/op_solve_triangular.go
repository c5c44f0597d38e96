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

func init() {
	opSolveTriangular = define(Op{
		Name: "linalg_solve_triangular", Doc: "the x with a·x = b for a triangular a; the other triangle is not read", Args: []string{"a", "b"}, Why: whyDense,
		CUDA: "triangular", Saves: SaveIn0 | SaveOut, Wide: true, CPU: triangularCPU,
		Check: func(c *Call) []int { // Reverse: upper; Keep: a unit diagonal
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
	if b := c.In[i].shape; b[len(b)-2] != n {
		fail(c.Op.Name, ErrShape, "use [… n n] and [… n m]", "%s", c.shapes())
	}
}

func triangularCPU(c *Call) {
	a, b, out := c.In[0], c.In[1], c.Out
	r := len(b.shape)
	n, m, batch := b.shape[r-2], b.shape[r-1], b.shape[:r-2]
	eachDense(length(batch), n*n*m, n*n+n*m, func(g int, room []float64) {
		t, x := room[:n*n], room[n*n:]
		loadMatrix(t, batchRows(a, batch, g), n, n, false, c.Reverse) // an upper triangle backwards is a lower one
		loadMatrix(x, batchRows(b, batch, g), n, m, false, false)
		solveLower(t, n, c.Keep, c.Reverse, x, m)
		store(out, out.off+g*n*m, x)
	})
}

// solveLower solves for x, n rows of m, whose order t, loaded backwards, has where upper.
func solveLower(t []float64, n int, unit, upper bool, x []float64, m int) {
	if upper {
		turnRows(x, n, m)
	}
	cpu.SolveLower(t, n, unit, x, m)
	if upper {
		turnRows(x, n, m)
	}
}

// SolveTriangular returns the x of a·x = b for triangular matrices a [… n n] and b [… n m], or of x·a = b for b [… m n]; see Triangular. Batches
// are broadcast. The other triangle of a is not read. A diagonal with a 0 gives infinite numbers and NaN, as in PyTorch. It is computed in
// float64 and rounded once. (torch.linalg.solve_triangular)
func SolveTriangular(s *Scope, a, b *Tensor, opts Triangular) *Tensor {
	opSolveTriangular.need(a, b)
	matrices(opSolveTriangular.Name, a)
	matrices(opSolveTriangular.Name, b)
	if opts.Right {
		return mT(s, SolveTriangular(s, mT(s, a), mT(s, b), Triangular{Upper: !opts.Upper, Unit: opts.Unit}))
	}
	batch := batchOf(opSolveTriangular.Name, 2, a, b)
	return s.apply(opSolveTriangular, Attrs{Reverse: opts.Upper, Keep: opts.Unit}, onBatch(s, a, batch), onBatch(s, b, batch))
}
