package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// A weightPart is how the elements of a weight's gradient are divided: each task has so many rows, which are output channels, and vectors of
// input channels with all their taps. Its sums are [rows taps channels].
type weightPart struct{ rows, down, vectors, across, row int }

// weightParts makes about 16 tasks or more. What a task reads of x should stay in the L2 cache while its rows pass, and eight rows of dy in the
// L1 cache while the taps do.
func weightParts(l *lattice, m int) (p weightPart) {
	sixteens := (l.channels + vectorSize - 1) / vectorSize
	p.vectors = 3
	if sixteens < 6 {
		p.vectors = (sixteens + 1) / 2
	}
	p.across = (sixteens + p.vectors - 1) / p.vectors
	for p.rows = 8 * cpu.StepRows(); p.rows > cpu.StepRows() && (m+p.rows-1)/p.rows*p.across < 16; p.rows /= 2 {
	}
	p.down = (m + p.rows - 1) / p.rows
	p.row = len(l.taps) * p.vectors * vectorSize
	return p
}

// unturn writes the sums of a task, which has channels from one on, as [rows channels taps] where they belong in out, whose group begins at a
// place.
func (p *weightPart) unturn(out *Tensor, at int, l *lattice, sums []float32, channel, first, rows int) {
	wide := wides.Get().(*widener)
	defer wides.Put(wide)
	taps := len(l.taps)
	channels := min(p.vectors*vectorSize, l.channels-channel)
	at += (first*l.channels + channel) * taps
	if out.dt == Float32 {
		p.unturnRows(taps, channels, rows, sums, elements[float32](out)[at:], l.channels*taps)
		return
	}
	n := channels * taps
	most := max(1, widePiece/n)
	wide.buf = cpu.Grow(wide.buf, most*n)
	for i := 0; i < rows; i += most {
		some := min(most, rows-i)
		p.unturnRows(taps, channels, some, sums[i*p.row:], wide.buf, n)
		cpu.NarrowRows(halfFormat(out), halvesOf(out)[at+i*l.channels*taps:], l.channels*taps, wide.buf, n, some, n)
	}
}

// unturnRows writes rows of sums, which lie so far apart, as [channels taps].
func (p *weightPart) unturnRows(taps, channels, rows int, sums, dst []float32, apart int) {
	for i := range rows {
		cpu.TransposeRows(taps, channels, sums[i*p.row:], p.vectors*vectorSize, dst[i*apart:], taps)
	}
}
