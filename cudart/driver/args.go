package driver

import (
	"sync"
	"unsafe"
)

// MaxParams and MaxParamBytes limit what Args holds; the bytes are the driver's limit on every version.
const (
	MaxParams     = 64
	MaxParamBytes = 4096
)

// Args are the parameters of one launch, copied as they are added. GetArgs and Put recycle them, so that a steady state
// allocates nothing:
//
//	a := driver.GetArgs("softmax").Ptr(out).Ptr(in).Int64(n)
//	err := d.Launch(f, grid, block, 0, stream, a)
//	a.Put()
type Args struct {
	// Op is the op of the table that launches, for errors.
	Op string

	n, used int
	ptrs    [MaxParams]unsafe.Pointer // into words
	words   [MaxParamBytes / 8]uint64
}

var argsPool = sync.Pool{New: func() any { return new(Args) }}

// GetArgs returns empty Args for an op's launch.
func GetArgs(op string) *Args {
	a := argsPool.Get().(*Args)
	a.Op, a.n, a.used = op, 0, 0
	return a
}

// Put gives a back. It must not be used afterwards.
func (a *Args) Put() { argsPool.Put(a) }

// Reset empties a, to be filled again.
func (a *Args) Reset() *Args {
	a.n, a.used = 0, 0
	return a
}

// Len returns how many parameters there are.
func (a *Args) Len() int { return a.n }

// slot returns room for one more parameter of n bytes.
func (a *Args) slot(n int) unsafe.Pointer {
	w := (n + 7) / 8
	if a.n == MaxParams || 8*(a.used+w) > MaxParamBytes {
		panic("driver: " + a.Op + ": more than 64 parameters or 4096 bytes of them in one launch")
	}
	p := unsafe.Pointer(&a.words[a.used])
	a.ptrs[a.n] = p
	a.n++
	a.used += w
	return p
}

// Ptr adds an address.
func (a *Args) Ptr(p DevicePtr) *Args { *(*DevicePtr)(a.slot(8)) = p; return a }

// Int32 adds an int.
func (a *Args) Int32(v int32) *Args { *(*int32)(a.slot(4)) = v; return a }

// Int64 adds a long long.
func (a *Args) Int64(v int64) *Args { *(*int64)(a.slot(8)) = v; return a }

// Uint64 adds an unsigned long long.
func (a *Args) Uint64(v uint64) *Args { *(*uint64)(a.slot(8)) = v; return a }

// Float32 adds a float.
func (a *Args) Float32(v float32) *Args { *(*float32)(a.slot(4)) = v; return a }

// Float64 adds a double.
func (a *Args) Float64(v float64) *Args { *(*float64)(a.slot(8)) = v; return a }

// Struct adds a parameter passed by value: the n bytes at p, which must have C's layout and hold no Go pointers.
func (a *Args) Struct(p unsafe.Pointer, n uintptr) *Args {
	copy(unsafe.Slice((*byte)(a.slot(int(n))), n), unsafe.Slice((*byte)(p), n))
	return a
}

// Param returns the address of parameter i's copy, valid until a is reset or given back.
func (a *Args) Param(i int) unsafe.Pointer { return a.ptrs[i] }
