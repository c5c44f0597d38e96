package main

import "fmt"

// reverses turn a row of 32-bit words around: each register full by one permutation, from the other end.
func reverses(f *asmFile) {
	for _, v := range []struct {
		reg   string
		count int
	}{{"Z", 16}, {"Y", 8}} {
		f.fn("reverse"+v.reg, fmt.Sprintf("writes blocks of %d words to dst, the last word of src first; end is behind that.", v.count),
			param{"blocks", "int", "CX"}, param{"end", "unsafe.Pointer", "SI"}, param{"dst", "*uint32", "DI"})
		order, words := vec(v.reg, 0), vec(v.reg, 1)
		f.op("VMOVDQU"+map[string]string{"Z": "32", "Y": ""}[v.reg], fmt.Sprintf("backward<>+%d(SB)", 4*(16-v.count)), order)
		f.op("PCALIGN", "$32")
		f.label("loop")
		f.op("SUBQ", imm(4*v.count), "SI")
		f.op("VPERMD", "(SI)", order, words)
		f.op("VMOVDQU"+map[string]string{"Z": "32", "Y": ""}[v.reg], words, "(DI)")
		f.op("ADDQ", imm(4*v.count), "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		f.ret()
	}
	f.b.WriteByte('\n')
	for i := range 16 {
		fmt.Fprintf(&f.b, "DATA backward<>+%d(SB)/4, $%d\n", 4*i, 15-i)
	}
	fmt.Fprintf(&f.b, "GLOBL backward<>(SB), RODATA|NOPTR, $64\n")
}
