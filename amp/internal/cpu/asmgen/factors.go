package main

import "fmt"

// factors are the kernels of factorizations: factorTiles, and rows for what lies between tiles.
func factors(f *asmFile) {
	factorTiles(f)
	for _, width := range []string{"Y", "Z"} {
		bytes := "$32"
		if width == "Z" {
			bytes = "$64"
		}
		f.fn("minus"+width, "takes *f times x from row, n registers of numbers.", param{"n", "int", "CX"}, param{"f", "*float64", "SI"}, param{"x", "*float64", "BX"}, param{"row", "*float64", "DI"})
		f.op("VBROADCASTSD", "(SI)", vec(width, 0))
		f.label("loop")
		f.op("VMOVUPD", "(DI)", vec(width, 1))
		f.op("VFNMADD231PD", "(BX)", vec(width, 0), vec(width, 1))
		f.op("VMOVUPD", vec(width, 1), "(DI)")
		f.op("ADDQ", bytes, "BX")
		f.op("ADDQ", bytes, "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
		f.fn("over"+width, "divides row by *f, n registers of numbers.", param{"n", "int", "CX"}, param{"f", "*float64", "SI"}, param{"row", "*float64", "DI"})
		f.op("VBROADCASTSD", "(SI)", vec(width, 0))
		f.label("loop")
		f.op("VMOVUPD", "(DI)", vec(width, 1))
		f.op("VDIVPD", vec(width, 0), vec(width, 1), vec(width, 1))
		f.op("VMOVUPD", vec(width, 1), "(DI)")
		f.op("ADDQ", bytes, "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
	}
}

// factorTiles are the tiles that factorizations subtract products in: four rows and two registers of columns. Products and differences are
// rounded once together, in the order of k.
func factorTiles(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		bytes := 32
		if width == "Z" {
			bytes = 64
		}
		f.fn("subtract"+width, "takes k steps of a·b from a tile of c; the distances of rows, and of the steps of a, are in bytes.", param{"k", "int", "CX"}, param{"a", "*float64", "SI"}, param{"lda", "int", "AX"}, param{"step", "int", "R11"},
			param{"b", "*float64", "BX"}, param{"ldb", "int", "DX"}, param{"c", "*float64", "DI"}, param{"ldc", "int", "R8"})
		f.op("LEAQ", "(DI)(R8*2)", "R9")
		f.op("LEAQ", "(SI)(AX*2)", "R10")
		rows := []string{"(DI)", "(DI)(R8*1)", "(R9)", "(R9)(R8*1)"}
		next := []string{"%d(DI)", "%d(DI)(R8*1)", "%d(R9)", "%d(R9)(R8*1)"}
		second := func(r int) string { return fmt.Sprintf(next[r], bytes) }
		for r := range rows {
			f.op("VMOVUPD", rows[r], vec(width, 2*r))
			f.op("VMOVUPD", second(r), vec(width, 2*r+1))
		}
		f.op("PCALIGN", "$32")
		f.label("loop")
		f.op("VMOVUPD", "(BX)", vec(width, 8))
		f.op("VMOVUPD", fmt.Sprintf("%d(BX)", bytes), vec(width, 9))
		for r, from := range []string{"(SI)", "(SI)(AX*1)", "(R10)", "(R10)(AX*1)"} {
			x := vec(width, 10+r)
			f.op("VBROADCASTSD", from, x)
			f.op("VFNMADD231PD", vec(width, 8), x, vec(width, 2*r))
			f.op("VFNMADD231PD", vec(width, 9), x, vec(width, 2*r+1))
		}
		f.op("ADDQ", "R11", "SI")
		f.op("ADDQ", "R11", "R10")
		f.op("ADDQ", "DX", "BX")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		for r := range rows {
			f.op("VMOVUPD", vec(width, 2*r), rows[r])
			f.op("VMOVUPD", vec(width, 2*r+1), second(r))
		}
		f.ret()
	}
}
