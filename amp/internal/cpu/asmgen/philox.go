package main

// Random numbers: Philox4x32-10 (Salmon et al., SC 2011), a block of four 32-bit numbers in each 64-bit lane of four registers, whose upper
// halves hold whatever the products left there. The fields of philoxTable in philox_amd64.go, in bytes:
const (
	philoxKeys  = 0        // of ten rounds, two each
	philoxMul0  = 20 * 8   // the two factors
	philoxMul1  = 21 * 8   //
	philoxNext  = 22 * 8   // blocks of a register
	philoxLanes = 23 * 8   // which block each lane has: such that interleaving halves of registers puts them in order
	philoxCount = 31 * 8   // the first block
	philoxEven  = "0x5555" // the lower halves of 64-bit lanes
)

func randoms(f *asmFile) {
	f.philox("Y")
	f.philox("Z")
	f.drop("Y")
	f.drop("Z")
}

// philox fills dst with n times two registers of blocks.
func (f *asmFile) philox(width string) {
	wide := width == "Z"
	size := map[bool]int{false: 32, true: 64}[wide]
	f.fn("philox"+width, "writes n times two registers full of blocks.", param{"n", "int", "CX"}, param{"t", "*philoxTable", "SI"}, param{"dst", "*uint32", "DI"})
	v := func(i int) string { return vec(width, i) }
	counter, key, mul0, mul1 := v(12), v(13), v(14), v(15)
	f.op("VPBROADCASTQ", at(philoxMul0, "SI"), mul0)
	f.op("VPBROADCASTQ", at(philoxMul1, "SI"), mul1)
	f.op("VPBROADCASTQ", at(philoxCount, "SI"), counter)
	if wide {
		f.op("VPADDQ", at(philoxLanes, "SI"), counter, counter)
		f.op("MOVL", "$"+philoxEven, "AX")
		f.op("KMOVW", "AX", "K1")
	} else {
		f.op("VPADDQ", at(philoxLanes, "SI"), counter, counter)
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	type group struct{ c0, c1, c2, c3, p0, p1 string }
	groups := []group{{v(0), v(1), v(2), v(3), v(4), v(5)}, {v(6), v(7), v(8), v(9), v(10), v(11)}}
	for i := range groups {
		g := &groups[i]
		f.op(map[bool]string{false: "VMOVDQU", true: "VMOVDQU64"}[wide], counter, g.c0)
		f.op("VPSRLQ", "$32", counter, g.c1)
		f.op("VPXOR", "X"+g.c2[1:], "X"+g.c2[1:], "X"+g.c2[1:])
		f.op("VPXOR", "X"+g.c3[1:], "X"+g.c3[1:], "X"+g.c3[1:])
		f.op("VPBROADCASTQ", at(philoxNext, "SI"), key)
		f.op("VPADDQ", key, counter, counter)
	}
	for round := range 10 {
		for i := range groups {
			g := &groups[i]
			f.op("VPMULUDQ", mul0, g.c0, g.p0)
			f.op("VPMULUDQ", mul1, g.c2, g.p1)
		}
		for i := range groups {
			g := &groups[i]
			f.op("VPSRLQ", "$32", g.p1, g.c0)
			f.op("VPSRLQ", "$32", g.p0, g.c2)
			f.xor3(wide, g.c1, at(philoxKeys+16*round, "SI"), g.c0, key)
			f.xor3(wide, g.c3, at(philoxKeys+16*round+8, "SI"), g.c2, key)
			*g = group{g.c0, g.p1, g.c2, g.p0, g.c1, g.c3}
		}
	}
	for i := range groups {
		g := &groups[i]
		for _, pair := range [][2]string{{g.c0, g.c1}, {g.c2, g.c3}} {
			f.op("VPSLLQ", "$32", pair[1], pair[1])
			if wide {
				f.op("VMOVDQA32", pair[0], "K1", pair[1])
			} else {
				f.op("VPBLENDD", "$0xaa", pair[1], pair[0], pair[1])
			}
		}
		f.op("VPUNPCKLQDQ", g.c3, g.c1, g.p0)
		f.op("VPUNPCKHQDQ", g.c3, g.c1, g.p1)
		f.op("VMOVUPS", g.p0, at(2*i*size, "DI"))
		f.op("VMOVUPS", g.p1, at((2*i+1)*size, "DI"))
	}
	f.op("ADDQ", imm(4*size), "DI")
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}

// xor3 sets to ^= x ^ the word at key.
func (f *asmFile) xor3(wide bool, x, key, to, free string) {
	if wide {
		f.op("VPTERNLOGQ.BCST", "$0x96", key, x, to)
		return
	}
	f.op("VPBROADCASTQ", key, free)
	f.op("VPXOR", x, to, to)
	f.op("VPXOR", free, to, to)
}

// drop is dropout: a product and a sum that depend on whether a number is above a bound. Arg holds the bound, the factors and the summands of
// what is dropped and what is kept.
func (f *asmFile) drop(width string) {
	wide := width == "Z"
	size := map[bool]int{false: 32, true: 64}[wide]
	f.fn("drop"+width, "writes n registers full of elements, each kept where its number is above the bound.",
		param{"n", "int", "CX"}, param{"src", "*float32", "SI"}, param{"numbers", "*uint32", "DX"}, param{"dst", "*float32", "DI"}, param{"arg", "*[5]uint32", "AX"})
	v := func(i int) string { return vec(width, i) }
	for i := range 5 {
		f.op("VBROADCASTSS", at(4*i, "AX"), v(8+i))
	}
	bound, factor, summand := v(8), [2]string{v(9), v(10)}, [2]string{v(11), v(12)}
	f.op("PCALIGN", "$32")
	f.label("loop")
	f.op("VMOVUPS", "(SI)", v(0))
	if wide {
		f.op("VMOVUPS", "(DX)", v(1))
		f.op("VPCMPUD", "$6", bound, v(1), "K1")
		f.op("VBLENDMPS", factor[1], factor[0], "K1", v(2))
		f.op("VBLENDMPS", summand[1], summand[0], "K1", v(3))
	} else {
		f.op("VPMAXUD", "(DX)", bound, v(1))
		f.op("VPCMPEQD", bound, v(1), v(1))
		f.op("VBLENDVPS", v(1), factor[0], factor[1], v(2))
		f.op("VBLENDVPS", v(1), summand[0], summand[1], v(3))
	}
	f.op("VMULPS", v(2), v(0), v(0))
	f.op("VADDPS", v(3), v(0), v(0))
	f.op("VMOVUPS", v(0), "(DI)")
	for _, r := range []string{"SI", "DX", "DI"} {
		f.op("ADDQ", imm(size), r)
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.ret()
}
