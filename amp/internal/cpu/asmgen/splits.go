package main

import "fmt"

// Numbers in float32 as sums of halves, for the tile registers to multiply: each part is what the ones before leave, rounded. A part after the
// first is zero where that is not a number: an infinity less itself.

func splits(f *asmFile) {
	f.splitRows("splitRowsBF16x2", 2, true)
	f.splitRows("splitRowsBF16x3", 3, true)
	f.splitRows("splitRowsF16x2", 2, false)
	f.splitPairs()
	f.halve()
}

// narrow32 rounds Z0 and Z1 to 32 halves in Z2, and widens those again to Z3 and Z4.
func (f *asmFile) narrow32(brain bool) {
	if brain {
		f.vcvtne2ps2bf16(0, 1, 2)
		f.op("VEXTRACTI64X4", "$1", "Z2", "Y4")
		f.op("VPMOVZXWD", "Y2", "Z3")
		f.op("VPMOVZXWD", "Y4", "Z4")
		f.op("VPSLLD", "$16", "Z3", "Z3")
		f.op("VPSLLD", "$16", "Z4", "Z4")
		return
	}
	f.op("VCVTPS2PH", "$0", "Z0", "Y2")
	f.op("VCVTPS2PH", "$0", "Z1", "Y4")
	f.op("VCVTPH2PS", "Y2", "Z3")
	f.op("VINSERTI64X4", "$1", "Y4", "Z2", "Z2")
	f.op("VCVTPH2PS", "Y4", "Z4")
}

// leave subtracts Z3 and Z4 from Z0 and Z1.
func (f *asmFile) leave() {
	for i := range 2 {
		v := vec("Z", i)
		f.op("VSUBPS", vec("Z", 3+i), v, v)
		f.op("VCMPPS", "$7", v, v, "K3") // not NaN
		f.op("VMOVAPS.Z", v, "K3", v)
	}
}

func (f *asmFile) splitRows(name string, parts int, brain bool) {
	f.fn(name, fmt.Sprintf("writes rows of n numbers, times factor, as %d parts each, which lie part bytes apart: as many as a multiple of 32, zeros at last; distances of rows in bytes.", parts),
		param{"rows", "int", "CX"}, param{"n", "int", "R11"}, param{"factor", "*float32", "AX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*uint16", "DI"}, param{"ldd", "int", "R10"}, param{"part", "int", "R9"})
	f.op("VBROADCASTSS", "(AX)", "Z5")
	f.op("MOVQ", "$-1", "R15")
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.op("KXNORD", "K1", "K1", "K1")
	f.op("KXNORD", "K2", "K2", "K2")
	f.label("some")
	f.op("CMPQ", "BX", "$32")
	f.op("JGE", "whole")
	f.op("BZHIQ", "BX", "R15", "AX")
	f.op("KMOVD", "AX", "K1")
	f.op("KSHIFTRD", "$16", "K1", "K2")
	f.label("whole")
	for i := range 2 {
		f.op("VMOVUPS.Z", at(64*i, "R12"), fmt.Sprintf("K%d", 1+i), vec("Z", i))
		f.op("VMULPS", "Z5", vec("Z", i), vec("Z", i))
	}
	f.op("MOVQ", "DX", "R13")
	for p := range parts {
		f.narrow32(brain)
		f.op("VMOVDQU64", "Z2", "(R13)")
		if p < parts-1 {
			f.leave()
			f.op("ADDQ", "R9", "R13")
		}
	}
	f.op("ADDQ", "$128", "R12")
	f.op("ADDQ", "$64", "DX")
	f.op("SUBQ", "$32", "BX")
	f.op("JG", "some")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R10", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// splitPairs is splitRows in two bfloat16 for pairs of rows.
func (f *asmFile) splitPairs() {
	f.fn("splitPairsBF16", "writes pairs of rows of n numbers as two bfloat16 each, which lie part bytes apart, elements of a pair of rows side by side: as many as a multiple of 16, zeros at last; distances in bytes, of dst from pair to pair.",
		param{"pairs", "int", "CX"}, param{"n", "int", "R11"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*uint32", "DI"}, param{"ldd", "int", "R10"}, param{"part", "int", "R9"})
	f.op("MOVQ", "$-1", "R15")
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("LEAQ", "(SI)(R8*1)", "R13")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.op("KXNORW", "K1", "K1", "K1")
	f.label("some")
	f.op("CMPQ", "BX", "$16")
	f.op("JGE", "whole")
	f.op("BZHIQ", "BX", "R15", "AX")
	f.op("KMOVW", "AX", "K1")
	f.label("whole")
	f.op("VMOVUPS.Z", "(R12)", "K1", "Z0")
	f.op("VMOVUPS.Z", "(R13)", "K1", "Z1")
	for p := range 2 {
		f.narrow32(true)
		f.op("VPSRLD", "$16", "Z3", "Z5")
		f.op("VPORD", "Z5", "Z4", "Z5")
		if p == 0 {
			f.op("VMOVDQU32", "Z5", "(DX)")
			f.leave()
		} else {
			f.op("VMOVDQU32", "Z5", "(DX)(R9*1)")
		}
	}
	f.op("ADDQ", "$64", "R12")
	f.op("ADDQ", "$64", "R13")
	f.op("ADDQ", "$64", "DX")
	f.op("SUBQ", "$16", "BX")
	f.op("JG", "some")
	f.op("LEAQ", "(SI)(R8*2)", "SI")
	f.op("ADDQ", "R10", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// halve writes float16 numbers as two bfloat16. The first is the next smaller magnitude of eight bits, so that a number left remains, of the same sign,
// unless there was none: an infinity times it is then never NaN.
func (f *asmFile) halve() {
	f.fn("halveF16Z", "writes n float16 numbers as the exact sum of two bfloat16.",
		param{"n", "int", "BX"}, param{"src", "*uint16", "SI"}, param{"high", "*uint16", "DI"}, param{"low", "*uint16", "DX"})
	f.op("MOVQ", "$-1", "R15")
	f.op("KXNORW", "K1", "K1", "K1")
	f.op("VPTERNLOGD", "$0xff", "Z5", "Z5", "Z5")
	f.op("VPSLLD", "$16", "Z5", "Z6")
	f.op("VPSRLD", "$1", "Z5", "Z7")
	f.op("PCALIGN", "$32")
	f.label("some")
	f.op("CMPQ", "BX", "$16")
	f.op("JGE", "whole")
	f.op("BZHIQ", "BX", "R15", "AX")
	f.op("KMOVW", "AX", "K1")
	f.label("whole")
	f.op("VMOVDQU16.Z", "(SI)", "K1", "Y0")
	f.op("VCVTPH2PS", "Y0", "Z0")
	f.op("VPADDD", "Z5", "Z0", "Z1")
	f.op("VPTESTMD", "Z7", "Z0", "K2")
	f.op("VPANDD.Z", "Z6", "Z1", "K2", "Z1")
	f.op("VSUBPS", "Z1", "Z0", "Z2")
	f.op("VPSRLD", "$16", "Z1", "Z1")
	f.op("VPSRLD", "$16", "Z2", "Z2")
	f.op("VPMOVDW", "Z1", "K1", "(DI)")
	f.op("VPMOVDW", "Z2", "K1", "(DX)")
	f.op("ADDQ", "$32", "SI")
	f.op("ADDQ", "$32", "DI")
	f.op("ADDQ", "$32", "DX")
	f.op("SUBQ", "$16", "BX")
	f.op("JG", "some")
	f.ret()
}
