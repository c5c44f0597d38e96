package cudart

// Phases of transposed convolutions. Every stride-th position of the result meets the same taps, at elements of x that follow each other: all
// positions with one remainder are a convolution of their own by a part of the filter. To spread x with zeros instead would multiply
// as many zeros as the stride says in each dimension.

// A packing is how operands are packed for a convolution: the places of x's planes that its taps meet, how many zeros lie before the first
// element (or how many are left out, below 0), and how many places are from one position of a phase to the next, and from one of its taps to
// the next.
type packing struct {
	size, before, step, tap [3]int32
	images, per, width      int // per: elements of 16 bytes; width: the channels of a group of x, up to whole pieces of them
}

// A phased is one dimension of a phase: its positions are first, first + stride, … of the result, its taps tap, tap + period, … of the
// filter. at is the element of x that the first position meets with the last of the taps, which comes first in a packed filter.
type phased struct{ first, count, tap, taps, at int }

// period is how far apart the taps are that a position meets in a dimension.
func (p *convArgs) period(d int) int {
	if p.mode != convTranspose {
		return 1
	}
	return int(p.stride[d]) / gcd(int(p.stride[d]), int(p.dilation[d]))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// phased returns phase i of a dimension; there are as many as the stride of a transposed convolution, or one. Position o of the result meets
// tap t at element q of x where o + padding = q·stride + t·dilation. Phases after those with taps of their own have none.
func (p *convArgs) phased(d, i int) phased {
	grid, kernel := int(p.grid[d]), int(p.kernel[d])
	if p.mode != convTranspose {
		return phased{count: grid, taps: kernel, at: -int(p.padding[d])}
	}
	stride, dilation, padding, period := int(p.stride[d]), int(p.dilation[d]), int(p.padding[d]), p.period(d)
	f, rest := phased{tap: i % period}, i/period
	f.first = (f.tap*dilation + rest - padding) % stride
	if f.first < 0 {
		f.first += stride
	}
	if f.first < grid {
		f.count = (grid-1-f.first)/stride + 1
	}
	if rest == 0 && f.tap < kernel {
		f.taps = (kernel-1-f.tap)/period + 1
		f.at = (f.first+padding-f.tap*dilation)/stride - (f.taps-1)*dilation*period/stride
	}
	return f
}

// phases goes over the phases that have positions, those with the most taps first.
func (p *convArgs) phases(yield func([3]phased) bool) {
	var of [3]int
	for d := range 3 {
		of[d] = 1
		if p.mode == convTranspose {
			of[d] = int(p.stride[d])
		}
	}
	for z := range of[0] {
		for y := range of[1] {
			for x := range of[2] {
				f := [3]phased{p.phased(0, z), p.phased(1, y), p.phased(2, x)}
				if f[0].count*f[1].count*f[2].count > 0 && !yield(f) {
					return
				}
			}
		}
	}
}

// meets returns how the positions of p meet x, for which of the three convolutions p.mode says.
func (p *convArgs) meets(images, per int) packing {
	m := packing{images: images, per: per, width: (int(p.channels) + per - 1) / per * per}
	for d := range 3 {
		if p.mode != convTranspose {
			reach := (p.kernel[d] - 1) * p.dilation[d]
			m.size[d], m.before[d], m.step[d], m.tap[d] = (p.grid[d]-1)*p.stride[d]+reach+1, p.padding[d], p.stride[d], p.dilation[d]
			continue
		}
		m.step[d], m.tap[d] = 1, int32(int(p.dilation[d])*p.period(d)/int(p.stride[d]))
		low, high, met := 0, 0, false
		for i := range int(p.stride[d]) {
			f := p.phased(d, i)
			if f.count == 0 || f.taps == 0 {
				continue
			}
			last := f.at + f.count - 1 + (f.taps-1)*int(m.tap[d])
			if !met {
				low, high, met = f.at, last, true
			}
			low, high = min(low, f.at), max(high, last)
		}
		m.size[d], m.before[d] = int32(high-low+1), int32(-low)
	}
	return m
}

// room is how many taps the largest phase has.
func (p *convArgs) room() int {
	n := 1
	for d := range 3 {
		n *= p.phased(d, 0).taps
	}
	return n
}

// sizes are how many columns and terms the product of a phase has.
func (p *convArgs) sizes(on *packing, f *[3]phased) (columns, terms int) {
	places, taps := f[0].count*f[1].count*f[2].count, f[0].taps*f[1].taps*f[2].taps
	if p.mode == convWeight {
		return taps * on.width, on.images * places
	}
	return on.images * places, taps * on.width
}

// phaseArgs is what the kernels are told of a phase.
func (p *convArgs) phaseArgs(c *denseArgs, on *packing, f *[3]phased) phaseArgs {
	columns, terms := p.sizes(on, f)
	a := phaseArgs{n: int32(columns), k: int32(terms), byPlane: dividerOf(f[0].count * f[1].count * f[2].count)}
	if p.mode == convTranspose {
		weights, out := 0, 0
		for d := range 3 {
			weights = weights*min(p.period(d), int(p.kernel[d])) + f[d].tap
			out = out*int(p.grid[d]) + f[d].first
		}
		a.out = uint32(out)
		if terms > 0 {
			a.a = int64(weights) * int64(c.groups) * c.aGroup
			for d := range 3 {
				a.b += uint32(f[d].at+int(on.before[d])) * c.grid[d]
			}
		}
	}
	for d := range 2 {
		a.byKernel[d], a.byGrid[d] = dividerOf(max(f[2-d].taps, 1)), dividerOf(f[2-d].count)
	}
	return a
}
