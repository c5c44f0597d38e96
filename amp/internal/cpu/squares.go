package cpu

// squareLanes is the number of parts of a sum of squares.
const squareLanes = 32

// SumSquares returns the sum of the squares of x in float64, in which each is exact: element i is added to part i mod 32 of the sum, whose
// parts are added up in halves, so that the bits are the same on every processor.
func SumSquares(x []float32) float64 {
	var lanes [squareLanes]float64
	n := squaresVec(x, &lanes)
	for i, v := range x[n:] {
		lanes[i%squareLanes] += float64(float64(v) * float64(v))
	}
	for w := squareLanes / 2; w > 0; w /= 2 {
		for i := range w {
			lanes[i] += lanes[i+w]
		}
	}
	return lanes[0]
}
