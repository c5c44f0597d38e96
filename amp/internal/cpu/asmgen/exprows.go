package main

import (
	"slices"
	"strconv"
)

// The exponentials of rows of scores: lineExpScale for many rows at a time, each with a largest number of its own, as numbers or as the parts
// that the tile registers multiply.

func expRows(f *asmFile) {
	var consts pool
	f.expRows("expRowsF32", "in place of them", outSet, &consts)
	f.expRows("expRowsBF16", "as two bfloat16 each", outBrain, &consts)
	f.expRows("expRowsF16", "times factor, as two float16 each", outHalf, &consts)
	f.constants(consts)
}

// The ways to write parts of a value: halves to DI, and what they leave to as much as R9 behind.
const (
	outBrain outKind = outMax + 1 + iota
	outHalf
)

// The fields of ExpRows in exprows.go, in bytes.
const (
	expCount, expBlocks, expSrc, expLds, expTop, expSum, expDst, expLdd, expPart, expScale, expFactor = 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 76
)

func (f *asmFile) expRows(name, doc string, out outKind, consts *pool) {
	at0 := slices.IndexFunc(lines, func(l line) bool { return l.name == "lineExpScale" })
	l := lines[at0].program()
	if out != outSet {
		l.outs[0] = lineOut{l.outs[0].v, out, 0}
	} else {
		l.outs[0].k = 0
	}
	w := &lineWriter{l: l, count: 16, args: map[int]string{}}
	w.lanes = lanes{f: f, p: &l.prog, reg: "Z", consts: consts}
	for i := range 32 {
		w.free = append(w.free, vec("Z", i))
	}
	w.masks = maskRegisters(7, 1)
	f.fn(name, "computes e^(x·scale - top) for rows of blocks of 32 scores, 0 where that is below the normal numbers, "+doc+", and the sum of each row.", param{"r", "*ExpRows", "AX"})
	f.op("LEAQ", "mathConsts<>(SB)", "R8")
	f.op("MOVQ", at(expCount, "AX"), "CX")
	f.op("MOVQ", at(expSrc, "AX"), "R10")
	f.op("MOVQ", at(expTop, "AX"), "R11")
	f.op("MOVQ", at(expSum, "AX"), "R12")
	if out != outSet {
		f.op("MOVQ", at(expDst, "AX"), "R13")
		f.op("MOVQ", at(expPart, "AX"), "R9")
	}
	for k := range 2 {
		w.args[k] = w.take()
	}
	f.op("VBROADCASTSS", at(expScale, "AX"), w.args[1])
	if out == outHalf {
		w.args[2] = w.take()
		f.op("VBROADCASTSS", at(expFactor, "AX"), w.args[2])
	}
	w.loadTables()
	a, b := w.take(), w.take()
	w.sums[0] = []string{a, b}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("VBROADCASTSS", "(R11)", w.args[0])
	f.op("VXORPS", a, a, a)
	f.op("VXORPS", b, b, b)
	f.op("MOVQ", "R10", "SI")
	f.op("MOVQ", "R13", "DI")
	f.op("MOVQ", at(expBlocks, "AX"), "BX")
	f.op("PCALIGN", "$32")
	f.label("some")
	f.b.WriteString(w.paired(func(l *lanes, g int) {
		own := *w
		own.lanes = *l
		own.group(g)
	}))
	f.op("ADDQ", "$128", "SI")
	if out != outSet {
		f.op("ADDQ", "$64", "DI")
	}
	f.op("DECQ", "BX")
	f.op("JNZ", "some")
	f.op("VADDPS", a, b, a)
	x := func(r, width string) string { return width + r[1:] }
	f.op("VEXTRACTF64X4", "$1", a, x(b, "Y"))
	f.op("VADDPS", x(a, "Y"), x(b, "Y"), x(a, "Y"))
	f.op("VEXTRACTF128", "$1", x(a, "Y"), x(b, "X"))
	f.op("VADDPS", x(a, "X"), x(b, "X"), x(a, "X"))
	for _, turn := range []string{"$0x4e", "$0xb1"} {
		f.op("VPERMILPS", turn, x(a, "X"), x(b, "X"))
		f.op("VADDPS", x(a, "X"), x(b, "X"), x(a, "X"))
	}
	f.op("VMOVSS", x(a, "X"), "(R12)")
	f.op("ADDQ", "$4", "R11")
	f.op("ADDQ", "$4", "R12")
	f.op("ADDQ", at(expLds, "AX"), "R10")
	if out != outSet {
		f.op("ADDQ", at(expLdd, "AX"), "R13")
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// parts writes the halves whose sum is r.
func (w *lineWriter) parts(r string, out outKind, g int) {
	f, t, rest := w.f, w.take(), w.take()
	half := "Y" + t[1:]
	number := func(r string) int { n, _ := strconv.Atoi(r[1:]); return n }
	to := at(32*g, "DI")
	if out == outHalf {
		x := w.take()
		f.op("VMULPS", w.args[2], r, x)
		f.op("VCVTPS2PH", "$0", x, half)
		f.op("VMOVDQU32", half, to)
		f.op("VCVTPH2PS", half, rest)
		f.op("VSUBPS", rest, x, rest)
		f.op("VCVTPS2PH", "$0", rest, half)
		w.free = append(w.free, x)
	} else {
		f.vcvtneps2bf16(number(r), number(t))
		f.op("VMOVDQU32", half, to)
		f.op("VPMOVZXWD", half, rest)
		f.op("VPSLLD", "$16", rest, rest)
		f.op("VSUBPS", rest, r, rest)
		f.vcvtneps2bf16(number(rest), number(t))
	}
	f.op("VMOVDQU32", half, to+"(R9*1)")
	w.free = append(w.free, t, rest)
}
