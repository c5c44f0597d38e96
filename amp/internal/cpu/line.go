package cpu

import "math"

// A Line is what the kernels below work on: the elements of several lines that belong together, numbers that are the same for all of
// them, and sums. A kernel's lines have the same length.
type Line struct {
	F32 [lineCount][]float32
	Arg [8]float32
	Acc [2]Lanes

	// Ahead is the distance in bytes from a line to the one that is worked on next, which some kernels then bring into the cache
	// meanwhile: the processor does not guess it beyond a page. 0 is none.
	Ahead int

	Half [lineCount][]uint16 // the lines where they are halves

	lastHalf [lineCount][lineLanes]uint16

	last [lineCount][lineLanes]float32 // incomplete blocks
}

// Lanes are the parts of a sum or maximum, and Sum adds them up in one order, so that the result's bits do not depend on the width of a
// vector.
type Lanes [8]float64

// Sum returns the sum of the lanes: of each and the one four behind it, and so on.
func (a *Lanes) Sum() float64 {
	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

// Max returns the largest lane; none is NaN.
func (a *Lanes) Max() float64 {
	m := a[0]
	for _, v := range a[1:] {
		m = larger(m, v)
	}
	return m
}

// Fill sets every lane.
func (a *Lanes) Fill(v float64) {
	for i := range a {
		a[i] = v
	}
}

const (
	lineCount   = 7
	lineLanes   = 32   // element i of a segment goes to lane i mod 32
	lineSegment = 2048 // elements that are added up in float32 before their sums are in float64
)

// lanes32 are the parts of a segment's sum.
type lanes32 [lineLanes]float32

var lowest32 = func() (l lanes32) {
	for i := range l {
		l[i] = float32(math.Inf(-1))
	}
	return l
}()

// add adds a segment's lanes, as the assembly does.
func (a *Lanes) add(s *lanes32) {
	for i := range a {
		a[i] += (float64(s[i]) + float64(s[i+8])) + (float64(s[i+16]) + float64(s[i+24]))
	}
}

// most keeps the larger of the lanes and a segment's.
func (a *Lanes) most(s *lanes32) {
	for i := range a {
		a[i] = larger(larger(larger(float64(s[i]), float64(s[i+8])), larger(float64(s[i+16]), float64(s[i+24]))), a[i])
	}
}

// larger is the instruction of that name, which gives y if both are zero.
func larger(x, y float64) float64 {
	if x > y {
		return x
	}
	return y
}

// A LineKernel is one pass over a Line, computed in float32, with the same bits on every variant and machine.
type LineKernel struct {
	plain          func(lo, n int, io *Line)
	vec            [AVX512 + 1]func(blocks int, io *Line)
	f16, bf16      [AVX512 + 1]func(blocks int, io *Line)
	lines, written []int                         // those it touches, and those it writes
	pad            func(io *Line, k int) float32 // what may stand behind line k without a sum showing it; nil for 0
}

// Run does the first n elements, which every line that the kernel names must have. Sums go on from what is in the lanes.
func (k *LineKernel) Run(n int, io *Line) {
	whole := n &^ (lineLanes - 1)
	vec := k.vec[variant()]
	if vec == nil {
		for lo := 0; lo < whole; lo += lineSegment {
			k.plain(lo, min(lo+lineSegment, whole), io)
		}
		if whole < n {
			k.plain(whole, n, io)
		}
		return
	}
	for _, j := range k.lines {
		_ = io.F32[j][:n]
	}
	if whole > 0 {
		vec(whole/lineLanes, io)
	}
	if whole < n {
		k.rest(vec, whole, n, io)
	}
}

// Halves says whether there is a form for halves.
func (k *LineKernel) Halves() bool { return k.bf16[variant()] != nil }

// RunHalf does the first n elements of the lines in Half, which are bfloat16 or else float16: each is widened, and each result rounded once;
// sums are those of Run. It returns false, and does nothing, where the kernel has no such form.
func (k *LineKernel) RunHalf(n int, bfloat bool, io *Line) bool {
	vec := k.f16[variant()]
	if bfloat {
		vec = k.bf16[variant()]
	}
	if vec == nil {
		return false
	}
	for _, j := range k.lines {
		_ = io.Half[j][:n]
	}
	whole := n &^ (lineLanes - 1)
	if whole > 0 {
		vec(whole/lineLanes, io)
	}
	if whole == n {
		return true
	}
	was := io.Half
	for _, j := range k.lines {
		own := io.lastHalf[j][:]
		clear(own[copy(own, was[j][whole:n]):]) // which a sum does not show
		io.Half[j] = own
	}
	vec(1, io)
	io.Half = was
	for _, j := range k.written {
		copy(was[j][whole:n], io.lastHalf[j][:])
	}
	return true
}

// rest does an incomplete block in lines of its own.
func (k *LineKernel) rest(vec func(blocks int, io *Line), lo, n int, io *Line) {
	was := io.F32
	for _, j := range k.lines {
		own := io.last[j][:]
		pad := float32(0)
		if k.pad != nil {
			pad = k.pad(io, j)
		}
		for i := copy(own, was[j][lo:n]); i < len(own); i++ {
			own[i] = pad
		}
		io.F32[j] = own
	}
	vec(1, io)
	io.F32 = was
	for _, j := range k.written {
		copy(was[j][lo:n], io.last[j][:])
	}
}

// MaxOf returns the largest element of x, NaN aside; -Inf if there is none.
func (io *Line) MaxOf(x []float32) float64 {
	io.F32[0] = x
	io.Acc[0].Fill(math.Inf(-1))
	LineMax.Run(len(x), io)
	return io.Acc[0].Max()
}
