package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Convolutions of bfloat16 with images side by side, as in op_conv_images.go, of pairs of channels: the order of a sum is that of pairSteps, which
// takes weights that are infinite or NaN.

// pairImageWidth is the longest row of a result: in longer ones the edges are too little of the work for what the other order of images takes.
const pairImageWidth = 8

// pairImages computes the job with images side by side by the kernels for pairs of bfloat16, if it is for that.
func (j *convJob[T]) pairImages() bool {
	if !j.pairable() || !j.imageShapes() || j.grid[2] > pairImageWidth {
		return false
	}
	if w := j.kernel.w; !cpu.FiniteBF16(halvesOf(w)[w.off : w.off+w.Len()]) {
		return false
	}
	k := pairKernels.Get().(*pairKernel)
	defer pairKernels.Put(k)
	k.pair(&j.kernel, j.groups, j.m, j.channels)
	two := j.lattice
	two.channels = pairsOf(j.channels)
	boxes := two.imageBoxes()
	shares, each := rowShares(j.m, len(boxes)*j.groups, 24, 2*cpu.ImageRows, cpu.ImageRows)
	serial := int(patchJobs.Add(1))
	cpu.Parallel(len(boxes)*j.groups*shares, 1, func(lo, hi int) {
		w := imageWorks.Get().(*imageWork)
		defer imageWorks.Put(w)
		for i := lo; i < hi; i++ {
			n, group, first := i/(j.groups*shares), i/shares%j.groups, i%shares*each
			if first >= j.m {
				continue
			}
			if piece := [3]int{serial, n, group}; w.held != piece {
				j.pairImageBox(w, &two, &boxes[n], group)
				w.held = piece
			}
			j.pairImageRows(w, k, &boxes[n], group, first, min(each, j.m-first))
		}
	})
	return true
}

// pairImageBox brings the images of a box side by side, and makes the plan; two is the lattice of pairs.
func (j *convJob[T]) pairImageBox(w *imageWork, two *lattice, b *box, group int) {
	w.from, w.n = two.imageSource(b)
	w.plane = w.n * two.size[2] * vectorSize
	w.blocks = (b.hi[0] - b.lo[0] + vectorSize - 1) / vectorSize
	w.position = (b.hi[2] - b.lo[2]) * two.grid[2]
	w.buf = cpu.Grow(w.buf, w.blocks*two.channels*w.plane+vectorSize)
	size := two.volume()
	image := j.groups * j.channels * size
	src := halvesOf(j.src)[j.src.off+group*j.channels*size+w.from*two.size[2]:]
	for i := range w.blocks {
		first := b.lo[0] + i*vectorSize
		images := min(vectorSize, b.hi[0]-first)
		for q := range two.channels {
			plane := w.buf[(i*two.channels+q)*w.plane:][:w.plane]
			pairsBeside(plane, images, w.n*two.size[2], src[first*image+2*q*size:], image, size, 2*q+1 < j.channels)
		}
	}
	w.classes(two, b)
	w.columns(two, &j.kernel, b)
	w.plan.Pairs = true
	w.plan.Plan(two.channels, cpu.ImagePanel(), j.kernel.size, j.pairDistances().in, w.plane, w.ofClass, w.cols)
}

// pairDistances are those of the rows and pairs of channels of a paired weight.
func (j *convJob[T]) pairDistances() (d struct{ row, in int }) {
	if j.kernel.turned() {
		d.row, d.in = j.kernel.size, j.m*j.kernel.size
		return d
	}
	d.row, d.in = pairsOf(j.channels)*j.kernel.size, j.kernel.size
	return d
}

// pairsBeside writes n pairs of up to 16 images, which lie image elements apart, side by side: an element and the one other behind it, if there is
// a second. Lanes without an image are zero.
func pairsBeside(dst []float32, images, n int, src []uint16, image, other int, second bool) {
	var pairs [vectorSize * pairChunk]uint32
	for from := 0; from < n; from += pairChunk {
		some := min(pairChunk, n-from)
		cpu.PairRows(images, some, 1, src[from:], image, other, second, pairs[:], pairChunk)
		cpu.SideBySide(dst[from*vectorSize:], images, some, singles(pairs[:]), pairChunk)
	}
}

// pairImageRows computes rows of a group for the positions of the box.
func (j *convJob[T]) pairImageRows(w *imageWork, k *pairKernel, b *box, group, first, rows int) {
	row := (w.blocks*w.position + 1) * vectorSize
	w.sums = cpu.Grow(w.sums, cpu.ImageRows*row)
	d := j.pairDistances()
	weights := singles(k.read[group*j.m*pairsOf(j.channels)*j.kernel.size:])
	plane := j.grid[1] * j.grid[2]
	image := j.groups * j.m * plane
	for r := first; r < first+rows; r += cpu.ImageRows {
		high := min(cpu.ImageRows, first+rows-r)
		var bias []float32
		if j.bias != nil {
			bias = any(j.bias).([]float32)[group*j.m+r:][:high]
		}
		w.plan.Rows(high, weights[r*d.row:], d.row, w.buf, w.sums, row, bias)
		for i := range high {
			for k := range w.blocks {
				n := b.lo[0] + k*vectorSize
				to := j.out.off + b.lo[2]*j.grid[2] + n*image + (group*j.m+r+i)*plane
				w.putHalves(j.out, to, min(vectorSize, b.hi[0]-n), w.sums[i*row+k*w.position*vectorSize:], image)
			}
		}
	}
}

// putHalves is putImages for results of halves, which are rounded 16 positions at a time.
func (w *imageWork) putHalves(out *Tensor, at, images int, sums []float32, image int) {
	if out.dt == Float32 {
		w.putImages(out, at, images, sums, image)
		return
	}
	var tile [32 * vectorSize]float32
	for p := 0; p < w.position; p += vectorSize {
		n := min(vectorSize, w.position-p)
		cpu.OneByOne(tile[:], images, n, sums[p*vectorSize:], 32)
		cpu.StoreSums(halfFormat(out), images, tile[:], halvesOf(out)[at+p:], image, n, nil)
	}
}
