package main

import "fmt"

// Tiles of 32×32 sums for several panels of b, side by side. What surrounds the products is done beside them: a panel's first products come
// between the stores of the tile before, whose sums are rounded and written to the result while this one is multiplied.

// A tileRow finishes a row of 32 sums: it adds the bias, rounds and writes.
type tileRow struct {
	name, doc string
	bytes     int              // of an element of the result
	set       func(f *asmFile) // constants, with AX to spare
	finish    func(f *asmFile) // registers Z0 and Z1, to R10
	add       bool             // a bias is added
}

var tileRowsOf = map[string][]tileRow{
	"BF16":  {{}, rowFlat, rowBF16, rowF32},
	"F16":   {{}, rowF16, rowF32},
	"Parts": {{}, rowF16, rowF32},
}

var (
	rowFlat = tileRow{"Flat", "rounded to bfloat16, subnormals to zero", 2, nil, func(f *asmFile) {
		f.vcvtne2ps2bf16(0, 1, 0)
		f.op("VMOVDQU64", "Z0", "(R10)")
	}, false}
	rowBF16 = tileRow{"BF16", "rounded to bfloat16 after a bias is added", 2, func(f *asmFile) { f.roundingConstants() }, func(f *asmFile) {
		for v := range 2 {
			f.roundBF16(v)
			f.op("VPMOVDW", vec("Z", 2+v), at(32*v, "R10"))
		}
	}, true}
	rowF16 = tileRow{"F16", "rounded to float16 after a bias is added", 2, nil, func(f *asmFile) {
		for v := range 2 {
			f.op("VCVTPS2PH", "$0", vec("Z", v), at(32*v, "R10"))
		}
	}, true}
	rowF32 = tileRow{"F32", "after a bias is added", 4, nil, func(f *asmFile) {
		for v := range 2 {
			f.op("VMOVUPS", vec("Z", v), at(64*v, "R10"))
		}
	}, true}
)

// roundingConstants are those of roundBF16.
func (f *asmFile) roundingConstants() {
	for i, c := range []string{"$0x7fff", "$1", "$0x40"} {
		f.op("MOVL", c, "AX")
		f.op("VPBROADCASTD", "AX", vec("Z", 16+i))
	}
}

// roundBF16 rounds register v to bfloat16, to the nearest and to even, in the low halves of register 2+v. A NaN stays one.
func (f *asmFile) roundBF16(v int) {
	x, r := vec("Z", v), vec("Z", 2+v)
	f.op("VPSRLD", "$16", x, r)
	f.op("VPORD", "Z18", r, vec("Z", 8+v))
	f.op("VPANDD", "Z17", r, r)
	f.op("VPADDD", "Z16", r, r)
	f.op("VPADDD", x, r, r)
	f.op("VPSRLD", "$16", r, r)
	f.op("VCMPPS", "$3", x, x, "K5")
	f.op("VMOVDQA32", vec("Z", 8+v), "K5", r)
}

// The order of the products of a block: each has one tile that the one before has loaded, and the first sums are finished first.
var panelOrder = []struct{ a, b, acc, loads int }{{4, 6, 0, 2}, {5, 6, 2, 1}, {4, 7, 1, 1}, {5, 7, 3, 0}}

// panels writes the kernel for one way to finish rows; the zero one leaves the sums in c.
func (f *asmFile) panels(name, dot string, row tileRow) {
	doc := "sets (more = 0) or raises tiles of 32×32 sums in c, one for each panel of b, by the product of n blocks of 16 pairs of a and b; rows of a are lda bytes apart, its blocks step, and skip bytes lie between panels."
	params := []param{{"n", "int", ""}, {"panels", "int", ""}, {"a", "*float32", ""}, {"b", "*float32", "DI"}, {"c", "*float32", "DX"}, {"more", "int", ""}, {"skip", "int", ""},
		{"config", "*[64]byte", "AX"}, {"lda", "int", "R11"}, {"step", "int", ""}}
	if dot == inParts {
		doc += partsDoc
		params = append(params, param{"partA", "int", ""}, param{"partB", "int", "R14"})
	} else {
		doc += " For each block, while there are any left, it packs 256 bytes of the rows at next, nextRow bytes apart: to packed, a multiple of 2048."
		params = append(params, param{"next", "*uint16", "R14"}, param{"nextRow", "int", ""}, param{"packed", "*float32", ""}, param{"left", "int", ""})
	}
	if row.finish != nil {
		doc += " The tiles lie down bytes apart, 4096 or 0, and go to result, rows ldr bytes apart, " + row.doc + ": quota bytes of a tile for each block of the next one."
		params = append(params, param{"result", "unsafe.Pointer", "R10"}, param{"ldr", "int", "R9"}, param{"quota", "int", "BX"}, param{"down", "int", ""})
		if row.add {
			doc += " The bias of the next panel is so many bytes further."
			params = append(params, param{"bias", "*float32", ""}, param{"further", "int", ""})
		}
	}
	f.fn("amx"+name+"Panels"+row.name, doc, params...)
	f.ldtilecfg(regAX)
	f.op("MOVQ", "$128", "R8")
	if row.finish != nil {
		if row.set != nil {
			row.set(f)
		}
		f.op("MOVQ", imm(32*row.bytes), "R13") // by which writing is behind
		f.op("SUBQ", "R13", "R10")
		f.op("XORQ", "R12", "R12") // only counts
		f.op("MOVQ", "$4096", f.arg("c"))
	}
	f.panelBegin(dot, "first", false)
	f.panelLoop(dot, "first", row, false)
	f.label("panels")
	f.op("DECQ", f.arg("panels"))
	f.op("JZ", "last")
	f.op("ADDQ", f.arg("skip"), "DI")
	f.op("MOVQ", "DX", "R12")
	if row.finish != nil {
		f.beginResult(row)
		f.op("LEAQ", "4096(DX)", "AX")
		f.op("MOVQ", "AX", f.arg("c")) // where the tile before ends
		f.op("ADDQ", f.arg("down"), "DX")
	} else {
		f.op("ADDQ", "$4096", "DX")
	}
	f.panelBegin(dot, "next", true)
	f.panelLoop(dot, "next", row, true)
	f.op("JMP", "panels")
	f.label("last")
	for t := range 4 {
		f.tileMove(tileStore, t, tilePlace(t), regDX, regR8)
	}
	f.tilerelease()
	if row.finish != nil {
		f.beginResult(row)
		f.op("MOVQ", "DX", "R12")
		f.op("ADDQ", "$4096", "DX")
		f.label("end")
		f.finishRow(row, false)
		f.op("CMPQ", "R12", "DX")
		f.op("JB", "end")
	}
	f.ret()
}

// beginResult goes from the end of a tile in the result to the next one.
func (f *asmFile) beginResult(row tileRow) {
	f.op("MOVQ", "R9", "AX")
	f.op("SHLQ", "$5", "AX")
	f.op("SUBQ", "AX", "R10")
	f.op("ADDQ", "R13", "R10")
	if row.add {
		f.op("MOVQ", f.arg("bias"), "AX")
		f.op("VMOVUPS", "(AX)", "Z30")
		f.op("VMOVUPS", "64(AX)", "Z31")
		f.op("ADDQ", f.arg("further"), "AX")
		f.op("MOVQ", "AX", f.arg("bias"))
	}
}

// tilePlace is where a tile of sums lies in c.
func tilePlace(t int) int { return 2048*(t/2) + 64*(t%2) }

// panelBegin is the first block of a panel; after says that the sums of the panel before are to be stored first, at R12.
func (f *asmFile) panelBegin(dot, name string, after bool) {
	f.op("MOVQ", f.arg("a"), "SI")
	f.op("MOVQ", f.arg("n"), "CX")
	f.block(dot, name+"begin", func(t int) {
		if after {
			f.tileMove(tileStore, t, tilePlace(t), regR12, regR8)
		}
		f.op("CMPQ", f.arg("more"), "$0")
		f.op("JEQ", fmt.Sprintf("%szero%d", name, t))
		f.tileMove(tileLoad, t, tilePlace(t), regDX, regR8)
		f.op("JMP", fmt.Sprintf("%sset%d", name, t))
		f.label(fmt.Sprintf("%szero%d", name, t))
		f.tilezero(t)
		f.label(fmt.Sprintf("%sset%d", name, t))
	})
}

// packNext packs a part of a row that is wanted next: 4 times 16 pairs, for as many blocks. After 32 rows it goes on along k.
func (f *asmFile) packNext(name string) {
	f.op("DECQ", f.arg("left"))
	f.op("JS", name+"none")
	f.op("MOVQ", f.arg("packed"), "AX")
	for i := range 4 {
		f.op("VMOVDQU64", at(64*i, "R14"), vec("Z", 20+i))
	}
	for i := range 4 {
		f.op("VMOVDQU64", vec("Z", 20+i), at(2048*i, "AX"))
	}
	f.op("ADDQ", f.arg("nextRow"), "R14")
	f.op("ADDQ", "$64", "AX")
	f.op("TESTQ", "$2047", "AX")
	f.op("JNZ", name+"same")
	f.op("ADDQ", "$6144", "AX")
	f.op("MOVQ", f.arg("nextRow"), "R15") // which is set again
	f.op("SHLQ", "$5", "R15")
	f.op("SUBQ", "R15", "R14")
	f.op("ADDQ", "$256", "R14")
	f.label(name + "same")
	f.op("MOVQ", "AX", f.arg("packed"))
	f.label(name + "none")
}

// block multiplies 16 pairs; before is called before the first product of each tile of sums.
func (f *asmFile) block(dot, name string, before func(t int)) {
	if dot != inParts {
		f.packNext(name)
	}
	f.op("MOVQ", "R11", "R15")
	f.op("SHLQ", "$4", "R15")
	f.op("ADDQ", "SI", "R15")
	if dot == inParts {
		f.partBlock(2, 2, before)
	} else {
		f.wholeBlock(dot, before)
	}
	f.op("ADDQ", f.arg("step"), "SI")
	f.op("ADDQ", "$2048", "DI")
}

// wholeBlock multiplies numbers as they are.
func (f *asmFile) wholeBlock(dot string, before func(t int)) {
	load := func(t int) {
		switch t {
		case 4:
			f.tileMove(tileLoad, 4, 0, regSI, regR11)
		case 5:
			f.tileMove(tileLoad, 5, 0, regR15, regR11)
		case 6:
			f.tileMove(tileStream, 6, 0, regDI, regR8)
		case 7:
			f.tileMove(tileStream, 7, 64, regDI, regR8)
		}
	}
	loaded := map[int]bool{}
	for _, p := range panelOrder {
		for _, t := range []int{p.a, p.b} {
			if !loaded[t] {
				load(t)
				loaded[t] = true
			}
		}
		if before != nil {
			before(p.acc)
		}
		f.tdp(dot, p.a, p.b, p.acc)
	}
}

// panelLoop is the rest of a panel.
func (f *asmFile) panelLoop(dot, name string, row tileRow, after bool) {
	f.op("DECQ", "CX")
	f.op("JZ", name+"done")
	f.op("PCALIGN", "$32")
	f.label(name)
	f.block(dot, name, nil)
	if row.finish != nil {
		f.op("LEAQ", "(R12)(BX*1)", "AX")
		f.op("CMPQ", "AX", f.arg("c"))
		f.op("CMOVQHI", f.arg("c"), "AX")
		f.op("CMPQ", "R12", "AX")
		f.op("JAE", name+"rest")
		f.label(name + "row")
		if after {
			f.finishRow(row, true)
		} else {
			f.fetchRow(row)
		}
		f.op("CMPQ", "R12", "AX")
		f.op("JB", name+"row")
		f.label(name + "rest")
	}
	f.op("DECQ", "CX")
	f.op("JNZ", name)
	f.label(name + "done")
	if row.finish != nil {
		f.op("CMPQ", "R12", f.arg("c"))
		f.op("JAE", name+"ready")
		f.label(name + "left")
		if after {
			f.finishRow(row, true)
		} else {
			f.fetchRow(row)
		}
		f.op("CMPQ", "R12", f.arg("c"))
		f.op("JB", name+"left")
		f.label(name + "ready")
	}
}

// fetchRow fetches, to be written, the place of a row of the next tile.
func (f *asmFile) fetchRow(row tileRow) {
	f.fetchPlace(row)
	f.op("ADDQ", "$128", "R12")
	f.op("ADDQ", "R9", "R10")
}

func (f *asmFile) fetchPlace(row tileRow) {
	for off := 0; off < 32*row.bytes; off += 64 {
		f.prefetchW(regR10, regR13, off)
	}
	f.prefetchW(regR10, regR13, 32*row.bytes-1)
}

// finishRow finishes a row of the tile before.
func (f *asmFile) finishRow(row tileRow, fetch bool) {
	if fetch {
		f.fetchPlace(row)
	}
	f.op("VMOVUPS", "(R12)", "Z0")
	f.op("VMOVUPS", "64(R12)", "Z1")
	if row.add {
		f.op("VADDPS", "Z30", "Z0", "Z0")
		f.op("VADDPS", "Z31", "Z1", "Z1")
	}
	row.finish(f)
	f.op("ADDQ", "$128", "R12")
	f.op("ADDQ", "R9", "R10")
}
