package amp

import (
	bytesOf "encoding/binary"
	"math/bits"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The places of elements that are not 0, for the rows whose result's shape depends on the data: counted range by range first, so that the
// second pass knows where in the list each range begins and ranges are shared out.

// placesGrain is how many elements a range has.
const placesGrain = 1 << 15

// setBytes returns a byte for every element of t in row-major order, 0 where the element is 0 and else 1. NaN is not 0.
func setBytes(t *Tensor) []byte {
	if t.dt == Bool && t.contiguous() {
		return t.st.mem[t.off : t.off+t.Len()]
	}
	set := make([]byte, t.Len())
	flat := &Tensor{dt: Bool, st: &storage{dev: theCPU, mem: set, dt: Bool, bytes: int64(len(set))}}
	flat.layout(t.shape)
	switch t.dt {
	case Bool:
		copyRows(flat, t)
	case Float64:
		unaryOn(flat, t, func(dst, x []float64) { copy(dst, x) })
	case Int64:
		unaryOn(flat, t, func(dst, x []int64) { copy(dst, x) })
	default:
		unaryOn(flat, t, func(dst, x []float32) { copy(dst, x) })
	}
	return set
}

// countSet returns how many bytes are not 0.
func countSet(set []byte) int {
	const low = 0x7f7f7f7f7f7f7f7f
	n := 0
	for ; len(set) >= 8; set = set[8:] {
		u := bytesOf.LittleEndian.Uint64(set)
		n += bits.OnesCount64((u&low + low | u) &^ low) // the top bit of each byte that is not 0
	}
	for _, b := range set {
		n += int(min(b, 1))
	}
	return n
}

// eachSet calls f once for every range of bytes with how many bytes before it are not 0, shared out; room is told before how many there are
// in all.
func eachSet(set []byte, room func(count int), f func(first, lo, hi int)) {
	ranges := (len(set) + placesGrain - 1) / placesGrain
	before := make([]int, ranges+1)
	end := func(r int) int { return min((r+1)*placesGrain, len(set)) }
	cpu.Parallel(ranges, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			before[r+1] = countSet(set[r*placesGrain : end(r)])
		}
	})
	for r := range ranges {
		before[r+1] += before[r]
	}
	room(before[ranges])
	cpu.Parallel(ranges, 1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			f(before[r], r*placesGrain, end(r))
		}
	})
}

// A placeList holds the places found in a few elements: all of them are written and the next overwrites what does not count, as random
// masks would mispredict branches.
type placeList [4096 + 1]int64

// find returns the places, from base on, of the bytes that are not 0, of which there are 4096 at most.
func (l *placeList) find(set []byte, base int) []int64 {
	n := 0
	for i, b := range set {
		l[n] = int64(base + i)
		n += int(min(b, 1))
	}
	return l[:n]
}

// flatPlaces returns the numbers in row-major order of the elements that are not 0.
func flatPlaces(set []byte) []int64 {
	var out []int64
	eachSet(set, func(count int) { out = make([]int64, count) }, func(first, lo, hi int) {
		var list placeList
		for ; lo < hi; lo += len(list) - 1 {
			first += copy(out[first:], list.find(set[lo:min(hi, lo+len(list)-1)], lo))
		}
	})
	return out
}

// coordinates returns the indices along each dimension of the elements that are not 0, one element's behind the other's.
func coordinates(set []byte, shape []int) []int64 {
	rank := len(shape)
	var out []int64
	eachSet(set, func(count int) { out = make([]int64, count*rank) }, func(first, lo, hi int) {
		var list placeList
		to, last, index := out[first*rank:], shape[rank-1], make([]int64, rank)
		for lo < hi {
			row := lo / last
			for d, rest := rank-2, row; d >= 0; d-- {
				index[d], rest = int64(rest%shape[d]), rest/shape[d]
			}
			end := min(hi, (row+1)*last, lo+len(list)-1)
			places := list.find(set[lo:end], lo-row*last)
			if rank == 2 {
				for k, p := range places {
					to[2*k], to[2*k+1] = index[0], p
				}
			} else {
				for k, p := range places {
					index[rank-1] = p
					copy(to[k*rank:], index)
				}
			}
			to, lo = to[len(places)*rank:], end
		}
	})
	return out
}
