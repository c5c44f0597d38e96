package cpu

import "unsafe"

var fmaSteps = [4][3]func(t *fmaTile){
	{fmaSteps1x1, fmaSteps1x2, fmaSteps1x3},
	{fmaSteps2x1, fmaSteps2x2, fmaSteps2x3},
	{fmaSteps4x1, fmaSteps4x2, fmaSteps4x3},
	{fmaSteps8x1, fmaSteps8x2, fmaSteps8x3},
}

func stepProduct(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias []float32, add bool) {
	k := len(steps.at)
	if rows == 0 || k == 0 || len(cols) == 0 {
		return
	}
	for _, c := range cols {
		_, _ = b[c.From+steps.least/4], b[c.From+steps.most/4+15]
		_, _ = out[c.To], out[c.To+(rows-1)*row+c.Have-1]
	}
	_ = a[rows*k-1]
	if rows == 1 && bias == nil && !add {
		rowSteps(k, &a[0], &steps.at[0], &b[0], &out[0], &cols[0], len(cols))
		return
	}
	var t fmaTile
	t.k, t.steps, t.row, t.add, t.ahead = k, &steps.at[0], 4*row, flag(add), 4*steps.Ahead
	for i := 0; i < rows; {
		h := StepHeight(rows - i)
		t.a = &a[i*k]
		if bias != nil {
			t.bias = &bias[i : i+h][0]
		}
		kernels := &fmaSteps[log2(h)]
		for j := 0; j < len(cols); {
			n := together(len(cols) - j)
			for v := range n {
				c := &cols[j+v]
				t.b[v], t.c[v], t.mask[v] = &b[c.From], &out[c.To+i*row], mask(c.Have)
			}
			kernels[n-1](&t)
			j += n
		}
		i += h
	}
}

func stepPanels(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias, sums []float32) {
	k := steps.Len()
	for _, c := range cols {
		_, _ = b[c.From+steps.least/4], b[c.From+steps.most/4+15]
		_, _ = out[c.To], out[c.To+(rows-1)*row+c.Have-1]
	}
	_, _ = a[rows*k-1], sums[rows*len(cols)*16-1]
	t := fmaPanel{n: rows / StepRows, next: 4 * StepRows * k}
	for p := 0; p < k; p += panelSteps {
		t.k, t.a, t.steps, t.more = min(panelSteps, k-p), &a[p*StepRows], &steps.at[p], flag(p > 0)
		for j := 0; j < len(cols); {
			n := together(len(cols) - j)
			for v := range n {
				t.b[v] = &b[cols[j+v].From]
			}
			t.sums = &sums[j*rows*16]
			panelSteps8[n-1](&t)
			j += n
		}
	}
	for j := 0; j < len(cols); {
		n := together(len(cols) - j)
		for v := range n {
			c := &cols[j+v]
			var first *float32
			if bias != nil {
				first = &bias[:rows][0]
			}
			storeSumsF32(rows, &sums[j*rows*16+v*16], 64*n, &out[c.To], 4*row, mask(c.Have), first)
		}
		j += n
	}
}

var panelSteps8 = [3]func(t *fmaPanel){fmaPanel1, fmaPanel2, fmaPanel3}

// together is how many vectors of so many a kernel takes.
func together(left int) int {
	if left == 4 {
		return 2 // 2 and 2 keep the processor busier than 3 and 1
	}
	return min(3, left)
}

func log2(h int) int {
	switch h {
	case 8:
		return 3
	case 4:
		return 2
	}
	return h - 1
}

// PackSteps packs rows of k neighbors for StepProduct, row bytes apart.
func PackSteps(dst []float32, rows, k int, src []float32, row int) {
	m := Matrix[float32]{Elems: src}
	for i := 0; i < rows; {
		h := StepHeight(rows - i)
		if h == 1 {
			copy(dst[i*k:(i+1)*k], src[i*row:])
		} else if d := dst[i*k : (i+h)*k]; h < 4 || !packWide(d, h, h, k, &m, i*row, row, 1) {
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
		if all && h == StepRows {
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

// TakeRows sets dst[r·ldd + i], for r below rows and i below n, to src[r·lds + i·stride].
func TakeRows(rows, n, stride int, src []float32, lds int, dst []float32, ldd int) {
	if rows == 0 || n == 0 {
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
	}
	for r := range rows {
		from, to := src[r*lds:], dst[r*ldd:][:n]
		for i := done; i < n; i++ {
			to[i] = from[i*stride]
		}
	}
}

// TakeHalves is TakeRows for halves; stride is 1 or 2.
func TakeHalves(rows, n, stride int, src []uint16, lds int, dst []uint16, ldd int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+(n-1)*stride], dst[(rows-1)*ldd+n-1]
	if stride == 1 {
		halfRows1(rows, n, &src[0], 2*lds, &dst[0], 2*ldd)
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

// LaneSums raises c[16·v + i] by Σ a[16·p + i] · b[from[v] + steps(p) + i], each sum taken from zero in the order of p.
func LaneSums(a, b []float32, steps *StepTable, from []int, c []float32) {
	k := len(steps.at)
	if k == 0 || len(from) == 0 {
		return
	}
	_, _ = a[16*k-1], c[16*len(from)-1]
	for v := 0; v < len(from); v += 9 {
		var base [9]*float32
		for i := range base {
			at := from[min(v+i, len(from)-1)]
			_, _ = b[at+steps.least/4], b[at+steps.most/4+15]
			base[i] = &b[at]
		}
		if v+9 <= len(from) {
			laneSteps9(k, &a[0], &steps.at[0], &base, &c[16*v])
			continue
		}
		var last [9 * 16]float32
		n := copy(last[:], c[16*v:16*len(from)])
		laneSteps9(k, &a[0], &steps.at[0], &base, &last[0])
		copy(c[16*v:], last[:n])
	}
}

// A TileProduct is a product of a, whose rows are packed by PackTileRows or PackTileColumns, and columns that lie as PairRows writes them.
type TileProduct struct {
	Format      Format
	Steps       []TileStep
	A           []uint16
	RowA, NextA int // distances in elements: of rows, and of the tiles of 16 rows
	B           []uint32
	RowB        int // distance of pairs in elements
	tile        amxTile
	cols        [tileColumnsMost]TileColumns
}

// tileColumnsMost is how many pairs of tiles a call takes: so many sums stay in the L1 cache.
const tileColumnsMost = 4

// TileSums is how many sums Rows may write.
const TileSums = tileColumnsMost * 32 * 32

// Rows computes up to 32 rows, from the distance off of a on, and up to 8 tiles of columns, which start at from: sums, in tiles of 32 rows of
// 32, or of 16 rows if rows is at most 16. With more they are raised.
func (p *TileProduct) Rows(rows, off int, from []int, pairs int, sums []float32, more bool) {
	if rows == 0 || len(from) == 0 || len(p.Steps) == 0 {
		return
	}
	high := up(rows, 16)
	_ = sums[(len(from)+1)/2*32*high-1]
	t := &p.tile
	t.n, t.steps = len(p.Steps), &p.Steps[0]
	t.a, t.rowA, t.nextA, t.rowB = &p.A[off], 2*p.RowA, 2*p.NextA, 4*p.RowB
	t.more, t.config = flag(more), tileShape(pairs)
	wide := len(from) / 2
	for i, at := range from {
		p.cols[i/2][i%2] = &p.B[at]
	}
	if wide > 0 {
		t.panels, t.cols, t.c = wide, &p.cols[0], &sums[0]
		p.run(high == 32, true)
	}
	if len(from)%2 == 1 {
		t.panels, t.cols, t.c = 1, &p.cols[wide], &sums[wide*32*high]
		p.run(high == 32, false)
	}
}

func (p *TileProduct) run(tall, wide bool) {
	t := &p.tile
	switch f16 := p.Format == F16; {
	case tall && wide && f16:
		amxStepsF16x2x2(t)
	case tall && wide:
		amxStepsBF16x2x2(t)
	case tall && f16:
		amxStepsF16x2x1(t)
	case tall:
		amxStepsBF16x2x1(t)
	case wide && f16:
		amxStepsF16x1x2(t)
	case wide:
		amxStepsBF16x1x2(t)
	case f16:
		amxStepsF16x1x1(t)
	default:
		amxStepsBF16x1x1(t)
	}
}

// Check reads what the steps reach at the ends, so that a wrong distance is a panic: for rows rows of a at off, and columns that start from
// least to most.
func (p *TileProduct) Check(rows, off, pairs, least, most int) {
	for _, s := range p.Steps {
		_, _ = p.A[off+s.A/2], p.A[off+s.A/2+(up(rows, 16)/16-1)*p.NextA+15*p.RowA+2*pairs-1]
		_, _ = p.B[least+s.B/4], p.B[most+s.B/4+(pairs-1)*p.RowB+15]
	}
}

// tileShapes configure the tile registers for tiles of a that are 1 … 16 pairs wide, and tiles of b as high.
var tileShapes = func() (all [17][64]byte) {
	for n := 1; n <= 16; n++ {
		c := &all[n]
		*c = *tileConfig
		for _, t := range []int{4, 5} {
			c[16+2*t] = byte(4 * n)
		}
		for _, t := range []int{6, 7} {
			c[48+t] = byte(n)
		}
	}
	return all
}()

func tileShape(pairs int) *[64]byte { return &tileShapes[pairs] }

// StoreSums writes rows of have ≤ 16 sums, 32 apart, raised by bias, which may be nil, and rounded once to dst: rows are row elements apart.
func StoreSums[E float32 | uint16](f Format, rows int, src []float32, dst []E, row, have int, bias []float32) {
	if rows == 0 || have == 0 {
		return
	}
	_, _ = src[(rows-1)*32+15], dst[(rows-1)*row+have-1]
	var b *float32
	if bias != nil {
		b = &bias[:rows][0]
	}
	switch f {
	case F16:
		storeSumsF16(rows, &src[0], 128, (*uint16)(unsafe.Pointer(&dst[0])), 2*row, mask(have), b)
	case BF16:
		storeSumsBF16(rows, &src[0], 128, (*uint16)(unsafe.Pointer(&dst[0])), 2*row, mask(have), b)
	default:
		storeSumsF32(rows, &src[0], 128, (*float32)(unsafe.Pointer(&dst[0])), 4*row, mask(have), b)
	}
}

// PairRows sets dst[r·ldd + i], for r below rows and i below n, to the pair of src[r·lds + i·stride], the lower half, and the element
// other behind it; without second its upper half is zero. stride is 1 or 2.
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
	// The instruction reads an element beyond the last one of a row, which need not be there.
	if last := (rows-1)*lds + 2*n - 1 + other; last >= len(src) {
		for r := range rows {
			v := uint32(src[r*lds+2*n-2])
			if second {
				v |= uint32(src[r*lds+2*n-2+other]) << 16
			}
			dst[r*ldd+n-1] = v
		}
		if n--; n == 0 {
			return
		}
	}
	pairRows2(rows, n, &src[0], 2*lds, 2*other, bits, &dst[0], 4*ldd)
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
