package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// A tileJob is a product in tiles of 32×32 sums.
type tileJob struct {
	cpu.TileProduct
	from [8]int
}

// A term is a product of parts: where its operands start in theirs.
type term struct{ a, b int }

// begin names the operands: rows of a, and pairs of rows of b, with the distances of rows, and of 16 rows of a.
func (p *tileJob) begin(f cpu.Format, a []uint16, rowA, nextA int, b []uint32, rowB int) {
	p.Format, p.A, p.RowA, p.NextA, p.B, p.RowB = f, a, rowA, nextA, b, rowB
}

// forget lets go of the operands.
func (p *tileJob) forget() { p.A, p.B = nil, nil }

// setTerms lists the steps of k elements of a sum of products: nextA is the distance of each 32 elements of a.
func (p *tileJob) setTerms(k, nextA int, terms ...term) {
	p.Steps = p.Steps[:0]
	for s := 0; s < k; s += 32 {
		for _, t := range terms { // one after another while their operands are near
			p.Steps = append(p.Steps, cpu.TileStep{A: 2 * (t.a + s/32*nextA), B: 4 * (t.b + s/2*p.RowB)})
		}
	}
}

// multiply sets or raises sums, in tiles of high rows of 32, by the product: rows of a from off on, by so many columns.
func (p *tileJob) multiply(high, off, cols int, sums []float32, more bool) {
	tiles := (cols + 15) / 16
	p.Check(high, off, 16, 0, 16*(tiles-1))
	for t := 0; t < tiles; t += len(p.from) {
		from := p.from[:min(len(p.from), tiles-t)]
		for i := range from {
			from[i] = 16 * (t + i)
		}
		p.Rows(high, off, from, 16, sums[t/2*32*high:], more)
	}
}

// unfold writes sums that multiply left to rows of dst.
func unfold(sums []float32, high, rows, cols int, dst []float32, row int) {
	for x := 0; x < cols; x += 16 {
		cpu.StoreSums(cpu.NoHalf, rows, sums[x/32*32*high+x%32:], dst[x:], row, min(16, cols-x), nil)
	}
}
