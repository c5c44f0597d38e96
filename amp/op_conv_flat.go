package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Where images are small and keep their size, what 16 neighbors of a result see of a tap are neighbors too, but for the rows that end among
// them: one masked load. Their windows are copied, each tap's 16 elements to a cache line of its own, since a kernel that reads rows of 4 or 8
// elements where they lie crosses lines with nearly all it reads.

// The convolutions whose windows are copied: rows of at most so many elements in planes of so many, so many taps, and enough rows of the
// product that a copy serves. With rows of 8 the copies cost what they save.
const (
	flatWidth = 4
	flatPlane = 4 * vectorSize
	flatTaps  = 32
	flatRows  = 32
)

// flat says whether the job's windows are copied.
func (j *convJob[T]) flat() bool {
	l := &j.lattice
	if !cpu.PanelKernels() {
		return false
	}
	if l.step != [3]int{1, 1, 1} || l.size != l.grid || l.size[0] != 1 || l.size[2] > flatWidth || l.volume() > flatPlane {
		return false
	}
	if len(l.taps) < 2 || len(l.taps) > flatTaps || j.m < flatRows {
		return false
	}
	for _, t := range l.taps {
		if t[0] != 0 {
			return false
		}
	}
	return true
}

// flatBoxes cuts the images so that a box has about 6 vectors: a kernel takes three together, and what they see stays in the L2 cache.
func (l *lattice) flatBoxes() []box {
	each := max(1, 6*vectorSize/max(vectorSize, l.volume()))
	var out []box
	for i := 0; i < l.images; i += each {
		out = append(out, box{lo: [4]int{i}, hi: [4]int{min(i+each, l.images), 1, l.grid[1], l.grid[2]}})
	}
	return out
}

// flatVector is the distance of the copies that vectors see, for so many steps: three of them share few sets of the caches.
func flatVector(k int) int { return (k + 22) * vectorSize }

// flatSteps makes the tables for copied windows: [vector channel tap 16].
func (w *stepWork) flatSteps(l *lattice) {
	k := l.channels * len(l.taps)
	w.steps.Reset()
	w.steps.Ahead = 32 * vectorSize
	for i := range k {
		w.steps.Add(i * vectorSize)
	}
	w.buf = cpu.Grow(w.buf, len(w.patch.vecs)*flatVector(k))
	w.taps = w.taps[:0]
	for i := range w.patch.vecs {
		v := &w.patch.vecs[i]
		if v.image > 0 {
			break
		}
		for _, t := range l.taps {
			tap := cpu.Tap{From: t[1]*l.size[2] + t[2]}
			for lane := range v.have {
				y, x := (v.first+lane)/l.size[2]+t[1], (v.first+lane)%l.size[2]+t[2]
				if y >= 0 && y < l.size[1] && x >= 0 && x < l.size[2] {
					tap.Mask |= 1 << lane
				}
			}
			w.taps = append(w.taps, tap)
		}
	}
}

// fillFlat copies the windows of a group.
func (w *stepWork) fillFlat(l *lattice, src *Tensor, group int) {
	p := &w.patch
	size, taps := l.volume(), len(l.taps)
	k := l.channels * taps
	var from []float32
	for i := range p.vecs {
		v := &p.vecs[i]
		off := src.off + ((p.b.lo[0]+v.image)*l.groups+group)*l.channels*size
		if src.dt == Float32 || v.first == 0 {
			from, _ = w.wide.rows(src, off, 1, 0, l.channels*size)
		}
		t := v.first / vectorSize * taps
		cpu.TakeTaps(l.channels, size, from, v.first, w.taps[t:t+taps], w.buf[i*flatVector(k):i*flatVector(k)+k*vectorSize])
	}
}
