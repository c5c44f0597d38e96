//go:build !amd64

package cpu

func squaresVec([]float32, *[squareLanes]float64) int { return 0 }

func squaresHalfVec([]uint16, *[squareLanes]float64, bool) int { return 0 }

func squarePairsVec([]uint16, *[squareLanes / 2]float64, bool) int { return 0 }
