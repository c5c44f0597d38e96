package cpu

// The multipliers of Philox4x32 and what its keys grow by in each round.
const (
	philoxM0, philoxM1 = 0xD2511F53, 0xCD9E8D57
	philoxW0, philoxW1 = 0x9E3779B9, 0xBB67AE85
)

// PhiloxBlock returns the four 32-bit numbers of one block of Philox4x32-10 (Salmon et al., SC 2011).
func PhiloxBlock(seed, block uint64) [4]uint32 {
	c0, c1, c2, c3 := uint32(block), uint32(block>>32), uint32(0), uint32(0)
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 10 {
		p0, p1 := uint64(philoxM0)*uint64(c0), uint64(philoxM1)*uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += philoxW0
		k1 += philoxW1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// philoxRun is how many numbers the widest registers make at a time, fewNumbers the most that are made block by block.
const (
	philoxRun  = 64
	fewNumbers = 8
)

// Philox fills dst with the numbers of consecutive blocks, four each; of the last one as many as there is room for.
func Philox(dst []uint32, seed, block uint64) {
	done := philoxVec(dst, seed, block)
	if len(dst)-done > fewNumbers {
		var more [philoxRun]uint32
		n := philoxVec(more[:], seed, block+uint64(done/4))
		done += copy(dst[done:], more[:n])
	}
	for block += uint64(done / 4); done < len(dst); block++ {
		numbers := PhiloxBlock(seed, block)
		done += copy(dst[done:], numbers[:])
	}
}

// A Dropping says what Drop makes of elements that are dropped, 0, and kept, 1.
type Dropping struct {
	Bound   uint64     // numbers below it drop; from 1 to 2³²
	Factor  [2]float32 // element · Factor + Summand, each rounded
	Summand [2]float32
}

// Drop sets dst to what becomes of each element of src by the number beside it. dst may be src.
func Drop(dst, src []float32, numbers []uint32, d *Dropping) {
	dst, numbers = dst[:len(src)], numbers[:len(src)]
	for i := dropVec(dst, src, numbers, d); i < len(src); i++ {
		k := 0
		if uint64(numbers[i]) >= d.Bound {
			k = 1
		}
		dst[i] = float32(src[i]*d.Factor[k]) + d.Summand[k]
	}
}
