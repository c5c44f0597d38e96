package cpu

import "unsafe"

// wide packing: AVX-512 forms of pack for float32 and what widens to it.

// packWide is pack where whole registers can do it; it says whether it has.
func packWide(dst []float32, width, have, k int, x *Matrix[float32], off, sy, sp int) bool {
	if variant() != AVX512 || width > 48 && sy == 1 || k == 0 || !x.inMemory() || sy != 1 && sp != 1 {
		return false
	}
	if sy == 1 {
		packRows(dst, width, have, k, x, off, sp)
		return true
	}
	if have < width {
		clear(dst[:width*k])
	}
	packColumns(dst, width, have, k, x, off, sy)
	return true
}

// packMany packs what it can of n panels whose k rows lie side by side in memory, the first element at off and rows sp apart, and returns
// how many panels that were: all or none.
func packMany[T Float](dst []T, width, n, k int, x *Matrix[T], off, sp int) int {
	if variant() == AVX2 {
		return packManyY(dst, width, n, k, x, off, sp)
	}
	src, ok := any(x.Elems).([]float32)
	if !ok || src == nil || variant() != AVX512 || width > 48 || n < 2 || k == 0 {
		return 0
	}
	last := off + (k-1)*sp
	_, _ = src[min(off, last)], src[max(off, last)+n*width-1]
	d := any(dst).([]float32)
	_ = d[n*width*k-1]
	switch {
	case width > 32:
		packPanels3(k, &src[off], 4*sp, &d[0], 4*width, n, 4*width*k, mask(width))
	case width > 16:
		packPanels2(k, &src[off], 4*sp, &d[0], 4*width, n, 4*width*k, mask(width))
	default:
		packPanels1(k, &src[off], 4*sp, &d[0], 4*width, n, 4*width*k, mask(width))
	}
	return n
}

// mask has n bits.
func mask(n int) int { return 1<<n - 1 }

// packRows is pack of elements that lie side by side across the panel.
func packRows(dst []float32, width, have, k int, x *Matrix[float32], off, sp int) {
	_ = dst[(k-1)*width+width-1]
	last := off + (k-1)*sp
	d, h, w := &dst[0], mask(have), mask(width)
	switch {
	case x.Elems != nil:
		_, _ = x.Elems[min(off, last)], x.Elems[max(off, last)+have-1]
		switch s := &x.Elems[off]; {
		case width > 32:
			packRowsF323(k, s, 4*sp, d, 4*width, h, w)
		case width > 16:
			packRowsF322(k, s, 4*sp, d, 4*width, h, w)
		default:
			packRowsF321(k, s, 4*sp, d, 4*width, h, w)
		}
	case x.F16 != nil:
		_, _ = x.F16[min(off, last)], x.F16[max(off, last)+have-1]
		switch s := &x.F16[off]; {
		case width > 32:
			packRowsF163(k, s, 2*sp, d, 4*width, h, w)
		case width > 16:
			packRowsF162(k, s, 2*sp, d, 4*width, h, w)
		default:
			packRowsF161(k, s, 2*sp, d, 4*width, h, w)
		}
	default:
		_, _ = x.BF16[min(off, last)], x.BF16[max(off, last)+have-1]
		switch s := &x.BF16[off]; {
		case width > 32:
			packRowsBF163(k, s, 2*sp, d, 4*width, h, w)
		case width > 16:
			packRowsBF162(k, s, 2*sp, d, 4*width, h, w)
		default:
			packRowsBF161(k, s, 2*sp, d, 4*width, h, w)
		}
	}
}

// strip returns how many of at most n rows a transposition takes.
func strip(n int) int { return min(16, n&^3) }

// packColumns is pack of elements that lie side by side along k.
func packColumns(dst []float32, width, have, k int, x *Matrix[float32], off, sy int) {
	step := 8 // elements of k that a transposition takes
	if x.Elems != nil {
		step = 4
	}
	y, whole := 0, k&^(step-1)
	for n := strip(have); n > 0; n = strip(have - y) {
		if whole > 0 {
			_ = dst[(whole-1)*width+y+n-1]
			first, last := off+y*sy, off+(y+n-1)*sy
			transposeWide(n, whole/step, x, min(first, last), max(first, last)+whole-1, first, sy, &dst[y], width)
		}
		for r := y; r < y+n && whole < k; r++ {
			column(dst[r:], width, whole, k, x, off+r*sy)
		}
		y += n
	}
	for ; y < have; y++ {
		column(dst[y:], width, 0, k, x, off+y*sy)
	}
}

// column writes elements from … k of a row of x as every width-th element of dst.
func column(dst []float32, width, from, k int, x *Matrix[float32], off int) {
	if x.Elems != nil {
		for i, v := range x.Elems[off+from : off+k] {
			dst[(from+i)*width] = v
		}
		return
	}
	var buf [line]float32
	for h := x.halves(); from < k; {
		part := buf[:min(line, k-from)]
		if x.F16 != nil {
			WidenF16(part, h[off+from:off+from+len(part)])
		} else {
			WidenBF16(part, h[off+from:off+from+len(part)])
		}
		for i, v := range part {
			dst[(from+i)*width] = v
		}
		from += len(part)
	}
}

func transposeWide(rows, n int, x *Matrix[float32], lo, hi, off, sy int, d *float32, width int) {
	switch {
	case x.Elems != nil:
		_, _ = x.Elems[lo], x.Elems[hi]
		transposeDwords(rows, n, &x.Elems[off], 4*sy, d, 4*width)
	case x.F16 != nil:
		_, _ = x.F16[lo], x.F16[hi]
		switch s := &x.F16[off]; rows {
		case 16:
			transposeF1616(n, s, 2*sy, d, 4*width)
		case 12:
			transposeF1612(n, s, 2*sy, d, 4*width)
		case 8:
			transposeF168(n, s, 2*sy, d, 4*width)
		case 4:
			transposeF164(n, s, 2*sy, d, 4*width)
		}
	default:
		_, _ = x.BF16[lo], x.BF16[hi]
		switch s := &x.BF16[off]; rows {
		case 16:
			transposeBF1616(n, s, 2*sy, d, 4*width)
		case 12:
			transposeBF1612(n, s, 2*sy, d, 4*width)
		case 8:
			transposeBF168(n, s, 2*sy, d, 4*width)
		case 4:
			transposeBF164(n, s, 2*sy, d, 4*width)
		}
	}
}

// transposeDwords writes the columns of so many rows of 4·n elements of 4 bytes; strides in bytes.
func transposeDwords(rows, n int, s *float32, lds int, d *float32, ldd int) {
	switch rows {
	case 16:
		transposeF3216(n, s, lds, d, ldd)
	case 12:
		transposeF3212(n, s, lds, d, ldd)
	case 8:
		transposeF328(n, s, lds, d, ldd)
	case 4:
		transposeF324(n, s, lds, d, ldd)
	}
}

// packPairs sets dst[p·width+y], for p below lanes and y below have, to the pair of elements 2p and 2p+1 of row y of x; of k elements
// along a row, what lies beyond and the rows from have on are zero. The elements lie at off + y·sy + p·sp.
func packPairs(dst []float32, width, have, lanes, k int, x []uint16, off, sy, sp int) {
	pairs := k / 2
	if (k+1)/2 < lanes || have < width && sy != 1 {
		clear(dst[:lanes*width])
	}
	if k == 0 {
		return
	}
	if sy == 1 {
		packAcross(dst, width, have, width, k, x, off, sp)
		return
	}
	corner := off + (have-1)*sy + (k-1)*sp
	_, _, _, _ = x[off], x[corner], x[off+(have-1)*sy], x[off+(k-1)*sp]
	_ = dst[((k+1)/2-1)*width+width-1]
	switch {
	case sp == 1:
		y, whole := 0, pairs&^3
		for n := strip(have); n > 0 && whole > 0; n = strip(have - y) {
			transposeDwords(n, whole/4, (*float32)(unsafe.Pointer(&x[off+y*sy])), 2*sy, &dst[y], 4*width)
			y += n
		}
		if whole > 0 {
			pairsOneByOne(dst[whole*width:], width, 0, y, k-2*whole, x, off+2*whole, sy, 1)
		}
		pairsOneByOne(dst, width, y, have, k, x, off, sy, 1)
	default:
		pairsOneByOne(dst, width, 0, have, k, x, off, sy, sp)
	}
}

// packAcross is packPairs of rows whose elements lie side by side, which writes so many of the width columns of dst, at least have.
func packAcross(dst []float32, width, have, write, k int, x []uint16, off, sp int) {
	if k == 0 {
		return
	}
	pairs, last := k/2, off+(k-1)*sp
	_, _, _ = x[off], x[last], x[max(off, last)+have-1]
	_ = dst[((k+1)/2-1)*width+write-1]
	h, w := mask(have), mask(write)
	if write > 16 {
		if pairs > 0 {
			packRowsPair2(pairs, &x[off], 2*sp, &dst[0], 4*width, h, w)
		}
		if k&1 == 1 {
			packRowsLow2(1, &x[last], 0, &dst[pairs*width], 0, h, w)
		}
		return
	}
	if pairs > 0 {
		packRowsPair1(pairs, &x[off], 2*sp, &dst[0], 4*width, h, w)
	}
	if k&1 == 1 {
		packRowsLow1(1, &x[last], 0, &dst[pairs*width], 0, h, w)
	}
}

// pairsOneByOne is packPairs for rows from … to, without registers.
func pairsOneByOne(dst []float32, width, from, to, k int, x []uint16, off, sy, sp int) {
	bits := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
	for y := from; y < to; y++ {
		at := off + y*sy
		for p := 0; p < k; p += 2 {
			v := uint32(x[at+p*sp])
			if p+1 < k {
				v |= uint32(x[at+(p+1)*sp]) << 16
			}
			bits[p/2*width+y] = v
		}
	}
}

// packBlocks sets dst to blocks of 16 rows × 16 pairs, as the tile registers take them: for every 16 pairs of k the blocks of all rows,
// a multiple of 16. have rows and k elements exist.
func packBlocks(tmp, dst []float32, rows, have, lanes, k int, x []uint16, off, sy, sp int) {
	if have < rows || k < 2*lanes {
		clear(dst[:rows*lanes])
	}
	if k == 0 {
		return
	}
	_, _, _, _ = x[off], x[off+(have-1)*sy], x[off+(k-1)*sp], x[off+(have-1)*sy+(k-1)*sp]
	_ = dst[rows*lanes-1]
	for q := 0; q < lanes && 2*q < k; q += 16 {
		steps := min(32, k-2*q)
		for y := 0; y < have; y += 16 {
			high := min(16, have-y)
			d := dst[q*rows+y*16:]
			at := off + y*sy + 2*q*sp
			if sp == 1 {
				packBlock(high, &x[at], 2*sy, &d[0], mask(steps))
				continue
			}
			packPairs(tmp[:256], 16, high, 16, steps, x, at, sy, sp)
			transposeDwords(16, 4, &tmp[0], 64, &d[0], 64)
		}
	}
}
