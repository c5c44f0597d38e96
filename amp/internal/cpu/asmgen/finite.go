package main

// finites walk over numbers until one is infinite or NaN, four registers at a time: unscaling multiplies those before it in place.
func finites(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		f.finite(width, true)
		f.finite(width, false)
	}
}

func (f *asmFile) finite(width string, scaled bool) {
	wide := width == "Z"
	size := map[bool]int{false: 32, true: 64}[wide]
	v := func(i int) string { return vec(width, i) }
	if scaled {
		f.fn("unscale"+width, "multiplies n blocks of four registers by k, up to the first with a number that is not finite; left becomes the blocks from there on.",
			param{"n", "int", "CX"}, param{"x", "*float32", "DI"}, param{"left", "*int", "DX"}, param{"k", "*float32", "AX"})
		f.op("VBROADCASTSS", "(AX)", v(8))
	} else {
		f.fn("finite"+width, "is unscale without the product.", param{"n", "int", "CX"}, param{"x", "*float32", "DI"}, param{"left", "*int", "DX"})
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for i := range 4 {
		f.op("VMOVUPS", at(size*i, "DI"), v(i))
	}
	for i := range 4 {
		if wide { // quiet NaN, +Inf, -Inf, signaling NaN
			f.op("VFPCLASSPSZ", "$0x99", v(i), vec("K", 1+i))
		} else { // 0, or NaN
			f.op("VSUBPS", v(i), v(i), v(4+i))
		}
	}
	if wide {
		f.op("KORW", "K1", "K2", "K1")
		f.op("KORW", "K3", "K4", "K3")
		f.op("KORTESTW", "K1", "K3")
	} else {
		f.op("VORPS", v(4), v(5), v(4))
		f.op("VORPS", v(6), v(7), v(6))
		f.op("VORPS", v(4), v(6), v(4))
		f.op("VPTEST", v(4), v(4))
	}
	f.op("JNZ", "done")
	if scaled {
		for i := range 4 {
			f.op("VMULPS", v(8), v(i), v(i))
		}
		for i := range 4 {
			f.op("VMOVUPS", v(i), at(size*i, "DI"))
		}
	}
	f.op("ADDQ", imm(4*size), "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.label("done")
	f.op("MOVQ", "CX", "(DX)")
	f.ret()
}
