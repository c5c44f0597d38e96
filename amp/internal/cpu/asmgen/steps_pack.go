package main

import "fmt"

// What the micro-kernels of a convolution read is laid out by these: rows of halves paired or copied, weights sorted by tap.

// pairRows interleaves rows of two planes of halves.
func (f *asmFile) pairRows(stride int) {
	f.fn(fmt.Sprintf("pairRows%d", stride), fmt.Sprintf("writes rows of n pairs: the elements %d apart of a row of src, and of the row that lies other bytes behind it, the latter with the bits in second only; distances of rows in bytes.", stride),
		param{"rows", "int", "CX"}, param{"n", "int", "R11"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"other", "int", "R9"}, param{"second", "int", "AX"},
		param{"dst", "*uint32", "DI"}, param{"ldd", "int", "R10"})
	f.op("VPBROADCASTD", "AX", "Z31")
	f.op("MOVL", "$0xffff", "AX")
	f.op("VPBROADCASTD", "AX", "Z30")
	f.op("VPSLLD", "$16", "Z31", "Z31")
	f.op("ADDQ", "SI", "R9")
	f.op("MOVQ", "$-1", "R15")
	load := func(dst int, mask string) {
		if stride == 1 {
			f.op("VPMOVZXWD.Z", "(R12)", mask, vec("Z", dst))
			f.op("VPMOVZXWD.Z", "(R13)", mask, vec("Z", dst+1))
		} else {
			f.op("VMOVDQU32.Z", "(R12)", mask, vec("Z", dst))
			f.op("VMOVDQU32.Z", "(R13)", mask, vec("Z", dst+1))
			f.op("VPANDD", "Z30", vec("Z", dst), vec("Z", dst))
		}
		f.op("VPSLLD", "$16", vec("Z", dst+1), vec("Z", dst+1))
		f.op("VPTERNLOGD", "$0xf8", "Z31", vec("Z", dst+1), vec("Z", dst)) // dst | (dst+1 & second)
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "R9", "R13")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.op("KXNORW", "K1", "K1", "K1")
	f.op("JMP", "test")
	f.op("PCALIGN", "$32")
	f.label("sixteen")
	load(0, "K1")
	f.op("VMOVDQU32", "Z0", "(DX)")
	f.op("ADDQ", imm(32*stride), "R12")
	f.op("ADDQ", imm(32*stride), "R13")
	f.op("ADDQ", "$64", "DX")
	f.op("SUBQ", "$16", "BX")
	f.label("test")
	f.op("CMPQ", "BX", "$16")
	f.op("JGE", "sixteen")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "next")
	f.op("BZHIQ", "BX", "R15", "AX")
	f.op("KMOVW", "AX", "K1")
	load(0, "K1")
	f.op("VMOVDQU32", "Z0", "K1", "(DX)")
	f.label("next")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R8", "R9")
	f.op("ADDQ", "R10", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// spreadTaps sorts the elements of weights by tap.
func (f *asmFile) spreadTaps() {
	f.fn("spreadTaps", "writes for each row of 32 groups of taps elements, taps below 11, taps rows of 32: the first elements of the groups, the second ones, and so on. index holds the multiples 0…3 of taps, 8 times. It reads up to 28 elements beyond the row.",
		param{"rows", "int", "CX"}, param{"taps", "int", "R11"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*uint16", "DI"}, param{"index", "*[32]uint16", "BX"})
	f.op("VMOVDQU64", "(BX)", "Z31")
	f.op("MOVL", "$0xf", "AX")
	for i := 1; i < 8; i++ {
		f.op("SHLL", "$4", "AX")
		f.op("KMOVD", "AX", fmt.Sprintf("K%d", i))
	}
	f.op("MOVQ", "R11", "R9")
	f.op("SHLQ", "$3", "R9") // 4 groups, in bytes
	f.op("LEAQ", "(R9)(R9*2)", "R10")
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "R11", "DX")
	f.op("PCALIGN", "$32")
	f.label("tap")
	f.op("LEAQ", "(R12)(R9*4)", "R13")
	f.op("VPERMW", "(R12)", "Z31", "Z0")
	for i, at := range []string{"(R12)(R9*1)", "(R12)(R9*2)", "(R12)(R10*1)", "(R13)", "(R13)(R9*1)", "(R13)(R9*2)", "(R13)(R10*1)"} {
		f.op("VPERMW", at, "Z31", fmt.Sprintf("K%d", 1+i), "Z0")
	}
	f.op("VMOVDQU64", "Z0", "(DI)")
	f.op("ADDQ", "$64", "DI")
	f.op("ADDQ", "$2", "R12")
	f.op("DECQ", "DX")
	f.op("JNZ", "tap")
	f.op("ADDQ", "R8", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// turnTaps transposes blocks of weights for the tiles of 8 rows.
func (f *asmFile) turnTaps() {
	f.fn("turnTaps", "writes the columns of n blocks of 8 rows of taps neighbors, taps below 16; blocks lie lds bytes apart. index holds 0 and taps, 8 times. It reads up to 14 elements beyond a block.",
		param{"n", "int", "CX"}, param{"taps", "int", "R11"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"index", "*[16]uint32", "BX"})
	f.op("VMOVDQU32", "(BX)", "Z31")
	f.op("MOVL", "$3", "AX")
	for i := 1; i < 4; i++ {
		f.op("SHLL", "$2", "AX")
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", i))
	}
	f.op("MOVQ", "R11", "R9")
	f.op("SHLQ", "$3", "R9") // 2 rows, in bytes
	f.op("LEAQ", "(R9)(R9*2)", "R10")
	f.op("PCALIGN", "$32")
	f.label("block")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "R11", "DX")
	f.op("PCALIGN", "$32")
	f.label("tap")
	f.op("VPERMPS", "(R12)", "Z31", "Z0")
	for i, at := range []string{"(R12)(R9*1)", "(R12)(R9*2)", "(R12)(R10*1)"} {
		f.op("VPERMPS", at, "Z31", fmt.Sprintf("K%d", 1+i), "Z0")
	}
	f.op("VMOVUPS", "Y0", "(DI)")
	f.op("ADDQ", "$32", "DI")
	f.op("ADDQ", "$4", "R12")
	f.op("DECQ", "DX")
	f.op("JNZ", "tap")
	f.op("ADDQ", "R8", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "block")
	f.ret()
}

// copyAhead is copyRowsAVX that fetches what the next call copies: a channel of an image is often a page, beyond which the processor does not
// look ahead by itself.
func (f *asmFile) copyAhead() {
	f.fn("copyRowsAhead", "copies k rows of so many elements, and asks for those that lie so far behind them; distances in bytes.",
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"}, param{"n", "int", "R10"}, param{"ahead", "int", "R12"})
	f.op("MOVQ", "R10", "R11")
	f.op("ANDQ", "$-16", "R11") // end of the whole vectors
	f.op("ANDQ", "$15", "R10")
	f.op("MOVQ", "$-1", "AX")
	f.op("BZHIQ", "R10", "AX", "AX")
	f.op("KMOVW", "AX", "K1")
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("LEAQ", "(SI)(R12*1)", "DX")
	f.op("XORQ", "AX", "AX")
	f.op("TESTQ", "R11", "R11")
	f.op("JZ", "rest")
	f.label("vector")
	f.op("PREFETCHT0", "(DX)(AX*4)")
	f.op("VMOVUPS", "(SI)(AX*4)", "Y0")
	f.op("VMOVUPS", "32(SI)(AX*4)", "Y1")
	f.op("VMOVUPS", "Y0", "(DI)(AX*4)")
	f.op("VMOVUPS", "Y1", "32(DI)(AX*4)")
	f.op("ADDQ", "$16", "AX")
	f.op("CMPQ", "AX", "R11")
	f.op("JLT", "vector")
	f.label("rest")
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "next")
	f.op("PREFETCHT0", "(DX)(AX*4)")
	f.op("VMOVUPS.Z", "(SI)(AX*4)", "K1", "Z0")
	f.op("VMOVUPS", "Z0", "K1", "(DI)(AX*4)")
	f.label("next")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// evenRows takes every second element of rows.
func (f *asmFile) evenRows() {
	f.fn("evenRows", "writes rows of 16·n elements, every second one of src, of which it reads 32·n; distances of rows in bytes.",
		param{"rows", "int", "CX"}, param{"n", "int", "R11"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R10"}, param{"index", "*[16]uint32", "BX"})
	f.op("VMOVDQU32", "(BX)", "Z31")
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.label("some")
	f.op("VMOVUPS", "(R12)", "Z0")
	f.op("VPERMT2PS", "64(R12)", "Z31", "Z0")
	f.op("VMOVUPS", "Z0", "(DX)")
	f.op("ADDQ", "$128", "R12")
	f.op("ADDQ", "$64", "DX")
	f.op("DECQ", "BX")
	f.op("JNZ", "some")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R10", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// maskedTaps copies windows.
func (f *asmFile) maskedTaps() {
	f.fn("maskedTaps", "writes for each of n blocks of src, lds bytes apart, and each tap 16 elements: those at the tap's distance whose bits are set in its mask, the others 0.",
		param{"n", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"taps", "*Tap", "R9"}, param{"count", "int", "R10"}, param{"dst", "*float32", "DI"})
	f.op("PCALIGN", "$32")
	f.label("block")
	f.op("MOVQ", "R9", "R11")
	f.op("MOVQ", "R10", "R12")
	f.op("PCALIGN", "$32")
	f.label("tap")
	f.op("MOVQ", "(R11)", "AX")
	f.op("KMOVW", "8(R11)", "K1")
	f.op("VMOVUPS.Z", "(SI)(AX*4)", "K1", "Z0")
	f.op("VMOVUPS", "Z0", "(DI)")
	f.op("ADDQ", "$16", "R11")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "R12")
	f.op("JNZ", "tap")
	f.op("ADDQ", "R8", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "block")
	f.ret()
}

// halfRows copies rows of halves.
func (f *asmFile) halfRows(stride int) {
	f.fn(fmt.Sprintf("halfRows%d", stride), fmt.Sprintf("copies rows of n elements %d apart; distances of rows in bytes.", stride),
		param{"rows", "int", "CX"}, param{"n", "int", "R11"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*uint16", "DI"}, param{"ldd", "int", "R10"})
	f.op("MOVQ", "$-1", "R15")
	lanes := 32 / stride
	move := func(full bool) {
		switch {
		case stride == 1 && full:
			f.op("VMOVDQU16", "(R12)", "Z0")
			f.op("VMOVDQU16", "Z0", "(DX)")
		case stride == 1:
			f.op("VMOVDQU16.Z", "(R12)", "K1", "Z0")
			f.op("VMOVDQU16", "Z0", "K1", "(DX)")
		case full:
			f.op("VMOVDQU32", "(R12)", "Z0")
			f.op("VPMOVDW", "Z0", "(DX)")
		default:
			f.op("VMOVDQU32.Z", "(R12)", "K1", "Z0")
			f.op("VPMOVDW", "Z0", "K1", "(DX)")
		}
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.op("JMP", "test")
	f.op("PCALIGN", "$32")
	f.label("some")
	move(true)
	f.op("ADDQ", "$64", "R12")
	f.op("ADDQ", imm(2*lanes), "DX")
	f.op("SUBQ", imm(lanes), "BX")
	f.label("test")
	f.op("CMPQ", "BX", imm(lanes))
	f.op("JGE", "some")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "next")
	f.op("BZHIQ", "BX", "R15", "AX")
	f.op("KMOVD", "AX", "K1")
	move(false)
	f.label("next")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R10", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}
