package main

import "fmt"

// The micro-kernels for bfloat16. An element of a panel is a pair of neighbors along k, the earlier one in its low half.

func dots(f *asmFile) {
	for _, rows := range []int{1, 2, 4, 8, 12} {
		for _, vectors := range []int{1, 2} {
			f.dotTile(rows, vectors, false)
		}
	}
	f.dotTile(12, 2, true)
	for _, rows := range []int{1, 2} {
		for _, cols := range []int{1, 2} {
			if rows == 2 && cols == 2 {
				continue // see panels
			}
			f.amxTile("amxBF16", "TDPBF16PS", rows, cols)
			f.amxTile("amxF16", "TDPFP16PS", rows, cols)
			f.amxTile("amxParts", inParts, rows, cols)
		}
	}
	for _, row := range tileRowsOf["BF16"] {
		f.panels("BF16", "TDPBF16PS", row)
	}
	for _, row := range tileRowsOf["F16"] {
		f.panels("F16", "TDPFP16PS", row)
	}
	for _, row := range tileRowsOf["Parts"] {
		f.panels("Parts", inParts, row)
	}
	f.fetchRows()
	stores(f)
}

// dotTile is tile with VDPBF16PS in place of a multiply-add.
func (f *asmFile) dotTile(rows, vectors int, round bool) {
	s := shape{"bf16z", "Z", 64, 4, nil, round}
	f.tileWith(s, rows, vectors, func(b, t, acc int) { f.vdpbf16ps(b, t, acc) })
}

// amxTile is a tile of 16·rows × 16·cols sums in the tile registers 0…3, for several panels of b. The rows of a are lda bytes apart, and
// from a block of 16 pairs to the next along k it is step bytes: a is packed as such blocks, or as it is in memory; b rows of 32 pairs, as
// for the other kernels; c rows of 32 sums.
func (f *asmFile) amxTile(name, dot string, rows, cols int) {
	doc := fmt.Sprintf("sets (more = 0) or raises tiles of %d×%d sums in c, one for each panel of b, by the product of n blocks of 16 pairs of a and b; rows of a are lda bytes apart, its blocks step, and skip bytes lie between panels.", 16*rows, 16*cols)
	params := []param{{"n", "int", "BX"}, {"panels", "int", "R10"}, {"a", "*float32", "R12"}, {"b", "*float32", "DI"}, {"c", "*float32", "DX"}, {"more", "int", ""}, {"skip", "int", ""},
		{"config", "*[64]byte", "AX"}, {"lda", "int", "R11"}, {"step", "int", "R13"}}
	if dot == inParts {
		doc += partsDoc
		params = append(params, param{"partA", "int", ""}, param{"partB", "int", "R14"})
	}
	f.fn(fmt.Sprintf("%sx%dx%d", name, rows, cols), doc, params...)
	f.ldtilecfg(regAX)
	f.op("MOVQ", "$128", "R8")
	f.op("PCALIGN", "$32")
	f.label("panel")
	f.op("MOVQ", "BX", "CX")
	f.op("MOVQ", "R12", "SI")
	if rows == 2 {
		f.op("MOVQ", "R11", "R15")
		f.op("SHLQ", "$4", "R15")
		f.op("ADDQ", "SI", "R15")
	}
	acc := func(move func(t, off int)) {
		for i := range rows {
			for j := range cols {
				move(i*2+j, 2048*i+64*j)
			}
		}
	}
	f.op("CMPQ", "more+40(FP)", "$0")
	f.op("JEQ", "zero")
	acc(func(t, off int) { f.tileMove(tileLoad, t, off, regDX, regR8) })
	f.op("JMP", "loop")
	f.label("zero")
	acc(func(t, off int) { f.tilezero(t) })
	f.op("PCALIGN", "$32")
	f.label("loop")
	if dot == inParts {
		f.partBlock(rows, cols, nil)
	} else {
		f.tileMove(tileLoad, 4, 0, regSI, regR11)
		f.tileMove(tileStream, 6, 0, regDI, regR8)
		f.tdp(dot, 4, 6, 0)
		if rows == 2 {
			f.tileMove(tileLoad, 5, 0, regR15, regR11)
			f.tdp(dot, 5, 6, 2)
		}
		if cols == 2 {
			f.tileMove(tileStream, 7, 64, regDI, regR8)
			f.tdp(dot, 4, 7, 1)
			if rows == 2 {
				f.tdp(dot, 5, 7, 3)
			}
		}
	}
	f.op("ADDQ", "R13", "SI")
	if rows == 2 {
		f.op("ADDQ", "R13", "R15")
	}
	f.op("ADDQ", "$2048", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	acc(func(t, off int) { f.tileMove(tileStore, t, off, regDX, regR8) })
	f.op("ADDQ", "$4096", "DX")
	f.op("ADDQ", "skip+48(FP)", "DI")
	f.op("DECQ", "R10")
	f.op("JNZ", "panel")
	f.tilerelease()
	f.op("RET")
}

// fetchRows is for the result's lines, which would otherwise be waited for one after the other.
func (f *asmFile) fetchRows() {
	f.fn("fetchRows", "fetches, to be written, the cache lines at at and at last in so many rows; distance of rows in bytes.",
		param{"rows", "int", "CX"}, param{"at", "unsafe.Pointer", "SI"}, param{"last", "unsafe.Pointer", "DI"}, param{"ld", "int", "R9"})
	f.label("loop")
	f.prefetchW(regSI, noIndex, 0)
	f.prefetchW(regDI, noIndex, 0)
	f.op("ADDQ", "R9", "SI")
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// stores writes tiles of rows of 32 sums to where they belong.
func stores(f *asmFile) {
	for _, s := range []struct {
		name, typ, doc string
		bytes          int
		put            func(f *asmFile, v int, mask string)
	}{
		{"F32", "*float32", "as they are", 4, func(f *asmFile, v int, mask string) {
			f.op("VMOVUPS", vec("Z", v), mask, at(64*v, "DI"))
		}},
		{"F16", "*uint16", "rounded to float16", 2, func(f *asmFile, v int, mask string) {
			f.op("VCVTPS2PH", "$0", vec("Z", v), mask, at(32*v, "DI"))
		}},
		{"Flat", "*uint16", "rounded to bfloat16, subnormals to zero", 2, func(f *asmFile, v int, mask string) {
			f.vcvtneps2bf16(v, v)
			f.op("VMOVDQU16", vec("Y", v), mask, at(32*v, "DI"))
		}},
		{"BF16", "*uint16", "rounded to bfloat16", 2, func(f *asmFile, v int, mask string) {
			f.roundBF16(v)
			f.op("VPMOVDW", vec("Z", 2+v), mask, at(32*v, "DI"))
		}},
	} {
		f.fn("storeTile"+s.name, "writes rows of the sums whose bits are set in have, a bias added unless it is nil, "+s.doc+"; distance of rows in bytes.",
			param{"rows", "int", "CX"}, param{"src", "*float32", "SI"}, param{"dst", s.typ, "DI"}, param{"ldd", "int", "R9"}, param{"have", "int", "AX"}, param{"bias", "*float32", "R12"})
		f.op("KMOVW", "AX", "K1")
		f.op("SHRL", "$16", "AX")
		f.op("KMOVW", "AX", "K2")
		if s.name == "BF16" {
			f.roundingConstants()
		}
		f.op("TESTQ", "R12", "R12")
		f.op("JZ", "loop")
		f.op("VMOVUPS.Z", "(R12)", "K1", "Z30")
		f.op("VMOVUPS.Z", "64(R12)", "K2", "Z31")
		f.op("PCALIGN", "$32")
		f.label("loop")
		f.op("VMOVUPS", "(SI)", "Z0")
		f.op("VMOVUPS", "64(SI)", "Z1")
		f.op("TESTQ", "R12", "R12")
		f.op("JZ", "put")
		f.op("VADDPS", "Z30", "Z0", "Z0")
		f.op("VADDPS", "Z31", "Z1", "Z1")
		f.label("put")
		s.put(f, 0, "K1")
		s.put(f, 1, "K2")
		f.op("ADDQ", "$128", "SI")
		f.op("ADDQ", "R9", "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
	}
}
