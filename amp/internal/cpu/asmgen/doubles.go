package main

// doubles are conversions to and from float64: of results to float32, and of 64 random bits to numbers in a range.
func doubles(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		size, half, convert := 4, "X", "VCVTPD2PSY"
		if width == "Z" {
			size, half, convert = 8, "Y", "VCVTPD2PS"
		}
		f.fn("narrow64"+width, "rounds n blocks of two registers.", param{"n", "int", "CX"}, param{"src", "*float64", "SI"}, param{"dst", "*float32", "DI"})
		f.op("PCALIGN", "$32")
		f.label("loop")
		for i := range 2 {
			f.op("VMOVUPD", at(8*size*i, "SI"), vec(width, i))
			f.op(convert, vec(width, i), vec(half, i))
			f.op("VMOVUPS", vec(half, i), at(4*size*i, "DI"))
		}
		f.op("ADDQ", imm(16*size), "SI")
		f.op("ADDQ", imm(8*size), "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
	}
	f.fn("uniformsZ", "sets n registers to shift + scale·u, u the numbers over 2^64; the earlier of two is the upper half of one.", param{"n", "int", "CX"}, param{"numbers", "*uint32", "SI"},
		param{"dst", "*float64", "DI"}, param{"t", "*[3]float64", "AX"})
	for i := range 3 {
		f.op("VBROADCASTSD", at(8*i, "AX"), vec("Z", 8+i))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VPRORQ", "$32", "(SI)", "Z0")
	f.op("VCVTUQQ2PD", "Z0", "Z0")
	f.op("VMULPD", "Z8", "Z0", "Z0")
	f.op("VMULPD", "Z9", "Z0", "Z0")
	f.op("VADDPD", "Z0", "Z10", "Z0")
	f.op("VMOVUPD", "Z0", "(DI)")
	f.op("ADDQ", "$64", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
	f.fn("wholeZ", "sets n registers to shift + u·scale without its fraction, held to a largest number before the sum.", param{"n", "int", "CX"}, param{"u", "*float64", "SI"},
		param{"dst", "*int64", "DI"}, param{"t", "*[3]uint64", "AX"})
	for i := range 3 {
		f.op("VPBROADCASTQ", at(8*i, "AX"), vec("Z", 8+i))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VMULPD", "(SI)", "Z8", "Z0")
	f.op("VCVTTPD2QQ", "Z0", "Z0")
	f.op("VPMINSQ", "Z9", "Z0", "Z0")
	f.op("VPADDQ", "Z10", "Z0", "Z0")
	f.op("VMOVDQU64", "Z0", "(DI)")
	f.op("ADDQ", "$64", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
