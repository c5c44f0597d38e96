package main

import "fmt"

// evenPlaces write to every second element of rows: what a transposed convolution of stride 2 computes in one of its turns.

// A placeStore writes elements K1 of 16, whose places have their bits in K2, two bits per element, from R12 to DX. K3 and K4 are those of the upper 8.
type placeStore struct {
	name, typ, doc string
	size           int // bytes of an element
	put            func(f *asmFile)
}

var placeStores = []placeStore{
	{"F32", "*float32", "as they are", 4, func(f *asmFile) {
		f.op("VPMOVZXDQ.Z", "(R12)", "K1", "Z0")
		f.op("VPMOVZXDQ.Z", "32(R12)", "K3", "Z1")
		f.op("VMOVDQU32", "Z0", "K2", "(DX)")
		f.op("VMOVDQU32", "Z1", "K4", "64(DX)")
	}},
	{"F16", "*uint16", "rounded to float16", 2, func(f *asmFile) {
		f.op("VMOVUPS.Z", "(R12)", "K1", "Z0")
		f.op("VCVTPS2PH", "$0", "Z0", "Y1")
		f.op("VPMOVZXWD", "Y1", "Z1")
		f.op("VMOVDQU16", "Z1", "K2", "(DX)")
	}},
	{"BF16", "*uint16", "rounded to bfloat16", 2, func(f *asmFile) {
		f.op("VMOVUPS.Z", "(R12)", "K1", "Z0")
		f.roundBF16(0)
		f.op("VMOVDQU16", "Z2", "K2", "(DX)")
	}},
}

func places(f *asmFile) {
	for _, s := range placeStores {
		f.evenPlaces(s)
	}
}

func (f *asmFile) evenPlaces(s placeStore) {
	f.fn("evenPlaces"+s.name, fmt.Sprintf("writes rows of n elements to every second place of rows of dst, %s; distances of rows in bytes.", s.doc),
		param{"rows", "int", "CX"}, param{"n", "int", "R11"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", s.typ, "DI"}, param{"ldd", "int", "R10"})
	if s.name == "BF16" {
		f.roundingConstants()
	}
	f.op("MOVQ", "$-1", "R13")
	f.op("MOVL", "$0x55555555", "R9")
	upper := func() {
		if s.size == 4 {
			f.op("KSHIFTRW", "$8", "K1", "K3")
			f.op("KSHIFTRD", "$16", "K2", "K4")
		}
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.op("KXNORW", "K1", "K1", "K1")
	f.op("KMOVD", "R9", "K2")
	upper()
	f.op("JMP", "test")
	f.op("PCALIGN", "$32")
	f.label("some")
	s.put(f)
	f.op("ADDQ", "$64", "R12")
	f.op("ADDQ", imm(32*s.size), "DX")
	f.op("SUBQ", "$16", "BX")
	f.label("test")
	f.op("CMPQ", "BX", "$16")
	f.op("JGE", "some")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "next")
	f.op("BZHIQ", "BX", "R13", "AX")
	f.op("KMOVW", "AX", "K1")
	f.op("PDEPQ", "R9", "AX", "AX")
	f.op("KMOVD", "AX", "K2")
	upper()
	s.put(f)
	f.label("next")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R10", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}
