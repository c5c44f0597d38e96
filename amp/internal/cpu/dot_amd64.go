package cpu

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"
)

var (
	pairsBF16 = kernel[float32]{rows: 12, cols: 32, narrow: 16, depth: 512, grain: 1 << 20, height: zmmHeight, tile: tilePairs, roundTile: roundPairs,
		lanes: func(k int) int { return (k + 1) / 2 }, unit: 1, packA: packPairsA, packB: packPairsB}
	// tilesBF16 goes its own way: see tiles_amd64.go.
	tilesBF16 = kernel[float32]{grain: 1 << 22, lanes: tileLanes, run: runTiles}
	tilesF16  = kernel[float32]{grain: 1 << 22, lanes: tileLanes, run: runTiles}
	// tilesInParts is for float16 where there are tile registers for bfloat16 alone.
	tilesInParts = kernel[float32]{grain: 1 << 20, lanes: tileLanes, run: runTiles, inParts: true}
)

func tileLanes(k int) int { return up(k, 32) / 2 }

// mostDot is what the machine has.
var mostDot = sync.OnceValue(func() Dot {
	switch {
	case best() != AVX512 || !cpu.X86.HasAVX512BF16:
		return Strict
	case !cpu.X86.HasAMXTile || !cpu.X86.HasAMXBF16 || !allowTiles():
		return Pairs
	}
	return Tiles
})

// hasTilesF16: AMX-FP16 came a generation later.
var hasTilesF16 = sync.OnceValue(func() bool {
	const fp16 = 1 << 21
	if most, _, _, _ := cpuid(7, 0); most < 1 {
		return false
	}
	a, _, _, _ := cpuid(7, 1)
	return a&fp16 != 0
})

// defaultDot is the fastest: Intel's VDPBF16PS takes twice the time of two multiply-adds, AMD's half of it.
func defaultDot() Dot {
	if d := mostDot(); d != Pairs {
		return d
	}
	if madeByAMD() {
		return Pairs
	}
	return Strict
}

var madeByAMD = sync.OnceValue(func() bool {
	_, b, c, d := cpuid(0, 0)
	return b == 0x68747541 && d == 0x69746e65 && c == 0x444d4163 // AuthenticAMD
})

// fewHalves is the number of steps of k from which it pays to narrow numbers that are in memory as float32.
const fewHalves = 16

// kernelDot returns the kernel for a product of two matrices of the same halves, nil for none.
func kernelDot(g *product[float32]) *kernel[float32] {
	d, bits := CurrentDot(), g.a.halves() != nil && g.b.halves() != nil
	switch {
	case d == Tiles && !bits && g.depth < fewHalves:
	case d == Tiles && g.a.format() == BF16:
		return &tilesBF16
	case d == Tiles && hasTilesF16():
		return &tilesF16
	case d == Tiles && g.worthParts():
		return &tilesInParts
	case d == Pairs && bits && g.a.format() == BF16:
		return &pairsBF16
	}
	return nil
}

// worthParts says that a product of float16 is large enough to be taken apart: below, packing takes longer than widening saves.
func (g *product[T]) worthParts() bool {
	return min(g.m, g.n, g.depth) >= leastInParts && g.a.Table == nil && g.b.Table == nil
}

// left is how many elements of k there are in steps pairs from pair p on.
func (g *product[T]) left(p, steps int) int { return max(0, min(2*steps, g.depth-2*p)) }

func packPairsA(g *product[float32], w *workspace[float32], dst []float32, have, p, steps, i int) {
	a := &g.a
	packDeep(dst, zmmHeight(have), have, p, steps, g.depth, a.halves(), a.Off+i*a.Row, a.Row, a.Col, a.ColFold)
}

func packPairsB(g *product[float32], w *workspace[float32], dst []float32, have, p, steps, j int) {
	b := &g.b
	if b.ColFold.run(j, have) == have {
		packDeep(dst, 32, have, p, steps, g.depth, b.halves(), b.Off+b.ColFold.at(j, b.Col), b.Col, b.Row, b.RowFold)
		return
	}
	clear(dst[:32*steps])
	for y := 0; y < have; {
		n := b.ColFold.run(j+y, have-y)
		packAcross(dst[y:], 32, n, n, g.left(p, steps), b.halves(), b.Off+b.ColFold.at(j+y, 1)+2*p*b.Row, b.Row)
		y += n
	}
}

// packDeep is packPairs of steps pairs from pair p on, of depth elements along a row that may be folded.
func packDeep(dst []float32, width, have, p, steps, depth int, x []uint16, off, sy, sp int, fold Fold) {
	if fold.Len == 0 {
		packPairs(dst, width, have, steps, max(0, min(2*steps, depth-2*p)), x, off+2*p*sp, sy, sp)
		return
	}
	for each := fold.pairs(fold.Len); steps > 0; {
		piece, q := p/each, p%each
		n := min(steps, each-q)
		packPairs(dst, width, have, n, min(2*n, fold.Len-2*q), x, off+piece*fold.Step+2*q*sp, sy, sp)
		dst, p, steps = dst[n*width:], p+n, steps-n
	}
}

// amxHeight is 16 or 32.
func amxHeight(rows int) int { return up(rows, 16) }

// tileConfig gives all tile registers 16 rows of 64 bytes: palette 1.
var tileConfig = func() *[64]byte {
	c := &[64]byte{0: 1}
	for i := range 8 {
		c[16+2*i], c[48+i] = 64, 16
	}
	return c
}()

// roundPairs is the tile of 12 × 32 rounded to bfloat16. The sums are not subnormal, so that the instruction for it rounds like NarrowBF16.
func roundPairs(k int, a, b []float32, ldb int, dst []uint16, ldd int, ahead unsafe.Pointer) {
	_, _, _ = a[12*k-1], b[(k-1)*ldb+31], dst[11*ldd+31]
	bf16z12x2round(k, &a[0], &b[0], 4*ldb, &dst[0], 2*ldd, ahead)
}

func tilePairs(rows, cols, k int, a, b []float32, ldb int, c []float32, ldc int, more bool, ahead unsafe.Pointer) {
	wide := cols > 16
	if cols = 16; wide {
		cols = 32
	}
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 4*ldb, 4*ldc, flag(more)
	if wide {
		switch rows {
		case 12:
			bf16z12x2(k, pa, pb, lb, pc, lc, m, ahead)
		case 8:
			bf16z8x2(k, pa, pb, lb, pc, lc, m)
		case 4:
			bf16z4x2(k, pa, pb, lb, pc, lc, m)
		case 2:
			bf16z2x2(k, pa, pb, lb, pc, lc, m)
		case 1:
			bf16z1x2(k, pa, pb, lb, pc, lc, m)
		}
		return
	}
	switch rows {
	case 12:
		bf16z12x1(k, pa, pb, lb, pc, lc, m)
	case 8:
		bf16z8x1(k, pa, pb, lb, pc, lc, m)
	case 4:
		bf16z4x1(k, pa, pb, lb, pc, lc, m)
	case 2:
		bf16z2x1(k, pa, pb, lb, pc, lc, m)
	case 1:
		bf16z1x1(k, pa, pb, lb, pc, lc, m)
	}
}
