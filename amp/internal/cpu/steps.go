package cpu

import "math/bits"

// Products whose right operand is read where it lies, row by row of k at distances from a table: windows of a convolution. Everything
// here is for the processors that StepKernels and TileSteps name.

// An fmaTile is a tile of up to 8 rows × 3 vectors of 16 sums in float32. Assembly knows its layout.
type fmaTile struct {
	k     int
	a     *float32 // k columns of as many elements as the tile has rows
	steps *int     // for each of k the distance in bytes of the 16 elements of b from the vector's start
	b, c  [3]*float32
	row   int    // of c, in bytes
	mask  [3]int // which of 16 sums are written
	bias  *float32
	add   int // 1: raise c
	ahead int // how far behind what a step reads the processor should fetch

	threes int // 1: that of each third step will do
}

// An fmaPanel is a column of tiles of 8 rows × up to 3 vectors whose sums over k wait in memory. Assembly knows its layout.
type fmaPanel struct {
	n, k  int // tiles, and steps of k
	a     *float32
	next  int // from a tile's elements of a to those of the next one, in bytes
	steps *int
	b     [3]*float32
	sums  *float32
	more  int // 1: sums go on from what is in memory
}

// An amxTile is a row of tiles of up to 32×32 sums. Assembly knows its layout.
type amxTile struct {
	n           int
	steps       *TileStep
	a           *uint16
	rowA, nextA int // distance of rows of a, and of the tiles of 16 rows
	panels      int
	cols        *TileColumns
	rowB        int
	c           *float32
	more        int
	config      *[64]byte

	partA, partB int // bytes from the first part of numbers in two parts to the second
}

// A TileStep is 32 of k: the distances in bytes of a tile of 16 rows × 32 elements of a, and of one of 16 pairs × 16 columns of b.
type TileStep struct{ A, B int }

// TileColumns are where two tiles of b start.
type TileColumns [2]*uint32

// StepRows are the rows of a tile of StepProduct.
func StepRows() int {
	if variant() == AVX2 {
		return 6
	}
	return panelRows
}

// panelRows are the rows of a tile of StepPanels.
const panelRows = 8

// StepKernels says that StepProduct is fast here: else GemmTo gives the same bits.
func StepKernels() bool { return stepKernels && variant() >= AVX2 }

// StepsWiden says that these halves are best widened for kernels of float32 that read them more than once: nothing here multiplies them faster.
func StepsWiden(f Format) bool { return StepKernels() && !TileSteps(f) }

// StepsForPoints says that StepProduct is faster than GemmTo also for a matrix of float32 that is multiplied in pieces, a table saying where they
// lie: GemmTo has gathers to pack it with on AVX-512 only.
func StepsForPoints() bool { return stepKernels && variant() == AVX2 }

// PanelKernels says that StepPanels is there, too.
func PanelKernels() bool { return stepKernels && variant() == AVX512 }

// TileSteps says that products of these halves go through the tile registers.
func TileSteps(f Format) bool {
	return CurrentDot() == Tiles && (f == BF16 || f == F16 && hasTilesF16())
}

// TileParts is in how many parts the tile registers multiply these halves: one as they are, two of float16 where the registers know bfloat16 alone (see
// HalveF16), none where products do not go through them.
func TileParts(f Format) int {
	switch {
	case TileSteps(f):
		return 1
	case f == F16 && TileSteps(BF16):
		return 2
	}
	return 0
}

// StepHeight returns how high a tile for so many rows is at most: the next panel of a begins after as many.
func StepHeight(rows int) int {
	if variant() == AVX2 {
		return imageHeight(rows)
	}
	h := panelRows
	for h > rows {
		h /= 2
	}
	return h
}

// A StepColumn is a vector of up to 16 columns of a StepProduct.
type StepColumn struct {
	From int // of the first column in b
	To   int // in the result
	Have int // columns
}

// A StepTable says for each of k how far its elements of b are from the start of a vector.
type StepTable struct {
	at          []int // bytes
	least, most int

	Ahead  int  // how many elements behind what a step reads the next ones lie that the L1 cache should have by then
	Threes bool // three steps each read neighbors
}

// Len is k.
func (t *StepTable) Len() int { return len(t.at) }

// Reset empties the table.
func (t *StepTable) Reset() { t.at, t.least, t.most, t.Threes = t.at[:0], 0, 0, false }

// Add appends a distance in elements.
func (t *StepTable) Add(distance int) {
	d := 4 * distance
	if len(t.at) == 0 {
		t.least, t.most = d, d
	}
	t.at = append(t.at, d)
	t.least, t.most = min(t.least, d), max(t.most, d)
}

// StepProduct computes rows and columns of a product: out[i·row + To + j] = bias[i] + Σ a[i,p] · b[From + steps(p) + j], summed over p in
// order; with add it raises out by the sum instead. a is packed by PackSteps. Bias may be nil.
func StepProduct(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias []float32, add bool) {
	stepProduct(rows, a, b, steps, cols, out, row, bias, add)
}

// A Tap is what 16 neighbors of a channel see at one distance from them: the elements whose bits are set in Mask, zeros else.
type Tap struct{ From, Mask int }

// TakeTaps writes for each channel, so many elements apart, and each tap the 16 elements at src[at + From]. It reads none that a mask leaves
// out.
func TakeTaps(channels, channel int, src []float32, at int, taps []Tap, dst []float32) {
	if channels == 0 || len(taps) == 0 {
		return
	}
	_, _ = src[at], dst[channels*len(taps)*16-1]
	for _, t := range taps {
		if m := uint32(t.Mask); m != 0 {
			_, _ = src[at+t.From+bits.TrailingZeros32(m)], src[at+t.From+(channels-1)*channel+bits.Len32(m)-1]
		}
	}
	takeTaps(channels, channel, src, at, taps, dst)
}

func takeTapsPlain(channels, channel int, src []float32, at int, taps []Tap, dst []float32) {
	for c := range channels {
		for i, t := range taps {
			to := dst[(c*len(taps)+i)*16:][:16]
			clear(to)
			for lane := range to {
				if t.Mask>>lane&1 != 0 {
					to[lane] = src[at+c*channel+t.From+lane]
				}
			}
		}
	}
}

// panelSteps is how many steps of k StepPanels takes at a time: what three vectors see of b then stays in the L1 cache while all rows pass.
const panelSteps = 128

// StepPanels is StepProduct without add for a long sum, with the same bits: steps of b are taken some at a time by all rows, and the sums wait
// in sums, which it returns, grown. Rows beyond a multiple of 8 are left to StepProduct. It is for processors with PanelKernels.
func StepPanels(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias, sums []float32) []float32 {
	whole := rows / panelRows * panelRows
	if whole > 0 && steps.Len() > 0 && len(cols) > 0 {
		sums = grow(sums, whole*len(cols)*16)
		stepPanels(whole, a, b, steps, cols, out, row, bias, sums)
	}
	if whole < rows {
		if bias != nil {
			bias = bias[whole:]
		}
		rest := make([]StepColumn, len(cols))
		for i, c := range cols {
			c.To += whole * row
			rest[i] = c
		}
		StepProduct(rows-whole, a[whole*steps.Len():], b, steps, rest, out, row, bias, false)
	}
	return sums
}

// Grow returns n elements, of b if it has them; their values are anything.
func Grow[T any](b []T, n int) []T {
	b = grow(b, n)
	Poison(b)
	return b
}
