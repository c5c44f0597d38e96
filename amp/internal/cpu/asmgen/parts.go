package main

// Products of float16 in tile registers that know bfloat16 alone: each operand comes in two parts, whose four products go to the same sums.

// inParts is such a product in place of an instruction.
const inParts = "TDPBF16PS in parts"

// partOrder says which low parts are multiplied in turn: each time the tiles of only one operand are loaded.
var partOrder = []struct{ lowA, lowB bool }{{false, false}, {true, false}, {true, true}, {false, true}}

// partTiles multiplies tiles 4 and 5 by tiles 6 and 7, as many of either as there are, each in two parts, onto tiles 0 to 3; before is called before
// the first product of each tile of sums.
func (f *asmFile) partTiles(rows, cols int, loadA, loadB func(i int, low bool), before func(t int)) {
	for q, part := range partOrder {
		newA, newB := q == 0 || part.lowA != partOrder[q-1].lowA, q == 0 || part.lowB != partOrder[q-1].lowB
		for j := range cols {
			for i := range rows {
				if newA && j == 0 {
					loadA(i, part.lowA)
				}
				if newB && i == 0 {
					loadB(j, part.lowB)
				}
				if q == 0 && before != nil {
					before(2*i + j)
				}
				f.tdp("TDPBF16PS", 4+i, 6+j, 2*i+j)
			}
		}
	}
}

const partsDoc = " There are two parts of a, partA bytes apart, and of b, partB bytes."

// partBlock is a block of a product of matrices: rows of a at SI and R15, R11 bytes apart, b at DI, of which the second part is R14 bytes further.
func (f *asmFile) partBlock(rows, cols int, before func(t int)) {
	f.partTiles(rows, cols, func(i int, low bool) {
		base, reg := []string{"SI", "R15"}[i], []int{regSI, regR15}[i]
		if low {
			f.op("MOVQ", f.arg("partA"), "AX")
			f.op("ADDQ", base, "AX")
			reg = regAX
		}
		f.tileMove(tileLoad, 4+i, 0, reg, regR11)
	}, func(j int, low bool) {
		reg := regDI
		if low {
			f.op("LEAQ", "(DI)(R14*1)", "AX")
			reg = regAX
		}
		f.tileMove(tileStream, 6+j, 64*j, reg, regR8)
	}, before)
}

// partSteps is a step of a convolution: see amxSteps.
func (f *asmFile) partSteps(rows, cols int) {
	f.partTiles(rows, cols, func(i int, low bool) {
		f.op("MOVQ", "(R8)", "DI")
		f.op("ADDQ", "SI", "DI")
		if i == 1 {
			f.op("ADDQ", "R10", "DI")
		}
		if low {
			f.op("ADDQ", at(amxPartA, "CX"), "DI")
		}
		f.tileMove(tileLoad, 4+i, 0, regDI, regR9)
	}, func(j int, low bool) {
		f.op("MOVQ", "8(R8)", "AX")
		f.op("ADDQ", []string{"R11", "R12"}[j], "AX")
		if low {
			f.op("ADDQ", at(amxPartB, "CX"), "AX")
		}
		f.tileMove(tileLoad, 6+j, 0, regAX, regR13)
	}, nil)
}
