package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Right-hand sides of triangular systems, which are solved for a few columns at a time.

// widenRoom is how many numbers triangleOf needs for a matrix of n rows.
func widenRoom(t *Tensor, n int) int {
	if t.dt == Float64 {
		return 0
	}
	return n * n
}

// triangleOf is a matrix as triangular systems read it: where it lies if that is in float64, else widened into room.
func triangleOf(x matrixRows, n int, room []float64) cpu.Triangle {
	if x.t.dt == Float64 {
		return cpu.Triangle{Data: elements[float64](x.t), Off: x.off, Row: x.stride, Step: x.step, N: n}
	}
	loadMatrix(room, x, n, n)
	return cpu.Triangle{Data: room, Row: n, Step: 1, N: n}
}

// packFrom is for how many right-hand sides it pays to pack a triangle.
const packFrom = 16

// packRoom is how many numbers packed needs for a matrix of n rows and m right-hand sides.
func packRoom(n, m int) int {
	if m < packFrom {
		return 0
	}
	return cpu.PackRoom(n)
}

// packed is t as systems with so much room for a copy read it best.
func packed(t cpu.Triangle, room []float64) cpu.Triangle {
	if len(room) == 0 {
		return t
	}
	return t.Pack(room)
}

// sides are n right-hand sides of m columns, and where their solutions go.
type sides struct {
	from       matrixRows
	out        *Tensor
	at         int             // the first element of the result
	n, m       int             // rows, columns
	source, to func(i int) int // the row of from that is row i of the system, and the row of out that row i of the solution is; nil: i
}

// each has f solve for some columns after others.
func (x *sides) each(f func(x cpu.Sides)) {
	groups := (x.m + cpu.SolveColumns - 1) / cpu.SolveColumns
	cpu.Parallel(groups, grainOf(x.n*x.n*cpu.SolveColumns/2), func(lo, hi int) {
		own := rowPool.Get().(*[]float64)
		defer rowPool.Put(own)
		for q := lo; q < hi; q++ {
			first := q * cpu.SolveColumns
			count := min(cpu.SolveColumns, x.m-first)
			room := sized(own, x.n*count)
			for i := range x.n {
				loadRow(room[i*count:(i+1)*count], x.from, rowAt(x.source, i), first)
			}
			f(cpu.Sides{Data: room, Row: count, M: count})
			if x.to == nil && count == x.m {
				store(x.out, x.at, room)
				continue
			}
			for i := range x.n {
				store(x.out, x.at+rowAt(x.to, i)*x.m+first, room[i*count:(i+1)*count])
			}
		}
	})
}

func rowAt(order func(i int) int, i int) int {
	if order == nil {
		return i
	}
	return order(i)
}
