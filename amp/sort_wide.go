package amp

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Order and first elements of lines of 64-bit numbers, whose keys leave no room for their places.

// A wideLine finds places in line x and writes them to out; keys and room hold a number for each element.
type wideLine[T float64 | int64] func(out []int64, x []T, keys, room []uint64)

var keyedPool = sync.Pool{New: func() any { return new([]keyed) }}

// sortKeys writes the places of elements in the order of their keys, those of equal keys as they come.
func sortKeys(out []int64, e, room []keyed) {
	if len(e) < radixFrom {
		slices.SortFunc(e, func(a, b keyed) int {
			if o := cmp.Compare(a.key, b.key); o != 0 {
				return o
			}
			return a.place - b.place
		})
	} else {
		e = radix(e, room)
	}
	for i, e := range e {
		out[i] = int64(e.place)
	}
}

// turned is what keys are combined with, so that they are in the opposite order if down.
func turned(down bool) uint64 {
	if down {
		return math.MaxUint64
	}
	return 0
}

// sortWide finds the order of a line.
func sortWide[T float64 | int64](down bool) wideLine[T] {
	turn := turned(down)
	return func(out []int64, x []T, _, _ []uint64) {
		p := keyedPool.Get().(*[]keyed)
		defer keyedPool.Put(p)
		*p = resize(*p, 2*len(x))
		all := (*p)[:len(x)]
		for i, v := range x {
			all[i] = keyed{keyOf(v) ^ turn, i}
		}
		sortKeys(out, all, (*p)[len(x):])
	}
}

// topWide finds the first elements in order.
func topWide[T float64 | int64](largest bool) wideLine[T] {
	turn := turned(largest)
	return func(out []int64, x []T, keys, room []uint64) {
		k := len(out)
		p := keyedPool.Get().(*[]keyed)
		defer keyedPool.Put(p)
		*p = resize(*p, 2*k)
		best := (*p)[:0]
		if 16*k <= len(x) && k <= 16 {
			topFewWide((*p)[:k], x, turn)
			for i, e := range (*p)[:k] {
				out[i] = int64(e.place)
			}
			return
		}
		for i, v := range x {
			keys[i] = keyOf(v) ^ turn
		}
		copy(room, keys)
		nth(room, k-1)
		last := room[k-1]
		left := k // of those that equal the last
		for _, key := range room[:k] {
			if key < last {
				left--
			}
		}
		for i, key := range keys {
			switch {
			case key < last:
				best = append(best, keyed{key, i})
			case key == last && left > 0:
				best = append(best, keyed{key, i})
				left--
			}
		}
		sortKeys(out, best, (*p)[k:])
	}
}

// topFewWide keeps the first few elements sorted, which hardly one of a long line comes to be among.
func topFewWide[T float64 | int64](best []keyed, x []T, turn uint64) {
	for i, v := range x[:len(best)] {
		best[i] = keyed{keyOf(v) ^ turn, i}
	}
	slices.SortStableFunc(best, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	worst := len(best) - 1
	last := x[best[worst].place]
	for i := len(best); i < len(x); i++ {
		if turn != 0 {
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
		key := keyOf(x[i]) ^ turn
		if key >= best[worst].key {
			continue
		}
		j := worst
		for ; j > 0 && key < best[j-1].key; j-- {
			best[j] = best[j-1]
		}
		best[j] = keyed{key, i}
		last = x[best[worst].place]
	}
}

// medianWide finds the first NaN or, if there is none, the median.
func medianWide[T float64 | int64](out []int64, x []T, keys, room []uint64) {
	for i, v := range x {
		if v != v {
			out[0] = int64(i)
			return
		}
	}
	for i, v := range x {
		keys[i] = keyOf(v)
	}
	copy(room, keys)
	k := (len(x) - 1) / 2
	nth(room, k)
	median := room[k]
	for _, key := range room[:k] { // of equal ones, the k-th less those that are smaller
		if key < median {
			k--
		}
	}
	for i, key := range keys {
		if key != median {
			continue
		}
		if k == 0 {
			out[0] = int64(i)
			return
		}
		k--
	}
}
