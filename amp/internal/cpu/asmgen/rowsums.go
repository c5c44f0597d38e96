package main

// rowSums adds up rows as lineSum does line by line, and their lanes too: a call for a short row takes as long as the row. It is for AVX2.
func rowSums(f *asmFile) {
	f.fn("rowSumsY", "sets the sums of n elements of each row as LineSum and Lanes.Sum give them; stride and the distance of what is brought into the cache in bytes; mask has as many ones as a block has elements, then zeros.",
		param{"rows", "int", "CX"}, param{"n", "int", "DX"}, param{"x", "*float32", "SI"}, param{"stride", "int", "R8"}, param{"ahead", "int", "R13"},
		param{"sums", "*float64", "DI"}, param{"mask", "*int32", "R9"})
	parts := lineLanes / 8
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "SI", "R10")
	f.op("MOVQ", "DX", "R11")
	f.op("VXORPD", "Y8", "Y8", "Y8")
	f.op("VXORPD", "Y9", "Y9", "Y9")
	f.op("SHRQ", "$5", "R11")
	f.op("JZ", "rest")
	f.label("segment")
	f.op("MOVQ", imm(lineSegment/lineLanes), "BX")
	f.op("CMPQ", "R11", "BX")
	f.op("CMOVQLT", "R11", "BX")
	f.op("SUBQ", "BX", "R11")
	for i := range parts {
		f.op("VXORPS", vec("Y", i), vec("Y", i), vec("Y", i))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("PREFETCHT0", "(R10)(R13*1)") // the processor does not guess what lies beyond a page
	f.op("PREFETCHT0", "64(R10)(R13*1)")
	for i := range parts {
		f.op("VADDPS", at(32*i, "R10"), vec("Y", i), vec("Y", i))
	}
	f.op("ADDQ", imm(4*lineLanes), "R10")
	f.op("DECQ", "BX")
	f.op("JNZ", "loop")
	f.foldRow()
	f.op("TESTQ", "R11", "R11")
	f.op("JNZ", "segment")
	f.label("rest")
	f.op("MOVQ", "DX", "BX")
	f.op("ANDQ", imm(lineLanes-1), "BX")
	f.op("JZ", "done")
	f.op("NEGQ", "BX")
	f.op("LEAQ", at(4*lineLanes, "R9")+"(BX*4)", "R12")
	for i := range parts {
		f.op("VMOVUPS", at(32*i, "R12"), "Y4")
		f.op("VMASKMOVPS", at(32*i, "R10"), "Y4", vec("Y", i))
	}
	f.foldRow()
	f.label("done")
	f.op("VADDPD", "Y9", "Y8", "Y8")
	f.op("VEXTRACTF128", "$1", "Y8", "X9")
	f.op("VADDPD", "X9", "X8", "X8")
	f.op("VPERMILPD", "$1", "X8", "X9")
	f.op("VADDSD", "X9", "X8", "X8")
	f.op("VMOVSD", "X8", "(DI)")
	f.op("ADDQ", "$8", "DI")
	f.op("ADDQ", "R8", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// foldRow adds a segment's lanes to those of float64 in two registers, in the order of Lanes.add.
func (f *asmFile) foldRow() {
	for half := range 2 {
		for i := range 4 {
			from := vec("X", i)
			if half == 1 {
				f.op("VEXTRACTF128", "$1", vec("Y", i), vec("X", 4+i))
				from = vec("X", 4+i)
			}
			f.op("VCVTPS2PD", from, vec("Y", 4+i))
		}
		f.op("VADDPD", "Y5", "Y4", "Y4")
		f.op("VADDPD", "Y7", "Y6", "Y6")
		f.op("VADDPD", "Y6", "Y4", "Y4")
		f.op("VADDPD", vec("Y", 8+half), "Y4", vec("Y", 8+half))
	}
}
