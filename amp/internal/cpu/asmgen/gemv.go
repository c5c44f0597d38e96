package main

import "fmt"

// Products of a matrix and one row or column. Each element of the matrix is used once, so they are as fast as it can be read, if it is
// read in long runs; nothing is packed.

func gemvs(f *asmFile) {
	f.dotRows()
	f.rowTimes()
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

// rowTimes multiplies a row and a wide part of a matrix.
func (f *asmFile) rowTimes() {
	const vectors = 16
	f.fn("rowTimes16", "sets (more = 0) or raises 256 sums in c by the product of a and k rows of b; stride in bytes.",
		param{"k", "int", "CX"}, param{"a", "*float32", "SI"}, param{"b", "*float32", "DI"}, param{"ldb", "int", "R8"}, param{"c", "*float32", "DX"}, param{"more", "int", "R10"})
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "zero")
	for v := range vectors {
		f.op("VMOVUPS", at(64*v, "DX"), vec("Z", v))
	}
	f.op("JMP", "loop")
	f.label("zero")
	for v := range vectors {
		f.op("VXORPS", vec("X", v), vec("X", v), vec("X", v))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VBROADCASTSS", "(SI)", "Z16")
	for v := range vectors {
		f.op("VFMADD231PS", at(64*v, "DI"), "Z16", vec("Z", v))
		f.op("PREFETCHT0", fmt.Sprintf("%d(DI)(R8*4)", 64*v))
	}
	f.op("ADDQ", "$4", "SI")
	f.op("ADDQ", "R8", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for v := range vectors {
		f.op("VMOVUPS", vec("Z", v), at(64*v, "DX"))
	}
	f.ret()
}
