//go:build !amd64

package cpu

func narrow64Vec([]float32, []float64) int { return 0 }

func uniformsVec([]float64, []uint32, float64, float64) int { return 0 }

func wholeVec([]int64, []float64, int64, int64) int { return 0 }
