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
	w.turnBox(l, b, channelsFrom(x, first, l.groups, l.volume()), have)
	w.columns(l, b, 1)
	w.from = w.from[:0]
	for i := range w.cols {
		w.from = append(w.from, w.cols[i].From)
	}
	plane := l.grid[0] * l.grid[1] * l.grid[2]
	src := channelsFrom(dy, first, l.groups, plane)
	wide := wides.Get().(*widener)
	defer wides.Put(wide)
	n := b.positions()
	w.dy = cpu.Grow(w.dy, n*vectorSize)
	if have < vectorSize {
		clear(w.dy)
	}
	at := 0
	b.runs(l, func(image, from, n int) {
		wide.turn(&src, image, 0, from, have, n, w.dy[at:], vectorSize)
		at += n * vectorSize
	})
}
