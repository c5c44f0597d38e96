package main

import "fmt"

// The micro-kernels of a convolution for AVX2: a vector of 16 sums is two registers, and 6 rows of one vector take 12 of the 16 that there are.

func stepsY(f *asmFile) {
	for _, rows := range []int{6, 4} {
		f.stepTileY(rows, 1)
	}
	for _, rows := range []int{2, 1} {
		for _, vectors := range []int{1, 2, 3} {
			f.stepTileY(rows, vectors)
		}
	}
	f.laneStepsY()
	for _, rows := range []int{1, 2, 4, 6} {
		f.imageTilesY(rows)
	}
	f.finiteTapsY()
	for _, rows := range []int{6, 8} {
		f.transposeColumnsY(rows)
	}
}

// The fields of fmaTileY in stepsy_amd64.go, in bytes.
const (
	fmaYK, fmaYA, fmaYSteps, fmaYB, fmaYC, fmaYRow, fmaYHave, fmaYBias, fmaYAdd = 0, 8, 16, 24, 48, 72, 80, 104, 112
)

// zeroY clears registers.
func (f *asmFile) zeroY(n int) {
	for i := range n {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
}

// stepTileY is a tile of rows × 16·vectors sums in float32.
func (f *asmFile) stepTileY(rows, vectors int) {
	f.fn(fmt.Sprintf("fmaStepsY%dx%d", rows, vectors), fmt.Sprintf("sets or raises %d rows of %d vectors of c by the sums over k of a, k columns of %d, times 16 elements of b at the distance that a step gives.", rows, vectors, rows),
		param{"t", "*fmaTileY", "BX"})
	f.op("MOVQ", at(fmaYK, "BX"), "CX")
	f.op("MOVQ", at(fmaYA, "BX"), "SI")
	f.op("MOVQ", at(fmaYSteps, "BX"), "R8")
	b, c := []string{"R9", "R10", "R11"}, []string{"R12", "R13", "DI"}
	for v := range vectors {
		f.op("MOVQ", at(fmaYB+8*v, "BX"), b[v])
	}
	acc := func(i, v, h int) string { return vec("Y", 2*(i*vectors+v)+h) }
	f.zeroY(2 * rows * vectors)
	const unrolled = 4
	f.op("SUBQ", imm(unrolled), "CX")
	f.op("JLT", "rest")
	step := func(n int) {
		f.op("MOVQ", at(8*n, "R8"), "AX")
		spread := func(i int) string {
			t := vec("Y", 14+i%2)
			f.op("VBROADCASTSS", at(4*(n*rows+i), "SI"), t)
			return t
		}
		if rows <= 2 {
			for i := range rows {
				spread(i)
			}
		}
		for v := range vectors {
			for h := range 2 {
				f.op("VMOVUPS", at(32*h, b[v])+"(AX*1)", vec("Y", 12+h))
			}
			for i := range rows {
				t := vec("Y", 14+i%2)
				if rows > 2 {
					spread(i)
				}
				for h := range 2 {
					f.op("VFMADD231PS", vec("Y", 12+h), t, acc(i, v, h))
				}
			}
		}
	}
	loop := func(label, again string, steps int) {
		f.op("PCALIGN", "$32")
		f.label(label)
		for n := range steps {
			step(n)
		}
		f.op("ADDQ", imm(8*steps), "R8")
		f.op("ADDQ", imm(4*rows*steps), "SI")
		f.op("SUBQ", imm(steps), "CX")
		f.op(again, label)
	}
	loop("loop", "JGE", unrolled)
	f.label("rest")
	f.op("ADDQ", imm(unrolled), "CX")
	f.op("JZ", "done")
	loop("one", "JNZ", 1)
	f.label("done")
	for v := range vectors {
		f.op("MOVQ", at(fmaYC+8*v, "BX"), c[v])
	}
	f.op("MOVQ", at(fmaYRow, "BX"), "R9")
	f.op("MOVQ", at(fmaYBias, "BX"), "R10")
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "sums")
	for i := range rows {
		f.op("VBROADCASTSS", at(4*i, "R10"), "Y12")
		for v := range vectors {
			for h := range 2 {
				f.op("VADDPS", "Y12", acc(i, v, h), acc(i, v, h))
			}
		}
	}
	f.label("sums")
	for v := range vectors {
		f.putSumsY(v, rows, c[v], func(i, h int) string { return acc(i, v, h) })
	}
	f.ret()
}

// putSumsY writes or adds a column of sums, whole vectors or under a mask.
func (f *asmFile) putSumsY(v, rows int, c string, acc func(i, h int) string) {
	label := func(name string) string { return fmt.Sprintf("%s%d", name, v) }
	each := func(do func(i, h int, place string)) {
		for i := range rows {
			for h := range 2 {
				do(i, h, at(32*h, c))
			}
			if i < rows-1 {
				f.op("ADDQ", "R9", c)
			}
		}
	}
	f.op("MOVQ", at(fmaYHave+8*v, "BX"), "AX")
	f.op("TESTQ", "AX", "AX")
	f.op("JNZ", label("part"))
	f.op("CMPQ", at(fmaYAdd, "BX"), "$0")
	f.op("JNE", label("add"))
	each(func(i, h int, place string) { f.op("VMOVUPS", acc(i, h), place) })
	f.op("JMP", label("put"))
	f.label(label("add"))
	each(func(i, h int, place string) {
		f.op("VADDPS", place, acc(i, h), acc(i, h))
		f.op("VMOVUPS", acc(i, h), place)
	})
	f.op("JMP", label("put"))
	f.label(label("part"))
	for h := range 2 {
		f.op("VMOVUPS", at(32*h, "AX"), vec("Y", 14+h))
	}
	f.op("CMPQ", at(fmaYAdd, "BX"), "$0")
	f.op("JNE", label("addpart"))
	each(func(i, h int, place string) { f.op("VMASKMOVPS", acc(i, h), vec("Y", 14+h), place) })
	f.op("JMP", label("put"))
	f.label(label("addpart"))
	each(func(i, h int, place string) {
		f.op("VMASKMOVPS", place, vec("Y", 14+h), "Y12")
		f.op("VADDPS", "Y12", acc(i, h), acc(i, h))
		f.op("VMASKMOVPS", acc(i, h), vec("Y", 14+h), place)
	})
	f.label(label("put"))
}

// laneStepsY sums products lane by lane, 8 lanes of the 16.
func (f *asmFile) laneStepsY() {
	f.fn("laneStepsY9", "raises 8 elements of 9 vectors of c, 64 bytes apart, by the sums over k of 8 elements of a, 64 bytes apart, times 8 elements of b at the distance that a step gives from the vector's start, each sum starting from zero.",
		param{"k", "int", "CX"}, param{"a", "*float32", "SI"}, param{"steps", "*int", "R8"}, param{"b", "*[9]*float32", "BX"}, param{"c", "*float32", "AX"})
	bases := []string{"R9", "R10", "R11", "R12", "R13", "R14", "R15", "DI", "DX"}
	for v, r := range bases {
		f.op("MOVQ", at(8*v, "BX"), r)
	}
	f.zeroY(len(bases))
	f.op("MOVQ", "AX", "BX")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "(R8)", "AX")
	f.op("VMOVUPS", "(SI)", "Y12")
	for v, r := range bases {
		f.op("VFMADD231PS", "("+r+")(AX*1)", "Y12", vec("Y", v))
	}
	f.op("ADDQ", "$8", "R8")
	f.op("ADDQ", "$64", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for v := range bases {
		f.op("VADDPS", at(64*v, "BX"), vec("Y", v), vec("Y", v))
		f.op("VMOVUPS", vec("Y", v), at(64*v, "BX"))
	}
	f.ret()
}

// imageTilesY is a list of tiles of rows × 16 sums.
func (f *asmFile) imageTilesY(rows int) {
	f.fn(fmt.Sprintf("imageTilesY%d", rows), fmt.Sprintf("sets or raises n tiles of %d rows of a vector by the sums over k of a times 16 elements of b, both at distances that a step gives.", rows),
		param{"t", "*imageTiles", "BX"})
	a := []string{"(DX)", "(DX)(R13*1)", "(DX)(R13*2)", "(DX)(R14*1)", "(DX)(R13*4)", "(DX)(R15*1)"}
	f.op("MOVQ", at(imgCols, "BX"), "DI")
	f.op("MOVQ", at(imgA, "BX"), "SI")
	f.op("MOVQ", at(imgRowA, "BX"), "R13")
	f.op("LEAQ", "(R13)(R13*2)", "R14")
	f.op("LEAQ", "(R13)(R13*4)", "R15")
	f.label("tile")
	f.op("MOVQ", at(imgColB, "DI"), "R9")
	f.op("ADDQ", at(imgB, "BX"), "R9")
	f.op("MOVQ", at(imgColTaps, "DI"), "CX")
	f.op("IMULQ", at(imgChannels, "BX"), "CX")
	f.op("MOVQ", at(imgColSteps, "DI"), "R8")
	f.op("ADDQ", at(imgSteps, "BX"), "R8")
	sums := func(do func(r int, place string)) { // for each register of sums
		f.op("MOVQ", at(imgSums, "BX"), "AX")
		f.op("ADDQ", at(imgColC, "DI"), "AX")
		for i := range rows {
			for h := range 2 {
				do(2*i+h, at(32*h, "AX"))
			}
			if i < rows-1 {
				f.op("ADDQ", at(imgRow, "BX"), "AX")
			}
		}
	}
	f.op("CMPQ", at(imgMore, "BX"), "$0")
	f.op("JEQ", "zero")
	sums(func(r int, place string) { f.op("VMOVUPS", place, vec("Y", r)) })
	f.op("JMP", "begin")
	f.label("zero")
	f.zeroY(2 * rows)
	f.label("begin")
	f.op("TESTQ", "CX", "CX")
	f.op("JZ", "end")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVL", "(R8)", "AX")
	f.op("MOVL", "4(R8)", "DX")
	f.op("ADDQ", "SI", "DX")
	for h := range 2 {
		f.op("VMOVUPS", at(32*h, "R9")+"(AX*1)", vec("Y", 12+h))
	}
	for i := range rows {
		t := vec("Y", 14+i%2)
		f.op("VBROADCASTSS", a[i], t)
		for h := range 2 {
			f.op("VFMADD231PS", vec("Y", 12+h), t, vec("Y", 2*i+h))
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
		f.op("VBROADCASTSS", at(4*i, "AX"), "Y12")
		for h := range 2 {
			f.op("VADDPS", "Y12", vec("Y", 2*i+h), vec("Y", 2*i+h))
		}
	}
	f.label("store")
	sums(func(r int, place string) { f.op("VMOVUPS", vec("Y", r), place) })
	f.op("ADDQ", imm(imgColSize), "DI")
	f.op("DECQ", at(imgN, "BX"))
	f.op("JNZ", "tile")
	f.ret()
}

// finiteTapsY looks for numbers that are not finite: those times zero are NaN.
func (f *asmFile) finiteTapsY() {
	f.fn("finiteTapsY", "sets bad to 0 if in all rows and channels the elements of the lanes in have are finite; distances in bytes.",
		param{"rows", "int", "DX"}, param{"channels", "int", "R8"}, param{"a", "*float32", "SI"}, param{"row", "int", "R9"}, param{"channel", "int", "R10"}, param{"have", "*int32", "AX"}, param{"bad", "*int", "DI"})
	for h := range 2 {
		f.op("VMOVUPS", at(32*h, "AX"), vec("Y", 14+h))
	}
	f.zeroY(5) // four sums, so that none waits for the one before, and zero
	f.label("row")
	f.op("MOVQ", "R8", "CX")
	f.op("MOVQ", "SI", "BX")
	look := func(h, sum int) {
		f.op("VMASKMOVPS", at(32*h, "BX"), vec("Y", 14+h), vec("Y", 8+sum))
		f.op("VFMADD231PS", vec("Y", 8+sum), "Y4", vec("Y", sum))
	}
	f.op("SUBQ", "$2", "CX")
	f.op("JLT", "rest")
	f.op("PCALIGN", "$32")
	f.label("two")
	for n := range 2 {
		for h := range 2 {
			look(h, 2*n+h)
		}
		f.op("ADDQ", "R10", "BX")
	}
	f.op("SUBQ", "$2", "CX")
	f.op("JGE", "two")
	f.label("rest")
	f.op("ADDQ", "$2", "CX")
	f.op("JZ", "next")
	for h := range 2 {
		look(h, h)
	}
	f.label("next")
	f.op("ADDQ", "R9", "SI")
	f.op("DECQ", "DX")
	f.op("JNZ", "row")
	for i := 1; i < 4; i++ {
		f.op("VADDPS", vec("Y", i), "Y0", "Y0")
	}
	f.op("VCMPPS", "$3", "Y0", "Y0", "Y0")
	f.op("VMOVMSKPS", "Y0", "AX")
	f.op("MOVQ", "AX", "(DI)")
	f.ret()
}

// transposeColumnsY turns blocks of 8 columns of so many rows around.
func (f *asmFile) transposeColumnsY(rows int) {
	doc := fmt.Sprintf("sets dst[p][0…%d] to element p of %d rows of src, for 8·n values of p; strides in bytes.", rows-1, rows)
	if rows < 8 {
		doc += fmt.Sprintf(" It writes %d elements beyond each row of dst, the next one's if rows follow each other.", 8-rows)
	}
	f.fn(fmt.Sprintf("transposeColumnsY%d", rows), doc,
		param{"n", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"})
	y := func(i int) string { return vec("Y", i) }
	f.op("LEAQ", "(R8)(R8*2)", "R10")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("LEAQ", "(SI)(R8*4)", "R11")
	// Rows i and i+4 share a register, so that what is left are turns within parts of 128 bits.
	from := []string{"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R10*1)", "(R11)", "(R11)(R8*1)", "(R11)(R8*2)", "(R11)(R10*1)"}
	for part := range 2 { // columns 4·part … 4·part+3
		for i := range 4 {
			r := y(4*part + i)
			f.op("VMOVUPS", offset(16*part, from[i]), "X"+r[1:])
			if i+4 < rows {
				f.op("VINSERTF128", "$1", offset(16*part, from[i+4]), r, r)
			}
		}
	}
	for part := range 2 {
		at := 4 * part
		f.op("VUNPCKLPS", y(at+1), y(at), y(8))
		f.op("VUNPCKHPS", y(at+1), y(at), y(9))
		f.op("VUNPCKLPS", y(at+3), y(at+2), y(10))
		f.op("VUNPCKHPS", y(at+3), y(at+2), y(11))
		f.op("VUNPCKLPD", y(10), y(8), y(at))
		f.op("VUNPCKHPD", y(10), y(8), y(at+1))
		f.op("VUNPCKLPD", y(11), y(9), y(at+2))
		f.op("VUNPCKHPD", y(11), y(9), y(at+3))
	}
	for p := range 8 {
		f.op("VMOVUPS", y(p), "(DI)")
		f.op("ADDQ", "R9", "DI")
	}
	f.op("ADDQ", "$32", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// offset is a place so many bytes further.
func offset(n int, place string) string {
	if n == 0 {
		return place
	}
	return fmt.Sprintf("%d%s", n, place)
}
