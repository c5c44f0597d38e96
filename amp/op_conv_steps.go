package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Convolutions in float32 whose windows are read where they lie in a patch: each element of the result is the same sum in the same order
// as that of the column matrix, so that which way is taken does not show in the bits.

// A stepWork is what a worker needs.
type stepWork struct {
	patch patch
	held  [2]int // the job and the box that patch is for
	group int    // whose elements are in it
	zeros patchZeros
	clean bool // what a patch like this one has beyond the source is zero already
	outs  []int
	run   int
	whole bool // vectors are neighbors in the result, of float32
	buf   []float32
	steps cpu.StepTable
	cols  []cpu.StepColumn
	sums  []float32
	wide  widener
	wait  []float32 // unfinished sums
	taps  []cpu.Tap // of the vectors of an image, where windows are copied
}

// patchZeros says which patches of a job have the same layout: those of as many images and of the same rows and columns.
type patchZeros struct {
	job, images int
	lo, hi      [3]int
}

// A stepKernel is a weight packed for the kernels.
type stepKernel struct {
	a     []float32
	group int
}

var (
	stepWorks   = sync.Pool{New: func() any { return new(stepWork) }}
	stepKernels = sync.Pool{New: func() any { return new(stepKernel) }}
)

// steps computes the job with the kernels for float32, where there are some. What is a plain matrix in memory is left to the matrix product where
// that is as fast.
func (j *convJob[T]) steps() bool {
	if !cpu.StepKernels() || j.src.dt == Float64 || j.out.dt == Float64 || j.kernel.w.dt == Float64 {
		return false
	}
	if len(j.taps) == 1 && j.taps[0] == [3]int{} && j.step == [3]int{1, 1, 1} && j.lattice.step == j.step && j.src.dt == Float32 && !cpu.StepsForPoints() {
		return false
	}
	k := stepKernels.Get().(*stepKernel)
	defer stepKernels.Put(k)
	k.pack(&j.kernel, j.groups, j.m, j.channels)
	boxes, tasks := []box(nil), 24
	flat := j.flat()
	if flat {
		boxes, tasks = j.flatBoxes(), 12
	} else {
		boxes = j.patches(j.channels, 1)
	}
	chunks := (j.groups + groupsAtOnce - 1) / groupsAtOnce
	shares, each := rowShares(j.m, len(boxes)*chunks, tasks, 32, cpu.StepRows())
	serial := int(patchJobs.Add(1))
	cpu.Parallel(len(boxes)*chunks*shares, 1, func(lo, hi int) {
		w := stepWorks.Get().(*stepWork)
		defer stepWorks.Put(w)
		for i := lo; i < hi; i++ {
			n, chunk, first := i/(chunks*shares), i/shares%chunks, i%shares*each
			if boxes[n].positions() == 0 || first >= j.m {
				continue
			}
			if piece := [2]int{serial, n}; w.held != piece {
				j.stepBox(w, &boxes[n], flat, serial)
				w.held, w.group = piece, -1
			}
			for g := chunk * groupsAtOnce; g < min(j.groups, (chunk+1)*groupsAtOnce); g++ {
				if g != w.group {
					if flat {
						w.fillFlat(&j.lattice, j.src, g)
					} else {
						w.fill(&j.lattice, j.src, g)
					}
					w.group = g
				}
				j.stepRows(w, k, g, first, min(each, j.m-first), flat)
			}
		}
	})
	return true
}

// pack brings weights to the order of the kernels.
func (k *stepKernel) pack(l *kernelLayout, groups, m, channels int) {
	n := channels * len(l.place)
	k.group = m * n
	k.a = cpu.Grow(k.a, groups*k.group)
	turned := l.in > l.out || l.size != len(l.place)
	rows := cpu.StepRows() // more of halves, widened, would not stay in the caches
	if l.w.dt == Float32 {
		rows *= 4
	}
	parts := (m + rows - 1) / rows
	cpu.Parallel(groups*parts, grainOf(k.group/max(1, parts)), func(lo, hi int) {
		wide := wides.Get().(*widener)
		defer wides.Put(wide)
		for i := lo; i < hi; i++ {
			g, first := i/parts, i%parts*rows
			high := min(rows, m-first)
			at, to := l.at(g)+first*l.out, k.a[g*k.group+first*n:(g*k.group+(first+high)*n)]
			if turned {
				from, in := wide.rows(l.w, at, channels, l.in, high*l.size)
				cpu.PackStepsTurned(to, high, channels, from, in, l.size, l.place)
			} else {
				from, out := wide.rows(l.w, at, high, l.out, n)
				cpu.PackSteps(to, high, n, from, out)
			}
		}
	})
}

// stepBox makes what the groups of a box have in common.
func (j *convJob[T]) stepBox(w *stepWork, b *box, flat bool, serial int) {
	p := &w.patch
	zeros := patchZeros{serial, b.hi[0] - b.lo[0], [3]int(b.lo[1:]), [3]int(b.hi[1:])}
	w.clean = w.clean && !flat && zeros == w.zeros
	w.zeros = zeros
	p.layout(&j.lattice, b, false, true)
	image := j.channels * p.plane
	if flat {
		w.flatSteps(&j.lattice)
	} else {
		w.steps.Reset()
		w.steps.Ahead, w.steps.Threes = 4*p.plane, p.threes()
		for c := range j.channels {
			for _, at := range p.taps {
				w.steps.Add(c*p.plane + at)
			}
		}
		if !w.clean {
			w.buf = cpu.Grow(w.buf, (b.hi[0]-b.lo[0])*image+2*vectorSize)
		}
	}
	w.outs, w.run = j.places(w.outs, b)
	w.cols, w.whole = w.cols[:0], j.out.dt == Float32
	for i := range p.vecs {
		v := &p.vecs[i]
		at := p.position(v)
		w.whole = w.whole && w.outs[at+v.have-1]-w.outs[at] == v.have-1
		from := i * flatVector(w.steps.Len())
		if !flat {
			from = p.start(&j.lattice, *v, image)
		}
		w.cols = append(w.cols, cpu.StepColumn{From: from, To: at, Have: v.have})
	}
	for i := range w.cols {
		if c := &w.cols[i]; w.whole {
			c.To = w.outs[c.To]
		}
	}
}

// threes says whether three taps each are neighbors.
func (p *patch) threes() bool {
	for i, at := range p.taps {
		if i%3 > 0 && at != p.taps[i-1]+1 && at != p.taps[i-1]-1 {
			return false
		}
	}
	return len(p.taps)%3 == 0
}

// fill copies what the box sees of a group.
func (w *stepWork) fill(l *lattice, src *Tensor, group int) {
	p := &w.patch
	image := l.channels * p.plane
	for i := range p.b.hi[0] - p.b.lo[0] {
		w.image(l, w.buf[i*image:(i+1)*image], src, p.b.lo[0]+i, group)
	}
	w.clean = true
}

// longSteps is the length of a sum from which it is taken in parts, so that what it reads stays in the L1 cache.
const longSteps = 500

// stepRows computes rows of a group for the positions of the box.
func (j *convJob[T]) stepRows(w *stepWork, k *stepKernel, group, first, rows int, flat bool) {
	depth := w.steps.Len()
	plane := j.outSize[0] * j.outSize[1] * j.outSize[2]
	a := k.a[group*k.group+first*depth:]
	channel := group*j.m + first
	var bias []float32
	if j.bias != nil {
		bias = any(j.bias).([]float32)[channel : channel+rows]
	}
	n := len(w.outs)
	out, row := []float32(nil), plane
	if w.whole {
		out = elements[float32](j.out)[channel*plane:]
	} else {
		w.sums = cpu.Grow(w.sums, rows*n)
		out, row = w.sums, n
	}
	if flat && depth > longSteps {
		w.wait = cpu.StepPanels(rows, a, w.buf, &w.steps, w.cols, out, row, bias, w.wait)
	} else {
		cpu.StepProduct(rows, a, w.buf, &w.steps, w.cols, out, row, bias, false)
	}
	if !w.whole {
		j.putSums(w, channel*plane, plane, rows)
	}
}

// putSums rounds rows of sums to the result, the first one's plane at off.
func (j *convJob[T]) putSums(w *stepWork, off, plane, rows int) {
	n := len(w.outs)
	if j.out.dt != Float32 && w.run >= shortRun {
		for at := 0; at < n; at += w.run {
			cpu.NarrowRows(halfFormat(j.out), halvesOf(j.out)[off+w.outs[at]:], plane, w.sums[at:], n, rows, min(w.run, n-at))
		}
		return
	}
	for i := range rows {
		if sums := w.sums[i*n : (i+1)*n]; j.step[2] == 2 && w.run == 1 {
			j.putLines(w, off+i*plane, sums)
		} else {
			put(j.out, off+i*plane, w.outs, 0, w.run, sums)
		}
	}
}

// putLines writes sums, one channel of the positions of the box, to every second place of lines of the result.
func (j *convJob[T]) putLines(w *stepWork, off int, sums []float32) {
	b := &w.patch.b
	n, lines, apart := b.hi[3]-b.lo[3], b.hi[2]-b.lo[2], j.step[1]*j.outSize[2]
	for at := 0; at < len(sums); at += n * lines {
		to := off + w.outs[at]
		if j.out.dt == Float32 {
			cpu.EvenPlaces(cpu.NoHalf, lines, n, sums[at:], n, elements[float32](j.out)[to:], apart)
		} else {
			cpu.EvenPlaces(halfFormat(j.out), lines, n, sums[at:], n, halvesOf(j.out)[to:], apart)
		}
	}
}

// position is the number of a vector's first position in the box.
func (p *patch) position(v *vector) int {
	return (v.image*(p.b.hi[1]-p.b.lo[1])+v.z)*(p.b.hi[2]-p.b.lo[2])*(p.b.hi[3]-p.b.lo[3]) + v.first
}

// image writes the patch of an image's group.
func (w *stepWork) image(l *lattice, dst []float32, src *Tensor, image, group int) {
	p := &w.patch
	size := l.size[0] * l.size[1] * l.size[2]
	border := p.border(l) && !w.clean
	lo, n := p.sees(l)
	if 2*n > size { // channels are then widened in one run
		lo, n = 0, size
	}
	some := max(1, pieceOf(src, 1)/max(1, size)) // channels at a time
	for c := 0; c < l.channels; c += some {
		channels := min(some, l.channels-c)
		from, row := w.wide.rows(src, src.off+((image*l.groups+group)*l.channels+c)*size+lo, channels, size, n)
		for i := range channels {
			plane := dst[(c+i)*p.plane : (c+i+1)*p.plane]
			if border {
				clear(plane)
			}
			for _, r := range p.runs {
				cpu.TakeRows(r.rows, r.n, p.step, from[i*row+r.src-lo:], l.step[1]*l.size[2], plane[r.dst:], p.width, row)
			}
		}
	}
}

// sees is the range of a channel of the source that the patch has elements of: the first one, and how many.
func (p *patch) sees(l *lattice) (from, n int) {
	if len(p.runs) == 0 {
		return 0, 0
	}
	from, end := p.runs[0].src, 0
	for _, r := range p.runs {
		from = min(from, r.src)
		end = max(end, r.src+(r.rows-1)*l.step[1]*l.size[2]+(r.n-1)*p.step+1)
	}
	return from, end - from
}
