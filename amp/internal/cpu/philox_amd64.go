package cpu

import "math"

// A philoxTable is what the assembly reads; asmgen/philox.go has the places.
type philoxTable struct {
	keys    [20]uint64
	factors [2]uint64
	next    uint64
	lanes   [8]uint64
	first   uint64
}

// philoxVec fills as much of dst as whole registers do.
func philoxVec(dst []uint32, seed, block uint64) int {
	v := variant()
	blocks := 4 * int(v) // of a register
	n := 0
	if blocks > 0 {
		n = len(dst) / (8 * blocks)
	}
	if n == 0 {
		return 0
	}
	t := philoxTable{factors: [2]uint64{philoxM0, philoxM1}, next: uint64(blocks), first: block}
	k0, k1 := uint32(seed), uint32(seed>>32)
	for r := range 10 {
		t.keys[2*r], t.keys[2*r+1] = uint64(k0), uint64(k1)
		k0 += philoxW0
		k1 += philoxW1
	}
	for i := range blocks { // even lanes hold the first half of the blocks
		t.lanes[i] = uint64(i/2 + i%2*blocks/2)
	}
	if v == AVX512 {
		philoxZ(n, &t, &dst[0])
	} else {
		philoxY(n, &t, &dst[0])
	}
	return n * 8 * blocks
}

func dropVec(dst, src []float32, numbers []uint32, d *Dropping) int {
	v := variant()
	lanes := 8 * int(v)
	if v == Generic || len(src) < lanes {
		return 0
	}
	arg := [5]uint32{uint32(d.Bound - 1), math.Float32bits(d.Factor[0]), math.Float32bits(d.Factor[1]), math.Float32bits(d.Summand[0]), math.Float32bits(d.Summand[1])}
	n := len(src) / lanes
	if v == AVX512 {
		dropZ(n, &src[0], &numbers[0], &dst[0], &arg)
	} else {
		dropY(n, &src[0], &numbers[0], &dst[0], &arg)
	}
	return n * lanes
}
