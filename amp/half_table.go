package amp

import (
	"sync"
	"unsafe"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// There are only 65,536 halves, so a function of one is looked up rather than computed where there are many to do. The tables are
// made by the kernels they stand for and hold the same bits.

// tableFrom is the number of elements from which a table is made and used.
const tableFrom = 1 << 12

type tableKey struct {
	f  *cpu.Function
	dt DType
}

// halfTables holds *[1 << 16]uint16, results rounded to the half, by tableKey.
var halfTables sync.Map

// eachHalf calls f with all halves of a dtype as float32, some at a time, and the bits of the first.
func eachHalf(dt DType, f func(first int, x []float32)) {
	var bits [chunk]uint16
	var x [chunk]float32
	for first := 0; first < 1<<16; first += chunk {
		for i := range bits {
			bits[i] = uint16(first + i)
		}
		if dt == Float16 {
			cpu.WidenF16(x[:], bits[:])
		} else {
			cpu.WidenBF16(x[:], bits[:])
		}
		f(first, x[:])
	}
}

func halfTable(f *cpu.Function, dt DType) *[1 << 16]uint16 {
	key := tableKey{f, dt}
	if t, ok := halfTables.Load(key); ok {
		return t.(*[1 << 16]uint16)
	}
	table := new([1 << 16]uint16)
	eachHalf(dt, func(first int, x []float32) {
		f.F32(x, x)
		if dt == Float16 {
			cpu.NarrowF16(table[first:first+len(x)], x)
		} else {
			cpu.NarrowBF16(table[first:first+len(x)], x)
		}
	})
	t, _ := halfTables.LoadOrStore(key, table)
	return t.(*[1 << 16]uint16)
}

// bits16 views the storage of a half tensor.
func bits16(t *Tensor) []uint16 {
	if t.dt == Float16 {
		return raw16(elements[float16.Float16](t))
	}
	return raw16(elements[bfloat16.BFloat16](t))
}

// tabled says whether a table pays for a kernel that reads and writes halves of one dtype.
func tabled(out, in *Tensor) bool {
	return in.dt.IsHalf() && out.dt == in.dt && in.Len() >= tableFrom
}

// lookUp sets out to the table's entries for in.
func lookUp(out, in *Tensor, table *[1 << 16]uint16) {
	w := newRowWalk(out, in)
	dst, src := bits16(out), bits16(in)
	w.run(func(off [4]int, n int) {
		d, at := dst[off[0]:off[0]+n], off[1]
		if w.step[1] == 1 {
			lookUpRun(d, src[at:at+n], table)
			return
		}
		for i := range d {
			d[i] = table[src[at]]
			at += w.step[1]
		}
	})
}

// lookUpRun sets dst to the table's entries for src, of the same length: four by one load and one store, where these would be what it takes.
func lookUpRun(dst, src []uint16, table *[1 << 16]uint16) {
	four := len(src) &^ 3
	if four > 0 {
		from, to := unsafe.Pointer(&src[0]), unsafe.Pointer(&dst[:len(src)][0])
		for i := 0; i < 2*four; i += 8 {
			b := *(*uint64)(unsafe.Add(from, i))
			*(*uint64)(unsafe.Add(to, i)) = uint64(table[uint16(b)]) | uint64(table[uint16(b>>16)])<<16 |
				uint64(table[uint16(b>>32)])<<32 | uint64(table[b>>48])<<48
		}
	}
	for i := four; i < len(src); i++ {
		dst[i] = table[src[i]]
	}
}
