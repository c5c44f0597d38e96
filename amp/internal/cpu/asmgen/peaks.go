package main

// Loops of nothing but multiply-adds in registers: what the processor can do at most, for the benchmark to hold products against. They multiply
// numbers that they are given: with zeros a processor takes less power, and its clock is faster than any product sees it.

func peaks(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		f.fn("peakF32"+width, "does 12·n multiply-adds of four whole vectors of float32, from x.", param{"n", "int", "CX"}, param{"x", "*float32", "SI"})
		f.chains(width, func(a, b, i int) { f.op("VFMADD231PS", vec(width, a), vec(width, b), vec(width, i)) })
	}
	for _, width := range []string{"Y", "Z"} {
		size := map[string]int{"Y": 32, "Z": 64}[width]
		f.fn("readAll"+width, "reads n blocks of four registers.", param{"n", "int", "CX"}, param{"x", "*byte", "DI"})
		f.op("PCALIGN", "$32")
		f.label("loop")
		for i := range 4 {
			f.op("VMOVUPS", at(size*i, "DI"), vec(width, i))
		}
		f.next(4 * size)
		f.fn("rewriteAll"+width, "reads n blocks of four registers and writes the same in place.", param{"n", "int", "CX"}, param{"x", "*byte", "DI"})
		f.op("PCALIGN", "$32")
		f.label("loop")
		for i := range 4 {
			f.op("VMOVUPS", at(size*i, "DI"), vec(width, i))
		}
		for i := range 4 {
			f.op("VMOVUPS", vec(width, i), at(size*i, "DI"))
		}
		f.next(4 * size)
	}
	f.fn("peakPairs", "does 12·n of VDPBF16PS with four vectors from x.", param{"n", "int", "CX"}, param{"x", "*uint16", "SI"})
	f.chains("Z", func(a, b, i int) { f.vdpbf16ps(a, b, i) })
	for _, dot := range [][2]string{{"BF16", "TDPBF16PS"}, {"F16", "TDPFP16PS"}} {
		f.fn("peakTiles"+dot[0], "does 4·n products of four whole tiles, from x.", param{"n", "int", "CX"}, param{"config", "*[64]byte", "AX"}, param{"x", "*uint16", "SI"})
		f.ldtilecfg(regAX)
		f.op("MOVQ", "$64", "R8")
		for t := range 4 {
			f.tilezero(t)
			f.tileMove(tileLoad, 4+t, 1024*t, regSI, regR8)
		}
		f.op("PCALIGN", "$32")
		f.label("loop")
		for t := range 4 {
			f.tdp(dot[1], 4+t/2, 6+t%2, t)
		}
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.tilerelease()
		f.op("RET")
	}
}

// chains is a loop over twelve sums: more than the latency of an instruction times how many start at a time. Registers 12…15 hold numbers.
func (f *asmFile) chains(width string, add func(a, b, i int)) {
	for i := range 12 {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i))
	}
	for i := range 4 {
		f.op("VMOVUPS", at(map[string]int{"Y": 32, "Z": 64}[width]*i, "SI"), vec(width, 12+i))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i := range 12 {
		add(12+i%2, 14+i/2%2, i)
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// next ends a loop over memory.
func (f *asmFile) next(bytes int) {
	f.op("ADDQ", imm(bytes), "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
