package main

import "fmt"

// rowExtremes take the larger or smaller numbers of a row of results and the rows of a matrix, in their order, four rows for each time that
// the results are read and written. They are for AVX2.
func rowExtremes(f *asmFile) {
	for _, v := range []struct{ name, doc, equal, op string }{
		{"maximumRowsY", "larger", "VANDPS", "VMAXPS"}, {"minimumRowsY", "smaller", "VORPS", "VMINPS"},
	} {
		f.fn(v.name, fmt.Sprintf("sets blocks of 32 numbers in best to the %s of each and those of n fours of rows, NaN if one is; stride in bytes.", v.doc),
			param{"n", "int", "CX"}, param{"blocks", "int", "R9"}, param{"x", "*float32", "SI"}, param{"stride", "int", "R8"}, param{"best", "*float32", "DI"})
		rows := []string{"R10", "R11", "R12", "R13"}
		f.op("PCALIGN", "$32")
		f.label("four")
		f.op("MOVQ", "DI", "DX")
		f.op("MOVQ", "R9", "BX")
		f.op("MOVQ", "SI", "R10")
		for i := range 3 {
			f.op("LEAQ", "("+rows[i]+")(R8*1)", rows[i+1])
		}
		f.op("LEAQ", "(SI)(R8*4)", "SI")
		f.op("PCALIGN", "$32")
		f.label("loop")
		for i := range 4 {
			f.op("VMOVUPS", at(32*i, "DX"), vec("Y", i))
		}
		for _, row := range rows {
			for line := range 2 { // not into the nearest cache, where lines a page apart would drive each other out
				f.op("PREFETCHT1", at(64*line, row)+"(R8*4)")
			}
			for i := 0; i < 4; i += 2 {
				f.twoExtremes(i, row, v.equal, v.op)
			}
			f.op("ADDQ", "$128", row)
		}
		for i := range 4 {
			f.op("VMOVUPS", vec("Y", i), at(32*i, "DX"))
		}
		f.op("ADDQ", "$128", "DX")
		f.op("DECQ", "BX")
		f.op("JNZ", "loop")
		f.op("DECQ", "CX")
		f.op("JNZ", "four")
		f.ret()
	}
}

// twoExtremes sets registers i and i+1 as lineMaximum and lineMinimum do: of two zeros the one with the sign that equal gives, and the first NaN.
func (f *asmFile) twoExtremes(i int, row, equal, op string) {
	each := func(write func(best, x, same, number, both string)) {
		for j := range 2 {
			write(vec("Y", i+j), vec("Y", 4+j), vec("Y", 6+j), vec("Y", 8+j), vec("Y", 10+j))
		}
	}
	for j := range 2 {
		f.op("VMOVUPS", at(32*(i+j), row), vec("Y", 4+j))
	}
	each(func(best, x, same, number, both string) { f.op("VCMPPS", "$0", best, best, number) })
	each(func(best, x, same, number, both string) { f.op("VCMPPS", "$0", x, best, same) })
	each(func(best, x, same, number, both string) { f.op(equal, x, best, both) })
	each(func(best, x, same, number, both string) { f.op(op, x, best, x) })
	each(func(best, x, same, number, both string) { f.op("VBLENDVPS", same, both, x, x) })
	each(func(best, x, same, number, both string) { f.op("VBLENDVPS", number, x, best, best) })
}
