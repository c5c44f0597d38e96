package cpu

import (
	"math"
	"unsafe"
)

// How the kernels for tile registers are called, and where they write.

// tilePanels are panels of b, side by side, that 16 or 32 rows of a are multiplied by.
type tilePanels struct {
	n, panels int      // blocks of 16 pairs along k; panels
	a, b, c   *float32 // c is a tile of 32 rows of 32 sums for each panel
	more      int      // not 0: sums are raised
	skip      int      // bytes between panels of b
	lda, step int      // bytes from row to row of a, and from block to block
	next      nextRows
	parts     [2]int // of numbers in two parts: bytes from the first to the second, of a and of b
}

// nextRows are 32 rows of halves that are packed meanwhile, a part of a row for each block: 256 bytes, which go to four blocks of 2048.
type nextRows struct {
	from   *uint16
	row    int      // bytes from one to the next
	packed *float32 // nil: there are none
	left   int      // parts
}

// after returns what is left after so many parts.
func (r nextRows) after(parts int) nextRows {
	if parts >= r.left {
		return nextRows{}
	}
	at := parts/32*256 + parts%32*r.row
	return nextRows{(*uint16)(unsafe.Add(unsafe.Pointer(r.from), at)), r.row, (*float32)(unsafe.Add(unsafe.Pointer(r.packed), parts/32*8192+parts%32*64)), r.left - parts}
}

// multiplyParts is multiply for numbers in two parts.
func (t *tilePanels) multiplyParts(rows, cols int) {
	switch high, wide := rows > 16, cols > 16; {
	case high && wide:
		amxPartsPanels(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.parts[0], t.parts[1])
	case high:
		amxPartsx2x1(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.parts[0], t.parts[1])
	case wide:
		amxPartsx1x2(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.parts[0], t.parts[1])
	default:
		amxPartsx1x1(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.parts[0], t.parts[1])
	}
}

// multiply leaves the sums in c: of 16 or 32 rows and of panels of which 16 or 32 columns are wanted.
func (t *tilePanels) multiply(f16 bool, rows, cols int) {
	if t.parts[0] != 0 {
		t.multiplyParts(rows, cols)
		return
	}
	switch high, wide := rows > 16, cols > 16; {
	case high && wide && f16:
		amxF16Panels(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left)
	case high && wide:
		amxBF16Panels(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left)
	case high && f16:
		amxF16x2x1(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step)
	case high:
		amxBF16x2x1(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step)
	case wide && f16:
		amxF16x1x2(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step)
	case wide:
		amxBF16x1x2(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step)
	case f16:
		amxF16x1x1(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step)
	default:
		amxBF16x1x1(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step)
	}
}

// finish writes the sums of 32 rows and of panels of 32 columns to the result; c has room for them.
func (t *tilePanels) finish(f16 bool, to tileResult) {
	quota := up(32, max(1, t.n-1)) / max(1, t.n-1) * 128 // so that the last block but one finishes the last row
	bias, further := to.addend()
	down := 4096 * t.more // sums that are not raised need no place of their own
	switch {
	case to.format == BF16 && to.bias == nil: // none of the sums is subnormal
		amxBF16PanelsFlat(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left, to.at, to.row, quota, down)
	case to.format == BF16:
		amxBF16PanelsBF16(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left, to.at, to.row, quota, down, bias, further)
	case t.parts[0] != 0 && to.format == F16:
		amxPartsPanelsF16(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.parts[0], t.parts[1], to.at, to.row, quota, down, bias, further)
	case t.parts[0] != 0:
		amxPartsPanelsF32(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.parts[0], t.parts[1], to.at, to.row, quota, down, bias, further)
	case to.format == F16:
		amxF16PanelsF16(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left, to.at, to.row, quota, down, bias, further)
	case f16:
		amxF16PanelsF32(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left, to.at, to.row, quota, down, bias, further)
	default:
		amxBF16PanelsF32(t.n, t.panels, t.a, t.b, t.c, t.more, t.skip, tileConfig, t.lda, t.step, t.next.from, t.next.row, t.next.packed, t.next.left, to.at, to.row, quota, down, bias, further)
	}
}

// A tileResult is where panels of finished sums go, in a format that the kernels write.
type tileResult struct {
	panels int // of 32 columns; 0: nowhere
	format Format
	at     unsafe.Pointer
	row    int // bytes from one to the next
	bias   *float32
}

// noBias is what can be added to any number without a trace.
var noBias = func() (x [32]float32) {
	for i := range x {
		x[i] = math.Float32frombits(1 << 31)
	}
	return
}()

// addend returns what is added to 32 columns, and how many bytes further it is for the next ones.
func (r *tileResult) addend() (*float32, int) {
	if r.bias != nil {
		return r.bias, 128
	}
	return &noBias[0], 0
}

// tileResult returns where so many tiles of finished sums go, side by side, if the kernels write that format.
func (g *product[T]) tileResult(i, j, panels int) tileResult {
	o := &g.out
	at := o.Off + i*o.Row + j
	to := tileResult{panels: panels}
	switch {
	case panels == 0:
		return tileResult{}
	case o.F16 != nil:
		_ = o.F16[at+31*o.Row+32*panels-1]
		to.format, to.at, to.row = F16, unsafe.Pointer(&o.F16[at]), 2*o.Row
	case o.BF16 != nil:
		_ = o.BF16[at+31*o.Row+32*panels-1]
		to.format, to.at, to.row = BF16, unsafe.Pointer(&o.BF16[at]), 2*o.Row
	case o.Elems != nil:
		_ = o.Elems[at+31*o.Row+32*panels-1]
		to.at, to.row = unsafe.Pointer(&o.Elems[at]), 4*o.Row
	default:
		return tileResult{}
	}
	if to.format != NoHalf && to.format != g.a.format() {
		return tileResult{}
	}
	if o.Bias != nil {
		to.bias = &any(o.Bias).([]float32)[j]
	}
	return to
}
