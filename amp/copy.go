package amp

import (
	"slices"
	"unsafe"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Rows that move elements without computing treat them as words of their size, whatever the dtype.

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// words views the whole storage of t as words of its element size.
func words[T word](t *Tensor) []T {
	var z T
	mem := t.st.mem
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/int(unsafe.Sizeof(z)))
}

// bySize chooses the form of a function for words of dt's size.
func bySize[F any](dt DType, of8, of16, of32, of64 F) F {
	switch dt.Size() {
	case 1:
		return of8
	case 2:
		return of16
	case 4:
		return of32
	}
	return of64
}

// wordOf is v rounded to a dtype, as a word.
func wordOf[T word](dt DType, v float64) T {
	t := &Tensor{dt: dt, st: &storage{mem: make([]byte, 8)}}
	store(t, 0, []float64{v})
	return words[T](t)[0]
}

// pickAlong fills out with out[i,j,…] = x[maps[0][i], maps[1][j], …]; a nil map is the identity, and a negative entry stands for the
// number fill.
func pickAlong(out, x *Tensor, maps [][]int, fill float64) {
	bySize(out.dt, pickOn[uint8], pickOn[uint16], pickOn[uint32], pickOn[uint64])(out, x, maps, fill)
}

func pickOn[T word](out, x *Tensor, maps [][]int, number float64) {
	if out.Len() == 0 {
		return
	}
	fill := wordOf[T](out.dt, number)
	dst, src := words[T](out)[out.off:], words[T](x)
	k := len(out.shape) - 1
	inner, step := 1, 0
	var along []pickRun
	if k >= 0 {
		inner, step, along = out.shape[k], x.strides[k], pickRuns(maps[k], out.shape[k])
	}
	cpu.Parallel(out.Len()/inner, grainOf(inner), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := dst[r*inner : (r+1)*inner]
			off, ok := pickRow(out, x, maps, r)
			if !ok {
				fillWords(row, fill)
				continue
			}
			if k < 0 {
				row[0] = src[off]
				continue
			}
			if along == nil { // steps that change: one element after another
				for i, j := range maps[k] {
					if j < 0 {
						row[i] = fill
					} else {
						row[i] = src[off+j*step]
					}
				}
				continue
			}
			for _, run := range along {
				part := row[run.to : run.to+run.n]
				if run.from < 0 {
					fillWords(part, fill)
				} else {
					copyStrided(part, src, off+run.from*step, run.by*step)
				}
			}
		}
	})
}

// A pickRun is a part of a map whose entries go on by the same step: n elements of the result from place to on are those of the source
// at from, from + by and so on. A negative from stands for the number.
type pickRun struct{ to, n, from, by int }

// Runs are taken one by one while there are no more than pickRunFree of them, or they have pickRunLeast elements on average.
const (
	pickRunFree  = 4
	pickRunLeast = 8
)

// pickRuns returns the runs of a map of n entries, or none where they are too short to pay; a nil map is the identity.
func pickRuns(m []int, n int) []pickRun {
	if m == nil {
		return []pickRun{{n: n, by: 1}}
	}
	var runs []pickRun
	for lo := 0; lo < n; {
		run := pickRun{to: lo, n: 1, from: max(m[lo], -1)}
		if lo+1 < n && m[lo] >= 0 && m[lo+1] >= 0 {
			run.by = m[lo+1] - m[lo]
		}
		for hi := lo + 1; hi < n && max(m[hi], -1) == max(m[hi-1], -1)+run.by && (m[hi] < 0) == (run.from < 0); hi++ {
			run.n++
		}
		runs = append(runs, run)
		if lo += run.n; lo < pickRunLeast*(len(runs)-pickRunFree) {
			return nil
		}
	}
	return runs
}

// copyStrided sets dst to the elements of src at from, from + step and so on.
func copyStrided[T word](dst, src []T, from, step int) {
	switch step {
	case 0:
		fillWords(dst, src[from])
	case 1:
		copy(dst, src[from:from+len(dst)])
	case -1:
		part := src[from-len(dst)+1 : from+1]
		i := 0
		if d, ok := any(dst).([]uint32); ok {
			i = cpu.Reverse(d, any(part).([]uint32))
		}
		for last := len(part) - 1; i < len(dst); i++ {
			dst[i] = part[last-i]
		}
	default:
		for i := range dst {
			dst[i] = src[from]
			from += step
		}
	}
}

// fillWords sets every element: by copies, which are vectors.
func fillWords[T word](dst []T, v T) {
	few := min(len(dst), 16)
	for i := range dst[:few] {
		dst[i] = v
	}
	for n := few; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// pickRow returns where row r of out, all dimensions but the last, comes from; false if it is filled.
func pickRow(out, x *Tensor, maps [][]int, r int) (int, bool) {
	off := x.off
	for d := len(out.shape) - 2; d >= 0; d-- {
		i := r % out.shape[d]
		r /= out.shape[d]
		if m := maps[d]; m != nil {
			if i = m[i]; i < 0 {
				return 0, false
			}
		}
		off += i * x.strides[d]
	}
	return off, true
}

// copyTransposed copies x to out where neighbors in x lie along another dimension than the last, tile by tile, so that neither is read or
// written far apart; it says whether that is so.
func copyTransposed(out, x *Tensor) bool {
	k := len(x.shape) - 1
	d := slices.Index(x.strides, 1)
	if d < 0 || d >= k || x.Len() < 1<<12 || x.shape[d] < tile || x.shape[k] < tile {
		return false
	}
	bySize(out.dt, transposeOn[uint8], transposeOn[uint16], transposeOn[uint32], transposeOn[uint64])(out, x, d)
	return true
}

// copyRows copies x to out, of the same shape and dtype, row by row.
func copyRows(out, x *Tensor) {
	if out.Len() == 0 { // its rows may begin behind the memory, of which a device's copy is as long as what it holds
		return
	}
	bySize(out.dt, rowsOn[uint8], rowsOn[uint16], rowsOn[uint32], rowsOn[uint64])(out, x)
}

func rowsOn[T word](out, x *Tensor) {
	w := newRowWalk(out, x)
	dst, src := words[T](out), words[T](x)
	if last := len(w.shape) - 1; last >= 0 && w.step[0] == 1 && w.step[1] == 1 { // short rows, many at a time
		n, count := w.inner, w.shape[last]
		cpu.Parallel(length(w.shape), grainOf(n), func(lo, hi int) {
			for lo < hi {
				off, run := w.row(lo), min(hi-lo, count-lo%count)
				to, from := off[0], off[1]
				for range run {
					copy(dst[to:to+n], src[from:])
					to, from = to+w.strides[0][last], from+w.strides[1][last]
				}
				lo += run
			}
		})
		return
	}
	if last := len(w.shape) - 1; last >= 0 && w.inner < tile && w.strides[1][last] == 1 && w.step[0] == 1 && w.strides[0][last] == w.inner {
		weaveOn(w, dst, src)
		return
	}
	w.runBy(grain, func(off [4]int, n int) {
		to, from := off[0], off[1]
		if w.step[0] == 1 && w.step[1] == 1 {
			copy(dst[to:to+n], src[from:])
			return
		}
		for range n {
			dst[to] = src[from]
			to, from = to+w.step[0], from+w.step[1]
		}
	})
}

// weaveOn is rowsOn for short rows side by side whose elements lie in a row each: those of pixel_shuffle, or few channels that become the last
// dimension.
func weaveOn[T word](w *rowWalk, dst, src []T) {
	const some = 512 // of each row, so that what is written between others stays in the nearest cache
	n, last := w.inner, len(w.shape)-1
	count := w.shape[last]
	cpu.Parallel(length(w.shape), grainOf(n), func(lo, hi int) {
		for lo < hi {
			off, run := w.row(lo), min(hi-lo, count-lo%count, some)
			to := dst[off[0]:][:run*n]
			for j := range n {
				at := j
				for _, v := range src[off[1]+j*w.step[1]:][:run] {
					to[at] = v
					at += n
				}
			}
			lo += run
		}
	})
}

// tile is the side of a transposition's tiles: a cache line of float32.
const tile = 16

func transposeOn[T word](out, x *Tensor, d int) {
	k := len(x.shape) - 1
	dst, src := words[T](out), words[T](x)
	rows, columns, far, step := x.shape[d], x.shape[k], x.strides[k], out.strides[d]
	outer := x.Len() / (rows * columns)
	side := tile
	if _, ok := any(dst).([]uint16); ok {
		side = 2 * tile // a cache line
	}
	strips := (rows + side - 1) / side
	cpu.Parallel(outer*strips, grainOf(side*columns), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			to, from := out.off, x.off
			for i, rest := k-1, p/strips; i >= 0; i-- {
				if i != d {
					to += rest % x.shape[i] * out.strides[i]
					from += rest % x.shape[i] * x.strides[i]
					rest /= x.shape[i]
				}
			}
			first := p % strips * side
			high := min(side, rows-first)
			done := 0
			if high%tile == 0 { // whole squares
				switch dst := any(dst).(type) {
				case []uint32:
					_, done = cpu.Transpose(dst[to+first*step:], any(src).([]uint32)[from+first:], high, columns, far, step)
				case []uint16:
					_, done = cpu.TransposeHalves(dst[to+first*step:], any(src).([]uint16)[from+first:], high, columns, far, step)
				}
			}
			for c := done; c < columns; c += tile {
				wide := min(tile, columns-c)
				for r := first; r < first+high; r++ {
					row, at := dst[to+r*step+c:][:wide], from+r+c*far
					for i := range row {
						row[i] = src[at]
						at += far
					}
				}
			}
		}
	})
}
