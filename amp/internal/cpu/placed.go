package cpu

import "math"

// PlacedKey is one number for an element and its place: the largest of several is that of the largest element, of several such the first, of several
// NaN the last. 0 and -0 are as large.
func PlacedKey(v float32, place uint32) int64 {
	bits := int32(math.Float32bits(v + 0))
	if uint32(bits)<<1 > 0xff000000 {
		return math.MaxInt32<<32 | int64(place)
	}
	return int64(bits^int32(uint32(bits>>31)>>1))<<32 | int64(^place)
}

// PlaceOfKey is the place of such a number, -1 of math.MinInt64, which is none.
func PlaceOfKey(key int64) int64 {
	place := int64(uint32(key))
	if key>>32 != math.MaxInt32 {
		place = int64(^uint32(key))
	}
	if key == math.MinInt64 {
		return -1
	}
	return place
}

// PlacedMaxima sets keys[i], for i below n, to the largest PlacedKey of src[r·lds + i] with r below rows, at least 1, whose places count from first on.
func PlacedMaxima(rows, n int, src []float32, lds, first int, keys []int64) {
	if n == 0 {
		return
	}
	_, _ = src[(rows-1)*lds+n-1], keys[n-1]
	if !placedMaximaVec(rows, n, src, lds, first, keys) {
		placedMaximaPlain(rows, n, src, lds, first, keys)
	}
}

func placedMaximaPlain(rows, n int, src []float32, lds, first int, keys []int64) {
	keys = keys[:n]
	for i, v := range src[:n] {
		keys[i] = PlacedKey(v, uint32(first+i))
	}
	for r := 1; r < rows; r++ {
		for i, v := range src[r*lds:][:n] {
			keys[i] = max(keys[i], PlacedKey(v, uint32(first+r*lds+i)))
		}
	}
}
