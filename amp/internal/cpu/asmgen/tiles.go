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
	round  bool // to bfloat16, instead of sums that more can be added to
}

var shapes = []shape{
	{"f32z", "Z", 64, 4, []int{1, 2, 4, 8, 9, 12}, false},
	{"f64z", "Z", 64, 8, []int{1, 2, 4, 8, 12}, false},
	{"f32y", "Y", 32, 4, []int{1, 2, 4, 6}, false},
	{"f64y", "Y", 32, 8, []int{1, 2, 4, 6}, false},
}

func tiles(f *asmFile) {
	for _, s := range shapes {
		for _, rows := range s.rows {
			for _, vectors := range []int{1, 2, 3} {
				if vectors == 3 && (s.prefix != "f32z" || rows != 8 && rows != 9) {
					continue
				}
				step := func(b, t, acc int) {
					f.op("VFMADD231P"+map[int]string{4: "S", 8: "D"}[s.elem], vec(s.reg, b), vec(s.reg, t), vec(s.reg, acc))
				}
				f.tileFrom(s, rows, vectors, packed, step)
				if s.reg == "Y" && rows == 6 && vectors == 2 {
					f.tileFrom(s, rows, vectors, packedDown, step)
				}
				if s.elem == 4 && vectors < 3 && rows != 9 {
					f.tileFrom(s, rows, vectors, byRows, step)
				}
			}
		}
	}
	f.tilesAcross()
}

// tilesAcross is a row of whole tiles for AVX2: where k is short, to call each of them takes as long as its products.
func (f *asmFile) tilesAcross() {
	const rows, vectors, b, spread = 6, 2, 12, 14
	f.fn("f32y6x2across", "is f32y6x2 for n tiles beside each other: rows of b are 64 bytes apart, and its panels next bytes.",
		param{"n", "int", "R12"}, param{"k", "int", "R8"}, param{"a", "*float32", "SI"}, param{"b", "*float32", "DI"}, param{"next", "int", "R13"}, param{"c", "*float32", "DX"},
		param{"ldc", "int", "R9"}, param{"more", "int", "R10"})
	sums := func(do func(place, reg string)) {
		f.op("MOVQ", "DX", "AX")
		for i := range rows * vectors {
			do(at(32*(i%vectors), "AX"), vec("Y", i))
			if i%vectors == vectors-1 && i < rows*vectors-1 {
				f.op("ADDQ", "R9", "AX")
			}
		}
	}
	f.label("tile")
	f.op("TESTQ", "R10", "R10")
	f.op("JZ", "zero")
	sums(func(place, reg string) { f.op("VMOVUPS", place, reg) })
	f.op("JMP", "begin")
	f.label("zero")
	f.zeroY(rows * vectors)
	f.label("begin")
	f.op("MOVQ", "SI", "R11")
	f.op("MOVQ", "DI", "BX")
	f.op("MOVQ", "R8", "CX")
	f.op("PCALIGN", "$32")
	f.label("loop")
	for j := range vectors {
		f.op("VMOVUPS", at(32*j, "BX"), vec("Y", b+j))
	}
	for i := range rows {
		t := vec("Y", spread+i%2)
		f.op("VBROADCASTSS", at(4*i, "R11"), t)
		for j := range vectors {
			f.op("VFMADD231PS", vec("Y", b+j), t, vec("Y", i*vectors+j))
		}
	}
	f.op("ADDQ", imm(4*rows), "R11")
	f.op("ADDQ", "$64", "BX")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	sums(func(place, reg string) { f.op("VMOVUPS", reg, place) })
	f.op("ADDQ", "$64", "DX")
	f.op("ADDQ", "R13", "DI")
	f.op("DECQ", "R12")
	f.op("JNZ", "tile")
	f.ret()
}

// tileWith writes a tile whose multiply-add of registers b and t onto acc is step.
func (f *asmFile) tileWith(s shape, rows, vectors int, step func(b, t, acc int)) {
	f.tileFrom(s, rows, vectors, packed, step)
}

// A tileSource is how a tile reads a.
type tileSource int

const (
	packed     tileSource = iota
	byRows                // as it is in memory
	packedDown            // packed, for tiles below each other
)

// tileFrom writes a tile.
func (f *asmFile) tileFrom(s shape, rows, vectors int, from tileSource, step func(b, t, acc int)) {
	byRows, down := from == byRows, from == packedDown
	suffix, ptr := "PS", "*float32"
	if s.elem == 8 {
		suffix, ptr = "PD", "*float64"
	}
	name, doc := fmt.Sprintf("%s%dx%d", s.prefix, rows, vectors), fmt.Sprintf("a, k columns of %d,", rows)
	params := []param{{"k", "int", "CX"}, {"a", ptr, "SI"}, {"b", ptr, "DI"}, {"ldb", "int", "R8"}, {"c", ptr, "DX"}, {"ldc", "int", "R9"}, {"more", "int", "R10"}}
	if byRows {
		name, doc = name+"rows", fmt.Sprintf("a, %d rows of k,", rows)
		params = append(params, param{"lda", "int", "R13"})
	}
	many := byRows && s.prefix == "f32y" && rows == 6
	if many {
		doc = fmt.Sprintf("a, %d rows of k for each of so many tiles below each other,", rows)
		params = append(params, param{"tiles", "int", "R12"})
	}
	large, what := !byRows && rows*vectors >= map[string]int{"Z": 24, "Y": 12}[s.reg], ""
	switch {
	case down:
		name, doc = name+"down", fmt.Sprintf("a, k columns of %d for each of so many tiles below each other,", rows)
		params = append(params, param{"ahead", "unsafe.Pointer", "R11"}, param{"end", "unsafe.Pointer", "R15"}, param{"tiles", "int", ""})
		what = " They fetch what is at ahead, up to end, 64 bytes for 4 steps of k."
	case large:
		params, what = append(params, param{"ahead", "unsafe.Pointer", "R12"}), " It fetches the tile below, and what is at ahead, 64 bytes for 4 steps of k."
	}
	sets, wide := "sets (more = 0) or raises", vectors
	if s.round {
		name, sets, wide = name+"round", "sets, rounded to bfloat16,", 1
		params[4].typ, params[6] = "*uint16", params[len(params)-1]
		params = params[:len(params)-1]
	}
	f.fn(name, fmt.Sprintf("%s a %d×%d tile of c by the product of %s and b, k rows; strides in bytes.%s", sets, rows, vectors*s.width/s.elem, doc, what), params...)
	acc := func(i, j int) string { return vec(s.reg, i*vectors+j) }
	b := func(j int) string { return vec(s.reg, rows*vectors+j) }
	spare := rows*vectors + vectors
	element := func(i int) string { return at(i*s.elem, "SI") }
	bases := []string{"SI", "R11", "R12"}[:(rows+3)/4]
	if byRows {
		element = func(i int) string {
			return "(" + bases[i/4] + ")" + []string{"", "(R13*1)", "(R13*2)", "(BX*1)"}[i%4]
		}
		f.op("LEAQ", "(R13)(R13*2)", "BX")
		for i := 1; i < len(bases); i++ {
			f.op("LEAQ", "("+bases[i-1]+")(R13*4)", bases[i])
		}
	}
	switch {
	case many:
		f.op("MOVQ", "SI", "R15")
		f.label("tile")
	case down:
		f.label("tile")
		f.op("MOVQ", "R11", "R12")
		f.op("CMPQ", "R11", "R15")
		f.op("CMOVQCC", "DI", "R12") // there is nothing left to fetch
		f.op("MOVQ", "CX", "AX")
		f.op("SHLQ", "$4", "AX")
		f.op("ADDQ", "AX", "R11")
	}
	if !s.round {
		f.op("TESTQ", "R10", "R10")
		f.op("JZ", "zero")
		f.op("MOVQ", "DX", "AX")
		for i := range rows {
			for j := range vectors {
				f.op("VMOVU"+suffix, at(j*s.width, "AX"), acc(i, j))
			}
			if i < rows-1 {
				f.op("ADDQ", "R9", "AX")
			}
		}
		f.op("JMP", "loop")
		f.label("zero")
	}
	for i := range rows * vectors {
		f.op("VXORPS", vec("X", i), vec("X", i), vec("X", i)) // clears the whole register
	}
	// one step of k; u of several for which the pointers do not move between
	one := func(u int) {
		for j := range vectors {
			f.op("VMOVU"+suffix, at((u*vectors+j)*s.width, "DI"), b(j))
		}
		for i := range rows {
			t := vec(s.reg, spare+i%2)
			f.op("VBROADCASTS"+suffix[1:], element(u*rows+i), t)
			for j := range vectors {
				step(rows*vectors+j, spare+i%2, i*vectors+j)
			}
		}
	}
	label := "loop"
	if !byRows && rows*vectors >= 12 {
		f.fourSteps(rows, vectors, wide, s, large, one)
		label = "rest"
	}
	f.op("PCALIGN", "$64")
	f.label(label)
	if s.prefix == "f32z" && !byRows {
		for j := range vectors {
			f.op("PREFETCHT0", at(j*s.width, "DI")+"(R8*8)") // what is read of a row is too little for the processor to see what comes next
		}
	}
	one(0)
	if byRows {
		for _, r := range bases {
			f.op("ADDQ", imm(s.elem), r)
		}
	} else {
		f.op("ADDQ", imm(rows*s.elem), "SI")
	}
	f.op("ADDQ", "R8", "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", label)
	f.label("done")
	for i := range rows {
		for j := 0; j < vectors && !s.round; j++ {
			f.op("VMOVU"+suffix, acc(i, j), at(j*s.width, "DX"))
		}
		if s.round { // two registers to one
			f.vcvtne2ps2bf16(2*i, 2*i+1, 2*i)
			f.op("VMOVUPS", vec(s.reg, 2*i), "(DX)")
		}
		if i < rows-1 || many || down {
			f.op("ADDQ", "R9", "DX")
		}
	}
	if many {
		f.op("LEAQ", "(R15)(R13*4)", "R15")
		f.op("LEAQ", "(R15)(R13*2)", "R15")
		f.op("MOVQ", "R15", "SI")
		f.op("LEAQ", "(SI)(R13*4)", "R11")
		f.op("MOVQ", "b+16(FP)", "DI")
		f.op("MOVQ", "k+0(FP)", "CX")
		f.op("DECQ", "R12")
		f.op("JNZ", "tile")
	}
	if down {
		f.op("MOVQ", f.arg("b"), "DI")
		f.op("MOVQ", f.arg("k"), "CX")
		f.op("DECQ", f.arg("tiles"))
		f.op("JNZ", "tile")
	}
	f.ret()
}

// fourSteps is a loop that does four steps of k at a time where the rows of b follow each other. A large tile takes long enough to fetch
// from the L3 cache what is wanted next: first the tile of c below this one, wide lines of each row, then a part of the next panel of b.
func (f *asmFile) fourSteps(rows, vectors, wide int, s shape, large bool, one func(u int)) {
	f.label("loop")
	f.op("CMPQ", "R8", imm(vectors*s.width))
	f.op("JNE", "rest")
	f.op("MOVQ", "CX", "BX")
	f.op("ANDQ", "$3", "CX")
	f.op("SHRQ", "$2", "BX")
	f.op("JZ", "rest")
	four := func(label, count string, fetch func()) {
		f.op("PCALIGN", "$64")
		f.label(label)
		fetch()
		for u := range 4 {
			one(u)
		}
		f.op("ADDQ", imm(4*rows*s.elem), "SI")
		f.op("ADDQ", imm(4*vectors*s.width), "DI")
		f.op("DECQ", count)
		f.op("JNZ", label)
	}
	if large {
		f.op("IMUL3Q", imm(rows), "R9", "R13")
		f.op("ADDQ", "DX", "R13")
		f.op("MOVQ", imm(rows), "AX")
		f.op("CMPQ", "BX", "AX")
		f.op("CMOVQLT", "BX", "AX")
		f.op("SUBQ", "AX", "BX")
		four("below", "AX", func() {
			for j := range wide {
				f.op("PREFETCHT0", at(j*s.width, "R13"))
			}
			f.op("ADDQ", "R9", "R13")
		})
		f.op("TESTQ", "BX", "BX")
		f.op("JZ", "odd")
	}
	four("four", "BX", func() {
		if large {
			f.op("PREFETCHT1", "(R12)")
			f.op("ADDQ", "$64", "R12")
		}
	})
	f.label("odd")
	f.op("TESTQ", "CX", "CX")
	f.op("JZ", "done")
}
