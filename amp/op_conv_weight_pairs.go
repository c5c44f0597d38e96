package amp

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The gradient of a weight of bfloat16 where VDPBF16PS is the fastest that multiplies it. k runs over pairs of images, in each over the positions: two
// neighboring images see the same taps at the same place, so that a pair is found at a tap's distance as a single element is. What an odd number of
// images lacks counts as zero. Boxes follow one another, and their sums, each from zero, are added in float32 in that order.

// pairableWeights says whether the processor multiplies pairs of bfloat16, and the shapes are for that: with one image half of each pair would be
// nothing.
func pairableWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	return cpu.PairProducts() && x.dt == BFloat16 && dy.dt == BFloat16 && out.dt != Float64 && l.images > 1 && l.channels >= leastWeights && m >= 4 && l.near()
}

// pairWeights computes the gradient with the kernels for pairs of bfloat16, if it can.
func pairWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	if !pairableWeights(out, l, x, dy, m) {
		return false
	}
	w := weightWorks.Get().(*weightWork)
	defer weightWorks.Put(w)
	two := *l
	two.images = pairsOf(l.images)
	p := weightParts(l, m)
	boxes := two.boxes()
	for g := range l.groups {
		w.sums = cpu.Grow(w.sums, m*p.row*p.across)
		left := 0 // boxes
		for i := range boxes {
			if boxes[i].positions() > 0 {
				left++
			}
		}
		add := false
		for i := range boxes {
			b := &boxes[i]
			if b.positions() == 0 {
				continue
			}
			left--
			w.turnPairs(l, b, x, g)
			w.packPairs(l, b, dy, g, m)
			w.columns(l, b, p.vectors)
			w.pairTasks(out, l, &p, g, m, add, left == 0)
			add = true
		}
	}
	return true
}

// pairTasks adds the products of a box to the sums, and stores what is finished.
func (w *weightWork) pairTasks(out *Tensor, l *lattice, p *weightPart, group, m int, add, last bool) {
	cpu.Parallel(p.across*p.down, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			j, r := t/p.down, t%p.down*p.rows
			rows := min(p.rows, m-r)
			sums := w.sums[(j*m+r)*p.row:][:rows*p.row]
			cols := w.cols[j*p.vectors*len(l.taps) : min((j+1)*p.vectors*len(l.taps), len(w.cols))]
			cpu.PairProduct(rows, pairBits(w.dy[r*w.steps.Len():]), pairBits(w.turn), &w.steps, cols, sums, p.row, nil, add)
			if last {
				p.unturn(out, out.off+group*m*l.channels*len(l.taps), l, sums, j*p.vectors*vectorSize, r, rows)
			}
		}
	})
}

// pairChunk is how many positions are paired at a time on their way to another order: they stay in the L1 cache.
const pairChunk = 64

// turnPairs writes what a box of pairs of images sees of a group: for each 16 channels [pair depth row column channel].
func (w *weightWork) turnPairs(l *lattice, b *box, x *Tensor, group int) {
	lo, hi := l.reach(b)
	ext := [3]int{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}
	line := ext[2] * vectorSize
	lines := (b.hi[0] - b.lo[0]) * ext[0] * ext[1]
	sixteens := (l.channels + vectorSize - 1) / vectorSize
	w.turn = cpu.Grow(w.turn, sixteens*lines*line)
	from, to := max(0, -lo[2]), min(ext[2], l.size[2]-lo[2])
	image := l.groups * l.channels * l.volume()
	src := halvesOf(x)[x.off+group*l.channels*l.volume():]
	cpu.Parallel(sixteens*lines, max(1, grain/line), func(first, end int) {
		for i := first; i < end; i++ {
			dst := w.turn[i*line : (i+1)*line]
			channel, i := i/lines*vectorSize, i%lines
			n, z, y := 2*(b.lo[0]+i/(ext[0]*ext[1])), lo[0]+i/ext[1]%ext[0], lo[1]+i%ext[1]
			have := min(vectorSize, l.channels-channel)
			if z < 0 || z >= l.size[0] || y < 0 || y >= l.size[1] || from >= to {
				clear(dst)
				continue
			}
			if have < vectorSize {
				clear(dst)
			}
			clear(dst[:from*vectorSize])
			clear(dst[to*vectorSize:])
			at := src[n*image+channel*l.volume()+(z*l.size[1]+y)*l.size[2]+lo[2]+from:]
			turnHalves(dst[from*vectorSize:], have, to-from, at, l.volume(), image, n+1 < l.images, vectorSize)
		}
	})
}

// turnHalves sets dst[p·ldd + y], for y below rows and p below n, to the pair of src[y·lds + p] and the element other behind it, if
// there is a second.
func turnHalves(dst []float32, rows, n int, src []uint16, lds, other int, second bool, ldd int) {
	var pairs [vectorSize * pairChunk]uint32
	for from := 0; from < n; from += pairChunk {
		some := min(pairChunk, n-from)
		cpu.PairRows(rows, some, 1, src[from:], lds, other, second, pairs[:], pairChunk)
		cpu.TransposeRows(rows, some, singles(pairs[:]), pairChunk, dst[from*ldd:], ldd)
	}
}

// packPairs packs the rows of dy for a box of pairs of images, positions in its order.
func (w *weightWork) packPairs(l *lattice, b *box, dy *Tensor, group, m int) {
	n := b.positions()
	plane := l.grid[0] * l.grid[1] * l.grid[2]
	image := l.groups * m * plane
	src := halvesOf(dy)[dy.off+group*m*plane:]
	w.dy = cpu.Grow(w.dy, m*n)
	tile := cpu.StepRows()
	cpu.Parallel((m+tile-1)/tile, max(1, grain/(n*tile)), func(lo, hi int) {
		for i := lo * tile; i < min(hi*tile, m); {
			h := cpu.StepHeight(m - i)
			at := i * n
			b.runs(l, func(two, first, n int) {
				turnHalves(w.dy[at:], h, n, src[2*two*image+i*plane+first:], plane, image, 2*two+1 < l.images, h)
				at += n * h
			})
			i += h
		}
	})
}

// pairBits is the way back from singles.
func pairBits(s []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
