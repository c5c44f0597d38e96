package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of cdist and its gradient for sums of squares and of amounts, the orders 2 and 1, in float32: the rows of b are turned, so that
// one feature of many rows is a line, and two rows of a at a time meet four features.

const (
	pairColumns  = 512 // rows of b in a block, whose features lie side by side
	pairFeatures = 4   // that a pass takes
	turnedRows   = 16  // that are turned at a time: a cache line of their features
	pairSum      = 256 // features that are added up before the sum of all is touched: rounding grows with the number of additions
)

// pairLines are the rows of b, turned, and how those of a are compared with them.
type pairLines struct {
	n, m   int // rows of a and of b
	k      int // features
	padded int // features, filled up with zeros to whole passes
	turned *[]float32
	order  float64
}

// newPairLines looks whether the kernels are for these tensors and this order; nil if not.
func newPairLines(a, b *Tensor, order float64) *pairLines {
	p := &pairLines{n: a.shape[len(a.shape)-2], m: b.shape[len(b.shape)-2], k: a.shape[len(a.shape)-1], order: order}
	if a.dt == Float64 || b.dt == Float64 || order != 1 && order != 2 || p.m < shortLine || p.k == 0 {
		return nil
	}
	p.padded = (p.k + pairFeatures - 1) / pairFeatures * pairFeatures
	p.turned = turnedRoom.Get().(*[]float32)
	return p
}

// release keeps the room of the turned rows for the next call.
func (p *pairLines) release() { turnedRoom.Put(p.turned) }

var turnedRoom = sync.Pool{New: func() any { return new([]float32) }}

// turn reads the rows of b.
func (p *pairLines) turn(b matrixRows) {
	*p.turned = resize(*p.turned, p.padded*p.m)
	distanceWork((p.m+pairColumns-1)/pairColumns, pairColumns*p.padded, func(buf *pairBuffer, _ *lineWork, lo, hi int) {
		for j := lo; j < hi; j++ {
			first := j * pairColumns
			block, n := p.block(first)
			for y := 0; y < n; y += turnedRows {
				rows := min(turnedRows, n-y)
				some := buf.grow(&buf.rows, rows*p.k)
				for r := range rows {
					loadRow(some[r*p.k:][:p.k], b, first+y+r, 0)
				}
				cpu.Turn(block[y:], n, rows, p.k, some, p.k)
			}
			clear(block[p.k*n:])
		}
	})
}

// two reads row i of a and the one after it, itself again if it is the last, filled up with zeros.
func (p *pairLines) two(dst []float32, a matrixRows, i int) (last int) {
	last = min(i+1, p.n-1)
	for r, row := range [2]int{i, last} {
		line := dst[r*p.padded:][:p.padded]
		loadRow(line[:p.k], a, row, 0)
		clear(line[p.k:])
	}
	return last
}

// block is the features of some rows of b, from row first on, and how many rows those are.
func (p *pairLines) block(first int) (features []float32, n int) {
	n = min(pairColumns, p.m-first)
	return (*p.turned)[first*p.padded:][:n*p.padded], n
}

// distances sets two lines to the distances of two rows of a, which lie behind each other, from the rows of a block of b.
func (p *pairLines) distances(l *lineWork, sums, rows, features []float32, n int) {
	kernel := &cpu.LineSquaresApart
	if p.order == 1 {
		kernel = &cpu.LineAmountsApart
	}
	total := sums[:2*n]
	part := total
	if p.padded > pairSum {
		part = sums[2*n:][:2*n]
		clear(total)
	}
	for begin := 0; begin < p.padded; begin += pairSum {
		clear(part)
		l.F32[4], l.F32[5] = part[:n], part[n:]
		for q := begin; q < min(begin+pairSum, p.padded); q += pairFeatures {
			for x := range pairFeatures {
				l.F32[x] = features[(q+x)*n:][:n]
			}
			copy(l.Arg[:4], rows[q:])
			copy(l.Arg[4:], rows[p.padded+q:])
			kernel.Run(n, &l.Line)
		}
		if p.padded > pairSum {
			l.F32[0], l.F32[1], l.F32[2] = total, part, total
			cpu.LineAdd.Run(2*n, &l.Line)
		}
	}
	if p.order == 2 {
		l.F32[0], l.F32[1] = total, total
		cpu.LineSqrt.Run(2*n, &l.Line)
	}
}

// cdistLines says whether it was for it.
func cdistLines(c *Call) bool {
	a, b, out := c.In[0], c.In[1], c.Out
	p := newPairLines(a, b, c.Scalar)
	if p == nil {
		return false
	}
	defer p.release()
	blocks, pairs := (p.m+pairColumns-1)/pairColumns, (p.n+1)/2
	eachBatch(a, b, out.shape[:len(out.shape)-2], func(g int, a, b matrixRows) {
		p.turn(b)
		distanceWork(blocks*pairs, min(p.m, pairColumns)*p.k, func(buf *pairBuffer, l *lineWork, lo, hi int) {
			rows := buf.grow(&buf.row, 2*p.padded)
			for t := lo; t < hi; t++ {
				first, i := t/pairs*pairColumns, t%pairs*2
				features, n := p.block(first)
				sums := buf.grow(&buf.sums, 4*n)
				last := p.two(rows, a, i)
				p.distances(l, sums, rows, features, n)
				for r := i; r <= last; r++ {
					store(out, out.off+(g*p.n+r)*p.m+first, sums[(r-i)*n:][:n])
				}
			}
		})
	})
	return true
}

// cdistBackwardLines adds up, for each row of a and each feature, the differences from the rows of b, times dy over the distance (times dy with
// the sign of the difference for order 1). It says whether it was for it.
func cdistBackwardLines(c *Call) bool {
	dy, a, b, out := c.In[0], c.In[1], c.In[2], c.Out
	if dy.dt == Float64 {
		return false
	}
	p := newPairLines(a, b, c.Scalar)
	if p == nil {
		return false
	}
	defer p.release()
	pull := &cpu.LinePull
	if p.order == 1 {
		pull = &cpu.LinePullSign
	}
	batch := dy.shape[:len(dy.shape)-2]
	eachBatch(a, b, batch, func(g int, a, b matrixRows) {
		p.turn(b)
		dy := batchRows(dy, batch, g)
		distanceWork((p.n+1)/2, 4*p.m*p.k, func(buf *pairBuffer, l *lineWork, lo, hi int) {
			rows, total := buf.grow(&buf.row, 2*p.padded), buf.grow(&buf.line, 2*p.padded)
			for t := lo; t < hi; t++ {
				i := 2 * t
				last := p.two(rows, a, i)
				clear(total)
				for first := 0; first < p.m; first += pairColumns {
					features, n := p.block(first)
					sums, weights := buf.grow(&buf.sums, 4*n), buf.grow(&buf.weights, n)
					if p.order == 2 {
						p.distances(l, sums, rows, features, n)
					}
					for r := i; r <= last; r++ {
						loadRow(weights, dy, r, first)
						if p.order == 2 {
							overDistance(weights, sums[(r-i)*n:][:n])
						}
						k := (r - i) * p.padded
						p.pull(pull, l, total[k:][:p.padded], rows[k:][:p.padded], features, weights)
					}
				}
				for r := i; r <= last; r++ {
					store(out, out.off+(g*p.n+r)*p.k, total[(r-i)*p.padded:][:p.k])
				}
			}
		})
	})
	return true
}

// overDistance divides by distances; rows in one place pull nowhere.
func overDistance(w, distance []float32) {
	for j, d := range distance {
		if d == 0 {
			w[j] = 0
			continue
		}
		w[j] /= d
	}
}

// pull adds what the rows of a block of b give to the features of a row of a.
func (p *pairLines) pull(kernel *cpu.LineKernel, l *lineWork, total, row, features, weights []float32) {
	n := len(weights)
	l.F32[2] = weights
	for q := 0; q < p.padded; q += 2 {
		l.F32[0], l.F32[1] = features[q*n:][:n], features[(q+1)*n:][:n]
		l.Arg[0], l.Arg[1] = row[q], row[q+1]
		clear(l.Acc[0][:])
		clear(l.Acc[1][:])
		kernel.Run(n, &l.Line)
		for k := range 2 {
			total[q+k] += float32(l.Acc[k].Sum())
		}
	}
}
