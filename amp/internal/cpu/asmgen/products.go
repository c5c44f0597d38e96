package main

import "fmt"

// products multiply float32 numbers in float64: element i goes to lane i mod productLanes. They keep the least and the largest size that
// partial products had after every productCheck blocks, counted from the end, in one register each.
func products(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		size := map[string]int{"Y": 4, "Z": 8}[width]
		parts := productLanes / size
		low, high, mask, room := parts, parts+1, parts+2, parts+3 // the registers behind the lanes
		spare := 16 - room
		f.fn("products"+width, fmt.Sprintf("multiplies n blocks of %d elements into the lanes.", productLanes), param{"n", "int", "CX"}, param{"x", "*float32", "SI"},
			param{"lanes", fmt.Sprintf("*[%d]float64", productLanes), "DI"}, param{"low", "*[8]float64", "AX"}, param{"high", "*[8]float64", "BX"})
		for i := range parts {
			f.op("VMOVUPD", at(8*size*i, "DI"), vec(width, i))
		}
		f.op("VMOVUPD", "(AX)", vec(width, low))
		f.op("VMOVUPD", "(BX)", vec(width, high))
		if width == "Z" {
			f.op("VPTERNLOGQ", "$0xff", vec(width, mask), vec(width, mask), vec(width, mask))
		} else {
			f.op("VPCMPEQQ", vec(width, mask), vec(width, mask), vec(width, mask))
		}
		f.op("VPSRLQ", "$1", vec(width, mask), vec(width, mask))
		and := map[string]string{"Y": "VPAND", "Z": "VPANDQ"}[width]
		f.op("PCALIGN", "$32")
		f.label("loop")
		for line := range productLanes * 4 / 64 { // the processor does not guess what lies beyond a page
			f.op("PREFETCHT0", at(productAhead+64*line, "SI"))
		}
		for i := range parts {
			r := vec(width, room+i%spare)
			f.op("VCVTPS2PD", at(4*size*i, "SI"), r)
			f.op("VMULPD", r, vec(width, i), vec(width, i))
		}
		f.op("ADDQ", imm(4*productLanes), "SI")
		f.op("DECQ", "CX")
		f.op("TESTQ", imm(productCheck-1), "CX")
		f.op("JNZ", "loop")
		for i := 0; i < parts; i += 4 { // sizes of four, two by two
			a, b, c, d := vec(width, room), vec(width, room+1), vec(width, room+2), vec(width, room+3)
			f.op(and, vec(width, mask), vec(width, i), a)
			f.op(and, vec(width, mask), vec(width, i+1), b)
			f.op("VMINPD", b, a, c)
			f.op("VMAXPD", b, a, d)
			for j := 2; j < 4; j++ {
				f.op(and, vec(width, mask), vec(width, i+j), a)
				f.op("VMINPD", a, c, c)
				f.op("VMAXPD", a, d, d)
			}
			f.op("VMINPD", c, vec(width, low), vec(width, low))
			f.op("VMAXPD", d, vec(width, high), vec(width, high))
		}
		f.op("TESTQ", "CX", "CX")
		f.op("JNZ", "loop")
		for i := range parts {
			f.op("VMOVUPD", vec(width, i), at(8*size*i, "DI"))
		}
		f.op("VMOVUPD", vec(width, low), "(AX)")
		f.op("VMOVUPD", vec(width, high), "(BX)")
		f.ret()
	}
}

const (
	productLanes = 32
	productCheck = 4
	productAhead = 2048
)
