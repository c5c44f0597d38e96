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
	f.doublesY()
}

// doublesY are uniforms and whole numbers for AVX2, which knows no conversion between float64 and integers of 64 bits; two registers are a block,
// so that the callers count alike.
func (f *asmFile) doublesY() {
	f.fn("uniformsY", "sets n pairs of registers to shift + scale·u, u the numbers over 2^64; the earlier of two is the upper half of one.", param{"n", "int", "CX"}, param{"numbers", "*uint32", "SI"},
		param{"dst", "*float64", "DI"}, param{"t", "*[3]float64", "AX"})
	for i := range 3 {
		f.op("VBROADCASTSD", at(8*i, "AX"), vec("Y", 8+i))
	}
	f.joinConstants()
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.twice(func(i int, x, y string) { f.op("VMOVDQU", at(32*i, "SI"), x) })
	f.joinWords()
	f.twice(func(i int, x, y string) { f.op("VMULPD", "Y8", x, x) })
	f.twice(func(i int, x, y string) { f.op("VMULPD", "Y9", x, x) })
	f.twice(func(i int, x, y string) { f.op("VADDPD", x, "Y10", x) })
	f.twice(func(i int, x, y string) { f.op("VMOVUPD", x, at(32*i, "DI")) })
	f.op("ADDQ", "$64", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
	f.fn("wholeY", "sets n pairs of registers to shift + u·scale without its fraction, held to a largest number, below 2^52, before the sum; of shift the bits of 2^52 have been taken away.",
		param{"n", "int", "CX"}, param{"u", "*float64", "SI"}, param{"dst", "*int64", "DI"}, param{"t", "*[3]uint64", "AX"})
	for i := range 3 {
		f.op("VBROADCASTSD", at(8*i, "AX"), vec("Y", 8+i))
	}
	f.op("MOVQ", "$0x4330000000000000", "BX") // 2^52: in the sum with it a whole number is in the last bits
	f.op("VMOVQ", "BX", "X11")
	f.op("VPBROADCASTQ", "X11", "Y11")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.twice(func(i int, x, y string) { f.op("VMULPD", at(32*i, "SI"), "Y8", x) })
	f.twice(func(i int, x, y string) { f.op("VROUNDPD", "$3", x, x) })
	f.twice(func(i int, x, y string) { f.op("VMINPD", "Y9", x, x) })
	f.twice(func(i int, x, y string) { f.op("VADDPD", "Y11", x, x) })
	f.twice(func(i int, x, y string) { f.op("VPADDQ", "Y10", x, x) })
	f.twice(func(i int, x, y string) { f.op("VMOVDQU", x, at(32*i, "DI")) })
	f.op("ADDQ", "$64", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// twice writes instructions for two registers in turns, and one beside each.
func (f *asmFile) twice(write func(i int, x, y string)) {
	for i := range 2 {
		write(i, vec("Y", i), vec("Y", 2+i))
	}
}

// joinConstants sets what joinWords needs: 2^84 in the upper and 2^52 in the lower half's place, and their sum.
func (f *asmFile) joinConstants() {
	for i, bits := range []string{"$0x4530000000000000", "$0x4330000000000000", "$0x4530000000100000"} {
		f.op("MOVQ", bits, "BX")
		f.op("VMOVQ", "BX", vec("X", 13+i))
		f.op("VPBROADCASTQ", vec("X", 13+i), vec("Y", 13+i))
	}
}

// joinWords turns pairs of words, the upper half first, into the float64 next to the number of 64 bits: each half is put into the last bits
// of a float64 whose exponent gives it its weight, so that only the last sum is rounded.
func (f *asmFile) joinWords() {
	f.twice(func(i int, x, y string) { f.op("VPSRLQ", "$32", x, y) })
	f.twice(func(i int, x, y string) { f.op("VPBLENDD", "$0xaa", "Y13", x, x) })
	f.twice(func(i int, x, y string) { f.op("VPBLENDD", "$0xaa", "Y14", y, y) })
	f.twice(func(i int, x, y string) { f.op("VSUBPD", "Y15", x, x) })
	f.twice(func(i int, x, y string) { f.op("VADDPD", y, x, x) })
}
