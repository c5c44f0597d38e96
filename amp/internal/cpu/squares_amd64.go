package cpu

// squaresVec does whole blocks and returns how many elements those are.
func squaresVec(x []float32, lanes *[squareLanes]float64) int {
	n := len(x) / squareLanes
	if n == 0 {
		return 0
	}
	switch variant() {
	case AVX512:
		squaresZ(n, &x[0], lanes)
	case AVX2:
		squaresY(n, &x[0], lanes)
	default:
		return 0
	}
	return n * squareLanes
}

// squaresHalfVec is squaresVec for halves.
func squaresHalfVec(x []uint16, lanes *[squareLanes]float64, f16 bool) int {
	n := len(x) / squareLanes
	if n == 0 {
		return 0
	}
	run := squaresBF16Z
	switch v := variant(); {
	case v == AVX512 && f16:
		run = squaresF16Z
	case v == AVX512:
	case v == AVX2 && f16:
		run = squaresF16Y
	case v == AVX2:
		run = squaresBF16Y
	default:
		return 0
	}
	run(n, &x[0], lanes)
	return n * squareLanes
}

// squarePairsVec is squaresHalfVec for sums of two squares each.
func squarePairsVec(x []uint16, lanes *[squareLanes / 2]float64, f16 bool) int {
	n := len(x) / squareLanes
	if n == 0 {
		return 0
	}
	run := squarePairsBF16Z
	switch v := variant(); {
	case v == AVX512 && f16:
		run = squarePairsF16Z
	case v == AVX512:
	case v == AVX2 && f16:
		run = squarePairsF16Y
	case v == AVX2:
		run = squarePairsBF16Y
	default:
		return 0
	}
	run(n, &x[0], lanes)
	return n * squareLanes
}
