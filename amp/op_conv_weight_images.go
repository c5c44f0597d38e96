package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The gradient of a weight of bfloat16 over small images: each tap sums over the positions at which it meets something, as what is beyond an edge
// times a finite number adds nothing. k runs over pairs of images, in each over those positions, in one chain.

// The gradients that are for this: the longest rows of an image; the output channels that fill a tile; the taps; and the elements of a channel of x
// in pairs, which bound the chain, and what a task reads again and again.
const (
	weightImageWidth = 16
	weightImageRows  = cpu.ImageRows
	weightImageTaps  = 32
	weightImageDepth = 1 << 14
)

const (
	weightImageVectors = 4  // of channels, of a task: what it reads of x then stays in the L2 cache, and its tiles are whole
	weightImagePanel   = 64 // positions that are taken at a time: what four vectors of channels see of so many stays in the L1 cache
)

// imageWeights computes the gradient over small images, if it is for that: not with a dy that is infinite or NaN, which counts beyond edges too.
func imageWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	if !pairableWeights(out, l, x, dy, m) || m < weightImageRows || len(l.taps) > weightImageTaps {
		return false
	}
	if l.size[0] != 1 || l.grid[0] != 1 || l.grid[2] > weightImageWidth {
		return false
	}
	if l.volume() == 0 || pairsOf(l.images)*max(l.volume(), l.grid[1]*l.grid[2]) > weightImageDepth {
		return false
	}
	if !cpu.FiniteBF16(halvesOf(dy)[dy.off : dy.off+dy.Len()]) {
		return false
	}
	w := weightWorks.Get().(*weightWork)
	defer weightWorks.Put(w)
	sixteens := (l.channels + vectorSize - 1) / vectorSize
	blocks := (sixteens + weightImageVectors - 1) / weightImageVectors
	shares, each := rowShares(m, blocks, 24, 4*cpu.ImageRows, cpu.ImageRows)
	for g := range l.groups {
		w.turnImages(l, x, g, sixteens)
		w.pairGradients(l, dy, g, m)
		serial := int(patchJobs.Add(1))
		cpu.Parallel(blocks*shares, 1, func(lo, hi int) {
			v := imageWorks.Get().(*imageWork)
			defer imageWorks.Put(v)
			for t := lo; t < hi; t++ {
				first, r := t/shares*weightImageVectors, t%shares*each
				if r >= m {
					continue
				}
				some := min(weightImageVectors, sixteens-first)
				if piece := [3]int{serial, some, 0}; v.held != piece {
					v.planWeights(l, some)
					v.held = piece
				}
				w.imageTask(out, l, v, g, m, first, some, r, min(each, m-r))
			}
		})
	}
	return true
}

// turnImages writes a group of x: for each 16 channels [pair of images, position, channel].
func (w *weightWork) turnImages(l *lattice, x *Tensor, group, sixteens int) {
	pairs, size := pairsOf(l.images), l.volume()
	image := l.groups * l.channels * size
	w.turn = cpu.Grow(w.turn, sixteens*pairs*size*vectorSize)
	src := halvesOf(x)[x.off+group*l.channels*size:]
	cpu.Parallel(sixteens*pairs, max(1, grain/(size*vectorSize)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			channel, n := i/pairs*vectorSize, 2*(i%pairs)
			have := min(vectorSize, l.channels-channel)
			dst := w.turn[i*size*vectorSize:][:size*vectorSize]
			if have < vectorSize {
				clear(dst)
			}
			turnHalves(dst, have, size, src[n*image+channel*size:], size, image, n+1 < l.images, vectorSize)
		}
	})
}

// pairGradients writes a group of dy as [channel, pair of images, position].
func (w *weightWork) pairGradients(l *lattice, dy *Tensor, group, m int) {
	pairs, plane := pairsOf(l.images), l.grid[1]*l.grid[2]
	image := l.groups * m * plane
	w.dy = cpu.Grow(w.dy, m*pairs*plane)
	src := halvesOf(dy)[dy.off+group*m*plane:]
	cpu.Parallel(m, max(1, grain/(pairs*plane)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for q := range pairs {
				cpu.PairRows(1, plane, 1, src[2*q*image+i*plane:], 0, image, 2*q+1 < l.images, pairBits(w.dy[(i*pairs+q)*plane:]), plane)
			}
		}
	})
}

// planWeights makes the plan for so many vectors of channels: a class for each tap, whose steps are the positions at which it meets something.
func (w *imageWork) planWeights(l *lattice, vectors int) {
	size, plane, pairs := l.volume(), l.grid[1]*l.grid[2], pairsOf(l.images)
	w.cols, w.ofClass = w.cols[:0], w.ofClass[:0]
	w.taps = cpu.Grow(w.taps, len(l.taps)*plane)
	used := 0
	for t, tap := range l.taps {
		from := used
		for at := range plane {
			y, x := at/l.grid[2]*l.step[1]+tap[1], at%l.grid[2]*l.step[2]+tap[2]
			if tap[0] == 0 && y >= 0 && y < l.size[1] && x >= 0 && x < l.size[2] {
				w.taps[used] = cpu.ImageTap{A: at, B: (y*l.size[2] + x) * vectorSize}
				used++
			}
		}
		w.ofClass = append(w.ofClass, w.taps[from:used])
		for v := range vectors {
			w.cols = append(w.cols, cpu.ImageColumn{Class: t, From: v * pairs * size * vectorSize, To: t*vectors + v})
		}
	}
	w.plan.Pairs = true
	w.plan.Plan(pairs, max(1, weightImagePanel/plane), plane, plane, size*vectorSize, w.ofClass, w.cols)
}

// imageTask computes rows of the gradient for some vectors of channels.
func (w *weightWork) imageTask(out *Tensor, l *lattice, v *imageWork, group, m, first, vectors, r, rows int) {
	taps, pairs, plane := len(l.taps), pairsOf(l.images), l.grid[1]*l.grid[2]
	row := (taps*vectors + 1) * vectorSize
	v.sums = cpu.Grow(v.sums, cpu.ImageRows*row)
	p := weightPart{vectors: vectors, row: row}
	x := w.turn[first*pairs*l.volume()*vectorSize:]
	for i := r; i < r+rows; i += cpu.ImageRows {
		high := min(cpu.ImageRows, r+rows-i)
		v.plan.Rows(high, w.dy[i*pairs*plane:], pairs*plane, x, v.sums, row, nil)
		p.unturn(out, out.off+group*m*l.channels*taps, l, v.sums, first*vectorSize, i, high)
	}
}
