package main

import "fmt"

// The micro-kernels of a convolution of images that lie side by side, each in a lane of its own: what a tap meets is a whole cache line, and taps
// beyond the edge have no step.

// images writes a kernel for each size of tile.
func images(f *asmFile) {
	for _, rows := range []int{1, 2, 4, 6} {
		for vectors := 1; vectors <= 4; vectors++ {
			f.imageTiles("imageTiles", "of a", rows, vectors, func(b, t, acc int) { f.op("VFMADD231PS", vec("Z", b), vec("Z", t), vec("Z", acc)) })
			f.imageTiles("imageDots", "of pairs of bfloat16 of a", rows, vectors, f.vdpbf16ps)
		}
	}
	f.finiteTaps()
}

// The fields of imageTiles and imageColumns in images_amd64.go, in bytes.
const (
	imgN, imgCols, imgSteps, imgA, imgRowA, imgB, imgSums, imgRow, imgMore, imgBias, imgChannels = 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80
	imgColTaps, imgColSteps, imgColB, imgColC, imgColSize                                        = 0, 8, 16, 48, 80
)

// imageTiles is a list of tiles of rows × 16·vectors sums, whose multiply-add of registers b and t onto acc is step.
func (f *asmFile) imageTiles(name, of string, rows, vectors int, step func(b, t, acc int)) {
	f.fn(fmt.Sprintf("%s%dx%d", name, rows, vectors), fmt.Sprintf("sets or raises n tiles of %d rows of %d vectors by the sums over k %s times 16 elements of b, both at distances that a step gives.", rows, vectors, of),
		param{"t", "*imageTiles", "BX"})
	b := []string{"R9", "R10", "R11", "R12"}
	a := []string{"(DX)", "(DX)(R13*1)", "(DX)(R13*2)", "(DX)(R14*1)", "(DX)(R13*4)", "(DX)(R15*1)"}
	acc := func(i, v int) string { return vec("Z", i*vectors+v) }
	f.op("MOVQ", at(imgCols, "BX"), "DI")
	f.op("MOVQ", at(imgA, "BX"), "SI")
	f.op("MOVQ", at(imgRowA, "BX"), "R13")
	f.op("LEAQ", "(R13)(R13*2)", "R14")
	f.op("LEAQ", "(R13)(R13*4)", "R15")
	f.label("tile")
	f.op("MOVQ", at(imgB, "BX"), "AX")
	for v := range vectors {
		f.op("MOVQ", at(imgColB+8*v, "DI"), b[v])
		f.op("ADDQ", "AX", b[v])
	}
	f.op("MOVQ", at(imgColTaps, "DI"), "CX")
	f.op("IMULQ", at(imgChannels, "BX"), "CX")
	f.op("MOVQ", at(imgColSteps, "DI"), "R8")
	f.op("ADDQ", at(imgSteps, "BX"), "R8")
	// sums calls do for each sum with its place.
	sums := func(do func(i, v int, place string)) {
		f.op("MOVQ", at(imgSums, "BX"), "AX")
		for i := range rows {
			for v := range vectors {
				f.op("MOVQ", at(imgColC+8*v, "DI"), "DX")
				do(i, v, "(AX)(DX*1)")
			}
			if i < rows-1 {
				f.op("ADDQ", at(imgRow, "BX"), "AX")
			}
		}
	}
	f.op("CMPQ", at(imgMore, "BX"), "$0")
	f.op("JEQ", "zero")
	sums(func(i, v int, place string) { f.op("VMOVUPS", place, acc(i, v)) })
	f.op("JMP", "begin")
	f.label("zero")
	for i := range rows * vectors {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	f.label("begin")
	f.op("TESTQ", "CX", "CX")
	f.op("JZ", "end")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "(R8)", "DX")
	f.op("MOVL", "DX", "AX")
	f.op("SHRQ", "$32", "DX")
	f.op("ADDQ", "SI", "DX")
	for v := range vectors {
		f.op("VMOVUPS", "("+b[v]+")(AX*1)", vec("Z", 24+v))
	}
	f.op("PREFETCHT0", "256("+b[vectors-1]+")(AX*1)") // what the next tile of a row meets
	for i := range rows {
		f.op("VBROADCASTSS", a[i], vec("Z", 28+i%4))
		for v := range vectors {
			step(24+v, 28+i%4, i*vectors+v)
		}
	}
	f.op("ADDQ", "$8", "R8")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.label("end")
	f.op("MOVQ", at(imgBias, "BX"), "AX")
	f.op("TESTQ", "AX", "AX")
	f.op("JZ", "store")
	for i := range rows {
		f.op("VBROADCASTSS", at(4*i, "AX"), "Z24")
		for v := range vectors {
			f.op("VADDPS", "Z24", acc(i, v), acc(i, v))
		}
	}
	f.label("store")
	sums(func(i, v int, place string) { f.op("VMOVUPS", acc(i, v), place) })
	f.op("ADDQ", imm(imgColSize), "DI")
	f.op("DECQ", at(imgN, "BX"))
	f.op("JNZ", "tile")
	f.ret()
}

// finiteTaps looks for numbers that are not finite: those times zero are NaN.
func (f *asmFile) finiteTaps() {
	f.fn("finiteTaps", "sets bad to 0 if in all rows and channels the elements whose bits are set in have are finite; distances in bytes.",
		param{"rows", "int", "DX"}, param{"channels", "int", "R8"}, param{"a", "*float32", "SI"}, param{"row", "int", "R9"}, param{"channel", "int", "R10"}, param{"have", "int", "AX"}, param{"bad", "*int", "DI"})
	f.op("KMOVW", "AX", "K1")
	for i := range 5 { // four sums, so that none waits for the one before, and zero
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	f.op("LEAQ", "(R10)(R10*2)", "R11")
	f.label("row")
	f.op("MOVQ", "R8", "CX")
	f.op("MOVQ", "SI", "BX")
	f.op("SUBQ", "$4", "CX")
	f.op("JL", "rest")
	f.op("PCALIGN", "$32")
	f.label("four")
	for i, place := range []string{"(BX)", "(BX)(R10*1)", "(BX)(R10*2)", "(BX)(R11*1)"} {
		f.op("VMOVUPS.Z", place, "K1", vec("Z", 8+i))
		f.op("VFMADD231PS", vec("Z", 8+i), "Z4", vec("Z", i))
	}
	f.op("LEAQ", "(BX)(R10*4)", "BX")
	f.op("SUBQ", "$4", "CX")
	f.op("JGE", "four")
	f.label("rest")
	f.op("ADDQ", "$4", "CX")
	f.op("JZ", "next")
	f.label("one")
	f.op("VMOVUPS.Z", "(BX)", "K1", "Z8")
	f.op("VFMADD231PS", "Z8", "Z4", "Z0")
	f.op("ADDQ", "R10", "BX")
	f.op("DECQ", "CX")
	f.op("JNZ", "one")
	f.label("next")
	f.op("ADDQ", "R9", "SI")
	f.op("DECQ", "DX")
	f.op("JNZ", "row")
	for i := 1; i < 4; i++ {
		f.op("VADDPS", vec("Z", i), "Z0", "Z0")
	}
	f.op("VCMPPS", "$3", "Z0", "Z0", "K2")
	f.op("KMOVW", "K2", "AX")
	f.op("MOVQ", "AX", "(DI)")
	f.ret()
}
