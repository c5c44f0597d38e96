package cpu

// The products whose right operand is read where it lies, with AVX2.

// An fmaTileY is a tile of up to 6 rows × 1 vector, or 2 × 3, of 16 sums in float32. Assembly knows its layout.
type fmaTileY struct {
	k     int
	a     *float32 // k columns of as many elements as the tile has rows
	steps *int     // for each of k the distance in bytes of the 16 elements of b from the vector's start
	b, c  [3]*float32
	row   int       // of c, in bytes
	have  [3]*int32 // which of 16 sums are written, nil for all
	bias  *float32
	add   int // 1: raise c
}

// fmaStepsY are the kernels by rows and vectors.
var fmaStepsY = [7][4]func(t *fmaTileY){
	1: {1: fmaStepsY1x1, 2: fmaStepsY1x2, 3: fmaStepsY1x3},
	2: {1: fmaStepsY2x1, 2: fmaStepsY2x2, 3: fmaStepsY2x3},
	4: {1: fmaStepsY4x1},
	6: {1: fmaStepsY6x1},
}

// lanesY are masks of 16 lanes: the one that begins at 16-n has n lanes set.
var lanesY = func() (all [32]int32) {
	for i := range 16 {
		all[i] = -1
	}
	return all
}()

// haveY is the mask of n lanes of 16.
func haveY(n int) *int32 { return &lanesY[16-n] }

// stepProductY is stepProduct, whose checks are made.
func stepProductY(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias []float32, add bool) {
	k := len(steps.at)
	t := fmaTileY{k: k, steps: &steps.at[0], row: 4 * row, add: flag(add)}
	for i := 0; i < rows; {
		h := StepHeight(rows - i)
		t.a = &a[i*k]
		if bias != nil {
			t.bias = &bias[i : i+h][0]
		}
		most := 3
		if h > 2 {
			most = 1
		}
		for j := 0; j < len(cols); {
			n := min(most, len(cols)-j)
			for v := range n {
				c := &cols[j+v]
				t.b[v], t.c[v], t.have[v] = &b[c.From], &out[c.To+i*row], nil
				if c.Have < 16 {
					t.have[v] = haveY(c.Have)
				}
			}
			fmaStepsY[h][n](&t)
			j += n
		}
		i += h
	}
}

var imageKernelsY = [ImageRows + 1]func(t *imageTiles){1: imageTilesY1, 2: imageTilesY2, 4: imageTilesY4, 6: imageTilesY6}

// transposeBlocks is TransposeRows in blocks of 4×4.
func transposeBlocks(rows, n int, src []float32, lds int, dst []float32, ldd int) {
	y, whole := 0, n&^3
	if whole > 0 {
		for ; y+4 <= rows; y += 4 {
			transpose4f32(whole/4, &src[y*lds], 4*lds, &dst[y], 4*ldd)
		}
	}
	for r := range rows {
		from := 0
		if r < y {
			from = whole
		}
		for p := from; p < n; p++ {
			dst[p*ldd+r] = src[r*lds+p]
		}
	}
}

// transposeRowsY is TransposeRows for the rows and columns that it returns, whole blocks.
func transposeRowsY(rows, n int, src []float32, lds int, dst []float32, ldd int) (doneRows, doneColumns int) {
	if rows == 6 && ldd == 6 {
		if blocks := (n - 1) / 8; blocks > 0 { // the last column is not among them: its place is written to
			transposeColumnsY6(blocks, &src[0], 4*lds, &dst[0], 4*ldd)
			return 6, 8 * blocks
		}
		return 0, 0
	}
	if doneColumns = n &^ 7; doneColumns == 0 {
		return 0, 0
	}
	for doneRows+8 <= rows {
		transposeColumnsY8(doneColumns/8, &src[doneRows*lds], 4*lds, &dst[doneRows], 4*ldd)
		doneRows += 8
	}
	return doneRows, doneColumns
}
