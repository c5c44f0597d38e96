package main

import "fmt"

// truths turn numbers into booleans of a byte: 1 for all but the zeros, so for NaN too.
func truths(f *asmFile) {
	for _, v := range []struct {
		reg   string
		count int
	}{{"Z", 16}, {"Y", 8}} {
		f.fn("truths"+v.reg, fmt.Sprintf("writes a byte for each of blocks of %d numbers: 0 for zeros, else 1.", v.count),
			param{"blocks", "int", "CX"}, param{"src", "*float32", "SI"}, param{"dst", "*uint8", "DI"})
		zero := vec(v.reg, 0)
		f.op("VPXOR", "Y0", "Y0", "Y0")
		f.op("MOVL", "$0x01010101", "AX")
		f.op("VMOVD", "AX", "X1")
		f.op("VPBROADCASTD", "X1", "X1")
		f.op("PCALIGN", "$32")
		f.label("loop")
		if v.reg == "Z" {
			f.op("VCMPPS", "$4", "(SI)", zero, "K1")
			f.op("VMOVDQU8.Z", "X1", "K1", "X2")
			f.op("VMOVDQU", "X2", "(DI)")
		} else {
			f.op("VCMPPS", "$4", "(SI)", zero, "Y2")
			f.op("VEXTRACTI128", "$1", "Y2", "X3")
			f.op("VPACKSSDW", "X3", "X2", "X2")
			f.op("VPACKSSWB", "X2", "X2", "X2")
			f.op("VPAND", "X1", "X2", "X2")
			f.op("VMOVQ", "X2", "(DI)")
		}
		f.op("ADDQ", imm(4*v.count), "SI")
		f.op("ADDQ", imm(v.count), "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
	}
}
