package cpu

// squareLanes is the number of parts of a sum of squares.
const squareLanes = 32

// Squares are the parts of a sum of squares in float64, in which each is exact: element i is added to part i mod 32 of the sum, whose parts
// are added up in halves, so that the bits are the same on every processor.
type Squares [squareLanes]float64

// Add adds the squares of x. What is added before the last must be a multiple of 32 elements long, for the bits of one long x.
func (s *Squares) Add(x []float32) {
	lanes := (*[squareLanes]float64)(s)
	n := squaresVec(x, lanes)
	for i, v := range x[n:] {
		lanes[i%squareLanes] += float64(float64(v) * float64(v))
	}
}

// AddF16 is Add for binary16.
func (s *Squares) AddF16(x []uint16) { s.addHalves(x, true, F16ToF32) }

// AddBF16 is Add for bfloat16.
func (s *Squares) AddBF16(x []uint16) { s.addHalves(x, false, BF16ToF32) }

func (s *Squares) addHalves(x []uint16, f16 bool, widen func(uint16) float32) {
	lanes := (*[squareLanes]float64)(s)
	n := squaresHalfVec(x, lanes, f16)
	for i, h := range x[n:] {
		v := float64(widen(h))
		lanes[i%squareLanes] += float64(v * v)
	}
}

// Sum returns the sum of the parts, which it uses up.
func (s *Squares) Sum() float64 {
	for w := squareLanes / 2; w > 0; w /= 2 {
		for i := range w {
			s[i] += s[i+w]
		}
	}
	return s[0]
}

// SumSquares returns the sum of the squares of x.
func SumSquares(x []float32) float64 {
	var s Squares
	s.Add(x)
	return s.Sum()
}
