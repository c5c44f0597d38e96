package main

import "fmt"

// The micro-kernels of a convolution. A step of k reads its rows of b where they lie: a table gives the distance of each from the start of
// a column of 16 sums, so that windows which overlap are never copied.

func steps(f *asmFile) {
	for _, rows := range []int{1, 2, 4, 8} {
		for _, vectors := range []int{1, 2, 3} {
			f.stepTile(rows, vectors)
		}
	}
	for _, vectors := range []int{1, 2, 3} {
		f.stepPanel(vectors)
	}
	for _, rows := range []int{1, 2} {
		for _, cols := range []int{1, 2} {
			f.amxSteps("amxStepsBF16", "TDPBF16PS", rows, cols)
			f.amxSteps("amxStepsF16", "TDPFP16PS", rows, cols)
			f.amxSteps("amxStepsParts", inParts, rows, cols)
		}
	}
	for _, s := range sumStores {
		f.storeSums(s)
	}
	for _, stride := range []int{1, 2} {
		f.pairRows(stride)
		f.halfRows(stride)
	}
	f.spreadTaps()
	f.turnTaps()
	f.evenRows()
	f.copyAhead()
	f.maskedTaps()
	f.laneSteps()
	f.rowSteps()
}

// The fields of fmaTile and amxTile in steps.go, in bytes.
const (
	fmaK, fmaA, fmaSteps, fmaB, fmaC, fmaRow, fmaMask, fmaBias, fmaAdd, fmaAhead, fmaThrees = 0, 8, 16, 24, 48, 72, 80, 104, 112, 120, 128
	amxN, amxSteps, amxA, amxRowA, amxNextA, amxPanels, amxCols, amxRowB, amxC              = 0, 8, 16, 24, 32, 40, 48, 56, 64
	panelN, panelK, panelA, panelNext, panelSteps, panelB, panelSums, panelMore             = 0, 8, 16, 24, 32, 40, 64, 72
	amxMore, amxConfig, amxPartA, amxPartB                                                  = 72, 80, 88, 96
)

// stepTile is a tile of rows × 16·vectors sums in float32.
func (f *asmFile) stepTile(rows, vectors int) {
	f.fn(fmt.Sprintf("fmaSteps%dx%d", rows, vectors), fmt.Sprintf("sets or raises %d rows of %d vectors of c by the sums over k of a, k columns of %d, times 16 elements of b at the distance that a step gives.", rows, vectors, rows),
		param{"t", "*fmaTile", "BX"})
	f.op("MOVQ", at(fmaK, "BX"), "CX")
	f.op("MOVQ", at(fmaA, "BX"), "SI")
	f.op("MOVQ", at(fmaSteps, "BX"), "R8")
	b, c := []string{"R9", "R10", "R11"}, []string{"R12", "R13", "DI"}
	for v := range vectors {
		f.op("MOVQ", at(fmaB+8*v, "BX"), b[v])
	}
	acc := func(i, v int) string { return vec("Z", i*vectors+v) }
	row := func(v int) string { return vec("Z", 24+v) }
	for i := range rows * vectors {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	if rows == 8 {
		f.op("MOVQ", at(fmaAhead, "BX"), "R15")
	}
	// step is one of some in a loop.
	step := func(n int, fetch bool) {
		f.op("MOVQ", at(8*n, "R8"), "AX")
		if fetch {
			f.op("LEAQ", "(AX)(R15*1)", "DX")
			for v := range vectors {
				f.op("PREFETCHT0", "("+b[v]+")(DX*1)")
			}
		}
		for v := range vectors {
			f.op("VMOVUPS", "("+b[v]+")(AX*1)", row(v))
		}
		for i := range rows {
			t := vec("Z", 28+i%4)
			f.op("VBROADCASTSS", at(4*(n*rows+i), "SI"), t)
			for v := range vectors {
				f.op("VFMADD231PS", row(v), t, acc(i, v))
			}
		}
	}
	loop := func(label string, steps int) {
		f.op("PCALIGN", "$32")
		f.label(label)
		for n := range steps {
			step(n, n == 0 && rows == 8) // eight rows are long enough to fetch from the L2 cache what is wanted next
		}
		f.op("ADDQ", imm(8*steps), "R8")
		f.op("ADDQ", imm(4*rows*steps), "SI")
		f.op("SUBQ", imm(steps), "CX")
		f.op("JNZ", label)
	}
	if rows == 8 {
		f.op("CMPQ", at(fmaThrees, "BX"), "$0")
		f.op("JEQ", "loop")
		loop("threes", 3)
		f.op("JMP", "done")
	}
	loop("loop", 1)
	f.label("done")
	for v := range vectors {
		f.op("MOVQ", at(fmaC+8*v, "BX"), c[v])
		f.op("MOVQ", at(fmaMask+8*v, "BX"), "AX")
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
	}
	f.op("MOVQ", at(fmaRow, "BX"), "R9")
	f.op("MOVQ", at(fmaBias, "BX"), "R10")
	f.op("MOVQ", at(fmaAdd, "BX"), "R11")
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "sums")
	for i := range rows {
		f.op("VBROADCASTSS", at(4*i, "R10"), "Z24")
		for v := range vectors {
			f.op("VADDPS", "Z24", acc(i, v), acc(i, v))
		}
	}
	f.label("sums")
	f.op("TESTQ", "R11", "R11")
	f.op("JNZ", "add")
	put := func(add bool) {
		for i := range rows {
			for v := range vectors {
				if add {
					f.op("VMOVUPS.Z", "("+c[v]+")", fmt.Sprintf("K%d", 1+v), "Z24")
					f.op("VADDPS", acc(i, v), "Z24", acc(i, v))
				}
				f.op("VMOVUPS", acc(i, v), fmt.Sprintf("K%d", 1+v), "("+c[v]+")")
				if i < rows-1 {
					f.op("ADDQ", "R9", c[v])
				}
			}
		}
		f.ret()
	}
	put(false)
	f.label("add")
	put(true)
}

// stepPanel is a column of tiles of 8 rows × 16·vectors sums that wait in memory.
func (f *asmFile) stepPanel(vectors int) {
	const rows = 8
	f.fn(fmt.Sprintf("fmaPanel%d", vectors), fmt.Sprintf("sets or raises n tiles of 8 rows of %d vectors by the sums over k of a, k columns of 8, times 16 elements of b at the distance that a step gives. It fetches each element of a that the next tile wants.", vectors),
		param{"t", "*fmaPanel", "BX"})
	f.op("MOVQ", at(panelN, "BX"), "R13")
	f.op("MOVQ", at(panelA, "BX"), "SI")
	f.op("MOVQ", at(panelSums, "BX"), "R12")
	f.op("MOVQ", at(panelNext, "BX"), "R15")
	b := []string{"R9", "R10", "R11"}
	for v := range vectors {
		f.op("MOVQ", at(panelB+8*v, "BX"), b[v])
	}
	row := func(v int) string { return vec("Z", 24+v) }
	f.label("tile")
	f.op("MOVQ", at(panelK, "BX"), "CX")
	f.op("MOVQ", at(panelSteps, "BX"), "R8")
	f.op("MOVQ", "SI", "DX")
	f.op("CMPQ", at(panelMore, "BX"), "$0")
	f.op("JEQ", "zero")
	for i := range rows * vectors {
		f.op("VMOVUPS", at(64*i, "R12"), vec("Z", i))
	}
	f.op("JMP", "loop")
	f.label("zero")
	for i := range rows * vectors {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "(R8)", "AX")
	f.op("PREFETCHT0", "(DX)(R15*1)")
	for v := range vectors {
		f.op("VMOVUPS", "("+b[v]+")(AX*1)", row(v))
	}
	for i := range rows {
		t := vec("Z", 28+i%4)
		f.op("VBROADCASTSS", at(4*i, "DX"), t)
		for v := range vectors {
			f.op("VFMADD231PS", row(v), t, vec("Z", i*vectors+v))
		}
	}
	f.op("ADDQ", "$8", "R8")
	f.op("ADDQ", imm(4*rows), "DX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for i := range rows * vectors {
		f.op("VMOVUPS", vec("Z", i), at(64*i, "R12"))
	}
	f.op("ADDQ", imm(64*rows*vectors), "R12")
	f.op("ADDQ", "R15", "SI")
	f.op("DECQ", "R13")
	f.op("JNZ", "tile")
	f.ret()
}

// amxSteps is a tile of 16·rows × 16·cols sums in the tile registers 0…3, for several columns of tiles.
func (f *asmFile) amxSteps(name, dot string, rows, cols int) {
	f.fn(fmt.Sprintf("%sx%dx%d", name, rows, cols), fmt.Sprintf("sets or raises tiles of %d×%d sums in c, 32 in a row, by the sums over the steps of a tile of a times a tile of b at the distances that a step gives.", 16*rows, 16*cols)+map[bool]string{true: partsDoc}[dot == inParts],
		param{"t", "*amxTile", "CX"})
	f.op("MOVQ", at(amxConfig, "CX"), "AX")
	f.ldtilecfg(regAX)
	f.op("MOVQ", at(amxRowA, "CX"), "R9")
	f.op("MOVQ", at(amxNextA, "CX"), "R10")
	f.op("MOVQ", at(amxRowB, "CX"), "R13")
	f.op("MOVQ", at(amxC, "CX"), "DX")
	f.op("MOVQ", at(amxPanels, "CX"), "R14")
	f.op("MOVQ", "$128", "R15")
	f.op("PCALIGN", "$32")
	f.label("panel")
	f.op("MOVQ", at(amxCols, "CX"), "AX")
	f.op("MOVQ", "(AX)", "R11")
	if cols == 2 {
		f.op("MOVQ", "8(AX)", "R12")
	}
	f.op("ADDQ", "$16", at(amxCols, "CX"))
	acc := func(move func(t, off int)) {
		for i := range rows {
			for j := range cols {
				move(i*2+j, 2048*i+64*j)
			}
		}
	}
	f.op("CMPQ", at(amxMore, "CX"), "$0")
	f.op("JEQ", "zero")
	acc(func(t, off int) { f.tileMove(tileLoad, t, off, regDX, regR15) })
	f.op("JMP", "begin")
	f.label("zero")
	acc(func(t, off int) { f.tilezero(t) })
	f.label("begin")
	f.op("MOVQ", at(amxSteps, "CX"), "R8")
	f.op("MOVQ", at(amxA, "CX"), "SI")
	f.op("MOVQ", at(amxN, "CX"), "BX")
	f.op("PCALIGN", "$32")
	f.label("loop")
	if dot == inParts {
		f.partSteps(rows, cols)
	} else {
		f.tileSteps(dot, rows, cols)
	}
	f.op("ADDQ", "$16", "R8")
	f.op("DECQ", "BX")
	f.op("JNZ", "loop")
	acc(func(t, off int) { f.tileMove(tileStore, t, off, regDX, regR15) })
	f.op("ADDQ", imm(2048*rows), "DX")
	f.op("DECQ", "R14")
	f.op("JNZ", "panel")
	f.tilerelease()
	f.op("RET")
}

// tileSteps is a step of amxSteps.
func (f *asmFile) tileSteps(dot string, rows, cols int) {
	f.op("MOVQ", "(R8)", "DI")
	f.op("ADDQ", "SI", "DI")
	f.tileMove(tileLoad, 4, 0, regDI, regR9)
	f.op("MOVQ", "8(R8)", "AX")
	f.op("ADDQ", "R11", "AX")
	f.tileMove(tileLoad, 6, 0, regAX, regR13)
	f.tdp(dot, 4, 6, 0)
	if rows == 2 {
		f.op("ADDQ", "R10", "DI")
		f.tileMove(tileLoad, 5, 0, regDI, regR9)
		f.tdp(dot, 5, 6, 2)
	}
	if cols == 2 {
		f.op("MOVQ", "8(R8)", "AX")
		f.op("ADDQ", "R12", "AX")
		f.tileMove(tileLoad, 7, 0, regAX, regR13)
		f.tdp(dot, 4, 7, 1)
		if rows == 2 {
			f.tdp(dot, 5, 7, 3)
		}
	}
}

// A sumStore writes 16 sums in register Z0 as another format, under mask K1.
type sumStore struct {
	name, typ, doc string
	put            func(f *asmFile)
}

var sumStores = []sumStore{
	{"F32", "*float32", "as they are", func(f *asmFile) { f.op("VMOVUPS", "Z0", "K1", "(DI)") }},
	{"F16", "*uint16", "rounded to float16", func(f *asmFile) { f.op("VCVTPS2PH", "$0", "Z0", "K1", "(DI)") }},
	{"BF16", "*uint16", "rounded to bfloat16", func(f *asmFile) {
		f.op("VPSRLD", "$16", "Z0", "Z1")
		f.op("VPORD", "Z18", "Z1", "Z2")
		f.op("VPANDD", "Z17", "Z1", "Z1")
		f.op("VPADDD", "Z16", "Z1", "Z1")
		f.op("VPADDD", "Z0", "Z1", "Z1")
		f.op("VPSRLD", "$16", "Z1", "Z1")
		f.op("VCMPPS", "$3", "Z0", "Z0", "K5")
		f.op("VMOVDQA32", "Z2", "K5", "Z1")
		f.op("VPMOVDW", "Z1", "K1", "(DI)")
	}},
}

func (f *asmFile) storeSums(s sumStore) {
	f.fn("storeSums"+s.name, "writes rows of up to 16 sums, those whose bits are set in have, each raised by the element of its row of bias unless that is nil, "+s.doc+"; distances of rows in bytes.",
		param{"rows", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", s.typ, "DI"}, param{"ldd", "int", "R9"}, param{"have", "int", "AX"}, param{"bias", "*float32", "R12"})
	f.op("KMOVW", "AX", "K1")
	if s.name == "BF16" {
		for i, c := range []string{"$0x7fff", "$1", "$0x40"} {
			f.op("MOVL", c, "AX")
			f.op("VPBROADCASTD", "AX", vec("Z", 16+i))
		}
	}
	f.op("TESTQ", "R12", "R12")
	f.op("JNZ", "biased")
	body := func(label string, bias bool) {
		f.op("PCALIGN", "$32")
		f.label(label)
		f.op("VMOVUPS", "(SI)", "Z0")
		if bias {
			f.op("VBROADCASTSS", "(R12)", "Z3")
			f.op("VADDPS", "Z3", "Z0", "Z0")
			f.op("ADDQ", "$4", "R12")
		}
		s.put(f)
		f.op("ADDQ", "R8", "SI")
		f.op("ADDQ", "R9", "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", label)
		f.ret()
	}
	body("plain", false)
	body("biased", true)
}

// laneSteps sums products lane by lane.
func (f *asmFile) laneSteps() {
	f.fn("laneSteps9", "raises 9 vectors of c by the sums over k of 16 elements of a times 16 elements of b at the distance that a step gives from the vector's start, each sum starting from zero.",
		param{"k", "int", "CX"}, param{"a", "*float32", "SI"}, param{"steps", "*int", "R8"}, param{"b", "*[9]*float32", "BX"}, param{"c", "*float32", "AX"})
	bases := []string{"R9", "R10", "R11", "R12", "R13", "R14", "R15", "DI", "DX"}
	for v, r := range bases {
		f.op("MOVQ", at(8*v, "BX"), r)
		f.op("VXORPS", vec("X", v), vec("X", v), vec("X", v))
	}
	f.op("MOVQ", "AX", "BX")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "(R8)", "AX")
	f.op("VMOVUPS", "(SI)", "Z16")
	for v, r := range bases {
		f.op("VFMADD231PS", "("+r+")(AX*1)", "Z16", vec("Z", v))
	}
	f.op("ADDQ", "$8", "R8")
	f.op("ADDQ", "$64", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for v := range bases {
		f.op("VADDPS", at(64*v, "BX"), vec("Z", v), vec("Z", v))
		f.op("VMOVUPS", vec("Z", v), at(64*v, "BX"))
	}
	f.ret()
}

// rowSteps is a row of sums, four vectors at a time.
func (f *asmFile) rowSteps() {
	f.fn("rowSteps", "sets n vectors of c to the sums over k of an element of a times 16 elements of b at the distance that a step gives.",
		param{"k", "int", "R15"}, param{"a", "*float32", "R14"}, param{"steps", "*int", "DX"}, param{"b", "*float32", "R13"}, param{"c", "*float32", "DI"}, param{"cols", "*StepColumn", "BX"}, param{"n", "int", "R12"})
	f.op("JMP", "test")
	b := []string{"R9", "R10", "R11", "CX"}
	body := func(vectors int) {
		for v := range vectors {
			f.op("MOVQ", at(24*v, "BX"), b[v])
			f.op("LEAQ", "(R13)("+b[v]+"*4)", b[v])
			f.op("VXORPS", vec("X", v), vec("X", v), vec("X", v))
		}
		f.op("XORQ", "SI", "SI")
		loop := fmt.Sprintf("steps%d", vectors)
		f.op("PCALIGN", "$32")
		f.label(loop)
		f.op("MOVQ", "(DX)(SI*8)", "AX")
		f.op("VBROADCASTSS", "(R14)(SI*4)", "Z17")
		for v := range vectors {
			f.op("VFMADD231PS", "("+b[v]+")(AX*1)", "Z17", vec("Z", v))
		}
		f.op("INCQ", "SI")
		f.op("CMPQ", "SI", "R15")
		f.op("JNE", loop)
		for v := range vectors {
			f.op("MOVQ", at(24*v+8, "BX"), "R9")
			f.op("MOVQ", at(24*v+16, "BX"), "R10")
			f.op("MOVQ", "$-1", "AX")
			f.op("BZHIQ", "R10", "AX", "AX")
			f.op("KMOVW", "AX", "K1")
			f.op("VMOVUPS", vec("Z", v), "K1", "(DI)(R9*4)")
		}
		f.op("ADDQ", imm(24*vectors), "BX")
		f.op("SUBQ", imm(vectors), "R12")
	}
	f.op("PCALIGN", "$32")
	f.label("four")
	body(4)
	f.label("test")
	f.op("CMPQ", "R12", "$4")
	f.op("JGE", "four")
	f.label("rest")
	f.op("TESTQ", "R12", "R12")
	f.op("JZ", "done")
	body(1)
	f.op("JMP", "rest")
	f.label("done")
	f.ret()
}
