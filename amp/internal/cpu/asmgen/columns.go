package main

import "fmt"

// Sums of a matrix's columns: rows are added up in registers, a vector of columns or several beside each other, so that each number is
// read once and no sum is written before the end.

// A columnSource is a format of the numbers and how a vector of them is widened.
type columnSource struct {
	name, typ string
	bytes     int
	load      func(f *asmFile, from, to string) string // returns the operand to add
}

var columnSources = []columnSource{
	{"F32", "*float32", 4, func(f *asmFile, from, to string) string { return from }},
	{"F16", "*uint16", 2, func(f *asmFile, from, to string) string {
		f.op("VCVTPH2PS", from, to)
		return to
	}},
	{"BF16", "*uint16", 2, func(f *asmFile, from, to string) string {
		f.op("VPMOVZXWD", from, to)
		f.op("VPSLLD", "$16", to, to)
		return to
	}},
}

func columnSums(f *asmFile) {
	for _, s := range columnSources {
		for _, wide := range []int{128, 16} {
			f.columnFunc(s, wide, "Z", 16)
			f.columnFunc(s, wide, "Y", 8)
		}
	}
	f.rowAdds()
}

// rowAdds adds a row to all rows of a matrix: the bias of a product.
func (f *asmFile) rowAdds() {
	for _, v := range []struct {
		reg   string
		lanes int
	}{{"Z", 16}, {"Y", 8}} {
		f.fn("addToRows"+v.reg, "adds blocks of 16 elements of x to each of rows rows of c; stride in bytes.",
			param{"rows", "int", "DX"}, param{"blocks", "int", "BX"}, param{"x", "*float32", "R9"}, param{"c", "*float32", "R10"}, param{"stride", "int", "R8"})
		f.label("row")
		f.op("MOVQ", "R9", "SI")
		f.op("MOVQ", "R10", "DI")
		f.op("MOVQ", "BX", "CX")
		f.label("loop")
		for g := range 16 / v.lanes {
			f.op("VMOVUPS", at(4*v.lanes*g, "DI"), vec(v.reg, g))
			f.op("VADDPS", at(4*v.lanes*g, "SI"), vec(v.reg, g), vec(v.reg, g))
			f.op("VMOVUPS", vec(v.reg, g), at(4*v.lanes*g, "DI"))
		}
		f.op("ADDQ", "$64", "SI")
		f.op("ADDQ", "$64", "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.op("ADDQ", "R8", "R10")
		f.op("DECQ", "DX")
		f.op("JNZ", "row")
		f.ret()
	}
}

// columnFunc adds wide columns; AVX2 does many of them in two turns, as half of its registers are taken up by what it widens.
func (f *asmFile) columnFunc(s columnSource, wide int, reg string, lanes int) {
	f.fn(fmt.Sprintf("columns%d%s%s", wide, s.name, reg), fmt.Sprintf("sets %d sums in c to those of the columns of rows rows; stride in bytes.", wide),
		param{"rows", "int", "CX"}, param{"x", s.typ, "SI"}, param{"stride", "int", "R8"}, param{"c", "*float32", "DI"})
	vectors := min(8, wide/lanes)
	for turn := range wide / lanes / vectors {
		from := turn * vectors
		if turn > 0 {
			f.op("MOVQ", "rows+0(FP)", "CX")
			f.op("MOVQ", "x+8(FP)", "SI")
		}
		for v := range vectors {
			f.op("VXORPS", vec("X", v), vec("X", v), vec("X", v))
		}
		f.op("PCALIGN", "$32")
		f.label(fmt.Sprintf("loop%d", turn))
		for v := range vectors {
			x := s.load(f, at((from+v)*lanes*s.bytes, "SI"), vec(reg, 8+v))
			f.op("VADDPS", x, vec(reg, v), vec(reg, v))
		}
		f.op("ADDQ", "R8", "SI")
		f.op("DECQ", "CX")
		f.op("JNZ", fmt.Sprintf("loop%d", turn))
		for v := range vectors {
			f.op("VMOVUPS", vec(reg, v), at(4*lanes*(from+v), "DI"))
		}
	}
	f.ret()
}
