package cpu

import "math"

// A Line is what the kernels below work on: the elements of several lines that belong together, numbers that are the same for all of
// them, and sums. A kernel's lines have the same length.
type Line struct {
	F32 [6][]float32
	F64 [3][]float64
	Arg [4]float64
	Acc [2]Lanes
}

// Lanes are the parts of a sum or maximum: element i of a line goes to lane i mod 16 on every processor, and Sum adds them up in one
// order, so that the result's bits do not depend on the width of a vector.
type Lanes [16]float64

// Sum returns the sum of the lanes, which it uses up.
func (a *Lanes) Sum() float64 {
	for w := len(a) / 2; w > 0; w /= 2 {
		for i := range w {
			a[i] += a[i+w]
		}
	}
	return a[0]
}

// Max returns the largest lane.
func (a *Lanes) Max() float64 {
	m := a[0]
	for _, v := range a[1:] {
		m = max(m, v)
	}
	return m
}

// Fill sets every lane.
func (a *Lanes) Fill(v float64) {
	for i := range a {
		a[i] = v
	}
}

// A LineKernel is one pass over a Line, computed in float64, with the same bits on every variant and machine.
type LineKernel struct {
	plain func(lo, n int, io *Line)
	vec   [AVX512 + 1]func(blocks int, io *Line)
}

// Run does the first n elements, which every line that the kernel names must have. Sums go on from what is in the lanes.
func (k *LineKernel) Run(n int, io *Line) {
	done := 0
	if vec := k.vec[variant()]; vec != nil && n >= 16 {
		k.plain(n, n, io) // panics where a line is too short
		vec(n/16, io)
		done = n &^ 15
	}
	k.plain(done, n, io)
}

// MaxOf returns the largest element of x, NaN aside; -Inf if there is none.
func (io *Line) MaxOf(x []float32) float64 {
	io.F32[0] = x
	io.Acc[0].Fill(math.Inf(-1))
	LineMax.Run(len(x), io)
	return io.Acc[0].Max()
}

// SumOf returns the sum of x.
func (io *Line) SumOf(x []float32) float64 {
	io.F32[0] = x
	io.Acc[0] = Lanes{}
	LineSum.Run(len(x), io)
	return io.Acc[0].Sum()
}
