package main

import "fmt"

// squares add up the squares of float32 numbers in float64, where they are exact: element i goes to lane i mod squareLanes.
func squares(f *asmFile) {
	for _, width := range []string{"Y", "Z"} {
		size := map[string]int{"Y": 4, "Z": 8}[width]
		sums := squareLanes / size
		f.fn("squares"+width, fmt.Sprintf("adds the squares of n blocks of %d elements to the lanes.", squareLanes), param{"n", "int", "CX"}, param{"x", "*float32", "SI"},
			param{"lanes", fmt.Sprintf("*[%d]float64", squareLanes), "DI"})
		for i := range sums {
			f.op("VMOVUPD", at(8*size*i, "DI"), vec(width, i))
		}
		f.op("PCALIGN", "$32")
		f.label("loop")
		for i := 0; i < sums; i += 4 {
			for j := range 4 {
				f.op("VCVTPS2PD", at(4*size*(i+j), "SI"), vec(width, sums+j))
			}
			for j := range 4 {
				f.op("VFMADD231PD", vec(width, sums+j), vec(width, sums+j), vec(width, i+j))
			}
		}
		f.op("ADDQ", imm(4*squareLanes), "SI")
		f.op("DECQ", "CX")
		f.op("JNZ", "loop")
		for i := range sums {
			f.op("VMOVUPD", vec(width, i), at(8*size*i, "DI"))
		}
		f.ret()
	}
}

const squareLanes = 32
