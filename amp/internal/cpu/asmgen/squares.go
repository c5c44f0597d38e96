package main

import "fmt"

// squares add up the squares of float32 numbers and halves in float64, where they are exact: element i goes to lane i mod squareLanes.
func squares(f *asmFile) {
	for _, format := range []string{"", "F16", "BF16"} {
		squaresOf(f, format)
	}
}

func squaresOf(f *asmFile, format string) {
	bytes, ptr := 4, "*float32"
	if format != "" {
		bytes, ptr = 2, "*uint16"
	}
	for _, width := range []string{"Y", "Z"} {
		size, narrow := map[string]int{"Y": 4, "Z": 8}[width], map[string]string{"Y": "X", "Z": "Y"}[width]
		sums := squareLanes / size
		f.fn("squares"+format+width, fmt.Sprintf("adds the squares of n blocks of %d elements to the lanes.", squareLanes), param{"n", "int", "CX"}, param{"x", ptr, "SI"},
			param{"lanes", fmt.Sprintf("*[%d]float64", squareLanes), "DI"})
		for i := range sums {
			f.op("VMOVUPD", at(8*size*i, "DI"), vec(width, i))
		}
		f.op("PCALIGN", "$32")
		f.label("loop")
		for line := range squareLanes * bytes / 64 { // the processor does not guess what lies beyond a page
			f.op("PREFETCHT0", at(2048+64*line, "SI"))
		}
		for i := 0; i < sums; i += 4 {
			for j := range 4 {
				from, wide := at(bytes*size*(i+j), "SI"), vec(narrow, sums+j)
				switch format {
				case "F16":
					f.op("VCVTPH2PS", from, wide)
					from = wide
				case "BF16":
					f.op("VPMOVZXWD", from, wide)
					f.op("VPSLLD", "$16", wide, wide)
					from = wide
				}
				f.op("VCVTPS2PD", from, vec(width, sums+j))
			}
			for j := range 4 {
				f.op("VFMADD231PD", vec(width, sums+j), vec(width, sums+j), vec(width, i+j))
			}
		}
		f.op("ADDQ", imm(bytes*squareLanes), "SI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		for i := range sums {
			f.op("VMOVUPD", vec(width, i), at(8*size*i, "DI"))
		}
		f.ret()
	}
}

const squareLanes = 32
