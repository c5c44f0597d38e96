package cpu

import (
	"os"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// Memory that is used again holds what someone left there, and a kernel that skips a row, or reads one that nobody wrote, may give results
// that look right for days. Poisoned memory makes them look wrong at once: it is filled with one byte before it is lent. 0xff is NaN in
// every float format and -1 as an integer. HALFTONE_POISON, a byte such as 0xff, does so in any program; the tests of this module always do.
// Nothing may depend on it: tests compare results under different bytes.

var poison atomic.Int32 // the byte and poisoned

const poisoned = 1 << 8

func init() {
	if v, err := strconv.ParseUint(os.Getenv("HALFTONE_POISON"), 0, 8); err == nil {
		SetPoison(int(v))
	}
}

// SetPoison chooses the byte that memory is filled with before it is lent, or none if it is negative, and returns what it was. It is for
// tests.
func SetPoison(b int) (was int) {
	v := int32(0)
	if b >= 0 {
		v = poisoned | int32(b)&0xff
	}
	if v = poison.Swap(v); v == 0 {
		return -1
	}
	return int(v & 0xff)
}

// mostPoison bounds the bytes of one piece that are filled: whoever lends gigabytes has few pages touched.
const mostPoison = 1 << 26

// Poison fills numbers that are about to be lent, under SetPoison.
func Poison[T any](list []T) {
	v := poison.Load()
	if v == 0 || len(list) == 0 {
		return
	}
	switch any(list).(type) {
	case []byte, []uint16, []uint32, []uint64, []int32, []int64, []int, []float32, []float64:
	default:
		return // may hold pointers
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), min(mostPoison, len(list)*int(unsafe.Sizeof(list[0]))))
	b[0] = byte(v)
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// poison fills all that the workspace has, and it forgets what that was.
func (w *workspace[T]) poison() {
	if poison.Load() == 0 {
		return
	}
	for _, list := range [][]T{w.a, w.b, w.c, w.tile, w.sum, w.last, w.wide[0], w.wide[1], w.bias, w.lines[:]} {
		Poison(list[:cap(list)])
	}
	Poison(w.half[:cap(w.half)])
	w.piece, w.columns = [3]int{}, [3]int{}
}
