package cpu

import "unsafe"

var (
	zmmF32 = kernel[float32]{rows: 12, cols: 32, narrow: 16, depth: 512, raw: true, strip: 12, grain: 1 << 18, height: zmmHeight, tile: tileF32Z, rowTile: rowTileF32Z}
	// wideF32 reads b once, as it is in memory, in longer runs than zmmF32.
	wideF32 = kernel[float32]{rows: 8, cols: 48, narrow: 16, depth: 512, raw: true, grain: 1 << 18, height: func(int) int { return 8 }, tile: tileF32W}
	// largeF32 needs fewer loads for as many multiply-adds than zmmF32, and less power, which the processor turns into a higher clock. Its tiles
	// are too large for what is read where it is, and for products of few rows.
	largeF32 = kernel[float32]{rows: 9, cols: 48, narrow: 16, depth: 512, even: true, tall: 13, grain: 1 << 18, height: func(int) int { return 9 }, tile: tileF32L}
	zmmF64   = kernel[float64]{rows: 12, cols: 16, narrow: 8, depth: 256, raw: true, grain: 1 << 17, height: zmmHeight, tile: tileF64Z}
	// Panels of 512 steps: one of b streams through the L1 cache from the L2 cache, which the tile hides, and half as many tiles of c are read and written.
	ymmF32 = kernel[float32]{rows: 6, cols: 16, narrow: 8, depth: 512, raw: true, even: true, strip: 96, grain: 1 << 17, height: ymmHeight, tile: tileF32Y,
		rowTile: rowTileF32Y, rowTiles: rowTilesF32Y, tilesDown: tilesDownF32Y, tilesAcross: tilesAcrossF32Y}
	ymmF64 = kernel[float64]{rows: 6, cols: 8, narrow: 4, depth: 256, raw: true, grain: 1 << 16, height: ymmHeight, tile: tileF64Y, tilesDown: tilesDownF64Y}
)

func kernelF32() *kernel[float32] {
	switch variant() {
	case AVX512:
		return &zmmF32
	case AVX2:
		return &ymmF32
	}
	if reproducible() {
		return &exactF32
	}
	return &genericF32
}

func kernelF64() *kernel[float64] {
	switch variant() {
	case AVX512:
		return &zmmF64
	case AVX2:
		return &ymmF64
	}
	if reproducible() {
		return &exactF64
	}
	return &genericF64
}

// zmmHeight and ymmHeight return the lowest tile that has rows rows.
func zmmHeight(rows int) int {
	switch {
	case rows > 8:
		return 12
	case rows > 4:
		return 8
	case rows > 2:
		return 4
	}
	return rows
}

func ymmHeight(rows int) int {
	switch {
	case rows > 4:
		return 6
	case rows > 2:
		return 4
	}
	return rows
}

// transpose4 transposes what it can of four rows and returns how many steps that were.
func transpose4[T Float](dst []T, width int, src []T, sy, k int) int {
	n := k / 4
	if n == 0 || sy < 0 || variant() == Generic {
		return 0
	}
	_, _ = src[3*sy+k-1], dst[(k-1)*width+3]
	switch d := any(dst).(type) {
	case []float32:
		transpose4f32(n, &any(src).([]float32)[0], 4*sy, &d[0], 4*width)
	case []float64:
		transpose4f64(n, &any(src).([]float64)[0], 8*sy, &d[0], 8*width)
	default:
		return 0
	}
	return 4 * n
}

// transpose2 is transpose4 for two rows, which the tiles of AVX2 leave over.
func transpose2[T Float](dst []T, width int, src []T, sy, k int) int {
	n := k / 4
	if n == 0 || sy < 0 || variant() != AVX2 {
		return 0
	}
	_, _ = src[sy+k-1], dst[(k-1)*width+1]
	switch d := any(dst).(type) {
	case []float32:
		transpose2f32(n, &any(src).([]float32)[0], 4*sy, &d[0], 4*width)
	case []float64:
		transpose2f64(n, &any(src).([]float64)[0], 8*sy, &d[0], 8*width)
	default:
		return 0
	}
	return 4 * n
}

// copyRows copies k rows of n elements.
func copyRows[T Float](dst []T, ldd int, src []T, lds, n, k int) {
	if k == 0 || n == 0 {
		return
	}
	if variant() == Generic {
		for p := range k {
			copy(dst[p*ldd:p*ldd+n], src[p*lds:])
		}
		return
	}
	_, _ = dst[(k-1)*ldd+n-1], src[(k-1)*lds+n-1]
	size := int(unsafe.Sizeof(dst[0]))
	copyRowsAVX(k, unsafe.Pointer(&src[0]), lds*size, unsafe.Pointer(&dst[0]), ldd*size, n*size)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func tileF32Z(rows, cols, k int, a, b []float32, ldb int, c []float32, ldc int, more bool, ahead unsafe.Pointer) {
	wide := cols > 16
	if cols = 16; wide {
		cols = 32
	}
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 4*ldb, 4*ldc, flag(more)
	if wide {
		switch rows {
		case 12:
			f32z12x2(k, pa, pb, lb, pc, lc, m, ahead)
		case 8:
			f32z8x2(k, pa, pb, lb, pc, lc, m)
		case 4:
			f32z4x2(k, pa, pb, lb, pc, lc, m)
		case 2:
			f32z2x2(k, pa, pb, lb, pc, lc, m)
		case 1:
			f32z1x2(k, pa, pb, lb, pc, lc, m)
		}
		return
	}
	switch rows {
	case 12:
		f32z12x1(k, pa, pb, lb, pc, lc, m)
	case 8:
		f32z8x1(k, pa, pb, lb, pc, lc, m)
	case 4:
		f32z4x1(k, pa, pb, lb, pc, lc, m)
	case 2:
		f32z2x1(k, pa, pb, lb, pc, lc, m)
	case 1:
		f32z1x1(k, pa, pb, lb, pc, lc, m)
	}
}

func tileF32W(rows, cols, k int, a, b []float32, ldb int, c []float32, ldc int, more bool, ahead unsafe.Pointer) {
	cols = up(cols, 16)
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 4*ldb, 4*ldc, flag(more)
	switch cols {
	case 48:
		f32z8x3(k, pa, pb, lb, pc, lc, m, ahead)
	case 32:
		f32z8x2(k, pa, pb, lb, pc, lc, m)
	default:
		f32z8x1(k, pa, pb, lb, pc, lc, m)
	}
}

func tileF32L(rows, cols, k int, a, b []float32, ldb int, c []float32, ldc int, more bool, ahead unsafe.Pointer) {
	cols = up(cols, 16)
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 4*ldb, 4*ldc, flag(more)
	switch cols {
	case 48:
		f32z9x3(k, pa, pb, lb, pc, lc, m, ahead)
	case 32:
		f32z9x2(k, pa, pb, lb, pc, lc, m)
	default:
		f32z9x1(k, pa, pb, lb, pc, lc, m)
	}
}

func tileF64Z(rows, cols, k int, a, b []float64, ldb int, c []float64, ldc int, more bool, ahead unsafe.Pointer) {
	wide := cols > 8
	if cols = 8; wide {
		cols = 16
	}
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 8*ldb, 8*ldc, flag(more)
	if wide {
		switch rows {
		case 12:
			f64z12x2(k, pa, pb, lb, pc, lc, m, ahead)
		case 8:
			f64z8x2(k, pa, pb, lb, pc, lc, m)
		case 4:
			f64z4x2(k, pa, pb, lb, pc, lc, m)
		case 2:
			f64z2x2(k, pa, pb, lb, pc, lc, m)
		case 1:
			f64z1x2(k, pa, pb, lb, pc, lc, m)
		}
		return
	}
	switch rows {
	case 12:
		f64z12x1(k, pa, pb, lb, pc, lc, m)
	case 8:
		f64z8x1(k, pa, pb, lb, pc, lc, m)
	case 4:
		f64z4x1(k, pa, pb, lb, pc, lc, m)
	case 2:
		f64z2x1(k, pa, pb, lb, pc, lc, m)
	case 1:
		f64z1x1(k, pa, pb, lb, pc, lc, m)
	}
}

func tileF32Y(rows, cols, k int, a, b []float32, ldb int, c []float32, ldc int, more bool, ahead unsafe.Pointer) {
	wide := cols > 8
	if cols = 8; wide {
		cols = 16
	}
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 4*ldb, 4*ldc, flag(more)
	if wide {
		switch rows {
		case 6:
			f32y6x2(k, pa, pb, lb, pc, lc, m, ahead)
		case 4:
			f32y4x2(k, pa, pb, lb, pc, lc, m)
		case 2:
			f32y2x2(k, pa, pb, lb, pc, lc, m)
		case 1:
			f32y1x2(k, pa, pb, lb, pc, lc, m)
		}
		return
	}
	switch rows {
	case 6:
		f32y6x1(k, pa, pb, lb, pc, lc, m)
	case 4:
		f32y4x1(k, pa, pb, lb, pc, lc, m)
	case 2:
		f32y2x1(k, pa, pb, lb, pc, lc, m)
	case 1:
		f32y1x1(k, pa, pb, lb, pc, lc, m)
	}
}

func tileF64Y(rows, cols, k int, a, b []float64, ldb int, c []float64, ldc int, more bool, ahead unsafe.Pointer) {
	wide := cols > 4
	if cols = 4; wide {
		cols = 8
	}
	_, _, _ = a[rows*k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, lb, lc, m := &a[0], &b[0], &c[0], 8*ldb, 8*ldc, flag(more)
	if wide {
		switch rows {
		case 6:
			f64y6x2(k, pa, pb, lb, pc, lc, m, ahead)
		case 4:
			f64y4x2(k, pa, pb, lb, pc, lc, m)
		case 2:
			f64y2x2(k, pa, pb, lb, pc, lc, m)
		case 1:
			f64y1x2(k, pa, pb, lb, pc, lc, m)
		}
		return
	}
	switch rows {
	case 6:
		f64y6x1(k, pa, pb, lb, pc, lc, m)
	case 4:
		f64y4x1(k, pa, pb, lb, pc, lc, m)
	case 2:
		f64y2x1(k, pa, pb, lb, pc, lc, m)
	case 1:
		f64y1x1(k, pa, pb, lb, pc, lc, m)
	}
}

func rowTileF32Z(rows, cols, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, more bool) {
	wide := cols > 16
	if cols = 16; wide {
		cols = 32
	}
	_, _, _ = a[(rows-1)*lda+k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, la, lb, lc, m := &a[0], &b[0], &c[0], 4*lda, 4*ldb, 4*ldc, flag(more)
	if wide {
		switch rows {
		case 12:
			f32z12x2rows(k, pa, pb, lb, pc, lc, m, la)
		case 8:
			f32z8x2rows(k, pa, pb, lb, pc, lc, m, la)
		case 4:
			f32z4x2rows(k, pa, pb, lb, pc, lc, m, la)
		case 2:
			f32z2x2rows(k, pa, pb, lb, pc, lc, m, la)
		case 1:
			f32z1x2rows(k, pa, pb, lb, pc, lc, m, la)
		}
		return
	}
	switch rows {
	case 12:
		f32z12x1rows(k, pa, pb, lb, pc, lc, m, la)
	case 8:
		f32z8x1rows(k, pa, pb, lb, pc, lc, m, la)
	case 4:
		f32z4x1rows(k, pa, pb, lb, pc, lc, m, la)
	case 2:
		f32z2x1rows(k, pa, pb, lb, pc, lc, m, la)
	case 1:
		f32z1x1rows(k, pa, pb, lb, pc, lc, m, la)
	}
}

func rowTileF32Y(rows, cols, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, more bool) {
	wide := cols > 8
	if cols = 8; wide {
		cols = 16
	}
	_, _, _ = a[(rows-1)*lda+k-1], b[(k-1)*ldb+cols-1], c[(rows-1)*ldc+cols-1]
	pa, pb, pc, la, lb, lc, m := &a[0], &b[0], &c[0], 4*lda, 4*ldb, 4*ldc, flag(more)
	if wide {
		switch rows {
		case 6:
			f32y6x2rows(k, pa, pb, lb, pc, lc, m, la, 1)
		case 4:
			f32y4x2rows(k, pa, pb, lb, pc, lc, m, la)
		case 2:
			f32y2x2rows(k, pa, pb, lb, pc, lc, m, la)
		case 1:
			f32y1x2rows(k, pa, pb, lb, pc, lc, m, la)
		}
		return
	}
	switch rows {
	case 6:
		f32y6x1rows(k, pa, pb, lb, pc, lc, m, la, 1)
	case 4:
		f32y4x1rows(k, pa, pb, lb, pc, lc, m, la)
	case 2:
		f32y2x1rows(k, pa, pb, lb, pc, lc, m, la)
	case 1:
		f32y1x1rows(k, pa, pb, lb, pc, lc, m, la)
	}
}

// rowTilesF32Y computes n of the highest tiles, below each other.
func rowTilesF32Y(n, cols, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, more bool) {
	tiles := f32y6x1rows
	if cols > 8 {
		tiles, cols = f32y6x2rows, 16
	} else {
		cols = 8
	}
	_, _, _ = a[(6*n-1)*lda+k-1], b[(k-1)*ldb+cols-1], c[(6*n-1)*ldc+cols-1]
	tiles(k, &a[0], &b[0], 4*ldb, &c[0], 4*ldc, flag(more), 4*lda, n)
}

// tilesAcrossF32Y computes n of the largest tiles, beside each other.
func tilesAcrossF32Y(n, k int, a, b []float32, next int, c []float32, ldc int, more bool) {
	_, _, _ = a[6*k-1], b[(n-1)*next+16*k-1], c[5*ldc+16*n-1]
	f32y6x2across(n, k, &a[0], &b[0], 4*next, &c[0], 4*ldc, flag(more))
}

// tilesDownF32Y and tilesDownF64Y compute n of the largest tiles, below each other.
func tilesDownF32Y(n, k int, a, b []float32, ldb int, c []float32, ldc int, more bool, next []float32) {
	_, _, _ = a[6*n*k-1], b[(k-1)*ldb+15], c[(6*n-1)*ldc+15]
	ahead, end := bounds(next)
	f32y6x2down(k, &a[0], &b[0], 4*ldb, &c[0], 4*ldc, flag(more), ahead, end, n)
}

func tilesDownF64Y(n, k int, a, b []float64, ldb int, c []float64, ldc int, more bool, next []float64) {
	_, _, _ = a[6*n*k-1], b[(k-1)*ldb+7], c[(6*n-1)*ldc+7]
	ahead, end := bounds(next)
	f64y6x2down(k, &a[0], &b[0], 8*ldb, &c[0], 8*ldc, flag(more), ahead, end, n)
}

// bounds are the first and the last element of b, or nil.
func bounds[T Float](b []T) (first, last unsafe.Pointer) {
	if len(b) == 0 {
		return nil, nil
	}
	return unsafe.Pointer(&b[0]), unsafe.Pointer(&b[len(b)-1])
}
