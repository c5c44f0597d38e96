package cpu

import "unsafe"

const stepKernels = true

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
	if variant() == AVX2 {
		stepProductY(rows, a, b, steps, cols, out, row, bias, add)
		return
	}
	if rows == 1 && bias == nil && !add {
		rowSteps(k, &a[0], &steps.at[0], &b[0], &out[0], &cols[0], len(cols))
		return
	}
	var t fmaTile
	t.k, t.steps, t.row, t.add, t.ahead = k, &steps.at[0], 4*row, flag(add), 4*steps.Ahead
	t.threes = flag(steps.Threes && k%3 == 0)
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
	t := fmaPanel{n: rows / panelRows, next: 4 * panelRows * k}
	for p := 0; p < k; p += panelSteps {
		t.k, t.a, t.steps, t.more = min(panelSteps, k-p), &a[p*panelRows], &steps.at[p], flag(p > 0)
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
			laneSteps(k, a, steps, &base, c[16*v:])
			continue
		}
		var last [9 * 16]float32
		n := copy(last[:], c[16*v:16*len(from)])
		laneSteps(k, a, steps, &base, last[:])
		copy(c[16*v:], last[:n])
	}
}

// laneSteps raises 9 vectors of c.
func laneSteps(k int, a []float32, steps *StepTable, base *[9]*float32, c []float32) {
	if variant() == AVX512 {
		laneSteps9(k, &a[0], &steps.at[0], base, &c[0])
		return
	}
	laneStepsY9(k, &a[0], &steps.at[0], base, &c[0])
	for i, p := range base {
		base[i] = &unsafe.Slice(p, 9)[8]
	}
	laneStepsY9(k, &a[8], &steps.at[0], base, &c[8])
}

// A TileProduct is a product of a, whose rows are packed by PackTileRows or PackTileColumns, and columns that lie as PairRows writes them.
type TileProduct struct {
	Format      Format
	Steps       []TileStep
	A           []uint16
	RowA, NextA int // distances in elements: of rows, and of the tiles of 16 rows
	B           []uint32
	RowB        int // distance of pairs in elements

	PartA, PartB int // distances in elements from the first to the second part of numbers that TileParts says come in two

	tile amxTile
	cols [tileColumnsMost]TileColumns
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
	t.partA, t.partB = 2*p.PartA, 4*p.PartB
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
	if p.PartA != 0 {
		p.runParts(tall, wide)
		return
	}
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

func (p *TileProduct) runParts(tall, wide bool) {
	t := &p.tile
	switch {
	case tall && wide:
		amxStepsPartsx2x2(t)
	case tall:
		amxStepsPartsx2x1(t)
	case wide:
		amxStepsPartsx1x2(t)
	default:
		amxStepsPartsx1x1(t)
	}
}

// Check reads what the steps reach at the ends, so that a wrong distance is a panic: for rows rows of a at off, and columns that start from
// least to most.
func (p *TileProduct) Check(rows, off, pairs, least, most int) {
	for _, s := range p.Steps {
		_, _ = p.A[off+s.A/2], p.A[off+s.A/2+p.PartA+(up(rows, 16)/16-1)*p.NextA+15*p.RowA+2*pairs-1]
		_, _ = p.B[least+s.B/4], p.B[most+s.B/4+p.PartB+(pairs-1)*p.RowB+15]
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
