//go:build !amd64

package cpu

func polarVec([]float64, []float64, []uint32) int { return 0 }

func planeVec([]float64, []float64, []float64, []float64, float64, float64) int { return 0 }

func sinCosVec([]float64, []float64, []float64) int { return 0 }
