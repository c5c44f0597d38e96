package main

import "fmt"

// The micro-kernels of the matrix product: a tile of rows × vectors accumulators stays in registers while k runs. Every
// element is one chain of fused multiply-adds in the order of k, which continues from memory where "more" is not 0, so that
// neither the tile's size nor the cut of k into blocks shows in the result.

// A shape is a family of tiles.
type shape struct {
	prefix string // of the function's name
	reg    string // Z or Y
	width  int    // bytes of a register
	elem   int    // bytes of an element
	rows   []int
}

var shapes = []shape{
	{"f32z", "Z", 64, 4, []int{1, 2, 4, 8, 12}},
	{"f64z", "Z", 64, 8, []int{1, 2, 4, 8, 12}},
	{"f32y", "Y", 32, 4, []int{1, 2, 4, 6}},
	{"f64y", "Y", 32, 8, []int{1, 2, 4, 6}},
}

func tiles(f *asmFile) {
	for _, s := range shapes {
		for _, rows := range s.rows {
			for _, vectors := range []int{1, 2} {
				f.tile(s, rows, vectors)
			}
		}
	}
}

func (f *asmFile) tile(s shape, rows, vectors int) {
	suffix, ptr := "PS", "*float32"
	if s.elem == 8 {
		suffix, ptr = "PD", "*float64"
	}
	f.fn(fmt.Sprintf("%s%dx%d", s.prefix, rows, vectors),
		fmt.Sprintf("sets (more = 0) or raises a %d×%d tile of c by the product of a, k columns of %d, and b, k rows; strides in bytes.", rows, vectors*s.width/s.elem, rows),
		param{"k", "int", "CX"}, param{"a", ptr, "SI"}, param{"b", ptr, "DI"}, param{"ldb", "int", "R8"},
		param{"c", ptr, "DX"}, param{"ldc", "int", "R9"}, param{"more", "int", "R10"})
	acc := func(i, j int) string { return vec(s.reg, i*vectors+j) }
	b := func(j int) string { return vec(s.reg, rows*vectors+j) }
	spare := rows*vectors + vectors
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "zero")
	f.op("MOVQ", "DX", "R11")
	for i := range rows {
		for j := range vectors {
			f.op("VMOVU"+suffix, at(j*s.width, "R11"), acc(i, j))
		}
		if i < rows-1 {
			f.op("ADDQ", "R9", "R11")
		}
	}
	f.op("JMP", "loop")
	f.label("zero")
	for i := range rows * vectors {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i)) // clears the whole register
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	for j := range vectors {
		f.op("VMOVU"+suffix, at(j*s.width, "DI"), b(j))
	}
	for i := range rows {
		t := vec(s.reg, spare+i%2)
		f.op("VBROADCASTS"+suffix[1:], at(i*s.elem, "SI"), t)
		for j := range vectors {
			f.op("VFMADD231"+suffix, b(j), t, acc(i, j))
		}
	}
	f.op("ADDQ", imm(rows*s.elem), "SI")
	f.op("ADDQ", "R8", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for i := range rows {
		for j := range vectors {
			f.op("VMOVU"+suffix, acc(i, j), at(j*s.width, "DX"))
		}
		if i < rows-1 {
			f.op("ADDQ", "R9", "DX")
		}
	}
	f.ret()
}
