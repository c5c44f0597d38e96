package main

import "fmt"

// Products of a matrix and one row or column. Each element of the matrix is used once, so they are as fast as it can be read, if it is
// read in long runs; nothing is packed.

func gemvs(f *asmFile) {
	f.dotRows()
	f.dotRows32()
	f.dotRowsY()
	for _, reg := range []string{"Z", "Y"} {
		f.rowTimes(reg, 8, true)
		f.rowTimes(reg, 1, true)
	}
	f.rowTimes("Z", 8, false)
}

// transposeLanes turns registers 0 to 3 in their lanes of four elements; 4 to 7 are lost.
func (f *asmFile) transposeLanes(reg string) { f.transposeFour(reg, 0, 4) }

// transposeFour is transposeLanes of four registers from r on; those from spare on are lost.
func (f *asmFile) transposeFour(reg string, r, spare int) {
	for i, op := range []string{"VUNPCKLPS", "VUNPCKHPS"} {
		f.op(op, vec(reg, r+1), vec(reg, r), vec(reg, spare+i))
	}
	for i, op := range []string{"VUNPCKLPS", "VUNPCKHPS"} {
		f.op(op, vec(reg, r+3), vec(reg, r+2), vec(reg, spare+2+i))
	}
	for i := range 2 {
		f.op("VUNPCKLPD", vec(reg, spare+2+i), vec(reg, spare+i), vec(reg, r+2*i))
		f.op("VUNPCKHPD", vec(reg, spare+2+i), vec(reg, spare+i), vec(reg, r+2*i+1))
	}
}

// dotRows keeps the order of k for every row: blocks of 16 rows × 4 columns are transposed in registers.
func (f *asmFile) dotRows() {
	f.fn("dotRows16", "raises 16 sums in c by the products of 16 rows of a with b, 4·n + rest elements each (rest below 4); strides in bytes.",
		param{"n", "int", "CX"}, param{"rest", "int", "BX"}, param{"a", "*float32", "SI"}, param{"lda", "int", "R8"}, param{"b", "*float32", "DX"}, param{"c", "*float32", "DI"})
	bases, indexes := []string{"SI", "R10", "R11", "R12"}, []string{"", "(R8*1)", "(R8*2)", "(R13*1)"}
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*4)", bases[i-1]), bases[i])
	}
	f.op("LEAQ", "(R8)(R8*2)", "R13")
	f.op("VMOVUPS", "(DI)", "Z8")
	add := func(p int) { f.op("VFMADD231PS.BCST", at(4*p, "DX"), vec("Z", p), "Z8") }
	f.op("TESTQ", "CX", "CX")
	f.op("JZ", "last")
	f.op("PCALIGN", "$32")
	f.label("loop")
	for j, index := range indexes {
		for i, b := range bases {
			if i == 0 {
				f.op("VMOVUPS", "("+b+")"+index, vec("X", j))
			} else {
				f.op("VINSERTF32X4", imm(i), "("+b+")"+index, vec("Z", j), vec("Z", j))
			}
		}
	}
	f.op("TESTQ", "$3", "CX") // a cache line holds four blocks
	f.op("JNZ", "fetched")
	for _, b := range bases {
		for _, index := range indexes {
			f.op("PREFETCHT0", "512("+b+")"+index)
		}
	}
	f.label("fetched")
	f.transposeLanes("Z")
	for p := range 4 {
		add(p)
	}
	for _, b := range bases {
		f.op("ADDQ", "$16", b)
	}
	f.op("ADDQ", "$16", "DX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.label("last")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "done")
	f.op("MOVQ", "$1", "AX")
	f.op("MOVQ", "BX", "CX")
	f.op("SHLQ", "CX", "AX")
	f.op("DECQ", "AX")
	f.op("KMOVW", "AX", "K1")
	for j, index := range indexes {
		for i, b := range bases {
			if i == 0 {
				f.op("VMOVUPS.Z", "("+b+")"+index, "K1", vec("X", j))
				continue
			}
			f.op("VMOVUPS.Z", "("+b+")"+index, "K1", "X9")
			f.op("VINSERTF32X4", imm(i), "X9", vec("Z", j), vec("Z", j))
		}
	}
	f.transposeLanes("Z")
	for p := range 3 {
		add(p)
		f.op("DECQ", "BX")
		f.op("JZ", "done")
	}
	f.label("done")
	f.op("VMOVUPS", "Z8", "(DI)")
	f.ret()
}

// dotRows32 is dotRows for caches of few ways, in which rows a page apart drive each other's lines out: of each row a whole line is taken at once.
// Two chains of sums hide each other's latency.
func (f *asmFile) dotRows32() {
	f.fn("dotRows32", "raises 32 sums in c by the products of 32 rows of a with b, 16·n elements each; stride in bytes.",
		param{"n", "int", "CX"}, param{"a", "*float32", "SI"}, param{"lda", "int", "R8"}, param{"b", "*float32", "DX"}, param{"c", "*float32", "DI"})
	const (
		spare = 16 // registers
		sums  = 20
	)
	bases, indexes := []string{"SI", "R10", "R11", "R12"}, []string{"", "(R8*1)", "(R8*2)", "(R13*1)"}
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*4)", bases[i-1]), bases[i])
	}
	f.op("LEAQ", "(R8)(R8*2)", "R13")
	f.op("MOVQ", "R8", "R9")
	f.op("SHLQ", "$4", "R9") // 16 rows
	f.op("MOVQ", "$64", "BX")
	f.op("SUBQ", "R9", "BX") // back, and on by a line
	for half := range 2 {
		f.op("VMOVUPS", at(64*half, "DI"), vec("Z", sums+half))
	}
	f.op("PCALIGN", "$64")
	f.label("loop")
	for half := range 2 {
		// Register 8·q + r has eight elements of each of two rows, 4 apart; a quarter of them is then a quarter of a column.
		for i, b := range bases {
			for j, index := range indexes {
				for q := range 2 {
					if r := 8*q + i/2*4 + j; i%2 == 0 {
						f.op("VMOVUPS", at(32*q, b)+index, vec("Y", r))
					} else {
						f.op("VINSERTF64X4", "$1", at(32*q, b)+index, vec("Z", r), vec("Z", r))
					}
				}
			}
			f.op("ADDQ", []string{"R9", "BX"}[half], b)
		}
		for q := range 2 {
			f.transposeFour("Z", 8*q, spare)
			f.transposeFour("Z", 8*q+4, spare)
			for p := range 8 {
				r := 8*q + p%4
				f.op("VSHUFF32X4", imm([]int{0x88, 0xdd}[p/4]), vec("Z", r+4), vec("Z", r), vec("Z", spare+p%4))
				f.op("VFMADD231PS.BCST", at(32*q+4*p, "DX"), vec("Z", spare+p%4), vec("Z", sums+half))
			}
		}
	}
	f.op("ADDQ", "$64", "DX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for half := range 2 {
		f.op("VMOVUPS", vec("Z", sums+half), at(64*half, "DI"))
	}
	f.ret()
}

// dotRowsY is dotRows for AVX2: two halves of eight rows take turns. Zen 3 sees by itself what comes next; to fetch it takes longer.
func (f *asmFile) dotRowsY() {
	f.fn("dotRows16Y", "is dotRows16 for AVX2.",
		param{"n", "int", "CX"}, param{"rest", "int", "BX"}, param{"a", "*float32", "SI"}, param{"lda", "int", "R8"}, param{"b", "*float32", "DX"}, param{"c", "*float32", "DI"})
	bases, indexes := []string{"SI", "R10", "R11", "R12"}, []string{"", "(R8*1)", "(R8*2)", "(R13*1)"}
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*4)", bases[i-1]), bases[i])
	}
	f.op("LEAQ", "(R8)(R8*2)", "R13")
	for half := range 2 {
		f.op("VMOVUPS", at(32*half, "DI"), vec("Y", 8+half))
	}
	block := func(off, half int) {
		for p := range 4 {
			f.op("VBROADCASTSS", at(off+4*p, "DX"), vec("Y", 10+p))
		}
		for j, index := range indexes {
			f.op("VMOVUPS", at(off, bases[2*half])+index, vec("X", j))
			f.op("VINSERTF128", "$1", at(off, bases[2*half+1])+index, vec("Y", j), vec("Y", j))
		}
		f.transposeLanes("Y")
		for p := range 4 {
			f.op("VFMADD231PS", vec("Y", p), vec("Y", 10+p), vec("Y", 8+half))
		}
	}
	loop := func(label, count string, blocks int) {
		f.op("PCALIGN", "$32")
		f.label(label)
		for half := range 2 { // of a whole cache line: rows a page apart drive each other's lines out of the L1 cache
			for q := range blocks {
				block(16*q, half)
			}
		}
		for _, r := range append(bases, "DX") {
			f.op("ADDQ", imm(16*blocks), r)
		}
		f.op("DECQ", count)
		f.op("JNZ", label)
	}
	f.op("MOVQ", "CX", "AX")
	f.op("ANDQ", "$3", "CX")
	f.op("SHRQ", "$2", "AX")
	f.op("JZ", "few")
	loop("lines", "AX", 4)
	f.label("few")
	f.op("TESTQ", "CX", "CX")
	f.op("JZ", "last")
	loop("loop", "CX", 1)
	f.label("last")
	f.op("TESTQ", "BX", "BX")
	f.op("JZ", "done")
	f.op("VPCMPEQD", "X15", "X15", "X15") // the first elements, as many as are left
	f.op("MOVQ", "$4", "AX")
	f.label("mask")
	f.op("VPSRLDQ", "$4", "X15", "X15")
	f.op("DECQ", "AX")
	f.op("CMPQ", "AX", "BX")
	f.op("JNE", "mask")
	for half := range 2 {
		for j, index := range indexes {
			f.op("VMASKMOVPS", "("+bases[2*half]+")"+index, "X15", vec("X", j))
			f.op("VMASKMOVPS", "("+bases[2*half+1]+")"+index, "X15", "X14")
			f.op("VINSERTF128", "$1", "X14", vec("Y", j), vec("Y", j))
		}
		f.transposeLanes("Y")
		for p := range 3 {
			if p > 0 {
				f.op("CMPQ", "BX", imm(p))
				f.op("JLE", fmt.Sprintf("half%d", half))
			}
			f.op("VBROADCASTSS", at(4*p, "DX"), "Y10")
			f.op("VFMADD231PS", vec("Y", p), "Y10", vec("Y", 8+half))
		}
		f.label(fmt.Sprintf("half%d", half))
	}
	f.label("done")
	for half := range 2 {
		f.op("VMOVUPS", vec("Y", 8+half), at(32*half, "DI"))
	}
	f.ret()
}

// rowTimes multiplies a row and a matrix: rows of the matrix are read side by side, each in one run, while as many rows below are fetched, if
// that is wanted: AMD's processors see by themselves what comes next.
func (f *asmFile) rowTimes(reg string, rows int, fetch bool) {
	// Sums of 128 bytes, and as many rows as there are registers for their elements of a.
	name, width, vectors, factors := fmt.Sprintf("rowTimes%d", rows), 64, 2, 16
	if reg == "Y" {
		name, width, vectors, factors = name+"Y", 32, 4, 8
	}
	if !fetch {
		name += "Near"
	}
	f.fn(name, fmt.Sprintf("raises 32·n sums in c by the product of %d elements of a and as many rows of b; stride in bytes.", rows),
		param{"n", "int", "CX"}, param{"a", "*float32", "SI"}, param{"b", "*float32", "DI"}, param{"ldb", "int", "R8"}, param{"c", "*float32", "DX"})
	bases := []string{"DI", "R10", "R11", "R12"}[:(rows+3)/4*2]
	f.op("LEAQ", "(R8)(R8*2)", "R9")
	for i := 1; i < len(bases); i++ {
		f.op("LEAQ", fmt.Sprintf("(%s)(R8*%d)", bases[i-1], min(rows, 4)), bases[i])
	}
	for p := range rows {
		f.op("VBROADCASTSS", at(4*p, "SI"), vec(reg, factors+p))
	}
	row := func(p, off int) string {
		return fmt.Sprintf("%d(%s)%s", off, bases[p/min(rows, 4)], []string{"", "(R8*1)", "(R8*2)", "(R9*1)"}[p%min(rows, 4)])
	}
	f.op("PCALIGN", "$64")
	f.label("loop")
	for v := range vectors {
		f.op("VMOVUPS", at(width*v, "DX"), vec(reg, v))
	}
	for p := range rows {
		for v := range vectors {
			f.op("VFMADD231PS", row(p, width*v), vec(reg, factors+p), vec(reg, v))
		}
		for line := 0; line < 2 && fetch; line++ {
			f.op("PREFETCHT0", row(p+rows, 64*line))
		}
	}
	for v := range vectors {
		f.op("VMOVUPS", vec(reg, v), at(width*v, "DX"))
	}
	for _, r := range append(bases, "DX") {
		f.op("ADDQ", "$128", r)
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
