package amp

import (
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Convolutions of bfloat16 where VDPBF16PS is the fastest that multiplies it. A patch holds pairs of channels, and so does the weight: k runs over
// pairs of channels, in each over the taps, and each step adds the product of the pair's second channel, then that of the first. What an odd number
// of channels lacks counts as zero.

// A pairWork is what a worker needs.
type pairWork struct {
	patch patch
	held  [2]int // the job and the box that patch is for
	group int    // whose elements are in it
	outs  []int
	run   int
	whole bool // vectors are neighbors in the result
	pairs []uint32
	steps cpu.StepTable
	cols  []cpu.StepColumn

	halves []uint16 // a result on its way to places that are no neighbors
	sums   []float32
}

// A pairKernel is a weight packed for the kernels.
type pairKernel struct {
	a, read []uint32
	group   int
}

var (
	pairWorks   = sync.Pool{New: func() any { return new(pairWork) }}
	pairKernels = sync.Pool{New: func() any { return new(pairKernel) }}
)

// pairable says whether the processor multiplies pairs of bfloat16, and the job has some: with one channel half of each would be nothing.
func (j *convJob[T]) pairable() bool {
	return cpu.PairProducts() && j.src.dt == BFloat16 && j.kernel.w.dt == BFloat16 && j.out.dt != Float64 && j.channels > 1 && j.m > 1
}

// pairSteps computes the job with the kernels for pairs of bfloat16, if it is for that: they are so fast that half of a vector is worth it.
func (j *convJob[T]) pairSteps() bool {
	if !j.pairable() || !j.near() || !j.fills(1, 2) {
		return false
	}
	k := pairKernels.Get().(*pairKernel)
	defer pairKernels.Put(k)
	k.pair(&j.kernel, j.groups, j.m, j.channels)
	k.sort(&j.kernel, j.groups, j.m, j.channels)
	boxes := j.patches(pairsOf(j.channels), 1)
	chunks := (j.groups + groupsAtOnce - 1) / groupsAtOnce
	shares, each := rowShares(j.m, len(boxes)*chunks, 24, 32, cpu.StepRows())
	serial := int(patchJobs.Add(1))
	cpu.Parallel(len(boxes)*chunks*shares, 1, func(lo, hi int) {
		w := pairWorks.Get().(*pairWork)
		defer pairWorks.Put(w)
		for i := lo; i < hi; i++ {
			n, chunk, first := i/(chunks*shares), i/shares%chunks, i%shares*each
			if boxes[n].positions() == 0 || first >= j.m {
				continue
			}
			if piece := [2]int{serial, n}; w.held != piece {
				j.pairBox(w, &boxes[n])
				w.held, w.group = piece, -1
			}
			for g := chunk * groupsAtOnce; g < min(j.groups, (chunk+1)*groupsAtOnce); g++ {
				if g != w.group {
					w.fill(&j.lattice, j.src, g)
					w.group = g
				}
				j.pairRows(w, k, g, first, min(each, j.m-first))
			}
		}
	})
	return true
}

// pairsOf is how many pairs hold n elements.
func pairsOf(n int) int { return (n + 1) / 2 }

// pair pairs the weights of neighboring channels: [group row pair tap], or for a transposed convolution, whose output channels lie side by side,
// [group pair row tap], taps in their order in the weight.
func (k *pairKernel) pair(l *kernelLayout, groups, m, channels int) {
	n := pairsOf(channels)
	k.read = cpu.Grow(k.read, groups*m*n*l.size)
	src := halvesOf(l.w)
	whole, odd := channels/2, channels%2
	if l.turned() {
		row := m * l.size
		cpu.Parallel(groups*n, grainOf(row), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				q := i % n
				cpu.PairRows(1, row, 1, src[l.at(i/n)+2*q*l.in:], 0, l.in, q < whole, k.read[i*row:], row)
			}
		})
		return
	}
	row := n * l.size
	cpu.Parallel(groups*m, grainOf(row), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, to := src[l.at(i/m)+i%m*l.out:], k.read[i*row:]
			cpu.PairRows(whole, l.size, 1, from, 2*l.size, l.size, true, to, l.size)
			if odd > 0 {
				cpu.PairRows(odd, l.size, 1, from[2*whole*l.size:], 0, 0, false, to[whole*l.size:], l.size)
			}
		}
	})
}

// turned says whether the weight is a transposed convolution's, of more than one output channel.
func (l *kernelLayout) turned() bool { return l.in > l.out }

// sort brings paired weights to the order of the kernels.
func (k *pairKernel) sort(l *kernelLayout, groups, m, channels int) {
	n := pairsOf(channels)
	steps := n * len(l.place)
	k.group = m * steps
	k.a = cpu.Grow(k.a, groups*k.group)
	const rows = 32
	parts := (m + rows - 1) / rows
	cpu.Parallel(groups*parts, grainOf(k.group/parts), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g, first := i/parts, i%parts*rows
			high := min(rows, m-first)
			from := singles(k.read[g*m*n*l.size:][:m*n*l.size])
			to := singles(k.a[g*k.group+first*steps:][:high*steps])
			if l.turned() {
				cpu.PackStepsTurned(to, high, n, from[first*l.size:], m*l.size, l.size, l.place)
			} else {
				cpu.PackSteps(to, high, steps, from[first*steps:], steps)
			}
		}
	})
}

// pairBox makes what the groups of a box have in common.
func (j *convJob[T]) pairBox(w *pairWork, b *box) {
	p, planes := &w.patch, pairsOf(j.channels)
	p.lay(&j.lattice, b)
	image := planes * p.plane
	w.steps.Reset()
	w.steps.Ahead, w.steps.Threes = 4*p.plane, p.threes()
	for c := range planes {
		for _, at := range p.taps {
			w.steps.Add(c*p.plane + at)
		}
	}
	w.pairs = cpu.Grow(w.pairs, (b.hi[0]-b.lo[0])*image+2*vectorSize)
	w.outs, w.run = j.places(w.outs, b)
	w.cols, w.whole = w.cols[:0], j.out.dt != Float16
	for i := range p.vecs {
		v := &p.vecs[i]
		at := p.position(v)
		w.whole = w.whole && w.outs[at+v.have-1]-w.outs[at] == v.have-1
		w.cols = append(w.cols, cpu.StepColumn{From: p.start(&j.lattice, *v, image), To: at, Have: v.have})
	}
	for i := range w.cols {
		if c := &w.cols[i]; w.whole {
			c.To = w.outs[c.To]
		}
	}
}

// fill pairs what the box sees of a group.
func (w *pairWork) fill(l *lattice, src *Tensor, group int) {
	p := &w.patch
	image := pairsOf(l.channels) * p.plane
	for i := range p.b.hi[0] - p.b.lo[0] {
		p.pairs(l, w.pairs[i*image:(i+1)*image], halvesOf(src)[src.off:], p.b.lo[0]+i, group)
	}
}

// pairRows computes rows of a group for the positions of the box.
func (j *convJob[T]) pairRows(w *pairWork, k *pairKernel, group, first, rows int) {
	plane := j.outSize[0] * j.outSize[1] * j.outSize[2]
	a := k.a[group*k.group+first*w.steps.Len():]
	channel := group*j.m + first
	var bias []float32
	if j.bias != nil {
		bias = any(j.bias).([]float32)[channel : channel+rows]
	}
	switch {
	case w.whole && j.out.dt == Float32:
		cpu.PairProduct(rows, a, w.pairs, &w.steps, w.cols, elements[float32](j.out)[channel*plane:], plane, bias, false)
		return
	case w.whole:
		cpu.PairProduct(rows, a, w.pairs, &w.steps, w.cols, halvesOf(j.out)[channel*plane:], plane, bias, false)
		return
	}
	n := len(w.outs)
	if j.out.dt == BFloat16 {
		w.halves = cpu.Grow(w.halves, rows*n)
		cpu.PairProduct(rows, a, w.pairs, &w.steps, w.cols, w.halves, n, bias, false)
		for i := range rows {
			to := halvesOf(j.out)[(channel+i)*plane:]
			for k, v := range w.halves[i*n:][:n] {
				to[w.outs[k]] = v
			}
		}
		return
	}
	w.sums = cpu.Grow(w.sums, rows*n)
	cpu.PairProduct(rows, a, w.pairs, &w.steps, w.cols, w.sums, n, bias, false)
	for i := range rows {
		put(j.out, (channel+i)*plane, w.outs, 0, w.run, w.sums[i*n:(i+1)*n])
	}
}

// singles takes pairs of halves for numbers of as many bits, for what only moves them.
func singles(pairs []uint32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(pairs))), len(pairs))
}
