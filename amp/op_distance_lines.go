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

// pairLines are a batch of b, turned, and what its rows are compared with.
type pairLines struct {
	a, b   *Tensor
	n, m   int // rows of a and of b
	k      int // features
	padded int // features, filled up with zeros to whole passes
	turned []float32
	order  float64
}

// newPairLines looks whether the kernels are for these tensors and this order; nil if not.
func newPairLines(a, b *Tensor, order float64) *pairLines {
	p := &pairLines{a: a, b: b, n: a.shape[len(a.shape)-2], m: b.shape[len(b.shape)-2], k: a.shape[len(a.shape)-1], order: order}
	if a.dt == Float64 || b.dt == Float64 || order != 1 && order != 2 || p.m < shortLine || p.k == 0 {
		return nil
	}
	p.padded = (p.k + pairFeatures - 1) / pairFeatures * pairFeatures
	p.turned = *turnedRoom.Get().(*[]float32)
	return p
}

// release keeps the room of the turned rows for the next call.
func (p *pairLines) release() { turnedRoom.Put(&p.turned) }

var turnedRoom = sync.Pool{New: func() any { return new([]float32) }}

// turn reads the batch of b that begins at off.
func (p *pairLines) turn(off int) {
	p.turned = resize(p.turned, p.padded*p.m)
	row, feature := p.b.strides[len(p.b.shape)-2], p.b.strides[len(p.b.shape)-1]
	cpu.Parallel((p.m+pairColumns-1)/pairColumns, grainOf(pairColumns*p.padded), func(lo, hi int) {
		b := pairBuffers.Get().(*pairBuffer)
		defer pairBuffers.Put(b)
		for j := lo; j < hi; j++ {
			first := j * pairColumns
			n := min(pairColumns, p.m-first)
			block := p.turned[first*p.padded:][:n*p.padded]
			for y := 0; y < n; y += turnedRows {
				rows := min(turnedRows, n-y)
				some := b.grow(&b.rows, rows*p.k)
				for r := range rows {
					load(some[r*p.k:][:p.k], p.b, off+(first+y+r)*row, feature)
				}
				turnRows(block[y:], n, some, rows, p.k)
			}
			clear(block[p.k*n:])
		}
	})
}

// turnRows writes rows of k numbers, at most turnedRows, as columns that are n apart.
func turnRows(dst []float32, n int, src []float32, rows, k int) {
	for q := range k {
		to, at := dst[q*n:][:rows], q
		for r := range to {
			to[r] = src[at]
			at += k
		}
	}
}

// A pairBuffer is one worker's.
type pairBuffer struct {
	rows, row, sums, line, weights []float32
}

var pairBuffers = sync.Pool{New: func() any { return new(pairBuffer) }}

func (b *pairBuffer) grow(s *[]float32, n int) []float32 { *s = resize(*s, n); return *s }

// row reads row i of the batch of a that begins at off into dst, which has room for the features as they are padded.
func (p *pairLines) row(dst []float32, off, i int) {
	r := len(p.a.shape)
	load(dst[:p.k], p.a, off+i*p.a.strides[r-2], p.a.strides[r-1])
	clear(dst[p.k:])
}

// block is the features of some rows of b, from row first on, and how many rows those are.
func (p *pairLines) block(first int) (features []float32, n int) {
	n = min(pairColumns, p.m-first)
	return p.turned[first*p.padded:][:n*p.padded], n
}

// distances sets two lines to the distances of two rows of a, which lie behind each other, from the rows of a block of b.
func (p *pairLines) distances(l *lineWork, sums, rows, features []float32, n int) {
	kernel := &cpu.LineSquaresApart
	if p.order == 1 {
		kernel = &cpu.LineAmountsApart
	}
	total, part := sums[:2*n], sums[2*n:][:2*n]
	clear(total)
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
		if p.padded <= pairSum {
			copy(total, part)
			break
		}
		l.F32[0], l.F32[1], l.F32[2] = total, part, total
		cpu.LineAdd.Run(2*n, &l.Line)
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
	batch := out.shape[:len(out.shape)-2]
	blocks, pairs := (p.m+pairColumns-1)/pairColumns, (p.n+1)/2
	for g := range length(batch) {
		p.turn(batchPlace(b, batch, g))
		from := batchPlace(a, batch, g)
		cpu.Parallel(blocks*pairs, grainOf(min(p.m, pairColumns)*p.k), func(lo, hi int) {
			buf, l := pairBuffers.Get().(*pairBuffer), lineWorks.Get().(*lineWork)
			defer func() { pairBuffers.Put(buf); l.release() }()
			for t := lo; t < hi; t++ {
				features, n := p.block(t / pairs * pairColumns)
				i := t % pairs * 2
				rows, sums := buf.grow(&buf.row, 2*p.padded), buf.grow(&buf.sums, 4*n)
				last := min(i+1, p.n-1)
				p.row(rows[:p.padded], from, i)
				p.row(rows[p.padded:], from, last)
				p.distances(l, sums, rows, features, n)
				for r := i; r <= last; r++ {
					store(out, out.off+(g*p.n+r)*p.m+t/pairs*pairColumns, sums[(r-i)*n:][:n])
				}
			}
		})
	}
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
	r := len(dy.shape)
	batch := dy.shape[:r-2]
	pull := &cpu.LinePull
	if p.order == 1 {
		pull = &cpu.LinePullSign
	}
	for g := range length(batch) {
		p.turn(batchPlace(b, batch, g))
		from, at := batchPlace(a, batch, g), dy.off+offset(g, batch, dy.strides)
		cpu.Parallel((p.n+1)/2, grainOf(4*p.m*p.k), func(lo, hi int) {
			buf, l := pairBuffers.Get().(*pairBuffer), lineWorks.Get().(*lineWork)
			defer func() { pairBuffers.Put(buf); l.release() }()
			rows := buf.grow(&buf.row, 2*p.padded)
			total := buf.grow(&buf.line, 2*p.padded)
			for t := lo; t < hi; t++ {
				i, last := 2*t, min(2*t+1, p.n-1)
				p.row(rows[:p.padded], from, i)
				p.row(rows[p.padded:], from, last)
				clear(total)
				for first := 0; first < p.m; first += pairColumns {
					features, n := p.block(first)
					sums, weights := buf.grow(&buf.sums, 4*n), buf.grow(&buf.weights, n)
					if p.order == 2 {
						p.distances(l, sums, rows, features, n)
					}
					for r2 := i; r2 <= last; r2++ {
						load(weights, dy, at+r2*dy.strides[r-2]+first*dy.strides[r-1], dy.strides[r-1])
						if p.order == 2 {
							overDistance(weights, sums[(r2-i)*n:][:n])
						}
						k := (r2 - i) * p.padded
						p.pull(pull, l, total[k:][:p.padded], rows[k:][:p.padded], features, weights)
					}
				}
				for r2 := i; r2 <= last; r2++ {
					store(out, out.off+(g*p.n+r2)*p.k, total[(r2-i)*p.padded:][:p.k])
				}
			}
		})
	}
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
