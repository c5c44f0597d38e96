//go:build !amd64

package cpu

func best() Variant { return Generic }

func widenF16Vec([]float32, []uint16) int   { return 0 }
func narrowF16Vec([]uint16, []float32) int  { return 0 }
func widenBF16Vec([]float32, []uint16) int  { return 0 }
func narrowBF16Vec([]uint16, []float32) int { return 0 }
func addWideVec([]float64, []float32) int   { return 0 }
func mulWideVec([]float64, []float32) int   { return 0 }
func widenF64Vec([]float64, []float32) int  { return 0 }

func widenRowsVec([]float32, int, []uint16, int, int, int, bool) int  { return 0 }
func narrowRowsVec([]uint16, int, []float32, int, int, int, bool) int { return 0 }
