package main

import "fmt"

// transposes turn squares of 32-bit words around in registers, so that both sides are read and written in whole cache lines: read word by
// word, lines that lie a power of two apart would displace each other.
func transposes(f *asmFile) {
	f.fn("transposeZ", "writes n squares of 16×16 words, whose first rows follow each other in dst: word (i,j) of a square becomes (j,i). Strides in bytes; squares of src lie next bytes apart.",
		param{"n", "int", "CX"}, param{"src", "*uint32", "SI"}, param{"lds", "int", "R8"}, param{"next", "int", "R11"}, param{"dst", "*uint32", "DI"}, param{"ldd", "int", "R9"})
	f.squares("VMOVUPS", "VMOVUPS", 64)
	f.fn("transposeHalvesZ", "is transposeZ for words of 16 bits.",
		param{"n", "int", "CX"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"next", "int", "R11"}, param{"dst", "*uint16", "DI"}, param{"ldd", "int", "R9"})
	f.squares("VPMOVZXWD", "VPMOVDW", 32)
	f.transposeY()
	f.transposeHalvesY()
}

// squares writes the loop over squares whose rows of so many bytes are loaded as words of 32 bits, and stored from there.
func (f *asmFile) squares(load, store string, bytes int) {
	z := func(i int) string { return vec("Z", i) }
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "SI", "AX")
	for i := range 16 {
		f.op(load, "(AX)", z(i))
		f.op("ADDQ", "R8", "AX")
	}
	// Pairs of rows, then fours, within parts of 128 bits; after that parts change places.
	for i := 0; i < 16; i += 2 {
		f.op("VUNPCKLPS", z(i+1), z(i), z(16+i))
		f.op("VUNPCKHPS", z(i+1), z(i), z(17+i))
	}
	for i := 0; i < 16; i += 4 { // z(i+k): column k of each part, rows i … i+3
		f.op("VUNPCKLPD", z(18+i), z(16+i), z(i))
		f.op("VUNPCKHPD", z(18+i), z(16+i), z(i+1))
		f.op("VUNPCKLPD", z(19+i), z(17+i), z(i+2))
		f.op("VUNPCKHPD", z(19+i), z(17+i), z(i+3))
	}
	for k := range 4 { // z(16+4·k+…): parts 0 and 2, 1 and 3 of rows 0 … 7 and 8 … 15
		f.op("VSHUFF32X4", "$0x88", z(4+k), z(k), z(16+4*k))
		f.op("VSHUFF32X4", "$0xdd", z(4+k), z(k), z(17+4*k))
		f.op("VSHUFF32X4", "$0x88", z(12+k), z(8+k), z(18+4*k))
		f.op("VSHUFF32X4", "$0xdd", z(12+k), z(8+k), z(19+4*k))
	}
	f.op("MOVQ", "DI", "AX")
	for j := range 16 { // column j is column j%4 of part j/4
		k, part := j%4, j/4
		f.op("VSHUFF32X4", map[bool]string{false: "$0x88", true: "$0xdd"}[part >= 2], z(18+4*k+part%2), z(16+4*k+part%2), z(0))
		f.op(store, z(0), "(AX)")
		f.op("ADDQ", "R9", "AX")
	}
	f.op("ADDQ", "R11", "SI")
	f.op("ADDQ", imm(bytes), "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// transposeY turns a square in two halves of 8 columns of dst, and these in two of 8 rows, for AVX2: whole lines of src are read one after
// another, and both halves of a line of dst are written soon after each other.
func (f *asmFile) transposeY() {
	f.fn("transposeY", "is transposeZ for AVX2.",
		param{"n", "int", "CX"}, param{"src", "*uint32", "SI"}, param{"lds", "int", "R8"}, param{"next", "int", "R11"}, param{"dst", "*uint32", "DI"}, param{"ldd", "int", "R9"})
	y := func(i int) string { return vec("Y", i) }
	f.op("SHRQ", "$1", "R11") // from one half to the next
	f.op("ADDQ", "CX", "CX")
	f.op("LEAQ", "(R8)(R8*2)", "R12")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "DI", "BX")
	for half := range 2 {
		f.op("LEAQ", at(32*half, "SI"), "AX")
		f.op("LEAQ", "(AX)(R8*4)", "DX")
		// Columns in 128 bits: row i of the upper four beside row i of the lower four, so that no part has to change places afterwards.
		for part := range 2 {
			for i, off := range []string{"(%s)", "(%s)(R8*1)", "(%s)(R8*2)", "(%s)(R12*1)"} {
				f.op("VMOVUPS", fmt.Sprintf(off, "AX"), vec("X", i))
				f.op("VINSERTF128", "$1", fmt.Sprintf(off, "DX"), y(i), y(i))
			}
			for i := 0; i < 4; i += 2 {
				f.op("VUNPCKLPS", y(i+1), y(i), y(4+i))
				f.op("VUNPCKHPS", y(i+1), y(i), y(5+i))
			}
			f.op("VUNPCKLPD", y(6), y(4), y(0))
			f.op("VUNPCKHPD", y(6), y(4), y(1))
			f.op("VUNPCKLPD", y(7), y(5), y(2))
			f.op("VUNPCKHPD", y(7), y(5), y(3))
			for i := range 4 {
				f.op("VMOVUPS", y(i), "(BX)")
				f.op("ADDQ", "R9", "BX")
			}
			if part == 0 {
				f.op("ADDQ", "$16", "AX")
				f.op("ADDQ", "$16", "DX")
			}
		}
	}
	f.op("ADDQ", "R11", "SI")
	f.op("ADDQ", "$32", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// transposeHalvesY turns a square in two halves of 8 rows of dst: row i+8 of src beside row i, so that no part has to change places afterwards.
// The 24 steps of one half just fit in the registers.
func (f *asmFile) transposeHalvesY() {
	f.fn("transposeHalvesY", "is transposeHalvesZ for AVX2.",
		param{"n", "int", "CX"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"next", "int", "R11"}, param{"dst", "*uint16", "DI"}, param{"ldd", "int", "R9"})
	x, y := func(i int) string { return vec("X", i) }, func(i int) string { return vec("Y", i) }
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVQ", "DI", "BX")
	for part := range 2 {
		f.op("LEAQ", at(16*part, "SI"), "AX")
		f.op("LEAQ", "(AX)(R8*8)", "DX")
		for i := range 8 {
			f.op("VMOVDQU", "(AX)", x(i))
			f.op("VINSERTI128", "$1", "(DX)", y(i), y(i))
			f.op("ADDQ", "R8", "AX")
			f.op("ADDQ", "R8", "DX")
		}
		for i := 0; i < 8; i += 2 { // columns 0 … 3 and 4 … 7 of two rows
			f.op("VPUNPCKLWD", y(i+1), y(i), y(8+i))
			f.op("VPUNPCKHWD", y(i+1), y(i), y(9+i))
		}
		for i := 0; i < 8; i += 4 { // y(i+k): columns 2k and 2k+1 of rows i … i+3
			for k := range 2 {
				f.op("VPUNPCKLDQ", y(10+i+k), y(8+i+k), y(i+2*k))
				f.op("VPUNPCKHDQ", y(10+i+k), y(8+i+k), y(i+2*k+1))
			}
		}
		for k := range 4 {
			f.op("VPUNPCKLQDQ", y(4+k), y(k), y(8+2*k))
			f.op("VPUNPCKHQDQ", y(4+k), y(k), y(9+2*k))
		}
		for i := range 8 {
			f.op("VMOVDQU", y(8+i), "(BX)")
			f.op("ADDQ", "R9", "BX")
		}
	}
	f.op("ADDQ", "R11", "SI")
	f.op("ADDQ", "$32", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
