package cpu

import (
	"math"
	"sync"
)

// Reflections of Householder and rotations of Givens, in float64, of which QR factors, eigenvalues and singular values are made. An element of a matrix
// gets what reflections add to it row after row, each a product and a sum that are rounded once together, and what rotations make of it in
// their order, whatever the slabs of columns: so the bits are those of plain loops, of any processor and of the GPU's kernels
// (cudart/kernels/spectral.cu), and do not depend on the number of threads.

const (
	slabColumns  = 64      // columns that are one piece of work
	slabOfMatrix = 1 << 14 // elements from which on slabs are shared out
	rotationRoom = 4096    // rotations that are applied together
)

// A block is a part of a matrix: element (i, j) is data[off+i*row+j].
type block struct {
	data       []float64
	off, row   int
	rows, cols int
}

func (b *block) line(i, from, to int) []float64 { return b.data[b.off+i*b.row+from : b.off+i*b.row+to] }

// slabs calls f for ranges of columns, of which each has work for so many rows.
func slabs(rows, cols int, f func(from, to int)) {
	if rows*cols < slabOfMatrix {
		f(0, cols)
		return
	}
	Parallel((cols+slabColumns-1)/slabColumns, grainFor(2*rows*slabColumns), func(lo, hi int) {
		for q := lo; q < hi; q++ {
			f(q*slabColumns, min((q+1)*slabColumns, cols))
		}
	})
}

// reflector makes the reflection H = I - tau·v·vᵀ that takes the n numbers x, step apart, to (beta, 0, …), in place: beta, then v but for its first
// element, which is 1. The signs are LAPACK's (dlarfg): beta has the other sign than x's first number, unless the others are 0.
func reflector(x []float64, n, step int) (tau float64) {
	sum := 0.0
	for i := 1; i < n; i++ {
		v := x[i*step]
		sum = math.FMA(v, v, sum)
	}
	if sum == 0 {
		return 0
	}
	alpha := x[0]
	beta := -math.Copysign(math.Sqrt(math.FMA(alpha, alpha, sum)), alpha)
	scale := alpha - beta
	for i := 1; i < n; i++ {
		x[i*step] /= scale
	}
	x[0] = beta
	return (beta - alpha) / beta
}

// reflect replaces the block by H times it, for the v that begins at v, step apart, whose first element is taken as 1.
func (b *block) reflect(v []float64, step int, tau float64, room []float64) {
	if tau == 0 || b.cols == 0 {
		return
	}
	slabs(b.rows, b.cols, func(from, to int) {
		w := room[from:to]
		copy(w, b.line(0, from, to))
		for i := 1; i < b.rows; i++ {
			minusRow(w, b.line(i, from, to), -v[i*step])
		}
		minusRow(b.line(0, from, to), w, tau)
		for i := 1; i < b.rows; i++ {
			minusRow(b.line(i, from, to), w, tau*v[i*step])
		}
	})
}

// reflectRight replaces the block by itself times H, for a v of as many elements as there are columns, of which the first is taken as 1.
func (b *block) reflectRight(v []float64, tau float64) {
	if tau == 0 {
		return
	}
	Parallel(b.rows, grainFor(2*b.cols), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := b.line(i, 0, b.cols)
			f := float64(tau * (row[0] + dotFours(row[1:], v[1:])))
			row[0] -= f
			minusRow(row[1:], v[1:b.cols], f)
		}
	})
}

// dotFours is Σ x·y, every fourth product in a sum of its own.
func dotFours(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	k := 0
	for ; k+4 <= len(x); k += 4 {
		s0 = math.FMA(x[k], y[k], s0)
		s1 = math.FMA(x[k+1], y[k+1], s1)
		s2 = math.FMA(x[k+2], y[k+2], s2)
		s3 = math.FMA(x[k+3], y[k+3], s3)
	}
	for ; k < len(x); k++ {
		s0 = math.FMA(x[k], y[k], s0)
	}
	return (s0 + s1) + (s2 + s3)
}

// identity writes the first columns of the identity.
func identity(a []float64, rows, cols int) {
	clear(a[:rows*cols])
	for i := range min(rows, cols) {
		a[i*cols+i] = 1
	}
}

// largerOf is the larger of two amounts; a v that is NaN does not count.
func largerOf(most, v float64) float64 {
	if v = math.Abs(v); v > most {
		return v
	}
	return most
}

// amount is the largest |v|.
func amount(v []float64) (most float64) {
	for _, x := range v {
		most = largerOf(most, x)
	}
	return most
}

// powerFor is the power of two that takes an amount to [1, 2), as far as powers of two have it: numbers that are multiplied by it have squares.
func powerFor(amount float64) float64 {
	e := max(1, int64(math.Float64bits(amount)>>52))
	return math.Float64frombits(uint64(max(1, 2046-e)) << 52)
}

// rotations are Givens rotations of rows i and j that are still to be applied, in their order. nil keeps none.
type rotations struct{ list []rotation }

type rotation struct {
	c, s float64
	i, j int
}

// turnings lends memory for rotations.
var turnings = sync.Pool{New: func() any { return new(rotations) }}

func noRotations() *rotations {
	r := turnings.Get().(*rotations)
	r.list = r.list[:0]
	return r
}

func (r *rotations) add(c, s float64, i, j int) {
	if r != nil {
		r.list = append(r.list, rotation{c, s, i, j})
	}
}

// many says that it is time to apply them.
func (r *rotations) many() bool { return r != nil && len(r.list) > rotationRoom }

// apply rotates rows of b, and forgets the rotations.
func (r *rotations) apply(b *block) {
	if r == nil {
		return
	}
	slabs(len(r.list), b.cols, func(from, to int) {
		for _, q := range r.list {
			rotate(b.line(q.i, from, to), b.line(q.j, from, to), q.c, q.s)
		}
	})
	r.list = r.list[:0]
}

// rotate replaces x by c·x + s·y, and y by c·y - s·x.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for k, a := range x {
		b := y[k]
		x[k] = float64(c*a) + float64(s*b)
		y[k] = float64(c*b) - float64(s*a)
	}
}

// givens returns the rotation that takes (f, g) to (r, 0).
func givens(f, g float64) (c, s, r float64) {
	if g == 0 {
		return 1, 0, f
	}
	r = hypot(f, g)
	return f / r, g / r, r
}

// hypot is √(f² + g²).
func hypot(f, g float64) float64 {
	if sum := float64(f*f) + float64(g*g); sum > 0x1p-900 && sum < 0x1p900 {
		return math.Sqrt(sum)
	}
	f, g = math.Abs(f), math.Abs(g)
	if f < g {
		f, g = g, f
	}
	if g == 0 {
		return f
	}
	q := g / f
	return f * math.Sqrt(1+float64(q*q))
}
