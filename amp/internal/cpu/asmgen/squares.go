package main

import "fmt"

// squares add up the squares of float32 numbers and halves in float64, where they are exact: element i goes to lane i mod squareLanes.
func squares(f *asmFile) {
	for _, format := range []string{"", "F16", "BF16"} {
		squaresOf(f, format)
	}
	squarePairs(f, "F16")
	squarePairs(f, "BF16")
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

// squarePairs write the same for halves, two squares added up in float32 for each lane: neighbors of bfloat16, whose bits lie in one number, or
// binary16 sixteen apart.
func squarePairs(f *asmFile, format string) {
	for _, width := range []string{"Y", "Z"} {
		count, narrow, extract := 16, "Y", "VEXTRACTF64X4" // float32 numbers in a register
		if width == "Y" {
			count, narrow, extract = 8, "X", "VEXTRACTF128"
		}
		v, half := func(i int) string { return vec(width, i) }, func(i int) string { return vec(narrow, i) }
		sums := squareLanes / count
		f.fn("squarePairs"+format+width, fmt.Sprintf("adds the squares of n blocks of %d elements to the lanes, those of two elements added in float32.", squareLanes),
			param{"n", "int", "CX"}, param{"x", "*uint16", "SI"}, param{"lanes", fmt.Sprintf("*[%d]float64", squareLanes/2), "DI"})
		for i := range sums {
			f.op("VMOVUPD", at(4*count*i, "DI"), v(i))
		}
		const first, second, wide, high = 8, 9, 10, 15
		if format == "BF16" {
			if width == "Z" {
				f.op("VPTERNLOGD", "$0xff", v(high), v(high), v(high))
			} else {
				f.op("VPCMPEQD", v(high), v(high), v(high))
			}
			f.op("VPSLLD", "$16", v(high), v(high))
		}
		f.op("PCALIGN", "$32")
		f.label("loop")
		f.op("PREFETCHT0", at(2048, "SI")) // the processor does not guess what lies beyond a page
		for i := 0; i < sums; i += 2 {
			if format == "BF16" {
				f.op("VMOVUPS", at(2*count*i, "SI"), v(second))
				f.op("VPSLLD", "$16", v(second), v(first))
				f.op("VANDPS", v(high), v(second), v(second))
			} else {
				f.op("VCVTPH2PS", at(count*i, "SI"), v(first))
				f.op("VCVTPH2PS", at(count*i+squareLanes, "SI"), v(second))
			}
			f.op("VMULPS", v(first), v(first), v(first))
			f.op("VFMADD231PS", v(second), v(second), v(first))
			f.op("VCVTPS2PD", half(first), v(wide))
			f.op(extract, "$1", v(first), half(second))
			f.op("VCVTPS2PD", half(second), v(second))
			f.op("VADDPD", v(wide), v(i), v(i))
			f.op("VADDPD", v(second), v(i+1), v(i+1))
		}
		f.op("ADDQ", imm(2*squareLanes), "SI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		for i := range sums {
			f.op("VMOVUPD", v(i), at(4*count*i, "DI"))
		}
		f.ret()
	}
}

const squareLanes = 32
