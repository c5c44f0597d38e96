package amp

import (
	"slices"
)

// The fast paths of a convolution read windows where they lie, so that no element is copied for each window that it is in. That takes 16
// positions which follow each other to be neighbors in memory for every tap: the part of the source that a box sees is copied once, as a
// patch, whose rows are as long as the box and its windows reach, or, where rows are short, once for each column of taps, rows as long as the
// box. Rows and columns that a stride skips are sorted to planes of their own.

// vectorSize is how many positions a kernel takes together.
const vectorSize = 16

// A patch is the layout of the elements that a box sees, of one channel after the other: [image channel copy depth row column].
type patch struct {
	b      box
	shifts []int  // the first column of the source in each copy
	step   int    // columns of the source between neighbors of a row
	whole  bool   // a copy holds all columns of taps that are whole strides apart
	width  int    // elements of a row
	from   [3]int // the first element of the source, with padding
	ext    [3]int // elements of the source, with padding
	rows   int    // of a plane
	each   int    // rows of one remainder of the stride
	plane  int    // elements of a channel
	taps   []int  // where each tap is in a channel, from the start of a vector
	vecs   []vector
	runs   []rowRun
}

// A rowRun is what a patch takes from a channel of the source: rows that lie at one distance.
type rowRun struct{ dst, src, rows, n int }

// A vector is up to 16 positions that follow each other.
type vector struct{ image, z, first, have int }

// patchBudget is how many elements a patch should have: it stays in the L2 cache.
const patchBudget = 1 << 18

// Windows that patches are for: larger ones, or farther apart, are left to the column matrix.
const (
	patchExtent = 64
	patchStride = 4
)

// fits says whether patches are for this lattice: where a plane has few positions, vectors would be nearly empty.
func (l *lattice) fits() bool { return l.near() && l.fills(3, 4) }

// near says whether there is something to sum, and windows are not too large or too far apart for patches.
func (l *lattice) near() bool {
	if l.images*l.grid[0]*l.grid[1]*l.grid[2] == 0 || len(l.taps) == 0 || l.channels == 0 {
		return false
	}
	for d := range 3 {
		lo, hi := l.taps[0][d], l.taps[0][d]
		for _, t := range l.taps {
			lo, hi = min(lo, t[d]), max(hi, t[d])
		}
		if hi-lo >= patchExtent || l.step[d] > patchStride {
			return false
		}
	}
	return true
}

// fills says whether the positions of a plane fill this part of their vectors.
func (l *lattice) fills(part, of int) bool {
	n := l.grid[1] * l.grid[2]
	used := (n + vectorSize - 1) / vectorSize * vectorSize
	return of*n >= part*used
}

// patches cuts the lattice into boxes for patches of so many channels, or pairs of them, and rows into multiples of a number.
func (l *lattice) patches(channels, multiple int) []box {
	copies := 1
	if l.step[2] != 1 || l.grid[2]%vectorSize != 0 {
		copies = 3
	}
	return l.boxesWithin(max(64, min(positionLimit, patchBudget/max(1, channels*copies*l.step[1]))), multiple)
}

// lay fixes the layout for a box; plane sizes are odd multiples of 16, so that channels do not share sets of the caches.
func (p *patch) lay(l *lattice, b *box) { p.layout(l, b, false, false) }

// layout is lay, with a copy for each column of taps if always, or with no more copies than columns in a stride where phases may do.
func (p *patch) layout(l *lattice, b *box, always, phases bool) {
	p.b = *b
	lo, hi := l.reach(b)
	p.from, p.ext = lo, [3]int{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}
	across := b.hi[3] - b.lo[3]
	least := [3]int{lo[0] - b.lo[1]*l.step[0], lo[1] - b.lo[2]*l.step[1], lo[2] - b.lo[3]*l.step[2]}
	p.step, p.shifts = l.step[2], p.shifts[:0]
	p.whole = !always && (p.step == 1 || phases) && across%vectorSize == 0 && p.ext[2] <= 2*across*p.step
	p.width = across
	if p.whole {
		p.width = (p.ext[2] + p.step - 1) / p.step
		for phase := range min(p.step, p.ext[2]) {
			p.shifts = append(p.shifts, lo[2]+phase)
		}
	} else {
		for _, t := range l.taps {
			if at := b.lo[3]*p.step + t[2]; !slices.Contains(p.shifts, at) {
				p.shifts = append(p.shifts, at)
			}
		}
	}
	p.each = (p.ext[1] + l.step[1] - 1) / l.step[1]
	p.rows = p.each * l.step[1]
	one := p.ext[0] * p.rows * p.width
	p.plane = (one*len(p.shifts)+vectorSize-1)/vectorSize*vectorSize | vectorSize
	p.taps = resize(p.taps, len(l.taps))
	for i, t := range l.taps {
		at := (t[0] - least[0]) * p.rows * p.width
		at += p.row(l, t[1]-least[1]) * p.width
		if p.whole {
			right := t[2] - least[2]
			at += right%p.step*one + right/p.step
		} else {
			at += slices.Index(p.shifts, b.lo[3]*p.step+t[2]) * one
		}
		p.taps[i] = at
	}
	p.runs = p.runs[:0]
	for s, shift := range p.shifts {
		if first, end := p.columns(shift, l.size[2]); first < end {
			p.lines(l, func(at, source, n int) {
				p.runs = append(p.runs, rowRun{s*one + at + first, source*l.size[2] + shift + first*p.step, n, end - first})
			})
		}
	}
	p.vecs = p.vecs[:0]
	n := (b.hi[2] - b.lo[2]) * across
	for image := range b.hi[0] - b.lo[0] {
		for z := range b.hi[1] - b.lo[1] {
			for first := 0; first < n; first += vectorSize {
				p.vecs = append(p.vecs, vector{image, z, first, min(vectorSize, n-first)})
			}
		}
	}
}

// row is the place of a row of the source that lies so many behind the first one.
func (p *patch) row(l *lattice, r int) int { return r%l.step[1]*p.each + r/l.step[1] }

// start is where a vector begins in the patch of an image whose channels take so many elements.
func (p *patch) start(l *lattice, v vector, image int) int {
	across := p.b.hi[3] - p.b.lo[3]
	return v.image*image + v.z*l.step[0]*p.rows*p.width + v.first/across*p.width + v.first%across
}

// columns is the range of a row of a copy that lies in a source of so many columns.
func (p *patch) columns(shift, size int) (from, to int) {
	if shift < 0 {
		from = (-shift + p.step - 1) / p.step
	}
	to = p.width
	if last := size - shift; last <= 0 {
		to = 0
	} else {
		to = min(to, (last+p.step-1)/p.step)
	}
	return min(from, to), to
}

// lines calls f for each run of rows of a channel that lie in the source at one distance, with the place of the first one in the plane, its
// number in the source's channel, and how many there are.
func (p *patch) lines(l *lattice, f func(at, source, n int)) {
	for z := range p.ext[0] {
		depth := p.from[0] + z
		if depth < 0 || depth >= l.size[0] {
			continue
		}
		for phase := range l.step[1] {
			first := p.from[1] + phase
			from, to := 0, p.each
			if first < 0 {
				from = (-first + l.step[1] - 1) / l.step[1]
			}
			if room := l.size[1] - first; room <= 0 {
				to = 0
			} else {
				to = min(to, (room+l.step[1]-1)/l.step[1])
			}
			if from < to {
				f((z*p.rows+phase*p.each+from)*p.width, depth*l.size[1]+first+from*l.step[1], to-from)
			}
		}
	}
}

// border says whether the patch reaches beyond the source, or has rows that no source row is copied to.
func (p *patch) border(l *lattice) bool {
	for d := range 3 {
		if p.from[d] < 0 || p.from[d]+p.ext[d] > l.size[d] {
			return true
		}
	}
	return p.rows != p.ext[1]
}
