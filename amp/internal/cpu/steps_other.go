//go:build !amd64

package cpu

const stepKernels = false

// StepKernels and TileSteps are false on these processors, so nothing here is called.

func stepProduct(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias []float32, add bool) {
	panic("cpu: no step kernels")
}

func PackSteps(dst []float32, rows, k int, src []float32, row int) { panic("cpu: no step kernels") }

type TileProduct struct {
	Format      Format
	Steps       []TileStep
	A           []uint16
	RowA, NextA int
	B           []uint32
	RowB        int

	PartA, PartB int
}

const TileSums = 4096

func (p *TileProduct) Rows(rows, off int, from []int, pairs int, sums []float32, more bool) {
	panic("cpu: no tiles")
}

func (p *TileProduct) Check(rows, off, pairs, least, most int) {}

func StoreSums[E float32 | uint16](f Format, rows int, src []float32, dst []E, row, have int, bias []float32) {
	panic("cpu: no tiles")
}

func PairRows(rows, n, stride int, src []uint16, lds, other int, second bool, dst []uint32, ldd int) {
	panic("cpu: no tiles")
}

func PackTileRows(dst []uint16, rows, channels, taps int, src []uint16, row, block int) {
	panic("cpu: no tiles")
}

func PackTileColumns(dst []uint16, rows, k int, src []uint16, row int) { panic("cpu: no tiles") }

func PackStepsTurned(dst []float32, rows, channels int, src []float32, in, size int, place []int) {
	panic("cpu: no step kernels")
}

func TakeRows(rows, n, stride int, src []float32, lds int, dst []float32, ldd, ahead int) {
	panic("cpu: no step kernels")
}

func TakeHalves(rows, n, stride int, src []uint16, lds int, dst []uint16, ldd int) {
	panic("cpu: no tiles")
}

func TransposeRows(rows, n int, src []float32, lds int, dst []float32, ldd int) {
	panic("cpu: no step kernels")
}

func TransposePairs(rows, n int, src []uint16, lds int, dst []uint32, ldd int) {
	panic("cpu: no tiles")
}

func PackTileHalves(dst []uint16, rows, high, k int, src []uint16, row int) { panic("cpu: no tiles") }

func LaneSums(a, b []float32, steps *StepTable, from []int, c []float32) {
	panic("cpu: no step kernels")
}

func takeTaps(channels, channel int, src []float32, at int, taps []Tap, dst []float32) {
	takeTapsPlain(channels, channel, src, at, taps, dst)
}

func stepPanels(rows int, a, b []float32, steps *StepTable, cols []StepColumn, out []float32, row int, bias, sums []float32) {
	panic("cpu: no step kernels")
}

type ImageProduct struct{ Pairs bool }

func (p *ImageProduct) Plan(channels, panel, taps, inA, inB int, classes [][]ImageTap, cols []ImageColumn) {
	panic("cpu: no step kernels")
}

func (p *ImageProduct) Rows(rows int, a []float32, rowA int, b, sums []float32, row int, bias []float32) bool {
	panic("cpu: no step kernels")
}

func SideBySide(dst []float32, images, n int, src []float32, image int) {
	panic("cpu: no step kernels")
}

func OneByOne(dst []float32, images, n int, src []float32, image int) {
	panic("cpu: no step kernels")
}
