package main

import "fmt"

// Packing of a matrix whose elements are found by two tables of offsets.

func gathers(f *asmFile) {
	for _, vectors := range []int{1, 2} {
		f.gatherRows(vectors)
	}
	f.gatherEights()
}

// gatherRows reads every element by its own offset.
func (f *asmFile) gatherRows(vectors int) {
	f.fn(fmt.Sprintf("gatherRows%d", vectors),
		fmt.Sprintf("writes k rows of up to %d elements: those at src + along[row] + across[column] for the bits in have, zeros for the other bits in width; stride in bytes.", 16*vectors),
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"across", "*int32", "R10"},
		param{"dst", "*float32", "DI"}, param{"ldd", "int", "R9"}, param{"have", "int", "AX"}, param{"width", "int", "BX"})
	for v := range vectors {
		f.op("KMOVW", "AX", fmt.Sprintf("K%d", 1+v))
		f.op("KMOVW", "BX", fmt.Sprintf("K%d", 3+v))
		f.op("SHRL", "$16", "AX")
		f.op("SHRL", "$16", "BX")
		f.op("VMOVDQU32", at(64*v, "R10"), vec("Z", 30+v))
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVLQSX", "(R8)", "AX")
	f.op("LEAQ", "(SI)(AX*4)", "AX")
	for v := range vectors {
		f.op("VXORPS", vec("X", v), vec("X", v), vec("X", v))
		f.op("KMOVW", fmt.Sprintf("K%d", 1+v), fmt.Sprintf("K%d", 5+v))
		f.op("VGATHERDPS", fmt.Sprintf("(AX)(Z%d*4)", 30+v), fmt.Sprintf("K%d", 5+v), vec("Z", v))
	}
	for v := range vectors {
		f.op("VMOVUPS", vec("Z", v), fmt.Sprintf("K%d", 3+v), at(64*v, "DI"))
	}
	f.op("ADDQ", "$4", "R8")
	f.op("ADDQ", "R9", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// gatherEights reads eight neighbors at a time.
func (f *asmFile) gatherEights() {
	f.fn("gatherEights", "writes k rows of 32 elements that lie in four runs of eight, at src + along[row] + the offsets in across, and follow each other.",
		param{"k", "int", "CX"}, param{"src", "*float32", "SI"}, param{"along", "*int32", "R8"}, param{"across", "*int32", "R10"}, param{"dst", "*float32", "DI"})
	starts := []string{"R11", "R12", "R13", "DX"}
	for i, r := range starts {
		f.op("MOVLQSX", at(32*i, "R10"), r)
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("MOVLQSX", "(R8)", "AX")
	f.op("LEAQ", "(SI)(AX*4)", "AX")
	for i, r := range starts {
		f.op("VMOVUPS", "(AX)("+r+"*4)", vec("Y", i))
	}
	for i := range starts {
		f.op("VMOVUPS", vec("Y", i), at(32*i, "DI"))
	}
	f.op("ADDQ", "$4", "R8")
	f.op("ADDQ", "$128", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
