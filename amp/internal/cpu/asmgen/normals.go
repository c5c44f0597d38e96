package main

// normals are the two ends of the method of Box and Muller: from blocks of Philox to minus a uniform number and an angle, and from the
// logarithm, sine and cosine to pairs of numbers.
func normals(f *asmFile) {
	f.fn("polarZ", "does n registers of blocks.", param{"n", "int", "CX"}, param{"numbers", "*uint32", "SI"}, param{"radius", "*float64", "DI"},
		param{"angle", "*float64", "DX"}, param{"t", "*[18]uint64", "AX"})
	f.op("VBROADCASTSD", at(0, "AX"), "Z8")
	f.op("VBROADCASTSD", at(8, "AX"), "Z9")
	f.op("MOVQ", "$0x401921fb54442d18", "BX") // 2π
	f.op("VPBROADCASTQ", "BX", "Z12")
	f.op("VMOVUPS", at(16, "AX"), "Z10")
	f.op("VMOVUPS", at(80, "AX"), "Z11")
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i := range 2 { // the earlier of two numbers is the upper half
		f.op("VPRORQ", "$32", at(64*i, "SI"), vec("Z", i))
		f.op("VCVTUQQ2PD", vec("Z", i), vec("Z", i))
	}
	f.op("VMOVAPS", "Z0", "Z2")
	f.op("VPERMT2PD", "Z1", "Z10", "Z0")
	f.op("VPERMT2PD", "Z1", "Z11", "Z2")
	f.op("VMULPD", "Z8", "Z0", "Z0")
	f.op("VMULPD", "Z9", "Z2", "Z2")
	f.op("VMULPD", "Z12", "Z2", "Z2")
	f.op("VMOVUPS", "Z0", "(DI)")
	f.op("VMOVUPS", "Z2", "(DX)")
	f.op("ADDQ", "$128", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("ADDQ", "$64", "DX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()

	f.fn("planeZ", "does n registers of pairs.", param{"n", "int", "CX"}, param{"radius", "*float64", "SI"}, param{"sin", "*float64", "R8"},
		param{"cos", "*float64", "R9"}, param{"dst", "*float64", "DI"}, param{"t", "*[19]uint64", "AX"})
	f.op("VBROADCASTSD", at(0, "AX"), "Z8")
	f.op("VBROADCASTSD", at(8, "AX"), "Z9")
	f.op("VBROADCASTSD", at(16, "AX"), "Z10")
	f.op("VMOVUPS", at(24, "AX"), "Z11")
	f.op("VMOVUPS", at(88, "AX"), "Z12")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VMULPD", "(SI)", "Z8", "Z0")
	f.op("VSQRTPD", "Z0", "Z0")
	for i, r := range []string{"R9", "R8"} {
		to := vec("Z", 1+i)
		f.op("VMULPD", "("+r+")", "Z0", to)
		f.op("VMULPD", to, "Z10", to)
		f.op("VADDPD", to, "Z9", to)
	}
	f.op("VMOVAPS", "Z1", "Z3")
	f.op("VPERMT2PD", "Z2", "Z11", "Z1")
	f.op("VPERMT2PD", "Z2", "Z12", "Z3")
	f.op("VMOVUPS", "Z1", "(DI)")
	f.op("VMOVUPS", "Z3", "64(DI)")
	for _, r := range []string{"SI", "R8", "R9"} {
		f.op("ADDQ", "$64", r)
	}
	f.op("ADDQ", "$128", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
	f.normalsY()
}

// normalsY are the same for AVX2, two registers at a time.
func (f *asmFile) normalsY() {
	f.fn("polarY", "does n pairs of registers of blocks.", param{"n", "int", "CX"}, param{"numbers", "*uint32", "SI"}, param{"radius", "*float64", "DI"},
		param{"angle", "*float64", "DX"}, param{"t", "*[18]uint64", "AX"})
	f.op("VBROADCASTSD", at(0, "AX"), "Y8")
	f.op("VBROADCASTSD", at(8, "AX"), "Y9")
	f.op("MOVQ", "$0x401921fb54442d18", "BX") // 2π
	f.op("VMOVQ", "BX", "X12")
	f.op("VPBROADCASTQ", "X12", "Y12")
	f.joinConstants()
	f.op("ADDQ", "CX", "CX")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.twice(func(i int, x, y string) { f.op("VMOVDQU", at(32*i, "SI"), x) })
	f.joinWords()
	f.op("VUNPCKLPD", "Y1", "Y0", "Y2") // within parts of 128 bits, which then change places
	f.op("VUNPCKHPD", "Y1", "Y0", "Y3")
	f.op("VPERMPD", "$0xd8", "Y2", "Y2")
	f.op("VPERMPD", "$0xd8", "Y3", "Y3")
	f.op("VMULPD", "Y8", "Y2", "Y2")
	f.op("VMULPD", "Y9", "Y3", "Y3")
	f.op("VMULPD", "Y12", "Y3", "Y3")
	f.op("VMOVUPD", "Y2", "(DI)")
	f.op("VMOVUPD", "Y3", "(DX)")
	f.op("ADDQ", "$64", "SI")
	f.op("ADDQ", "$32", "DI")
	f.op("ADDQ", "$32", "DX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()

	f.fn("planeY", "does n pairs of registers of pairs.", param{"n", "int", "CX"}, param{"radius", "*float64", "SI"}, param{"sin", "*float64", "R8"},
		param{"cos", "*float64", "R9"}, param{"dst", "*float64", "DI"}, param{"t", "*[19]uint64", "AX"})
	for i := range 3 {
		f.op("VBROADCASTSD", at(8*i, "AX"), vec("Y", 8+i))
	}
	f.op("ADDQ", "CX", "CX")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VMULPD", "(SI)", "Y8", "Y0")
	f.op("VSQRTPD", "Y0", "Y0")
	for i, r := range []string{"R9", "R8"} {
		to := vec("Y", 1+i)
		f.op("VMULPD", "("+r+")", "Y0", to)
		f.op("VMULPD", to, "Y10", to)
		f.op("VADDPD", to, "Y9", to)
	}
	f.op("VUNPCKLPD", "Y2", "Y1", "Y3")
	f.op("VUNPCKHPD", "Y2", "Y1", "Y4")
	f.op("VPERM2F128", "$0x20", "Y4", "Y3", "Y1")
	f.op("VPERM2F128", "$0x31", "Y4", "Y3", "Y2")
	f.op("VMOVUPD", "Y1", "(DI)")
	f.op("VMOVUPD", "Y2", "32(DI)")
	for _, r := range []string{"SI", "R8", "R9"} {
		f.op("ADDQ", "$32", r)
	}
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
