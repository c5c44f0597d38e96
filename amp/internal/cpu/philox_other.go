//go:build !amd64

package cpu

func philoxVec([]uint32, uint64, uint64) int { return 0 }

func dropVec([]float32, []float32, []uint32, *Dropping) int { return 0 }
