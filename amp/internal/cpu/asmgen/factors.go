package main

import "fmt"

// factors are the tiles that factorizations subtract products in: four rows and two registers of columns. Products and differences are
// rounded apart, in the order of k, as Go's are.
func factors(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		bytes := 32
		if width == "Z" {
			bytes = 64
		}
		f.fn("subtract"+width, "takes k steps of a·b from a tile of c; the distances of rows are in bytes.", param{"k", "int", "CX"}, param{"a", "*float64", "SI"}, param{"lda", "int", "AX"},
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
			x, y, z := vec(width, 10+3*(r%2)), vec(width, 11+3*(r%2)), vec(width, 12+3*(r%2))
			f.op("VBROADCASTSD", from, x)
			f.op("VMULPD", x, vec(width, 8), y)
			f.op("VMULPD", x, vec(width, 9), z)
			f.op("VSUBPD", y, vec(width, 2*r), vec(width, 2*r))
			f.op("VSUBPD", z, vec(width, 2*r+1), vec(width, 2*r+1))
		}
		f.op("ADDQ", "$8", "SI")
		f.op("ADDQ", "$8", "R10")
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
