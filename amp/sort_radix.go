package amp

import "math"

// Long lines are sorted by radix: numbers become unsigned keys of the same order, and keys are brought in order byte by byte from the
// lowest on. Equal keys keep their order, and a byte that all keys share costs nothing, so that halves take two passes.

// radixFrom is the length of a line from which it pays.
const radixFrom = 128

// A keyed element is its key and where it was.
type keyed struct {
	key   uint64
	place int
}

// keyOf maps numbers to keys in their order: NaN is greatest, and -0 equals 0.
func keyOf[T float64 | int64](v T) uint64 {
	switch v := any(v).(type) {
	case float64:
		if v != v {
			return math.MaxUint64
		}
		k := math.Float64bits(v + 0)
		if k>>63 != 0 {
			return ^k
		}
		return k | 1<<63
	case int64:
		return uint64(v) ^ 1<<63
	}
	return 0
}

// radix sorts elements, of which a key comes in the order of its places, and returns them in a or b, which is as long.
func radix(a, b []keyed) []keyed {
	var low, high uint64 = math.MaxUint64, 0
	for _, e := range a {
		low &= e.key
		high |= e.key
	}
	for shift := 0; shift < 64; shift += 8 {
		if (low^high)>>shift&0xff == 0 {
			continue
		}
		var count [256]int
		for _, e := range a {
			count[e.key>>shift&0xff]++
		}
		begins(count[:])
		for _, e := range a {
			d := e.key >> shift & 0xff
			b[count[d]] = e
			count[d]++
		}
		a, b = b, a
	}
	return a
}

// begins makes of how many there are of each where they begin.
func begins(count []int) {
	at := 0
	for d, n := range count {
		count[d] = at
		at += n
	}
}

// radix32 sorts whole numbers, which come in the order of their lower halves, by the upper ones and returns them in a or b, which is as long.
func radix32(a, b []uint64) []uint64 {
	if len(a) < radixLong {
		return radixBytes(a, b)
	}
	return radixWide(a, b)
}

// radixLong is the length from which three passes with large tables are faster than four with small ones.
const radixLong = 1 << 14

// radixBytes sorts by a byte at a time.
func radixBytes(a, b []uint64) []uint64 {
	var count [4][256]int
	for _, k := range a {
		count[0][k>>32&0xff]++
		count[1][k>>40&0xff]++
		count[2][k>>48&0xff]++
		count[3][k>>56]++
	}
	for pass := range count {
		shift, next := 32+8*pass, &count[pass]
		if next[a[0]>>shift&0xff] == len(a) {
			continue
		}
		begins(next[:])
		for _, k := range a {
			d := k >> (shift & 63) & 0xff
			at := next[d]
			b[at] = k
			next[d] = at + 1
		}
		a, b = b, a
	}
	return a
}

// radixWide sorts by 11 bits at a time. The lowest of them belongs to the lower half, by which the numbers are in order already.
func radixWide(a, b []uint64) []uint64 {
	const digits = 1 << 11
	var count [3][digits]int
	for _, k := range a {
		count[0][k>>31%digits]++
		count[1][k>>42%digits]++
		count[2][k>>53]++
	}
	for pass := range count {
		shift, next := 31+11*pass, &count[pass]
		if next[a[0]>>shift%digits] == len(a) {
			continue
		}
		begins(next[:])
		for _, k := range a {
			d := k >> (shift & 63) % digits
			at := next[d]
			b[at] = k
			next[d] = at + 1
		}
		a, b = b, a
	}
	return a
}
