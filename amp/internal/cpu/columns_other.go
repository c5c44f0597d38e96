//go:build !amd64

package cpu

func columnsVec(dst, x []float32, rows, stride int) int              { return 0 }
func columnsF16Vec(dst []float32, x []uint16, rows, stride int) int  { return 0 }
func columnsBF16Vec(dst []float32, x []uint16, rows, stride int) int { return 0 }
func addToRowsVec(c []float32, rows, stride int, x []float32) int    { return 0 }
