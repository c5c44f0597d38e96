package main

import "fmt"

// Products of a matrix and one row or column. Each element of the matrix is used once, so they are as fast as it can be read, if it is
// read in long runs; nothing is packed.

func gemvs(f *asmFile) {
	f.dotRows()
	f.rowTimes(8)
	f.rowTimes(1)
}

// dotRows keeps the order of k for every row: blocks of 16 rows × 4 columns are transposed in registers.
func (f *asmFile) dotRows() {
	f.fn("dotRows16", "raises 16 sums in c by the products of 16 rows of a with b, 4·n + rest elements each (rest below 4); strides in bytes.",
		param{"n", "int", "CX"}, param{"rest", "int", "BX"}, param{"a", "*float32", "SI"}, param{"lda", "int", "R8"}, param{"b", "*float32", "DX"}, param{"c", "*float32", "DI"})
	bases, indexes := []string{"SI", "R10", "R11", "R12"}, []string{"", "(R8*1)", "(R8*2)", "(R13*1)"}
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*4)", bases[i-1]), bases[i])
	}
	f.op("LEAQ", "(R8)(R8*2)", "R13")
	f.op("VMOVUPS", "(DI)", "Z8")
	transpose := func() {
		f.op("VUNPCKLPS", "Z1", "Z0", "Z4")
		f.op("VUNPCKHPS", "Z1", "Z0", "Z5")
		f.op("VUNPCKLPS", "Z3", "Z2", "Z6")
		f.op("VUNPCKHPS", "Z3", "Z2", "Z7")
		f.op("VUNPCKLPD", "Z6", "Z4", "Z0")
		f.op("VUNPCKHPD", "Z6", "Z4", "Z1")
		f.op("VUNPCKLPD", "Z7", "Z5", "Z2")
		f.op("VUNPCKHPD", "Z7", "Z5", "Z3")
	}
	add := func(p int) { f.op("VFMADD231PS.BCST", at(4*p, "DX"), vec("Z", p), "Z8") }
	f.op("TESTQ", "CX", "CX")
	f.op("JZ", "last")
	f.op("PCALIGN", "$32")
	f.label("loop")
	for j, index := range indexes {
		for i, b := range bases {
			if i == 0 {
				f.op("VMOVUPS", "("+b+")"+index, vec("X", j))
			} else {
				f.op("VINSERTF32X4", imm(i), "("+b+")"+index, vec("Z", j), vec("Z", j))
			}
		}
	}
	f.op("TESTQ", "$3", "CX") // a cache line holds four blocks
	f.op("JNZ", "fetched")
	for _, b := range bases {
		for _, index := range indexes {
			f.op("PREFETCHT0", "512("+b+")"+index)
		}
	}
	f.label("fetched")
	transpose()
	for p := range 4 {
		add(p)
	}
	for _, b := range bases {
		f.op("ADDQ", "$16", b)
	}
	f.op("ADDQ", "$16", "DX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.label("last")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "done")
	f.op("MOVQ", "$1", "AX")
	f.op("MOVQ", "BX", "CX")
	f.op("SHLQ", "CX", "AX")
	f.op("DECQ", "AX")
	f.op("KMOVW", "AX", "K1")
	for j, index := range indexes {
		for i, b := range bases {
			if i == 0 {
				f.op("VMOVUPS.Z", "("+b+")"+index, "K1", vec("X", j))
				continue
			}
			f.op("VMOVUPS.Z", "("+b+")"+index, "K1", "X9")
			f.op("VINSERTF32X4", imm(i), "X9", vec("Z", j), vec("Z", j))
		}
	}
	transpose()
	for p := range 3 {
		add(p)
		f.op("DECQ", "BX")
		f.op("JZ", "done")
	}
	f.label("done")
	f.op("VMOVUPS", "Z8", "(DI)")
	f.ret()
}

// rowTimes multiplies a row and a matrix: rows of the matrix are read side by side, each in one run, while as many rows below are fetched.
func (f *asmFile) rowTimes(rows int) {
	f.fn(fmt.Sprintf("rowTimes%d", rows), fmt.Sprintf("raises 32·n sums in c by the product of %d elements of a and as many rows of b; stride in bytes.", rows),
		param{"n", "int", "CX"}, param{"a", "*float32", "SI"}, param{"b", "*float32", "DI"}, param{"ldb", "int", "R8"}, param{"c", "*float32", "DX"})
	bases := []string{"DI", "R10", "R11", "R12"}[:(rows+3)/4*2]
	f.op("LEAQ", "(R8)(R8*2)", "R9")
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*%d)", bases[i-1], min(rows, 4)), bases[i])
	}
	for p := range rows {
		f.op("VBROADCASTSS", at(4*p, "SI"), vec("Z", 16+p))
	}
	row := func(p, off int) string {
		return fmt.Sprintf("%d(%s)%s", off, bases[p/min(rows, 4)], []string{"", "(R8*1)", "(R8*2)", "(R9*1)"}[p%min(rows, 4)])
	}
	f.op("PCALIGN", "$64")
	f.label("loop")
	for v := range 2 {
		f.op("VMOVUPS", at(64*v, "DX"), vec("Z", v))
	}
	for p := range rows {
		for v := range 2 {
			f.op("VFMADD231PS", row(p, 64*v), vec("Z", 16+p), vec("Z", v))
		}
		for v := range 2 {
			f.op("PREFETCHT0", row(p+rows, 64*v))
		}
	}
	for v := range 2 {
		f.op("VMOVUPS", vec("Z", v), at(64*v, "DX"))
	}
	for _, r := range append(bases, "DX") {
		f.op("ADDQ", "$128", r)
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
