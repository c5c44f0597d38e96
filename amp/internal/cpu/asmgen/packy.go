package main

import "fmt"

// Packing with AVX2: several panels side by side, so that rows are read in long runs. Halves are widened on the way.

// A panelPack copies a row of one panel from R11 to R12.
type panelPack struct {
	name, doc, typ string
	from, to       int // bytes of a row of a panel
	move           func(f *asmFile)
}

var panelPacks = []panelPack{
	{"copyPanels64", "64 bytes", "unsafe.Pointer", 64, 64, func(f *asmFile) {
		for v := range 2 {
			f.op("VMOVUPS", at(32*v, "R11"), vec("Y", v))
		}
		for v := range 2 {
			f.op("VMOVUPS", vec("Y", v), at(32*v, "R12"))
		}
	}},
	{"copyPanels48", "48 bytes", "unsafe.Pointer", 48, 48, func(f *asmFile) {
		f.op("VMOVUPS", "(R11)", "Y0")
		f.op("VMOVUPS", "32(R11)", "X1")
		f.op("VMOVUPS", "Y0", "(R12)")
		f.op("VMOVUPS", "X1", "32(R12)")
	}},
	{"copyPanels24", "24 bytes", "unsafe.Pointer", 24, 24, func(f *asmFile) {
		f.op("VMOVUPS", "(R11)", "X0")
		f.op("MOVQ", "16(R11)", "AX")
		f.op("VMOVUPS", "X0", "(R12)")
		f.op("MOVQ", "AX", "16(R12)")
	}},
	{"widenPanelsF16", "16 float16 elements, widened", "unsafe.Pointer", 32, 64, func(f *asmFile) {
		for v := range 2 {
			f.op("VCVTPH2PS", at(16*v, "R11"), vec("Y", v))
		}
		for v := range 2 {
			f.op("VMOVUPS", vec("Y", v), at(32*v, "R12"))
		}
	}},
	{"widenPanelsBF16", "16 bfloat16 elements, widened", "unsafe.Pointer", 32, 64, func(f *asmFile) {
		for v := range 2 {
			f.op("VPMOVZXWD", at(16*v, "R11"), vec("Y", v))
		}
		for v := range 2 {
			f.op("VPSLLD", "$16", vec("Y", v), vec("Y", v))
			f.op("VMOVUPS", vec("Y", v), at(32*v, "R12"))
		}
	}},
}

func packsY(f *asmFile) {
	for _, p := range panelPacks {
		f.fn(p.name, fmt.Sprintf("writes k rows of %s to each of so many panels, which lie ldp bytes apart; rows of src lie lds bytes apart.", p.doc),
			param{"k", "int", "CX"}, param{"src", p.typ, "SI"}, param{"lds", "int", "R8"}, param{"dst", p.typ, "DI"}, param{"panels", "int", "R13"}, param{"ldp", "int", "R10"})
		f.op("PCALIGN", "$32")
		f.label("row")
		f.op("MOVQ", "SI", "R11")
		f.op("MOVQ", "DI", "R12")
		f.op("MOVQ", "R13", "BX")
		f.label("panel")
		f.op("PREFETCHT0", "(R11)(R8*8)") // rows are far apart: the processor does not see what comes next
		p.move(f)
		f.op("ADDQ", imm(p.from), "R11")
		f.op("ADDQ", "R10", "R12")
		f.op("DECQ", "BX")
		f.op("JNZ", "panel")
		f.op("ADDQ", "R8", "SI")
		f.op("ADDQ", imm(p.to), "DI")
		f.op("DECQ", "CX")
		f.op("JNZ", "row")
		f.ret()
	}
}
