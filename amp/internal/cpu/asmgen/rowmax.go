package main

// The largest numbers of rows, NaN aside.

func rowMaxima(f *asmFile) {
	f.rowMax("rowMax", false)
	f.rowMax("tileRowMax", true)
	f.rowMaxY()
	f.wideBools()
}

// wideBools widens bytes that stand for truths.
func (f *asmFile) wideBools() {
	f.fn("wideBools", "sets 16·n elements to 1 where a byte is not 0, else to 0.", param{"n", "int", "CX"}, param{"src", "*byte", "SI"}, param{"dst", "*float32", "DI"})
	f.op("MOVL", "$0x3f800000", "AX")
	f.op("VPBROADCASTD", "AX", "Z1")
	f.label("some")
	f.op("VPMOVZXBD", "(SI)", "Z0")
	f.op("VPTESTMD", "Z0", "Z0", "K1")
	f.op("VMOVDQU32.Z", "Z1", "K1", "Z0")
	f.op("VMOVDQU32", "Z0", "(DI)")
	f.op("ADDQ", "$16", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "some")
	f.ret()
	f.fn("wideBoolsY", "is wideBools for AVX2.", param{"n", "int", "CX"}, param{"src", "*byte", "SI"}, param{"dst", "*float32", "DI"})
	f.op("MOVL", "$0x3f800000", "AX")
	f.op("VMOVD", "AX", "X1")
	f.op("VPBROADCASTD", "X1", "Y1")
	f.op("VPXOR", "Y2", "Y2", "Y2")
	f.label("some")
	for i := range 2 {
		v := vec("Y", 3+i)
		f.op("VPMOVZXBD", at(8*i, "SI"), v)
		f.op("VPCMPEQD", "Y2", v, v)
		f.op("VPANDN", "Y1", v, v)
		f.op("VMOVDQU", v, at(32*i, "DI"))
	}
	f.op("ADDQ", "$16", "SI")
	f.op("ADDQ", "$64", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "some")
	f.ret()
}

// rowMax goes over rows, or those of tiles, 32 elements of a row beside each other, and then copies them to rows.
func (f *asmFile) rowMax(name string, tiles bool) {
	doc, params := "writes the largest of n elements of each row, NaN aside, minus infinity if there is none; distance of rows in bytes.",
		[]param{{"rows", "int", "CX"}, {"n", "int", "R11"}, {"src", "*float32", "SI"}, {"lds", "int", "R8"}, {"most", "*float32", "R9"}}
	if tiles {
		doc = "copies rows of n elements from tiles, where 32 of a row are beside each other and the next ones next bytes behind, and writes the largest of each row, NaN aside, minus infinity if there is none; distance of rows in bytes."
		params = []param{{"rows", "int", "CX"}, {"n", "int", "R11"}, {"src", "*float32", "SI"}, {"next", "int", "R8"}, {"dst", "*float32", "DI"}, {"ldd", "int", "R10"}, {"most", "*float32", "R9"}}
	}
	f.fn(name, doc, params...)
	f.op("MOVL", "$0xff800000", "AX")
	f.op("VPBROADCASTD", "AX", "Z31")
	f.op("MOVQ", "$-1", "R15")
	next := "$128"
	if tiles {
		next = "R8"
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "DI", "DX")
	f.op("MOVQ", "R11", "BX")
	f.op("VMOVAPS", "Z31", "Z0")
	f.op("VMOVAPS", "Z31", "Z1")
	f.op("SUBQ", "$32", "BX")
	f.op("JL", "rest")
	f.op("PCALIGN", "$32")
	f.label("some")
	for i := range 2 {
		v, m := vec("Z", 2+i), vec("Z", i)
		f.op("VMOVUPS", at(64*i, "R12"), v)
		if tiles {
			f.op("VMOVUPS", v, at(64*i, "DX"))
		}
		f.op("VMAXPS", m, v, m) // the second one, m, if v is NaN
	}
	f.op("ADDQ", next, "R12")
	f.op("ADDQ", "$128", "DX")
	f.op("SUBQ", "$32", "BX")
	f.op("JGE", "some")
	f.label("rest")
	f.op("ADDQ", "$32", "BX")
	f.op("JZ", "done")
	f.op("BZHIQ", "BX", "R15", "AX")
	f.op("KMOVD", "AX", "K1")
	f.op("KSHIFTRD", "$16", "K1", "K2")
	for i, k := range []string{"K1", "K2"} {
		v, m := vec("Z", 2+i), vec("Z", i)
		f.op("VMOVAPS", "Z31", v)
		f.op("VMOVUPS", at(64*i, "R12"), k, v)
		if tiles {
			f.op("VMOVUPS", v, k, at(64*i, "DX"))
		}
		f.op("VMAXPS", m, v, m)
	}
	f.label("done")
	f.op("VMAXPS", "Z0", "Z1", "Z0")
	f.op("VEXTRACTF64X4", "$1", "Z0", "Y1")
	f.op("VMAXPS", "Y0", "Y1", "Y0")
	f.op("VEXTRACTF128", "$1", "Y0", "X1")
	f.op("VMAXPS", "X0", "X1", "X0")
	f.op("VPERMILPS", "$0x4e", "X0", "X1")
	f.op("VMAXPS", "X0", "X1", "X0")
	f.op("VPERMILPS", "$0xb1", "X0", "X1")
	f.op("VMAXPS", "X0", "X1", "X0")
	f.op("VMOVSS", "X0", "(R9)")
	f.op("ADDQ", "$4", "R9")
	if tiles {
		f.op("ADDQ", "$128", "SI")
		f.op("ADDQ", "R10", "DI")
	} else {
		f.op("ADDQ", "R8", "SI")
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// rowMaxY is rowMax for AVX2, which has no masks: the last elements of a row are read together with some before them, which changes no maximum.
func (f *asmFile) rowMaxY() {
	f.fn("rowMaxY", "writes the largest of n elements of each row, at least 8, NaN aside, minus infinity if there is none; distance of rows in bytes.",
		param{"rows", "int", "CX"}, param{"n", "int", "R11"}, param{"src", "*float32", "SI"}, param{"lds", "int", "R8"}, param{"most", "*float32", "R9"})
	f.op("MOVL", "$0xff800000", "AX")
	f.op("VMOVD", "AX", "X15")
	f.op("VPBROADCASTD", "X15", "Y15")
	larger := func(of string, i int) { f.op("VMAXPS", vec("Y", i), of, vec("Y", i)) } // the second one is kept beside NaN
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R12")
	f.op("MOVQ", "R11", "BX")
	for i := range 4 {
		f.op("VMOVAPS", "Y15", vec("Y", i))
	}
	f.op("SUBQ", "$32", "BX")
	f.op("JL", "eights")
	f.op("PCALIGN", "$32")
	f.label("some")
	for i := range 4 {
		f.op("VMOVUPS", at(32*i, "R12"), vec("Y", 4+i))
		larger(vec("Y", 4+i), i)
	}
	f.op("ADDQ", "$128", "R12")
	f.op("SUBQ", "$32", "BX")
	f.op("JGE", "some")
	f.label("eights")
	f.op("ADDQ", "$24", "BX")
	f.op("JL", "rest")
	f.label("eight")
	f.op("VMOVUPS", "(R12)", "Y4")
	larger("Y4", 0)
	f.op("ADDQ", "$32", "R12")
	f.op("SUBQ", "$8", "BX")
	f.op("JGE", "eight")
	f.label("rest")
	f.op("CMPQ", "BX", "$-8")
	f.op("JEQ", "done")
	f.op("VMOVUPS", "(R12)(BX*4)", "Y4")
	larger("Y4", 1)
	f.label("done")
	for _, pair := range [][2]int{{1, 0}, {3, 2}, {2, 0}} {
		larger(vec("Y", pair[0]), pair[1])
	}
	f.op("VEXTRACTF128", "$1", "Y0", "X1")
	f.op("VMAXPS", "X0", "X1", "X0")
	for _, turn := range []string{"$0x4e", "$0xb1"} {
		f.op("VPERMILPS", turn, "X0", "X1")
		f.op("VMAXPS", "X0", "X1", "X0")
	}
	f.op("VMOVSS", "X0", "(R9)")
	f.op("ADDQ", "$4", "R9")
	f.op("ADDQ", "R8", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}
