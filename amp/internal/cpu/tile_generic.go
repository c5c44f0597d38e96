package cpu

import (
	"math"
	"unsafe"
)

// The generic tiles are 4×4: what the compiler keeps in registers.
func fixedHeight(int) int { return 4 }

var (
	genericF32 = kernel[float32]{rows: 4, cols: 4, narrow: 4, depth: 512, grain: 1 << 18, height: fixedHeight, tile: tileGo[float32]}
	genericF64 = kernel[float64]{rows: 4, cols: 4, narrow: 4, depth: 512, grain: 1 << 18, height: fixedHeight, tile: tileGo[float64]}
	genericI64 = kernel[int64]{rows: 4, cols: 4, narrow: 4, depth: 512, grain: 1 << 18, height: fixedHeight, tile: tileGo[int64]}
	exactF32   = kernel[float32]{rows: 4, cols: 4, narrow: 4, depth: 512, grain: 1 << 16, height: fixedHeight, tile: tileExactF32}
	exactF64   = kernel[float64]{rows: 4, cols: 4, narrow: 4, depth: 512, grain: 1 << 16, height: fixedHeight, tile: tileExactF64}
)

// kernelOf returns the kernel for T.
func kernelOf[T Float]() *kernel[T] {
	var z T
	var k any = &genericI64
	switch any(z).(type) {
	case float32:
		k = kernelF32()
	case float64:
		k = kernelF64()
	}
	return k.(*kernel[T])
}

// tileGo multiplies and adds as the compiler sees fit: fused on some processors.
func tileGo[T Float](_, _, k int, a, b []T, _ int, c []T, ldc int, more bool, _ unsafe.Pointer) {
	if !more {
		for i := range 4 {
			clear(c[i*ldc : i*ldc+4])
		}
	}
	r := c[:4:4]
	c00, c01, c02, c03 := r[0], r[1], r[2], r[3]
	r = c[ldc : ldc+4 : ldc+4]
	c10, c11, c12, c13 := r[0], r[1], r[2], r[3]
	r = c[2*ldc : 2*ldc+4 : 2*ldc+4]
	c20, c21, c22, c23 := r[0], r[1], r[2], r[3]
	r = c[3*ldc : 3*ldc+4 : 3*ldc+4]
	c30, c31, c32, c33 := r[0], r[1], r[2], r[3]
	a, b = a[:k*4], b[:k*4]
	for len(a) >= 4 && len(b) >= 4 {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
		c20 += a2 * b0
		c21 += a2 * b1
		c22 += a2 * b2
		c23 += a2 * b3
		c30 += a3 * b0
		c31 += a3 * b1
		c32 += a3 * b2
		c33 += a3 * b3
		a, b = a[4:], b[4:]
	}
	r = c[:4:4]
	r[0], r[1], r[2], r[3] = c00, c01, c02, c03
	r = c[ldc : ldc+4 : ldc+4]
	r[0], r[1], r[2], r[3] = c10, c11, c12, c13
	r = c[2*ldc : 2*ldc+4 : 2*ldc+4]
	r[0], r[1], r[2], r[3] = c20, c21, c22, c23
	r = c[3*ldc : 3*ldc+4 : 3*ldc+4]
	r[0], r[1], r[2], r[3] = c30, c31, c32, c33
}

// tileExactF32 and tileExactF64 round once per multiply-add, as the assembly does: the bits of HALFTONE_CPU=reproducible.
func tileExactF32(_, _, k int, a, b []float32, _ int, c []float32, ldc int, more bool, _ unsafe.Pointer) {
	for i := range 4 {
		row := c[i*ldc : i*ldc+4 : i*ldc+4]
		if !more {
			clear(row)
		}
		s0, s1, s2, s3 := row[0], row[1], row[2], row[3]
		x, y := a[i:k*4], b[:k*4]
		for len(y) >= 4 {
			v := x[0]
			s0, s1, s2, s3 = FMA32(v, y[0], s0), FMA32(v, y[1], s1), FMA32(v, y[2], s2), FMA32(v, y[3], s3)
			if y = y[4:]; len(y) > 0 {
				x = x[4:]
			}
		}
		row[0], row[1], row[2], row[3] = s0, s1, s2, s3
	}
}

func tileExactF64(_, _, k int, a, b []float64, _ int, c []float64, ldc int, more bool, _ unsafe.Pointer) {
	for i := range 4 {
		row := c[i*ldc : i*ldc+4 : i*ldc+4]
		if !more {
			clear(row)
		}
		s0, s1, s2, s3 := row[0], row[1], row[2], row[3]
		x, y := a[i:k*4], b[:k*4]
		for len(y) >= 4 {
			v := x[0]
			s0, s1, s2, s3 = math.FMA(v, y[0], s0), math.FMA(v, y[1], s1), math.FMA(v, y[2], s2), math.FMA(v, y[3], s3)
			if y = y[4:]; len(y) > 0 {
				x = x[4:]
			}
		}
		row[0], row[1], row[2], row[3] = s0, s1, s2, s3
	}
}

// FMA32 returns x*y + z, rounded once. The product is exact in float64. So is the second rounding of the sum, unless the first
// fell on the midpoint of two float32 neighbors, or the result is no normal number.
func FMA32(x, y, z float32) float32 {
	s := float64(x)*float64(y) + float64(z)
	if u := math.Float64bits(s); u&(1<<29-1) != 1<<28 && u>>52&0x7ff-897 < 254 { // 897: the exponent of the smallest normal float32
		return float32(s)
	}
	return fma32(x, y, z)
}

// fma32 rounds the sum in float64 to odd, so that the second rounding gives what one would.
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	// What rounding lost of the sum (Knuth's two-sum).
	t := s - p
	lost := (p - (s - t)) + (c - t)
	u := math.Float64bits(s)
	if lost == 0 || lost != lost || u&1 == 1 {
		return float32(s)
	}
	if (lost > 0) == (s > 0) {
		u++
	} else {
		u--
	}
	return float32(math.Float64frombits(u))
}
