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

// radix sorts the elements of x, from the largest if down, and writes where they were into out. Both buffers have x's length.
func radix[T float64 | int64](out, x []T, a, b []keyed, down bool) {
	var low, high uint64 = math.MaxUint64, 0
	for i, v := range x {
		k := keyOf(v)
		if down {
			k = ^k
		}
		a[i] = keyed{k, i}
		low &= k
		high |= k
	}
	for shift := 0; shift < 64; shift += 8 {
		if (low^high)>>shift&0xff == 0 {
			continue
		}
		var count [256]int
		for _, e := range a {
			count[e.key>>shift&0xff]++
		}
		at := 0
		for d, n := range count {
			count[d] = at
			at += n
		}
		for _, e := range a {
			d := e.key >> shift & 0xff
			b[count[d]] = e
			count[d]++
		}
		a, b = b, a
	}
	for i, e := range a {
		out[i] = T(e.place)
	}
}
