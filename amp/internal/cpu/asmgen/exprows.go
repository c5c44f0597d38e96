package main

import (
	"fmt"
	"math"
	"strconv"
)

// The exponentials of rows of scores, many rows at a time, each with a largest number of its own: as numbers or as the parts that the tile
// registers multiply. Those hold 16 bits, or 22: e^x is 2^y, of which VSCALEFPS takes the whole part, within 2^-22.

func expRows(f *asmFile) {
	f.expRows("expRowsF32", "in place of them", outNumbers)
	f.expRows("expRowsBF16", "as two bfloat16 each", outBrain)
	f.expRows("expRowsF16", "times factor, as two float16 each", outHalf)
}

// The ways to write exponentials: to SI, or halves to DI and what they leave to as much as R9 behind.
const (
	outNumbers = iota
	outBrain
	outHalf
)

// The fields of ExpRows in exprows.go, in bytes.
const (
	expCount, expBlocks, expSrc, expLds, expTop, expSum, expDst, expLdd, expPart, expScale, expFactor = 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 76
)

// power2 are the coefficients, from the constant on, of 2^r for r from 0 to 1 with the smallest relative error, 2^-22.7.
var power2 = []float32{0.9999999403953552, 0.6931530833244324, 0.24015361070632935, 0.05582631751894951, 0.008989340625703335, 0.0018775766948238015}

func (f *asmFile) expRows(name, doc string, out int) {
	f.fn(name, "computes e^(x·scale - top) for rows of blocks of 32 scores, 0 where that is below the normal numbers, "+doc+", and the sum of each row.", param{"r", "*ExpRows", "AX"})
	f.op("MOVQ", at(expCount, "AX"), "CX")
	f.op("MOVQ", at(expSrc, "AX"), "R10")
	f.op("MOVQ", at(expTop, "AX"), "R11")
	f.op("MOVQ", at(expSum, "AX"), "R12")
	f.op("MOVQ", at(expDst, "AX"), "R13")
	f.op("MOVQ", at(expPart, "AX"), "R9")
	const scale, top, factor, log2, least, series = "Z31", "Z30", "Z29", "Z28", "Z27", 20
	f.op("VBROADCASTSS", at(expScale, "AX"), scale)
	f.op("VBROADCASTSS", at(expFactor, "AX"), factor)
	number := func(x float32, to string) {
		f.op("MOVL", fmt.Sprintf("$%#08x", math.Float32bits(x)), "DX")
		f.op("VPBROADCASTD", "DX", to)
	}
	number(math.Log2E, log2)
	number(-126, least)
	for i, c := range power2 {
		number(c, vec("Z", series+i))
	}
	f.op("PCALIGN", "$32")
	f.label("row")
	f.op("VBROADCASTSS", "(R11)", top)
	f.op("VXORPS", "X0", "X0", "X0")
	f.op("VXORPS", "X1", "X1", "X1")
	f.op("MOVQ", "R10", "SI")
	f.op("MOVQ", "R13", "DI")
	f.op("MOVQ", at(expBlocks, "AX"), "BX")
	f.op("PCALIGN", "$32")
	f.label("some")
	both := func(write func(g int, x, r, e, k string)) { // instructions for two vectors in turns
		for g := range 2 {
			write(g, vec("Z", 2+4*g), vec("Z", 3+4*g), vec("Z", 4+4*g), vec("K", 1+g))
		}
	}
	both(func(g int, x, r, e, k string) { f.op("VMOVUPS", at(64*g, "SI"), x) })
	both(func(g int, x, r, e, k string) { f.op("VFMSUB213PS", top, scale, x) })
	both(func(g int, x, r, e, k string) { f.op("VMULPS", log2, x, x) })
	both(func(g int, x, r, e, k string) { f.op("VCMPPS", "$5", least, x, k) }) // not less, or NaN
	both(func(g int, x, r, e, k string) { f.op("VREDUCEPS", "$9", x, r) })     // less the largest whole number below
	last := len(power2) - 1
	both(func(g int, x, r, e, k string) { f.op("VMOVAPS", vec("Z", series+last), e) })
	for i := last - 1; i >= 0; i-- {
		both(func(g int, x, r, e, k string) { f.op("VFMADD213PS", vec("Z", series+i), r, e) })
	}
	both(func(g int, x, r, e, k string) { f.op("VSCALEFPS.Z", x, e, k, e) }) // subnormal results would take twenty times as long
	both(func(g int, x, r, e, k string) { f.op("VADDPS", e, vec("Z", g), vec("Z", g)) })
	if out == outNumbers {
		both(func(g int, x, r, e, k string) { f.op("VMOVUPS", e, at(64*g, "SI")) })
	} else {
		f.halfParts(both, out, factor)
		f.op("ADDQ", "$64", "DI")
	}
	f.op("ADDQ", "$128", "SI")
	f.op("DECQ", "BX")
	f.op("JNZ", "some")
	f.op("VADDPS", "Z0", "Z1", "Z0")
	f.op("VEXTRACTF64X4", "$1", "Z0", "Y1")
	f.op("VADDPS", "Y0", "Y1", "Y0")
	f.op("VEXTRACTF128", "$1", "Y0", "X1")
	f.op("VADDPS", "X0", "X1", "X0")
	for _, turn := range []string{"$0x4e", "$0xb1"} {
		f.op("VPERMILPS", turn, "X0", "X1")
		f.op("VADDPS", "X0", "X1", "X0")
	}
	f.op("VMOVSS", "X0", "(R12)")
	f.op("ADDQ", "$4", "R11")
	f.op("ADDQ", "$4", "R12")
	f.op("ADDQ", at(expLds, "AX"), "R10")
	f.op("ADDQ", at(expLdd, "AX"), "R13")
	f.op("DECQ", "CX")
	f.op("JNZ", "row")
	f.ret()
}

// halfParts writes the halves whose sum is e.
func (f *asmFile) halfParts(both func(write func(g int, x, r, e, k string)), out int, factor string) {
	half := func(r string) string { return "Y" + r[1:] }
	register := func(r string) int { n, _ := strconv.Atoi(r[1:]); return n }
	if out == outHalf {
		both(func(g int, x, r, e, k string) { f.op("VMULPS", factor, e, e) })
		both(func(g int, x, r, e, k string) { f.op("VCVTPS2PH", "$0", e, half(r)) })
		both(func(g int, x, r, e, k string) { f.op("VCVTPH2PS", half(r), x) })
	} else {
		both(func(g int, x, r, e, k string) { f.vcvtneps2bf16(register(e), register(r)) })
		both(func(g int, x, r, e, k string) { f.op("VPMOVZXWD", half(r), x) })
		both(func(g int, x, r, e, k string) { f.op("VPSLLD", "$16", x, x) })
	}
	both(func(g int, x, r, e, k string) { f.op("VMOVDQU", half(r), at(32*g, "DI")) })
	both(func(g int, x, r, e, k string) { f.op("VSUBPS", x, e, x) })
	if out == outHalf {
		both(func(g int, x, r, e, k string) { f.op("VCVTPS2PH", "$0", x, half(r)) })
	} else {
		both(func(g int, x, r, e, k string) { f.vcvtneps2bf16(register(x), register(r)) })
	}
	both(func(g int, x, r, e, k string) { f.op("VMOVDQU", half(r), at(32*g, "DI")+"(R9*1)") })
}
