package amp

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The first elements of a line in its order, without sorting all of it: float32 and halves become whole numbers of that order which hold
// their place as well, so that no two are equal, and those are divided about pivots (Hoare, "Algorithm 65: find", 1961) as long as the
// place that is asked for is among them.

// placeOf takes from a key of keysOf where its element was.
const placeOf = 1<<32 - 1

// key32 maps numbers to whole numbers in their order: NaN is greatest, and -0 equals 0.
func key32(v float32) uint32 {
	if v != v {
		return 1<<32 - 1
	}
	k := math.Float32bits(v + 0)
	return k ^ (uint32(int32(k)>>31) | 1<<31)
}

// keysOf writes the keys of x's elements, in the opposite order if down, with their places below.
func keysOf(keys []uint64, x []float32, down bool) {
	var turn uint32
	if down {
		turn = 1<<32 - 1
	}
	keys = keys[:len(x)]
	for i, v := range x {
		keys[i] = uint64(key32(v)^turn)<<32 | uint64(i)
	}
}

// sortFrom is the number of keys up to which they are sorted at once.
const sortFrom = 24

// nth moves the k-th smallest of the keys, from 0, to its place, no larger ones before it and no smaller ones behind.
func nth(keys []uint64, k int) {
	for tries := 4 * bits.Len(uint(len(keys))); len(keys) > sortFrom && tries > 0; tries-- {
		pivot := pivotOf(keys, k)
		n := divide(keys, pivot)
		switch {
		case k < n:
			keys = keys[:n]
		case n > 0:
			keys, k = keys[n:], k-n
		default: // the pivot is the smallest: all that equal it come first
			if n = divide(keys, pivot+1); k < n {
				return
			}
			keys, k = keys[n:], k-n
		}
	}
	slices.Sort(keys)
}

// pivotOf returns a key that is likely to lie near the k-th smallest: of nine of them spread over the line, that of k's place.
func pivotOf(keys []uint64, k int) uint64 {
	var few [9]uint64
	step := len(keys) / len(few)
	for i := range few {
		few[i] = keys[step/2+i*step]
	}
	for i := 1; i < len(few); i++ {
		for j := i; j > 0 && few[j] < few[j-1]; j-- {
			few[j], few[j-1] = few[j-1], few[j]
		}
	}
	return few[min(max(1, (k*len(few)+len(keys)/2)/len(keys)), len(few)-2)]
}

// divide moves the keys below pivot to the front and returns how many there are; without branches, which chance would mispredict.
func divide(keys []uint64, pivot uint64) int {
	n := 0
	for i, v := range keys {
		keys[i] = keys[n]
		keys[n] = v
		_, below := bits.Sub64(v, pivot, 0)
		n += int(below)
	}
	return n
}

// A keyedLine finds places in line x of float32 numbers and writes them to out; keys and room hold a number for each element.
type keyedLine func(out []int64, x []float32, keys, room []uint64)

// sortKeyed finds the order of a line.
func sortKeyed(down bool) keyedLine {
	return func(out []int64, x []float32, keys, room []uint64) {
		keysOf(keys, x, down)
		if len(keys) < radixFrom {
			slices.Sort(keys)
		} else {
			keys = radix32(keys, room)
		}
		for i, key := range keys {
			out[i] = int64(key & placeOf)
		}
	}
}

// medianKeyed finds the first NaN or, if there is none, the median.
func medianKeyed(out []int64, x []float32, keys, _ []uint64) {
	for i, v := range x {
		if v != v {
			out[0] = int64(i)
			return
		}
	}
	keysOf(keys, x, false)
	k := (len(x) - 1) / 2
	nth(keys, k)
	out[0] = int64(keys[k] & placeOf)
}

// topKeyed finds the first elements in order.
func topKeyed(largest bool) keyedLine {
	return func(out []int64, x []float32, keys, room []uint64) {
		k := len(out)
		if 16*k <= len(x) && k <= 16 {
			keys = keys[:k]
			topFew(keys, x, largest)
		} else {
			keysOf(keys, x, largest)
			switch {
			case k < radixFrom:
				nth(keys, k-1)
				slices.Sort(keys[:k])
			case k < len(keys):
				copy(room, keys)
				nth(room, k-1)
				last := room[k-1]
				keys = radix32(keysUpTo(keys, last)[:k], room[:k])
			default:
				keys = radix32(keys, room)
			}
			keys = keys[:k]
		}
		for i, key := range keys {
			out[i] = int64(key & placeOf)
		}
	}
}

// keysUpTo keeps the keys up to last, in the order they have.
func keysUpTo(keys []uint64, last uint64) []uint64 {
	n := 0
	for _, key := range keys {
		keys[n] = key
		_, above := bits.Sub64(last, key, 0)
		n += 1 - int(above)
	}
	return keys[:n]
}

// topFew keeps the keys of the first few elements in x's order sorted: hardly one of a long line comes to be among them, which a comparison
// of numbers shows, but for NaN.
func topFew(best []uint64, x []float32, largest bool) {
	var turn uint32
	if largest {
		turn = 1<<32 - 1
	}
	worst := len(best) - 1
	keysOf(best, x[:len(best)], largest)
	slices.Sort(best)
	last := x[best[worst]&placeOf]
	for i := len(best); i < len(x); i++ {
		if largest {
			for i < len(x) && x[i] <= last {
				i++
			}
		} else {
			for i < len(x) && x[i] >= last {
				i++
			}
		}
		if i == len(x) {
			return
		}
		key := uint64(key32(x[i])^turn)<<32 | uint64(i)
		if key >= best[worst] {
			continue
		}
		j := worst
		for ; j > 0 && key < best[j-1]; j-- {
			best[j] = best[j-1]
		}
		best[j] = key
		last = x[best[worst]&placeOf]
	}
}

var keysPool = sync.Pool{New: func() any { return new([]uint64) }}

// keyable says whether the places in the lines of t along dimension d are found by a keyedLine.
func keyable(t *Tensor, d int) bool {
	return t.dt.IsFloat() && t.dt != Float64 && uint64(t.shape[d]) < placeOf
}

// overKeys calls f for every line of the input along c's dimension.
func overKeys(c *Call, f keyedLine) {
	x, d := c.In[0], c.Dims[0]
	n := x.shape[d]
	overPlaces(c, func(lo, hi int, put func(i int, find func(out []int64, keys, room []uint64))) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			line := w.read(0, x, lineOf(x, d, i), x.strides[d], n)
			put(i, func(out []int64, keys, room []uint64) { f(out, line, keys, room) })
		}
	})
}

// overWide does so for lines of float64 or integers.
func overWide[T float64 | int64](c *Call, f wideLine[T]) {
	x, d := c.In[0], c.Dims[0]
	n := x.shape[d]
	pool := linePool[T]()
	overPlaces(c, func(lo, hi int, put func(i int, find func(out []int64, keys, room []uint64))) {
		b := pool.Get().(*lineBufs[T])
		defer pool.Put(b)
		for i := lo; i < hi; i++ {
			at := lineOf(x, d, i)
			line, ok := direct[T](x, at, x.strides[d], n)
			if !ok {
				line = b.grow(0, n)
				load(line, x, at, x.strides[d])
			}
			put(i, func(out []int64, keys, room []uint64) { f(out, line, keys, room) })
		}
	})
}

// overPlaces has f go over lines, for each of which it calls put with what finds the places in it.
func overPlaces(c *Call, f func(lo, hi int, put func(i int, find func(out []int64, keys, room []uint64)))) {
	x, out, d := c.In[0], c.Out, c.Dims[0]
	if out.Len() == 0 {
		return
	}
	n, k := x.shape[d], out.shape[d]
	cpu.Parallel(out.Len()/k, grainOf(8*n), func(lo, hi int) {
		p := keysPool.Get().(*[]uint64)
		defer keysPool.Put(p)
		*p = resize(*p, 2*n)
		places := make([]int64, k)
		f(lo, hi, func(i int, find func(out []int64, keys, room []uint64)) {
			at := lineOf(out, d, i)
			own, ok := direct[int64](out, at, out.strides[d], k)
			if !ok {
				own = places
			}
			find(own, (*p)[:n], (*p)[n:])
			if !ok {
				storeLine(out, at, out.strides[d], own)
			}
		})
	})
}
