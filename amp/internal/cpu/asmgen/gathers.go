package main

import "fmt"

// Packing of a matrix whose elements are found by two tables of offsets.

func gathers(f *asmFile) {
	for _, vectors := range []int{1, 2} {
		f.gatherRows(vectors)
	}
	f.gatherEights()
	for _, j := range []joiner{{"BF16", joinBF16}, {"F16", joinF16}} {
		f.gatherPairs(j)
		f.gatherPairEights(j)
	}
	f.gatherRunsY()
}

// gatherRunsY takes neighbors with masks, so that nothing beyond them is read. Whole vectors are stored, as stores with a mask are slow.
func (f *asmFile) gatherRunsY() {
	f.fn("gatherRunsY", "writes rows of some pieces, each from its distance of the places along; rows lie row bytes apart.",
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"pieces", "*gatherPiece", "R9"}, param{"n", "int", "R10"}, param{"dst", "*float32", "DI"}, param{"row", "int", "R13"})
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVLQSX", "(R8)", "AX")
	f.op("LEAQ", "(SI)(AX*4)", "R12")
	f.op("MOVQ", "R9", "BX")
	f.op("MOVQ", "R10", "DX")
	f.label("piece")
	f.op("VMOVUPS", "16(BX)", "Y0")
	f.op("MOVQ", "(BX)", "AX")
	f.op("MOVQ", "8(BX)", "R11")
	f.op("VMASKMOVPS", "(R12)(AX*1)", "Y0", "Y1")
	f.op("VMOVUPS", "Y1", "(DI)(R11*1)")
	f.op("ADDQ", "$48", "BX")
	f.op("DECQ", "DX")
	f.op("JNZ", "piece")
	f.op("ADDQ", "$4", "R8")
	f.op("ADDQ", "R13", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// A joiner makes pairs of halves of float32 registers lo and hi, which hold numbers of this format, in lo; reg is Z or Y.
type joiner struct {
	name string
	join func(f *asmFile, reg string, lo, hi int)
}

// joinBF16: a bfloat16 is the upper half of its float32.
func joinBF16(f *asmFile, reg string, lo, hi int) {
	f.op("VPSRLD", "$16", vec(reg, lo), vec(reg, lo))
	f.op("VORPS", vec(reg, hi), vec(reg, lo), vec(reg, lo))
}

func joinF16(f *asmFile, reg string, lo, hi int) {
	short := map[string]string{"Z": "Y", "Y": "X"}[reg]
	for _, r := range []int{lo, hi} {
		f.op("VCVTPS2PH", "$0", vec(reg, r), vec(short, r))
		f.op("VPMOVZXWD", vec(short, r), vec(reg, r))
	}
	f.op("VPSLLD", "$16", vec(reg, hi), vec(reg, hi))
	f.op("VORPS", vec(reg, hi), vec(reg, lo), vec(reg, lo))
}

// gatherPairs is gatherRows for pairs of rows.
func (f *asmFile) gatherPairs(j joiner) {
	f.fn("gatherPairs"+j.name, "writes k rows of 32 pairs of halves: the elements at src + along[2·row] and along[2·row+1] + across[column] for the bits in have, else zeros.",
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"across", "*int32", "R10"}, param{"dst", "*float32", "DI"}, param{"have", "int", "AX"})
	for v := range 2 {
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
		f.op("SHRL", "$16", "AX")
		f.op("VMOVDQU32", at(64*v, "R10"), vec("Z", 30+v))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i, r := range []string{"AX", "BX"} {
		f.op("MOVLQSX", at(4*i, "R8"), r)
		f.op("LEAQ", "(SI)("+r+"*4)", r)
		for v := range 2 {
			x := 2*i + v
			f.op("VXORPS", vec("X", x), vec("X", x), vec("X", x))
			f.op("KMOVW", fmt.Sprintf("K%d", 1+v), fmt.Sprintf("K%d", 3+x))
			f.op("VGATHERDPS", fmt.Sprintf("(%s)(Z%d*4)", r, 30+v), fmt.Sprintf("K%d", 3+x), vec("Z", x))
		}
	}
	for v := range 2 {
		j.join(f, "Z", v, 2+v)
		f.op("VMOVUPS", vec("Z", v), at(64*v, "DI"))
	}
	f.op("ADDQ", "$8", "R8")
	f.op("ADDQ", "$128", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// gatherPairEights is gatherEights for pairs of rows.
func (f *asmFile) gatherPairEights(j joiner) {
	f.fn("gatherPairEights"+j.name, "writes k rows of 32 pairs of halves, each row's elements in four runs of eight at src + along[2·row] and along[2·row+1] + the offsets in across.",
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"across", "*int32", "R10"}, param{"dst", "*float32", "DI"})
	starts := []string{"R11", "R12", "R13", "DX"}
	for i, r := range starts {
		f.op("MOVLQSX", at(32*i, "R10"), r)
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i, r := range []string{"AX", "BX"} {
		f.op("MOVLQSX", at(4*i, "R8"), r)
		f.op("LEAQ", "(SI)("+r+"*4)", r)
		for q, start := range starts {
			f.op("VMOVUPS", "("+r+")("+start+"*4)", vec("Y", 4*i+q))
		}
	}
	for q := range starts {
		j.join(f, "Y", q, 4+q)
		f.op("VMOVUPS", vec("Y", q), at(32*q, "DI"))
	}
	f.op("ADDQ", "$8", "R8")
	f.op("ADDQ", "$128", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// gatherRows reads every element by its own offset.
func (f *asmFile) gatherRows(vectors int) {
	f.fn(fmt.Sprintf("gatherRows%d", vectors),
		fmt.Sprintf("writes k rows of up to %d elements: those at src + along[row] + across[column] for the bits in have, zeros for the other bits in width; stride in bytes.", 16*vectors),
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"across", "*int32", "R10"},
		param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"}, param{"have", "int", "AX"}, param{"width", "int", "BX"})
	for v := range vectors {
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
		f.op("KMOVW", "BX", fmt.Sprintf("K%d", 3+v))
		f.op("SHRL", "$16", "AX")
		f.op("SHRL", "$16", "BX")
		f.op("VMOVDQU32", at(64*v, "R10"), vec("Z", 30+v))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVLQSX", "(R8)", "AX")
	f.op("LEAQ", "(SI)(AX*4)", "AX")
	for v := range vectors {
		f.op("VXORPS", vec("X", v), vec("X", v), vec("X", v))
		f.op("KMOVW", fmt.Sprintf("K%d", 1+v), fmt.Sprintf("K%d", 5+v))
		f.op("VGATHERDPS", fmt.Sprintf("(AX)(Z%d*4)", 30+v), fmt.Sprintf("K%d", 5+v), vec("Z", v))
	}
	for v := range vectors {
		f.op("VMOVUPS", vec("Z", v), fmt.Sprintf("K%d", 3+v), at(64*v, "DI"))
	}
	f.op("ADDQ", "$4", "R8")
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// gatherEights reads eight neighbors at a time.
func (f *asmFile) gatherEights() {
	f.fn("gatherEights", "writes k rows of 32 elements that lie in four runs of eight, at src + along[row] + the offsets in across, and follow each other.",
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"across", "*int32", "R10"}, param{"dst", "*float32", "DI"})
	starts := []string{"R11", "R12", "R13", "DX"}
	for i, r := range starts {
		f.op("MOVLQSX", at(32*i, "R10"), r)
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVLQSX", "(R8)", "AX")
	f.op("LEAQ", "(SI)(AX*4)", "AX")
	for i, r := range starts {
		f.op("VMOVUPS", "(AX)("+r+"*4)", vec("Y", i))
	}
	for i := range starts {
		f.op("VMOVUPS", vec("Y", i), at(32*i, "DI"))
	}
	f.op("ADDQ", "$4", "R8")
	f.op("ADDQ", "$128", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
