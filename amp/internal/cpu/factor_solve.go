package cpu

// Triangular systems, in float64.

// A Triangle is a lower triangular matrix of N rows anywhere in memory: its element (i, k) is Data[Off+i*Row+k*Step], unless it is packed.
type Triangle struct {
	Data           []float64
	Off, Row, Step int
	block          int // of a packed one: what is added from a block of columns to the next
	N              int
	Unit           bool    // the diagonal counts as 1 and is not read
	Nudge          float64 // what stands for a 0 on the diagonal, unless it is 0
}

// Back is the matrix, which is not packed, backwards in rows and columns: that of an upper triangle is a lower one.
func (t Triangle) Back() Triangle {
	t.Off += (t.N - 1) * (t.Row + t.Step)
	t.Row, t.Step = -t.Row, -t.Step
	return t
}

// At is element (i, k), also one beside the matrix.
func (t *Triangle) At(i, k int) float64 { return t.Data[t.place(i, k)] }

func (t *Triangle) place(i, k int) int { return t.Off + i*t.Row + k*t.Step + k/factorBlock*t.block }

// PackRoom is how many numbers Pack needs for n rows.
func PackRoom(n int) int { return (n + factorBlock - 1) / factorBlock * factorBlock * n }

// Pack returns a copy in room whose blocks of columns lie one behind the other, as systems with many columns read them again and again.
func (t Triangle) Pack(room []float64) Triangle {
	packed := t
	packed.Data, packed.Off, packed.Row, packed.Step, packed.block = room, 0, factorBlock, 1, (t.N-1)*factorBlock
	for p := 0; p < t.N; p += factorBlock {
		for i := p; i < t.N; i++ {
			row, from := room[packed.place(i, p):][:min(factorBlock, i-p+1)], t.place(i, p)
			for k := range row {
				row[k] = t.Data[from+k*t.Step]
			}
		}
	}
	return packed
}

// Transposed is what its name says.
func (t Triangle) Transposed() Triangle {
	t.Row, t.Step = t.Step, t.Row
	return t
}

// Sides are right-hand sides: row i is the M numbers from Data[Off+i*Row] on.
type Sides struct {
	Data   []float64
	Off    int
	Row, M int
}

// Back is n rows in reverse.
func (x Sides) Back(n int) Sides {
	x.Off += (n - 1) * x.Row
	x.Row = -x.Row
	return x
}

func (x *Sides) row(i int) []float64 { return x.Data[x.Off+i*x.Row:][:x.M] }

// SolveColumns is how many columns of right-hand sides are solved for at a time: as many as the fastest caches hold a block of.
const SolveColumns = 64

// Solve replaces x by T⁻¹·x.
func (t *Triangle) Solve(x Sides) {
	if x.M == 0 {
		return
	}
	Parallel((x.M+SolveColumns-1)/SolveColumns, grainFor(t.N*t.N*SolveColumns/2), func(lo, hi int) {
		for q := lo; q < hi; q++ {
			part := x
			part.Off += q * SolveColumns
			part.M = min(SolveColumns, x.M-q*SolveColumns)
			t.solve(&part)
		}
	})
}

func (t *Triangle) solve(x *Sides) {
	for p := 0; p < t.N; p += factorBlock {
		e := min(p+factorBlock, t.N)
		for i := p; i < e; i += 4 {
			to := min(i+4, e)
			t.update(x, i, to, p, i)
			for r := i; r < to; r++ {
				row := x.row(r)
				for k := i; k < r; k++ {
					minusRow(row, x.row(k), t.At(r, k))
				}
				t.divide(row, r)
			}
		}
		t.update(x, e, t.N, p, e)
	}
}

// update gives rows from to to-1 what they get from the solutions of rows p to e-1.
func (t *Triangle) update(x *Sides, from, to, p, e int) {
	if from < to && p < e {
		subtractRows(x.Data, x.Off+from*x.Row, x.Row, factor{t.Data, t.place(from, p), t.Row, t.Step}, x.Data, x.Off+p*x.Row, x.Row, to-from, x.M, e-p)
	}
}

func (t *Triangle) divide(row []float64, r int) {
	if t.Unit {
		return
	}
	d := t.At(r, r)
	if d == 0 && t.Nudge != 0 { // else a 0 keeps its sign
		d = t.Nudge
	}
	divideRow(row, d)
}
