package main

import "fmt"

// Packing with AVX-512: halves are widened, or paired, on the way.

// A rowPack writes one row of up to 16 elements per vector.
type rowPack struct {
	name, doc, typ string
	load           func(f *asmFile, v int, lane string) // vector v of a row, what lies beyond mask K1+v is zero
	step           int                                  // rows of src per row of dst
	bytes          int                                  // of an element
}

var rowPacks = []rowPack{
	{"F32", "elements", "*float32", func(f *asmFile, v int, mask string) {
		f.op("VMOVUPS.Z", at(64*v, "SI"), mask, vec("Z", v))
	}, 1, 4},
	{"F16", "float16 elements, widened", "*uint16", func(f *asmFile, v int, mask string) {
		f.op("VCVTPH2PS.Z", at(32*v, "SI"), mask, vec("Z", v))
	}, 1, 2},
	{"BF16", "bfloat16 elements, widened", "*uint16", func(f *asmFile, v int, mask string) {
		f.op("VPMOVZXWD.Z", at(32*v, "SI"), mask, vec("Z", v))
		f.op("VPSLLD", "$16", vec("Z", v), vec("Z", v))
	}, 1, 2},
	{"Pair", "pairs of 16 bits, one of each of two rows", "*uint16", func(f *asmFile, v int, mask string) {
		f.op("VPMOVZXWD.Z", at(32*v, "SI"), mask, vec("Z", v))
		f.op("VPMOVZXWD.Z", fmt.Sprintf("%d(SI)(R8*1)", 32*v), mask, vec("Z", 4+v))
		f.op("VPSLLD", "$16", vec("Z", 4+v), vec("Z", 4+v))
		f.op("VPORD", vec("Z", 4+v), vec("Z", v), vec("Z", v))
	}, 2, 2},
	{"Low", "pairs of 16 bits, the second one zero", "*uint16", func(f *asmFile, v int, mask string) {
		f.op("VPMOVZXWD.Z", at(32*v, "SI"), mask, vec("Z", v))
	}, 1, 2},
}

func packsZ(f *asmFile) {
	for _, p := range rowPacks {
		for _, vectors := range []int{1, 2, 3} {
			if vectors < 3 || p.step == 1 && p.name != "Low" {
				f.rowPack(p, vectors)
			}
		}
	}
	f.copyBlocks()
	for _, vectors := range []int{1, 2, 3} {
		f.packPanels(vectors)
	}
	f.packPairPanels()
	for _, rows := range []int{4, 8, 12, 16} {
		f.transposeZ("F32", rows, nil)
		f.transposeZ("F16", rows, splitF16)
		f.transposeZ("BF16", rows, splitBF16)
	}
}

// rowPack writes k rows.
func (f *asmFile) rowPack(p rowPack, vectors int) {
	f.fn(fmt.Sprintf("packRows%s%d", p.name, vectors),
		fmt.Sprintf("writes k rows of up to %d %s: those of the bits in have, zeros for the other bits in width; strides in bytes.", 16*vectors, p.doc),
		param{"k", "int", "CX"}, param{"src", p.typ, "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"},
		param{"have", "int", "AX"}, param{"width", "int", "BX"})
	for v := range vectors {
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
		f.op("KMOVW", "BX", fmt.Sprintf("K%d", 4+v))
		f.op("SHRQ", "$16", "AX")
		f.op("SHRQ", "$16", "BX")
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for off := 0; off < 16*p.bytes*vectors; off += 64 {
		f.op("PREFETCHT0", at(off, "SI")+"(R8*8)")
	}
	for v := range vectors {
		p.load(f, v, fmt.Sprintf("K%d", 1+v))
	}
	for v := range vectors {
		f.op("VMOVUPS", vec("Z", v), fmt.Sprintf("K%d", 4+v), at(64*v, "DI"))
	}
	for range p.step {
		f.op("ADDQ", "R8", "SI")
	}
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// packPanels packs several panels side by side: rows are then read in long runs, which is what memory gives fastest.
func (f *asmFile) packPanels(vectors int) {
	f.fn(fmt.Sprintf("packPanels%d", vectors),
		fmt.Sprintf("writes k rows, each to so many panels of up to %d elements: those of the bits in width; panels lie ldp bytes apart, rows lds in src and ldd in a panel.", 16*vectors),
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"},
		param{"panels", "int", "R13"}, param{"ldp", "int", "R10"}, param{"width", "int", "AX"})
	for v := range vectors {
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
		f.op("SHRQ", "$16", "AX")
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R11")
	f.op("MOVQ", "DI", "R12")
	f.op("MOVQ", "R13", "BX")
	f.label("panel")
	for v := range vectors {
		f.op("PREFETCHT0", at(64*v, "R11")+"(R8*8)") // few bytes of a row are read, too few for the processor to see what comes next
	}
	for v := range vectors {
		f.op("VMOVUPS.Z", at(64*v, "R11"), fmt.Sprintf("K%d", 1+v), vec("Z", v))
	}
	for v := range vectors {
		f.op("VMOVUPS", vec("Z", v), fmt.Sprintf("K%d", 1+v), at(64*v, "R12"))
	}
	f.op("ADDQ", "R9", "R11")
	f.op("ADDQ", "R10", "R12")
	f.op("DECQ", "BX")
	f.op("JNZ", "panel")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// packPairPanels is packPanels for panels of 32 pairs of halves.
func (f *asmFile) packPairPanels() {
	f.fn("packPairPanels", "writes k rows of pairs, each to so many panels of 32: the pairs of the elements of two rows of src; panels lie ldp bytes apart, rows lds in src.",
		param{"k", "int", "CX"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"panels", "int", "R13"}, param{"ldp", "int", "R10"})
	f.op("LEAQ", "(R8)(R8*8)", "R9")
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R11")
	f.op("MOVQ", "DI", "R12")
	f.op("MOVQ", "R13", "BX")
	f.label("panel")
	f.op("PREFETCHT0", "(R11)(R8*8)")
	f.op("PREFETCHT0", "(R11)(R9*1)")
	for v := range 2 {
		f.op("VPMOVZXWD", at(32*v, "R11"), vec("Z", v))
		f.op("VPMOVZXWD", fmt.Sprintf("%d(R11)(R8*1)", 32*v), vec("Z", 2+v))
		f.op("VPSLLD", "$16", vec("Z", 2+v), vec("Z", 2+v))
		f.op("VPORD", vec("Z", 2+v), vec("Z", v), vec("Z", v))
		f.op("VMOVUPS", vec("Z", v), at(64*v, "R12"))
	}
	f.op("ADDQ", "$64", "R11")
	f.op("ADDQ", "R10", "R12")
	f.op("DECQ", "BX")
	f.op("JNZ", "panel")
	f.op("LEAQ", "(SI)(R8*2)", "SI")
	f.op("ADDQ", "$128", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// copyBlocks is the packing of rows of pairs for the tile registers.
func (f *asmFile) copyBlocks() {
	f.fn("packBlock", "copies k rows of the halves whose bits are set in have to rows of 32; distance of rows in bytes.",
		param{"k", "int", "CX"}, param{"src", "*uint16", "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"have", "int", "AX"})
	f.op("KMOVD", "AX", "K1")
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VMOVDQU16.Z", "(SI)", "K1", "Z0")
	f.op("VMOVDQU64", "Z0", "(DI)")
	f.op("ADDQ", "R8", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// splitF16 and splitBF16 store the low and the high halves of the pairs in register r as two rows.
func splitF16(f *asmFile, r int, store func(reg string)) {
	f.op("VPMOVDW", vec("Z", r), "Y16")
	f.op("VPSRLD", "$16", vec("Z", r), vec("Z", 17))
	f.op("VPMOVDW", "Z17", "Y17")
	f.op("VCVTPH2PS", "Y16", "Z16")
	f.op("VCVTPH2PS", "Y17", "Z17")
	store("Z16")
	store("Z17")
}

func splitBF16(f *asmFile, r int, store func(reg string)) {
	f.op("VPSLLD", "$16", vec("Z", r), "Z16")
	f.op("VPANDD", "Z31", vec("Z", r), "Z17")
	store("Z16")
	store("Z17")
}

// transposeZ writes column by column what lies in rows: four columns at a time, of which each row gives 16 bytes.
func (f *asmFile) transposeZ(kind string, rows int, split func(f *asmFile, r int, store func(reg string))) {
	what, typ := "elements", "*float32"
	if split != nil {
		what, typ = "pairs of halves, which are widened and become two columns", "*uint16"
	}
	f.fn(fmt.Sprintf("transpose%s%d", kind, rows), fmt.Sprintf("writes the columns of %d rows of 4·n %s; strides in bytes.", rows, what),
		param{"n", "int", "CX"}, param{"src", typ, "SI"}, param{"lds", "int", "R8"}, param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"})
	bases := []string{"SI", "R10", "R11", "R12"}[:rows/4]
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*4)", bases[i-1]), bases[i])
	}
	f.op("LEAQ", "(R8)(R8*2)", "R13")
	f.op("MOVL", imm(1<<rows-1), "AX")
	f.op("KMOVW", "AX", "K1")
	if kind == "BF16" {
		f.op("MOVL", "$0xffff0000", "AX")
		f.op("VPBROADCASTD", "AX", "Z31")
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for j, index := range []string{"", "(R8*1)", "(R8*2)", "(R13*1)"} {
		for i, b := range bases {
			if i == 0 {
				f.op("VMOVUPS", "("+b+")"+index, vec("X", j))
				continue
			}
			f.op("VINSERTF32X4", imm(i), "("+b+")"+index, vec("Z", j), vec("Z", j))
		}
	}
	f.op("VUNPCKLPS", "Z1", "Z0", "Z4")
	f.op("VUNPCKHPS", "Z1", "Z0", "Z5")
	f.op("VUNPCKLPS", "Z3", "Z2", "Z6")
	f.op("VUNPCKHPS", "Z3", "Z2", "Z7")
	f.op("VUNPCKLPD", "Z6", "Z4", "Z0")
	f.op("VUNPCKHPD", "Z6", "Z4", "Z1")
	f.op("VUNPCKLPD", "Z7", "Z5", "Z2")
	f.op("VUNPCKHPD", "Z7", "Z5", "Z3")
	store := func(reg string) {
		f.op("VMOVUPS", reg, "K1", "(DI)")
		f.op("ADDQ", "R9", "DI")
	}
	for j := range 4 {
		if split == nil {
			store(vec("Z", j))
		} else {
			split(f, j, store)
		}
	}
	for _, b := range bases {
		f.op("ADDQ", "$16", b)
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
