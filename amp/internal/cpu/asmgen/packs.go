package main

// Packing of rows that lie along k: blocks of 4×4 are transposed in registers. AVX is enough, so both variants use it.

func packs(f *asmFile) {
	f.fn("transpose4f32", "sets dst[p][0…3] to element p of four rows of src, for 4·n values of p; strides in bytes.",
		param{"n", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"})
	f.op("LEAQ", "(R8)(R8*2)", "R10")
	f.op("LEAQ", "(R9)(R9*2)", "R11")
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i, src := range []string{"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R10*1)"} {
		f.op("VMOVUPS", src, vec("X", i))
	}
	f.op("VUNPCKLPS", "X1", "X0", "X4") // a0 b0 a1 b1
	f.op("VUNPCKHPS", "X1", "X0", "X5") // a2 b2 a3 b3
	f.op("VUNPCKLPS", "X3", "X2", "X6")
	f.op("VUNPCKHPS", "X3", "X2", "X7")
	f.op("VUNPCKLPD", "X6", "X4", "X0")
	f.op("VUNPCKHPD", "X6", "X4", "X1")
	f.op("VUNPCKLPD", "X7", "X5", "X2")
	f.op("VUNPCKHPD", "X7", "X5", "X3")
	for i, dst := range []string{"(DI)", "(DI)(R9*1)", "(DI)(R9*2)", "(DI)(R11*1)"} {
		f.op("VMOVUPS", vec("X", i), dst)
	}
	f.op("ADDQ", "$16", "SI")
	f.op("LEAQ", "(DI)(R9*4)", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()

	f.fn("transpose4f64", "is transpose4f32 for float64.",
		param{"n", "int", "CX"}, param{"src", "*float64", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float64", "DI"}, param{"ldd", "int", "R9"})
	f.op("LEAQ", "(R8)(R8*2)", "R10")
	f.op("LEAQ", "(R9)(R9*2)", "R11")
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i, src := range []string{"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R10*1)"} {
		f.op("VMOVUPD", src, vec("Y", i))
	}
	f.op("VUNPCKLPD", "Y1", "Y0", "Y4") // a0 b0 a2 b2
	f.op("VUNPCKHPD", "Y1", "Y0", "Y5") // a1 b1 a3 b3
	f.op("VUNPCKLPD", "Y3", "Y2", "Y6")
	f.op("VUNPCKHPD", "Y3", "Y2", "Y7")
	f.op("VPERM2F128", "$0x20", "Y6", "Y4", "Y0")
	f.op("VPERM2F128", "$0x20", "Y7", "Y5", "Y1")
	f.op("VPERM2F128", "$0x31", "Y6", "Y4", "Y2")
	f.op("VPERM2F128", "$0x31", "Y7", "Y5", "Y3")
	for i, dst := range []string{"(DI)", "(DI)(R9*1)", "(DI)(R9*2)", "(DI)(R11*1)"} {
		f.op("VMOVUPD", vec("Y", i), dst)
	}
	f.op("ADDQ", "$32", "SI")
	f.op("LEAQ", "(DI)(R9*4)", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()

	f.transposeTwo()

	f.fn("copyRowsAVX", "copies k rows of so many bytes, a multiple of 4; distances of rows in bytes.",
		param{"k", "int", "CX"}, param{"src", "unsafe.Pointer", "SI"}, param{"lds", "int", "R8"}, param{"dst", "unsafe.Pointer", "DI"}, param{"ldd", "int", "R9"}, param{"bytes", "int", "R10"})
	f.op("MOVQ", "R10", "R11")
	f.op("ANDQ", "$-16", "R11") // end of the whole vectors
	f.label("row")
	f.op("XORQ", "AX", "AX")
	f.op("JMP", "test")
	f.label("vector")
	f.op("VMOVUPS", "(SI)(AX*1)", "X0")
	f.op("VMOVUPS", "X0", "(DI)(AX*1)")
	f.op("ADDQ", "$16", "AX")
	f.label("test")
	f.op("CMPQ", "AX", "R11")
	f.op("JLT", "vector")
	f.op("TESTQ", "$8", "R10")
	f.op("JZ", "four")
	f.op("MOVQ", "(SI)(AX*1)", "DX")
	f.op("MOVQ", "DX", "(DI)(AX*1)")
	f.op("ADDQ", "$8", "AX")
	f.label("four")
	f.op("TESTQ", "$4", "R10")
	f.op("JZ", "next")
	f.op("MOVL", "(SI)(AX*1)", "DX")
	f.op("MOVL", "DX", "(DI)(AX*1)")
	f.label("next")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// transposeTwo is for the last rows of a panel of six.
func (f *asmFile) transposeTwo() {
	begin := func(name, doc, typ string) {
		f.fn(name, doc, param{"n", "int", "CX"}, param{"src", typ, "SI"}, param{"lds", "int", "R8"}, param{"dst", typ, "DI"}, param{"ldd", "int", "R9"})
		f.op("LEAQ", "(R9)(R9*2)", "R11")
		f.op("PCALIGN", "$32")
		f.label("loop")
	}
	end := func(step int) {
		f.op("ADDQ", imm(step), "SI")
		f.op("LEAQ", "(DI)(R9*4)", "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
	}
	begin("transpose2f32", "sets dst[p][0…1] to element p of two rows of src, for 4·n values of p; strides in bytes.", "*float32")
	f.op("VMOVUPS", "(SI)", "X0")
	f.op("VMOVUPS", "(SI)(R8*1)", "X1")
	f.op("VUNPCKLPS", "X1", "X0", "X2") // a0 b0 a1 b1
	f.op("VUNPCKHPS", "X1", "X0", "X3")
	f.op("VMOVLPS", "X2", "(DI)")
	f.op("VMOVHPS", "X2", "(DI)(R9*1)")
	f.op("VMOVLPS", "X3", "(DI)(R9*2)")
	f.op("VMOVHPS", "X3", "(DI)(R11*1)")
	end(16)
	begin("transpose2f64", "is transpose2f32 for float64.", "*float64")
	f.op("VMOVUPD", "(SI)", "Y0")
	f.op("VMOVUPD", "(SI)(R8*1)", "Y1")
	f.op("VUNPCKLPD", "Y1", "Y0", "Y2") // a0 b0 a2 b2
	f.op("VUNPCKHPD", "Y1", "Y0", "Y3") // a1 b1 a3 b3
	f.op("VMOVUPD", "X2", "(DI)")
	f.op("VMOVUPD", "X3", "(DI)(R9*1)")
	f.op("VEXTRACTF128", "$1", "Y2", "(DI)(R9*2)")
	f.op("VEXTRACTF128", "$1", "Y3", "(DI)(R11*1)")
	end(32)
}
