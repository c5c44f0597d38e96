package cpu

import "math"

// SumSquaresF16 returns the sum of the squares of binary16 numbers, within 2^-24 of it: two squares are added up in float32, in which each is
// exact, and those sums in float64. It takes half the time of Squares.
func SumSquaresF16(x []uint16) float64 {
	var s squarePairSums
	n := squarePairsVec(x, (*[squareLanes / 2]float64)(&s), true)
	for ; len(x)-n >= squareLanes; n += squareLanes {
		for j := range s {
			s.add(j, F16ToF32(x[n+j]), F16ToF32(x[n+j+squareLanes/2]))
		}
	}
	for j, h := range x[n:] {
		s.add(j%len(s), F16ToF32(h), 0)
	}
	return s.sum()
}

// SumSquaresBF16 is SumSquaresF16 for bfloat16. Where squares leave the range of float32 each is taken in float64.
func SumSquaresBF16(x []uint16) float64 {
	var s squarePairSums
	n := squarePairsVec(x, (*[squareLanes / 2]float64)(&s), false)
	for ; len(x)-n >= squareLanes; n += squareLanes {
		for j := range s {
			s.add(j, BF16ToF32(x[n+2*j]), BF16ToF32(x[n+2*j+1]))
		}
	}
	for j, h := range x[n:] {
		s.add(j%len(s), BF16ToF32(h), 0)
	}
	// What is lost below the range of float32 is 2^-149 of a pair at most.
	if sum := s.sum(); sum > 0x1p-120*float64(len(x)) && sum <= math.MaxFloat64 {
		return sum
	}
	var exact Squares
	exact.AddBF16(x)
	return exact.Sum()
}

// squarePairSums are the parts of a sum of squares.
type squarePairSums [squareLanes / 2]float64

func (s *squarePairSums) add(lane int, a, b float32) {
	s[lane] += float64(FMA32(b, b, float32(a*a)))
}

// sum adds up the parts as Squares does, which has those of zeros behind them.
func (s *squarePairSums) sum() float64 {
	var all Squares
	copy(all[:], s[:])
	return all.Sum()
}
