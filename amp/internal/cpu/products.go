package cpu

import "math"

const (
	productLanes = 32 // parts of a product
	productCheck = 4  // blocks of productLanes factors after which the sizes of the parts are looked at
)

// leastCalm and mostCalm bound the sizes from which productCheck-1 factors of float32, from 2^-149 to 2^128, lead to no number that float64 does
// not hold in full.
const leastCalm, mostCalm = 0x1p-574, 0x1p638

// calm says whether the size of v lies between them; NaN's does not.
func calm(v float64) bool {
	const least, most = uint64(1023-574) << 53, uint64(1023+638) << 53
	return math.Float64bits(v)<<1-least <= most-least
}

// factors are the parts of a product in float64, and the least and the largest size that one had where they were looked at.
type factors struct {
	lanes     [productLanes]float64
	low, high [8]float64
}

// Product returns the product of x in float64: element i is a factor of part i mod 32, whose parts are multiplied in halves, so that the bits are
// the same on every processor. Where a partial product leaves what float64 holds in full, which those of another order may not do, factors are
// multiplied in their order instead.
func Product(x []float32) float64 {
	p := noFactors
	n := productsVec(x, &p)
	if n == 0 {
		n = len(x) / productLanes * productLanes
		p.plain(x[:n])
	}
	for i, v := range x[n:] {
		y := p.lanes[i] * float64(v)
		p.lanes[i] = y
		p.low[0], p.high[0] = min(p.low[0], math.Abs(y)), max(p.high[0], math.Abs(y))
	}
	if y, ok := p.result(); ok {
		return y
	}
	y := 1.0
	for _, v := range x {
		y *= float64(v)
	}
	return y
}

var noFactors = func() (p factors) {
	for i := range p.lanes {
		p.lanes[i] = 1
	}
	for i := range p.low {
		p.low[i], p.high[i] = 1, 1
	}
	return p
}()

// plain multiplies whole blocks into the parts.
func (p *factors) plain(x []float32) {
	low, high := p.low[0], p.high[0]
	for blocks := len(x) / productLanes; blocks > 0; x = x[productLanes:] {
		for i, v := range x[:productLanes] {
			p.lanes[i] *= float64(v)
		}
		if blocks--; blocks%productCheck == 0 {
			for _, v := range p.lanes {
				low, high = min(low, math.Abs(v)), max(high, math.Abs(v)) // a NaN stays
			}
		}
	}
	p.low[0], p.high[0] = low, high
}

// result multiplies the parts, which it uses up, and says whether all that was multiplied before the last product is calm: that one is
// rounded as it should be whatever it is.
func (p *factors) result() (y float64, all bool) {
	low, high := math.Float64bits(p.low[0]), math.Float64bits(p.high[0]) // in the order of the sizes, NaN above all
	for i := range p.low {
		l := math.Float64bits(p.low[i])
		low, high = min(low, l), max(high, l, math.Float64bits(p.high[i]))
	}
	all = low >= math.Float64bits(leastCalm) && high <= math.Float64bits(mostCalm)
	if low >= math.Float64bits(0x1p-60) && high <= math.Float64bits(0x1p60) { // 16 of them are calm, but for a NaN, which stays
		x := &p.lanes
		for i := range 16 {
			x[i] *= x[i+16]
		}
		for i := range 8 {
			x[i] *= x[i+8]
		}
		for i := range 4 {
			x[i] *= x[i+4]
		}
		y = float64(x[0]*x[2]) * float64(x[1]*x[3])
		return y, y == y
	}
	for w := productLanes / 2; w > 1; w /= 2 {
		for i := range w {
			p.lanes[i] *= p.lanes[i+w]
			all = all && calm(p.lanes[i])
		}
	}
	y = p.lanes[0] * p.lanes[1]
	return y, all && y == y
}
