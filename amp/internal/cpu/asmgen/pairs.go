package main

import "fmt"

// The micro-kernels of a convolution of bfloat16 where VDPBF16PS multiplies it: as those of steps, but each element is a pair along k, and sums
// are rounded as they leave the registers where the result is of halves.

func pairs(f *asmFile) {
	for _, rows := range []int{1, 2, 4, 8} {
		for _, vectors := range []int{1, 2, 3} {
			f.pairTile(rows, vectors)
		}
	}
	f.finiteDots()
}

// The fields of pairTile in pairs_amd64.go, in bytes.
const (
	pairK, pairA, pairSteps, pairB, pairC, pairRow, pairMask, pairBias, pairTo, pairAhead, pairThrees = 0, 8, 16, 24, 48, 72, 80, 104, 112, 120, 128
)

// pairTile is a tile of rows × 16·vectors sums of products of bfloat16.
func (f *asmFile) pairTile(rows, vectors int) {
	f.fn(fmt.Sprintf("pairSteps%dx%d", rows, vectors), fmt.Sprintf("sets or raises %d rows of %d vectors of c by the sums over k pairs of a, k columns of %d, times 16 pairs of b at the distance that a step gives.", rows, vectors, rows),
		param{"t", "*pairTile", "BX"})
	f.op("MOVQ", at(pairK, "BX"), "CX")
	f.op("MOVQ", at(pairA, "BX"), "SI")
	f.op("MOVQ", at(pairSteps, "BX"), "R8")
	b, c := []string{"R9", "R10", "R11"}, []string{"R12", "R13", "DI"}
	for v := range vectors {
		f.op("MOVQ", at(pairB+8*v, "BX"), b[v])
	}
	n := rows * vectors
	for i := range n {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	if rows == 8 {
		f.op("MOVQ", at(pairAhead, "BX"), "R15")
	}
	// loop takes so many steps at a time.
	loop := func(label string, steps int) {
		f.op("PCALIGN", "$32")
		f.label(label)
		for s := range steps {
			f.op("MOVQ", at(8*s, "R8"), "AX")
			if s == 0 && rows == 8 { // eight rows are long enough to fetch from the L2 cache what is wanted next
				f.op("LEAQ", "(AX)(R15*1)", "DX")
				for v := range vectors {
					f.op("PREFETCHT0", "("+b[v]+")(DX*1)")
				}
			}
			for v := range vectors {
				f.op("VMOVUPS", "("+b[v]+")(AX*1)", vec("Z", 24+v))
			}
			for i := range rows {
				f.op("VBROADCASTSS", at(4*(s*rows+i), "SI"), vec("Z", 28+i%4))
				for v := range vectors {
					f.vdpbf16ps(24+v, 28+i%4, i*vectors+v)
				}
			}
		}
		f.op("ADDQ", imm(8*steps), "R8")
		f.op("ADDQ", imm(4*rows*steps), "SI")
		f.op("SUBQ", imm(steps), "CX")
		f.op("JNZ", label)
	}
	if rows == 8 {
		f.op("CMPQ", at(pairThrees, "BX"), "$0")
		f.op("JEQ", "loop")
		loop("threes", 3)
		f.op("JMP", "done")
	}
	loop("loop", 1)
	f.label("done")
	for v := range vectors {
		f.op("MOVQ", at(pairC+8*v, "BX"), c[v])
		f.op("MOVQ", at(pairMask+8*v, "BX"), "AX")
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
	}
	f.op("MOVQ", at(pairRow, "BX"), "R9")
	f.op("MOVQ", at(pairBias, "BX"), "R10")
	f.op("MOVQ", at(pairTo, "BX"), "R11")
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "sums")
	for i := range rows {
		f.op("VBROADCASTSS", at(4*i, "R10"), "Z24")
		for v := range vectors {
			f.op("VADDPS", "Z24", vec("Z", i*vectors+v), vec("Z", i*vectors+v))
		}
	}
	f.label("sums")
	f.op("CMPQ", "R11", "$1")
	f.op("JEQ", "add")
	f.op("JA", "half")
	f.putPairs(rows, vectors, c, func(sum int, to, mask string) { f.op("VMOVUPS", vec("Z", sum), mask, to) })
	f.label("add")
	f.putPairs(rows, vectors, c, func(sum int, to, mask string) {
		f.op("VMOVUPS.Z", to, mask, "Z24")
		f.op("VADDPS", vec("Z", sum), "Z24", vec("Z", sum))
		f.op("VMOVUPS", vec("Z", sum), mask, to)
	})
	f.label("half")
	f.op("TESTQ", "R10", "R10")
	f.op("JNZ", "raised")
	f.putPairs(rows, vectors, c, func(sum int, to, mask string) { // none of the sums is subnormal
		f.vcvtneps2bf16(sum, 24+sum%4)
		f.op("VMOVDQU16", vec("Y", 24+sum%4), mask, to)
	})
	f.label("raised")
	for i, v := range []string{"$0x7fff", "$1", "$0x40"} {
		f.op("MOVL", v, "AX")
		f.op("VPBROADCASTD", "AX", vec("Z", 26+i))
	}
	f.putPairs(rows, vectors, c, func(sum int, to, mask string) {
		x := vec("Z", sum)
		f.op("VPSRLD", "$16", x, "Z24")
		f.op("VPORD", "Z28", "Z24", "Z25")
		f.op("VPANDD", "Z27", "Z24", "Z24")
		f.op("VPADDD", "Z26", "Z24", "Z24")
		f.op("VPADDD", x, "Z24", "Z24")
		f.op("VPSRLD", "$16", "Z24", "Z24")
		f.op("VCMPPS", "$3", x, x, "K5")
		f.op("VMOVDQA32", "Z25", "K5", "Z24")
		f.op("VPMOVDW", "Z24", mask, to)
	})
}

// putPairs calls put for each sum with its place, and returns.
func (f *asmFile) putPairs(rows, vectors int, c []string, put func(sum int, to, mask string)) {
	for i := range rows {
		for v := range vectors {
			put(i*vectors+v, "("+c[v]+")", fmt.Sprintf("K%d", 1+v))
			if i < rows-1 {
				f.op("ADDQ", "R9", c[v])
			}
		}
	}
	f.ret()
}

// finiteDots looks for numbers that are not finite: those times zero are NaN.
func (f *asmFile) finiteDots() {
	f.fn("finiteDots", "sets bad to 0 if the elements of n blocks of 128 are finite.", param{"n", "int", "CX"}, param{"x", "*uint16", "SI"}, param{"bad", "*int", "DI"})
	for i := range 5 { // four sums, so that none waits for the one before, and zero
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i := range 4 {
		f.op("VMOVUPS", at(64*i, "SI"), vec("Z", 8+i))
		f.vdpbf16ps(8+i, 4, i)
	}
	f.op("ADDQ", "$256", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for i := 1; i < 4; i++ {
		f.op("VADDPS", vec("Z", i), "Z0", "Z0")
	}
	f.op("VCMPPS", "$3", "Z0", "Z0", "K1")
	f.op("KMOVW", "K1", "AX")
	f.op("MOVQ", "AX", "(DI)")
	f.ret()
}
