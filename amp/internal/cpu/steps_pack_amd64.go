package cpu

import "unsafe"

// Packing for products whose right operand is read where it lies, and the copies of rows that they read.

// PackSteps packs rows of k neighbors for StepProduct, row bytes apart.
func PackSteps(dst []float32, rows, k int, src []float32, row int) {
	m := Matrix[float32]{Elems: src}
	for i := 0; i < rows; {
		h := StepHeight(rows - i)
		if h == 1 {
			copy(dst[i*k:(i+1)*k], src[i*row:])
		} else if d := dst[i*k : (i+h)*k]; variant() == AVX2 {
			TransposeRows(h, k, src[i*row:], row, d, h)
		} else if h < 4 || !packWide(d, h, h, k, &m, i*row, row, 1) {
			for y := range h {
				for p, v := range src[(i+y)*row:][:k] {
					d[p*h+y] = v
				}
			}
		}
		i += h
	}
}

// PackStepsTurned packs a transposed convolution's weights for StepProduct: element (channel, tap) of row i is that at channel·in + i·size +
// place[tap] of src, which ends with its last element. A row is as long as channels·len(place).
func PackStepsTurned(dst []float32, rows, channels int, src []float32, in, size int, place []int) {
	taps := len(place)
	k := channels * taps
	all := taps == size && taps < 16
	for t, at := range place {
		all = all && at == t
	}
	var index [16]uint32
	for i := range index {
		index[i] = uint32(i % 2 * taps)
	}
	for i := 0; i < rows; {
		h := StepHeight(rows - i)
		d := dst[i*k : (i+h)*k]
		whole := 0
		if all && h == panelRows && variant() == AVX512 {
			for whole = channels; whole > 0 && (whole-1)*in+(i+8)*size+14 > len(src); whole-- {
			}
			if whole > 0 {
				_ = d[whole*taps*8-1]
				turnTaps(whole, taps, &src[i*size], 4*in, &d[0], &index)
			}
		}
		for c := whole; c < channels; c++ {
			for t, at := range place {
				to := d[(c*taps+t)*h:][:h]
				for y := range to {
					to[y] = src[c*in+(i+y)*size+at]
				}
			}
		}
		i += h
	}
}

func takeTaps(channels, channel int, src []float32, at int, taps []Tap, dst []float32) {
	if variant() == AVX512 {
		maskedTaps(channels, &src[at], 4*channel, &taps[0], len(taps), &dst[0])
		return
	}
	takeTapsPlain(channels, channel, src, at, taps, dst)
}

// evenIndex picks the even ones of 32 elements.
var evenIndex = func() (index [16]uint32) {
	for i := range index {
		index[i] = uint32(2 * i)
	}
	return index
}()

// TakeRows sets dst[r·ldd + i], for r below rows and i below n, to src[r·lds + i·stride]. The next call will want what lies ahead elements behind.
func TakeRows(rows, n, stride int, src []float32, lds int, dst []float32, ldd, ahead int) {
	if rows == 0 || n == 0 {
		return
	}
	if stride == 1 && variant() == AVX512 {
		_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
		copyRowsAhead(rows, &src[0], 4*lds, &dst[0], 4*ldd, n, 4*ahead)
		return
	}
	if stride == 1 {
		copyRows(dst, ldd, src, lds, n, rows)
		return
	}
	done := 0
	if stride == 2 && n >= 16 && variant() == AVX512 {
		done = n &^ 15
		if (rows-1)*lds+2*done > len(src) {
			done -= 16
		}
		if done > 0 {
			_, _ = src[(rows-1)*lds+2*done-1], dst[(rows-1)*ldd+done-1]
			evenRows(rows, done/16, &src[0], 4*lds, &dst[0], 4*ldd, &evenIndex)
		}
		if done < n && (rows-1)*lds+2*n <= len(src) { // the last 16, some of them again
			_, _ = src[(rows-1)*lds+2*n-1], dst[(rows-1)*ldd+n-1]
			evenRows(rows, 1, &src[2*(n-16)], 4*lds, &dst[n-16], 4*ldd, &evenIndex)
			done = n
		}
	}
	for r := range rows {
		from, to := src[r*lds:], dst[r*ldd:][:n]
		for i := done; i < n; i++ {
			to[i] = from[i*stride]
		}
	}
}

// TakeHalves is TakeRows for halves.
func TakeHalves(rows, n, stride int, src []uint16, lds int, dst []uint16, ldd int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+(n-1)*stride], dst[(rows-1)*ldd+n-1]
	if stride == 1 {
		halfRows1(rows, n, &src[0], 2*lds, &dst[0], 2*ldd)
		return
	}
	if stride > 2 {
		for r := range rows {
			for i := range n {
				dst[r*ldd+i] = src[r*lds+i*stride]
			}
		}
		return
	}
	if (rows-1)*lds+2*n > len(src) { // the instruction reads an element beyond the last one
		n--
		for r := range rows {
			dst[r*ldd+n] = src[r*lds+2*n]
		}
		if n == 0 {
			return
		}
	}
	halfRows2(rows, n, &src[0], 2*lds, &dst[0], 2*ldd)
}

// TransposeRows sets dst[p·ldd + y], for p below n and y below rows, to src[y·lds + p].
func TransposeRows(rows, n int, src []float32, lds int, dst []float32, ldd int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+n-1], dst[(n-1)*ldd+rows-1]
	if variant() == AVX2 {
		y, p := transposeRowsY(rows, n, src, lds, dst, ldd)
		if y > 0 && p < n {
			transposeBlocks(y, n-p, src[p:], lds, dst[p*ldd:], ldd)
		}
		if y < rows {
			transposeBlocks(rows-y, n, src[y*lds:], lds, dst[y:], ldd)
		}
		return
	}
	y, whole := 0, n&^3
	for h := strip(rows); h > 0 && whole > 0; h = strip(rows - y) {
		transposeDwords(h, whole/4, &src[y*lds], 4*lds, &dst[y], 4*ldd)
		for r := y; r < y+h; r++ {
			for p := whole; p < n; p++ {
				dst[p*ldd+r] = src[r*lds+p]
			}
		}
		y += h
	}
	for ; y < rows; y++ {
		for p, v := range src[y*lds:][:n] {
			dst[p*ldd+y] = v
		}
	}
}

// TransposePairs is TransposeRows for pairs of neighbors: n of them in each row of src.
func TransposePairs(rows, n int, src []uint16, lds int, dst []uint32, ldd int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+2*n-1], dst[(n-1)*ldd+rows-1]
	y, whole := 0, n&^3
	for h := strip(rows); h > 0 && whole > 0; h = strip(rows - y) {
		transposeDwords(h, whole/4, (*float32)(unsafe.Pointer(&src[y*lds])), 2*lds, (*float32)(unsafe.Pointer(&dst[y])), 4*ldd)
		y += h
	}
	for r := range rows {
		from := 0
		if r < y {
			from = whole
		}
		for p := from; p < n; p++ {
			dst[p*ldd+r] = uint32(src[r*lds+2*p]) | uint32(src[r*lds+2*p+1])<<16
		}
	}
}

// PackTileHalves packs rows of k neighbors, row elements apart, as tiles: for each 32 of k, each of high rows, a
// multiple of 16, 32 elements; what is missing is zero.
func PackTileHalves(dst []uint16, rows, high, k int, src []uint16, row int) {
	lanes := up(k, 32) / 2
	packBlocks(nil, unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), high*lanes), high, rows, lanes, k, src, 0, row, 1)
}

// PairRows sets dst[r·ldd + i], for r below rows and i below n, to the pair of src[r·lds + i·stride], the lower half, and the element
// other behind it; without second its upper half is zero.
func PairRows(rows, n, stride int, src []uint16, lds, other int, second bool, dst []uint32, ldd int) {
	if rows == 0 || n == 0 {
		return
	}
	bits := 0xffff
	if !second {
		other, bits = 0, 0
	}
	_, _ = src[(rows-1)*lds+(n-1)*stride+other], dst[(rows-1)*ldd+n-1]
	if stride == 1 {
		pairRows1(rows, n, &src[0], 2*lds, 2*other, bits, &dst[0], 4*ldd)
		return
	}
	if stride > 2 {
		for r := range rows {
			for i := range n {
				dst[r*ldd+i] = pairAt(src[r*lds+i*stride:], other, second)
			}
		}
		return
	}
	// The instruction reads an element beyond the last one of a row, which need not be there.
	if last := (rows-1)*lds + 2*n - 1 + other; last >= len(src) {
		for r := range rows {
			dst[r*ldd+n-1] = pairAt(src[r*lds+2*n-2:], other, second)
		}
		if n--; n == 0 {
			return
		}
	}
	pairRows2(rows, n, &src[0], 2*lds, 2*other, bits, &dst[0], 4*ldd)
}

// pairAt is the first element of src, the lower half, and with second the one that lies other behind it.
func pairAt(src []uint16, other int, second bool) uint32 {
	if !second {
		return uint32(src[0])
	}
	return uint32(src[0]) | uint32(src[other])<<16
}

// PackTileRows packs weights [rows channels taps], taps innermost and rows row elements apart, as tiles: for each 32 channels, each row and
// each tap 32 elements, channels that are missing as zero. Blocks of 32 channels lie block elements apart.
func PackTileRows(dst []uint16, rows, channels, taps int, src []uint16, row, block int) {
	var index [32]uint16
	for i := range index {
		index[i] = uint16(i % 4 * taps)
	}
	var buf []uint16
	for c := 0; c < channels; c += 32 {
		d := dst[c/32*block:]
		whole := 0 // rows that may be read where they are
		if taps < 11 && c+32 <= channels {
			for whole = rows; whole > 0 && (whole-1)*row+c*taps+32*taps+28 > len(src); whole-- {
			}
			if whole > 0 {
				_ = d[whole*taps*32-1]
				spreadTaps(whole, taps, &src[c*taps], 2*row, &d[0], &index)
			}
		}
		for i := whole; i < rows; i++ {
			from := src[i*row+c*taps:][:min(32, channels-c)*taps]
			to := d[i*taps*32:][:taps*32]
			if taps < 11 {
				if buf == nil {
					buf = make([]uint16, 32*taps+28)
				}
				clear(buf[copy(buf, from):])
				spreadTaps(1, taps, &buf[0], 0, &to[0], &index)
				continue
			}
			clear(to)
			for p, v := range from {
				to[p%taps*32+p/taps] = v
			}
		}
	}
}

// PackTileColumns packs the transposed matrix [k rows], rows of src row elements apart, as tiles: for each 32 of k, each of rows, rounded
// up to a multiple of 16, 32 elements; what is missing is zero.
func PackTileColumns(dst []uint16, rows, k int, src []uint16, row int) {
	var tmp [256]float32
	high, lanes := up(rows, 16), up(k, 32)/2
	packBlocks(tmp[:], unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), high*lanes), high, rows, lanes, k, src, 0, 1, row)
}
