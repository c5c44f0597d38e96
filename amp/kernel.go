package amp

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// The CPU kernels of 16-bit floats compute in float32 and round once per op, as tensor cores do. Rows therefore give their
// arithmetic for float32, float64 and, where it makes sense, int64; what follows brings any tensor to that form.
//
// A product that is added to something is written T(x*y) + z: without the conversion the compilers for some processors fuse
// the two, and results would depend on the processor. Elementary functions come from package cpu for the same reason.

// chunk is the number of elements that are widened, computed and rounded at a time: three chunks of float64 fit the L1 cache.
const chunk = 512

// grain is the number of elements from which another worker pays.
const grain = 1 << 15

// grainOf is grain counted in items each of which is as much work as so many elements.
func grainOf(work int) int { return max(1, grain/max(1, work)) }

// number lists the types kernels compute in.
type number interface{ float32 | float64 | int64 }

// load widens len(dst) elements of t, stride apart from offset off.
func load[T number](dst []T, t *Tensor, off, stride int) {
	switch t.dt {
	case Float16:
		gather16(dst, elements[float16.Float16](t), off, stride, cpu.WidenF16, cpu.F16ToF32)
	case BFloat16:
		gather16(dst, elements[bfloat16.BFloat16](t), off, stride, cpu.WidenBF16, cpu.BF16ToF32)
	case Float32:
		gather(dst, elements[float32](t), off, stride)
	case Float64:
		gather(dst, elements[float64](t), off, stride)
	case Int64:
		gather(dst, elements[int64](t), off, stride)
	case Bool:
		if single, ok := any(dst).([]float32); ok && stride == 1 {
			cpu.WidenBools(single, t.st.mem[off:off+len(dst)])
			return
		}
		for i := range dst { // bytes rather than branches, which random masks would mispredict
			dst[i] = T(min(t.st.mem[off+i*stride], 1))
		}
	}
}

func gather[T, S number](dst []T, src []S, off, stride int) {
	switch stride {
	case 1:
		src = src[off : off+len(dst)]
		if same, ok := any(src).([]T); ok {
			copy(dst, same)
			return
		}
		if wide, ok := any(dst).([]float64); ok {
			if short, ok := any(src).([]float32); ok {
				cpu.WidenF64(wide, short)
				return
			}
		}
		for i, v := range src {
			dst[i] = T(v)
		}
	case 0:
		fill(dst, T(src[off]))
	default:
		for i := range dst {
			dst[i] = T(src[off])
			off += stride
		}
	}
}

// fill sets every element: by copies, which are vectors.
func fill[T number](dst []T, v T) {
	few := min(len(dst), 16)
	for i := range dst[:few] {
		dst[i] = v
	}
	for n := few; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

func gather16[T number, S ~uint16](dst []T, src []S, off, stride int, all func([]float32, []uint16), one func(uint16) float32) {
	if stride == 1 && len(dst) >= 8 {
		half := raw16(src[off : off+len(dst)])
		if d, ok := any(dst).([]float32); ok {
			all(d, half)
			return
		}
		pool := scratches[float32]()
		s := pool.Get().(*scratch[float32])
		for i := 0; i < len(dst); i += chunk {
			wide := s.buf[0][:min(chunk, len(dst)-i)]
			all(wide, half[i:i+len(wide)])
			if d, ok := any(dst).([]float64); ok {
				cpu.WidenF64(d[i:i+len(wide)], wide)
				continue
			}
			for j, v := range wide {
				dst[i+j] = T(v)
			}
		}
		pool.Put(s)
		return
	}
	if stride == 0 {
		fill(dst, T(one(uint16(src[off]))))
		return
	}
	for i := range dst {
		dst[i] = T(one(uint16(src[off])))
		off += stride
	}
}

// store rounds src to t's dtype, into consecutive elements from offset off.
func store[T number](t *Tensor, off int, src []T) {
	switch t.dt {
	case Float16:
		dst := raw16(elements[float16.Float16](t)[off : off+len(src)])
		if s, ok := any(src).([]float32); ok {
			cpu.NarrowF16(dst, s)
			return
		}
		if s, ok := any(src).([]float64); ok {
			cpu.RoundF16(dst, s)
			return
		}
		for i, v := range src {
			dst[i] = cpu.F64ToF16(float64(v))
		}
	case BFloat16:
		dst := raw16(elements[bfloat16.BFloat16](t)[off : off+len(src)])
		if s, ok := any(src).([]float32); ok {
			cpu.NarrowBF16(dst, s)
			return
		}
		if s, ok := any(src).([]float64); ok {
			cpu.RoundBF16(dst, s)
			return
		}
		for i, v := range src {
			dst[i] = cpu.F64ToBF16(float64(v))
		}
	case Float32:
		narrow(elements[float32](t)[off:off+len(src)], src)
	case Float64:
		narrow(elements[float64](t)[off:off+len(src)], src)
	case Int64:
		narrow(elements[int64](t)[off:off+len(src)], src)
	case Bool:
		if s, ok := any(src).([]float32); ok {
			cpu.Truths(t.st.mem[off:off+len(src)], s)
			return
		}
		dst := elements[bool](t)[off : off+len(src)]
		for i, v := range src {
			dst[i] = v != 0
		}
	}
}

func narrow[T, S number](dst []T, src []S) {
	if same, ok := any(src).([]T); ok {
		copy(dst, same)
		return
	}
	if short, ok := any(dst).([]float32); ok {
		if wide, ok := any(src).([]float64); ok {
			cpu.NarrowF64(short, wide)
			return
		}
	}
	for i, v := range src {
		dst[i] = T(v)
	}
}

// setFloat64s fills a contiguous tensor.
func (t *Tensor) setFloat64s(v []float64) {
	t.rewrite("setFloat64s", func(t *Tensor) { store(t, t.off, v) })
}

// elementsAre says whether t's elements are of type T.
func elementsAre[T number](t *Tensor) bool {
	var z T
	switch any(z).(type) {
	case float32:
		return t.dt == Float32
	case float64:
		return t.dt == Float64
	}
	return t.dt == Int64
}

// values views the storage of a tensor that holds T.
func values[T number](t *Tensor) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.st.mem))), len(t.st.mem)/int(unsafe.Sizeof(z)))
}

// direct returns len n elements of t in place, if it is of type T and they are consecutive.
func direct[T number](t *Tensor, off, stride, n int) ([]T, bool) {
	if stride != 1 && n != 1 {
		return nil, false
	}
	var z T
	switch any(z).(type) {
	case float32:
		if t.dt != Float32 {
			return nil, false
		}
		s, ok := any(elements[float32](t)[off : off+n]).([]T)
		return s, ok
	case float64:
		if t.dt != Float64 {
			return nil, false
		}
		s, ok := any(elements[float64](t)[off : off+n]).([]T)
		return s, ok
	}
	if t.dt != Int64 {
		return nil, false
	}
	s, ok := any(elements[int64](t)[off : off+n]).([]T)
	return s, ok
}

// fetch returns n elements as T: in place where possible, else widened into buf.
func fetch[T number](buf *[chunk]T, t *Tensor, off, stride, n int) []T {
	if s, ok := direct[T](t, off, stride, n); ok {
		return s
	}
	load(buf[:n], t, off, stride)
	return buf[:n]
}

// raw16 views half elements as their bits.
func raw16[S ~uint16](s []S) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
