package main

// Maxima and their places, for the gradient of a max pool.

// placedMaxima goes down columns of 8 elements, which keep the largest one and its place in registers of their own; only then do they become one number.
func placedMaxima(f *asmFile) {
	f.fn("placedMaximaY", "writes the keys of the largest of rows at each of 8·n places, the first of which has the number first; distances of rows in bytes, and in places.",
		param{"rows", "int", "R9"}, param{"n", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"keys", "*int64", "DI"}, param{"first", "int", "AX"}, param{"next", "int", "DX"})
	f.op("VMOVQ", "AX", "X15")
	f.op("VPBROADCASTD", "X15", "Y15")
	f.op("MOVQ", "$0x0706050403020100", "BX")
	f.op("VMOVQ", "BX", "X0")
	f.op("VPMOVZXBD", "X0", "Y0")
	f.op("VPADDD", "Y0", "Y15", "Y15") // places
	f.op("VMOVQ", "DX", "X14")
	f.op("VPBROADCASTD", "X14", "Y14")
	f.op("VPXOR", "Y12", "Y12", "Y12")
	f.op("VPCMPEQD", "Y10", "Y10", "Y10")
	f.op("VPSRLD", "$1", "Y10", "Y11") // the upper half of a NaN's key
	f.op("VPSRLD", "$31", "Y10", "Y13")
	f.op("VPSLLD", "$3", "Y13", "Y13")
	f.op("DECQ", "R9")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VMOVUPS", "(SI)", "Y0") // the largest
	f.op("VMOVDQA", "Y15", "Y1")  // its place
	f.op("VMOVDQA", "Y15", "Y2")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "R9", "BX")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "keys")
	f.label("row")
	f.op("ADDQ", "R8", "R12")
	f.op("VMOVUPS", "(R12)", "Y3")
	f.op("VPADDD", "Y14", "Y2", "Y2")
	f.op("VCMPPS", "$0x1e", "Y0", "Y3", "Y4") // larger
	f.op("VCMPPS", "$3", "Y3", "Y3", "Y5")    // or NaN, of which the last counts
	f.op("VORPS", "Y5", "Y4", "Y4")
	f.op("VBLENDVPS", "Y4", "Y3", "Y0", "Y0")
	f.op("VBLENDVPS", "Y4", "Y2", "Y1", "Y1")
	f.op("DECQ", "BX")
	f.op("JNZ", "row")
	f.label("keys")
	f.op("VADDPS", "Y12", "Y0", "Y3") // 0 for -0
	f.op("VPSRAD", "$31", "Y3", "Y4")
	f.op("VPSRLD", "$1", "Y4", "Y4")
	f.op("VPXOR", "Y4", "Y3", "Y3")
	f.op("VCMPPS", "$3", "Y0", "Y0", "Y5")
	f.op("VBLENDVPS", "Y5", "Y11", "Y3", "Y3")
	f.op("VPXOR", "Y10", "Y5", "Y5")
	f.op("VPXOR", "Y5", "Y1", "Y1")
	f.op("VPUNPCKLDQ", "Y3", "Y1", "Y4")
	f.op("VPUNPCKHDQ", "Y3", "Y1", "Y5")
	f.op("VPERM2I128", "$0x20", "Y5", "Y4", "Y6")
	f.op("VPERM2I128", "$0x31", "Y5", "Y4", "Y7")
	f.op("VMOVDQU", "Y6", "(DI)")
	f.op("VMOVDQU", "Y7", "32(DI)")
	f.op("VPADDD", "Y13", "Y15", "Y15")
	f.op("ADDQ", "$32", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
