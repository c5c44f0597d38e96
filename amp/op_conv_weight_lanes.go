package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The gradient of a depthwise weight: 16 channels are brought side by side, in x and in dy, so that each has a lane of a register for every tap.

// laneWeights computes the gradient of a convolution whose groups have one channel each on both sides, if it can; the bits are those of the
// column matrix.
func laneWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	if !cpu.StepKernels() || m != 1 || l.channels != 1 || l.groups < leastWeights || x.dt == Float64 || dy.dt == Float64 || out.dt == Float64 || !l.fits() {
		return false
	}
	taps := len(l.taps)
	boxes := l.boxes()
	sixteens := (l.groups + vectorSize - 1) / vectorSize
	cpu.Parallel(sixteens, 1, func(lo, hi int) {
		w := weightWorks.Get().(*weightWork)
		defer weightWorks.Put(w)
		for i := lo; i < hi; i++ {
			first := i * vectorSize
			have := min(vectorSize, l.groups-first)
			w.sums = cpu.Grow(w.sums, 2*taps*vectorSize)
			sums, turned := w.sums[:taps*vectorSize], w.sums[taps*vectorSize:]
			clear(sums)
			for n := range boxes {
				if b := &boxes[n]; b.positions() > 0 {
					w.laneBox(l, b, x, dy, first, have)
					cpu.LaneSums(w.dy, w.turn, &w.steps, w.from, sums)
				}
			}
			cpu.TransposeRows(taps, have, sums, vectorSize, turned, taps)
			store(out, out.off+first*taps, turned[:have*taps])
		}
	})
	return true
}

// laneBox brings channels of x and dy side by side, and makes the tables.
func (w *weightWork) laneBox(l *lattice, b *box, x, dy *Tensor, first, have int) {
	src, image := widenBox(&w.wide, x, b, l.groups, l.volume(), first, have)
	w.turnBox(l, b, src, image, have)
	w.columns(l, b, 1)
	w.from = w.from[:0]
	for i := range w.cols {
		w.from = append(w.from, w.cols[i].From)
	}
	plane := l.grid[0] * l.grid[1] * l.grid[2]
	src, image = widenBox(&w.wide, dy, b, l.groups, plane, first, have)
	n := b.positions()
	w.dy = cpu.Grow(w.dy, n*vectorSize)
	if have < vectorSize {
		clear(w.dy)
	}
	at := 0
	b.runs(l, func(i, from, n int) {
		cpu.TransposeRows(have, n, src[i*image+from:], plane, w.dy[at:], vectorSize)
		at += n * vectorSize
	})
}

// widenBox returns some of the channels of t, which have size elements, in float32, and the distance of its images: in place, or the box's images
// at their place in a buffer.
func widenBox(buf *[]float32, t *Tensor, b *box, channels, size, first, have int) ([]float32, int) {
	if t.dt == Float32 {
		return elements[float32](t)[t.off+first*size:], channels * size
	}
	n := have * size
	*buf = cpu.Grow(*buf, b.hi[0]*n)
	cpu.Parallel(b.hi[0]-b.lo[0], grainOf(n), func(lo, hi int) {
		for i := b.lo[0] + lo; i < b.lo[0]+hi; i++ {
			load((*buf)[i*n:(i+1)*n], t, t.off+(i*channels+first)*size, 1)
		}
	})
	return *buf, n
}
