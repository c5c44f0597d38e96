package cpu

import "unsafe"

// A pairTile is a tile of up to 8 rows × 3 vectors of 16 sums of products of pairs. Assembly knows its layout.
type pairTile struct {
	k     int
	a     *uint32 // k columns of as many pairs as the tile has rows
	steps *int    // for each of k the distance in bytes of the 16 pairs of b from the vector's start
	b     [3]*uint32
	c     [3]unsafe.Pointer
	row   int    // of c, in bytes
	mask  [3]int // which of 16 sums are written
	bias  *float32
	to    int // what c is
	ahead int // how far behind what a step reads the processor should fetch

	threes int // 1: that of each third step will do
}

// What a pairTile's c is.
const (
	setSums   = iota // float32
	raiseSums        // float32 that sums are added to
	setHalves        // bfloat16
)

var pairTiles = [4][3]func(t *pairTile){
	{pairSteps1x1, pairSteps1x2, pairSteps1x3},
	{pairSteps2x1, pairSteps2x2, pairSteps2x3},
	{pairSteps4x1, pairSteps4x2, pairSteps4x3},
	{pairSteps8x1, pairSteps8x2, pairSteps8x3},
}

// PairProduct is StepProduct of pairs of bfloat16, with a result of float32 or, rounded once, of bfloat16, which it can't raise.
func PairProduct[E float32 | uint16](rows int, a, b []uint32, steps *StepTable, cols []StepColumn, out []E, row int, bias []float32, add bool) {
	k := len(steps.at)
	if rows == 0 || k == 0 || len(cols) == 0 {
		return
	}
	for _, c := range cols {
		_, _ = b[c.From+steps.least/4], b[c.From+steps.most/4+15]
		_, _ = out[c.To], out[c.To+(rows-1)*row+c.Have-1]
	}
	_ = a[rows*k-1]
	size := int(unsafe.Sizeof(out[0]))
	t := pairTile{k: k, steps: &steps.at[0], row: size * row, to: flag(add), ahead: 4 * steps.Ahead, threes: flag(steps.Threes && k%3 == 0)}
	if size == 2 {
		t.to = setHalves
	}
	for i := 0; i < rows; {
		h := StepHeight(rows - i)
		t.a = &a[i*k]
		if bias != nil {
			t.bias = &bias[i : i+h][0]
		}
		kernels := &pairTiles[log2(h)]
		for j := 0; j < len(cols); {
			n := together(len(cols) - j)
			for v := range n {
				c := &cols[j+v]
				t.b[v], t.c[v], t.mask[v] = &b[c.From], unsafe.Pointer(&out[c.To+i*row]), mask(c.Have)
			}
			kernels[n-1](&t)
			j += n
		}
		i += h
	}
}

var imagePairs = [ImageRows + 1][imageTogether + 1]func(t *imageTiles){
	1: {1: imageDots1x1, 2: imageDots1x2, 3: imageDots1x3, 4: imageDots1x4},
	2: {1: imageDots2x1, 2: imageDots2x2, 3: imageDots2x3, 4: imageDots2x4},
	4: {1: imageDots4x1, 2: imageDots4x2, 3: imageDots4x3, 4: imageDots4x4},
	6: {1: imageDots6x1, 2: imageDots6x2, 3: imageDots6x3, 4: imageDots6x4},
}

// FiniteBF16 says whether all of x is finite.
func FiniteBF16(x []uint16) bool {
	const block = 128
	n := len(x) / block
	if n > 0 && PairProducts() {
		var bad int
		if finiteDots(n, &x[0], &bad); bad != 0 {
			return false
		}
		x = x[n*block:]
	}
	for _, v := range x {
		if v&0x7f80 == 0x7f80 {
			return false
		}
	}
	return true
}
