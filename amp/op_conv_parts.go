package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Convolutions of float16 on processors whose tile registers know bfloat16 alone: operands are taken apart first, and every product of numbers is four
// of parts.

// leastPartChannels is the number of channels from which that pays.
const leastPartChannels = 16

// halfParts are the elements of a tensor of halves as the tile registers multiply them: as they are, or in two parts.
type halfParts struct {
	n    int // parts
	part [2][]uint16
	buf  []uint16
}

// take takes the tensor's elements apart, where that is needed.
func (p *halfParts) take(t *Tensor) {
	f := halfFormat(t)
	all := halvesOf(t)[t.off : t.off+t.Len()]
	if p.n = cpu.TileParts(f); p.n < 2 {
		p.part[0] = all
		return
	}
	n := len(all)
	p.buf = cpu.Grow(p.buf, 2*n)
	p.part = [2][]uint16{p.buf[:n], p.buf[n:]}
	cpu.Parallel(n, grain, func(lo, hi int) { cpu.HalveF16(p.part[0][lo:hi], p.part[1][lo:hi], all[lo:hi]) })
}

// drop holds on to no operand.
func (p *halfParts) drop() { p.part = [2][]uint16{} }

// inParts computes the job with the tile registers, if its operands have to be taken apart for them.
func (j *convJob[T]) inParts() bool {
	f := halfFormat(j.src)
	return f != cpu.NoHalf && cpu.TileParts(f) > 1 && j.channels >= leastPartChannels && j.fits() && j.tiles()
}
