package main

import "fmt"

// Conversions between the float formats, bit for bit what convert.go does.

// A converter writes one block of lanes from (SI) to (DI).
type converter struct {
	name, doc string
	from, to  int // bytes of an element
	setup     func(f *asmFile, reg string)
	body      func(f *asmFile, reg, half string, lanes int)
}

// halvesAhead is how many bytes behind the halves that a loop for AVX2 reads or writes it fetches: the processor does not guess what lies beyond a
// page, and a row of halves is often half a page long.
const halvesAhead = 2048

var converters = []converter{
	{"widenF16", "float16 to float32", 2, 4, nil, func(f *asmFile, reg, half string, lanes int) {
		f.op("VCVTPH2PS", "(SI)", vec(reg, 0))
		f.op("VMOVUPS", vec(reg, 0), "(DI)")
	}},
	{"narrowF16", "float32 to float16, to nearest even", 4, 2, nil, func(f *asmFile, reg, half string, lanes int) {
		f.op("VMOVUPS", "(SI)", vec(reg, 0))
		f.op("VCVTPS2PH", "$0", vec(reg, 0), vec(half, 1))
		f.op("VMOVUPS", vec(half, 1), "(DI)")
	}},
	{"widenBF16", "bfloat16 to float32", 2, 4, nil, func(f *asmFile, reg, half string, lanes int) {
		f.op("VPMOVZXWD", "(SI)", vec(reg, 0))
		f.op("VPSLLD", "$16", vec(reg, 0), vec(reg, 0))
		f.op("VMOVUPS", vec(reg, 0), "(DI)")
	}},
	{"narrowBF16", "float32 to bfloat16, to nearest even", 4, 2, bf16Setup, bf16Body},
	{"addWide", "float32 to float64, which it adds", 4, 8, nil, func(f *asmFile, reg, half string, lanes int) {
		for i := range 2 {
			f.op("VCVTPS2PD", at(2*lanes*i, "SI"), vec(reg, i))
			f.op("VADDPD", at(4*lanes*i, "DI"), vec(reg, i), vec(reg, i))
			f.op("VMOVUPD", vec(reg, i), at(4*lanes*i, "DI"))
		}
	}},
	{"mulWide", "float32 to float64, by which it multiplies", 4, 8, nil, func(f *asmFile, reg, half string, lanes int) {
		for i := range 2 {
			f.op("VCVTPS2PD", at(2*lanes*i, "SI"), vec(reg, i))
			f.op("VMULPD", at(4*lanes*i, "DI"), vec(reg, i), vec(reg, i))
			f.op("VMOVUPD", vec(reg, i), at(4*lanes*i, "DI"))
		}
	}},
	{"widenF64", "float32 to float64", 4, 8, nil, func(f *asmFile, reg, half string, lanes int) {
		for i := range 2 {
			f.op("VCVTPS2PD", at(2*lanes*i, "SI"), vec(reg, i))
			f.op("VMOVUPD", vec(reg, i), at(4*lanes*i, "DI"))
		}
	}},
}

func bf16Setup(f *asmFile, reg string) {
	constants := []string{"$0x7fff", "$1", "$0x40"}
	if reg == "Z" {
		constants = []string{"$0x7fff", "$1", "$0x400000", "$0x10000"}
	}
	for i, c := range constants {
		f.op("MOVL", c, "AX")
		f.op("VMOVD", "AX", vec("X", 4+i))
		f.op("VPBROADCASTD", vec("X", 4+i), vec(reg, 4+i))
	}
}

// bf16Body rounds by adding 0x7fff and the last bit kept; a NaN keeps its top bits and becomes quiet instead.
func bf16Body(f *asmFile, reg, half string, lanes int) {
	r := func(i int) string { return vec(reg, i) }
	f.op("VMOVUPS", "(SI)", r(0))
	if reg == "Z" { // masks instead of what takes the two ports for vectors
		f.op("VPTESTMD", r(7), r(0), "K2")
		f.op("VPADDD", r(4), r(0), r(1))
		f.op("VPADDD", r(5), r(1), "K2", r(1))
		f.op("VCMPPS", "$3", r(0), r(0), "K1")
		f.op("VPORD", r(6), r(0), "K1", r(1))
		f.op("VPSRLD", "$16", r(1), r(1))
		f.op("VPMOVDW", r(1), "(DI)")
		return
	}
	f.op("VPSRLD", "$16", r(0), r(1))
	f.op("VPOR", r(6), r(1), r(2))
	f.op("VPAND", r(5), r(1), r(1))
	f.op("VPADDD", r(4), r(1), r(1))
	f.op("VPADDD", r(0), r(1), r(1))
	f.op("VPSRLD", "$16", r(1), r(1))
	f.op("VCMPPS", "$3", r(0), r(0), r(3))
	f.op("VBLENDVPS", r(3), r(2), r(1), r(1))
	f.op("VEXTRACTI128", "$1", r(1), "X2")
	f.op("VPACKUSDW", "X2", "X1", "X1")
	f.op("VMOVDQU", "X1", "(DI)")
}

func conversions(f *asmFile) {
	f.b.WriteString("\n// func cpuid(leaf, sub uint32) (a, b, c, d uint32)\nTEXT ·cpuid(SB), NOSPLIT, $0-24\n")
	f.op("MOVL", "leaf+0(FP)", "AX")
	f.op("MOVL", "sub+4(FP)", "CX")
	f.op("CPUID")
	for i, r := range []string{"AX", "BX", "CX", "DX"} {
		f.op("MOVL", r, fmt.Sprintf("%c+%d(FP)", "abcd"[i], 8+4*i))
	}
	f.op("RET")
	f.stubs = append(f.stubs, "// cpuid runs the instruction of that name.\nfunc cpuid(leaf, sub uint32) (a, b, c, d uint32)\n")
	f.fn("pause", "lets n moments pass, of about 10 to 40 ns each.", param{"n", "int", "CX"})
	f.label("again")
	f.op("PAUSE")
	f.op("DECQ", "CX")
	f.op("JNZ", "again")
	f.op("RET")
	f.fn("fetch", "has n cache lines from p on fetched.", param{"n", "int", "CX"}, param{"p", "*byte", "SI"})
	f.label("again")
	f.op("PREFETCHT0", "(SI)")
	f.op("ADDQ", "$64", "SI")
	f.op("DECQ", "CX")
	f.op("JNZ", "again")
	f.op("RET")
	for _, c := range converters {
		for _, v := range []struct {
			reg, half, suffix string
			lanes             int
		}{{"Z", "Y", "Z", 16}, {"Y", "X", "Y", 8}} {
			src, dst := "*uint16", "*float32"
			switch {
			case c.to == 8:
				src, dst = "*float32", "*float64"
			case c.from == 4:
				src, dst = dst, src
			}
			f.fn(c.name+v.suffix, "converts blocks of "+imm(v.lanes)[1:]+" elements: "+c.doc+".",
				param{"blocks", "int", "CX"}, param{"src", src, "SI"}, param{"dst", dst, "DI"})
			if c.setup != nil {
				c.setup(f, v.reg)
			}
			block := func() {
				c.body(f, v.reg, v.half, v.lanes)
				f.op("ADDQ", imm(c.from*v.lanes), "SI")
				f.op("ADDQ", imm(c.to*v.lanes), "DI")
			}
			if v.reg == "Y" && c.to+c.from == 6 {
				halves := "SI"
				if c.to == 2 {
					halves = "DI"
				}
				f.linesAhead(block, 64/(2*v.lanes), halves)
			} else {
				f.op("PCALIGN", "$32")
				f.label("loop")
				block()
				f.op("DECQ", "CX")
				f.op("JNZ", "loop")
			}
			f.ret()
			if c.to+c.from == 6 {
				f.convertRows(c, v.reg, v.half, v.suffix, src, dst, v.lanes)
			}
		}
	}
}

// linesAhead does CX blocks, so many of which read or write a cache line of halves, and fetches one for each.
func (f *asmFile) linesAhead(block func(), blocks int, halves string) {
	f.op("SUBQ", imm(blocks), "CX")
	f.op("JLT", "rest")
	f.op("PCALIGN", "$32")
	f.label("line")
	f.op("PREFETCHT0", at(halvesAhead, halves))
	for range blocks {
		block()
	}
	f.op("SUBQ", imm(blocks), "CX")
	f.op("JGE", "line")
	f.label("rest")
	f.op("ADDQ", imm(blocks), "CX")
	f.op("JZ", "done")
	f.label("loop")
	block()
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.label("done")
}

// convertRows is a converter for rows that lie apart.
func (f *asmFile) convertRows(c converter, reg, half, suffix, src, dst string, lanes int) {
	f.fn(c.name+"Rows"+suffix, fmt.Sprintf("converts rows of so many blocks of %d elements: %s; distances of rows in bytes.", lanes, c.doc),
		param{"rows", "int", "CX"}, param{"blocks", "int", "BX"}, param{"src", src, "R10"}, param{"lds", "int", "R8"}, param{"dst", dst, "R11"}, param{"ldd", "int", "R9"})
	if c.setup != nil {
		c.setup(f, reg)
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("MOVQ", "R10", "SI")
	f.op("MOVQ", "R11", "DI")
	f.op("MOVQ", "BX", "DX")
	f.label("block")
	c.body(f, reg, half, lanes)
	f.op("ADDQ", imm(c.from*lanes), "SI")
	f.op("ADDQ", imm(c.to*lanes), "DI")
	f.op("DECQ", "DX")
	f.op("JNZ", "block")
	f.op("ADDQ", "R8", "R10")
	f.op("ADDQ", "R9", "R11")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}
