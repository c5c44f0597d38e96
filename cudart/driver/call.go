//go:build linux && (amd64 || arm64)

package driver

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A symbol is one function of a library; addr is 0 where the library lacks it.
type symbol struct {
	addr uintptr
	name string
}

// A frame holds a call's arguments and results where C may write: in Go's heap, which does not move, unlike a goroutine's stack.
// Frames are recycled, so that calls allocate nothing.
type frame struct {
	args [32]uintptr
	out  [8]uint64
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// newFrame returns a frame whose results are zero.
func newFrame() *frame {
	f := frames.Get().(*frame)
	f.out = [8]uint64{}
	return f
}

func (f *frame) put() { frames.Put(f) }

// o returns the address of result i, for C to write to.
func (f *frame) o(i int) uintptr { return uintptr(unsafe.Pointer(&f.out[i])) }

// invoke calls the function with the arguments. What they point to must not be on the stack: use frame.o, address and heap.
func (s *symbol) invoke(args ...uintptr) int32 {
	f := frames.Get().(*frame)
	n := copy(f.args[:], args)
	r, _, _ := purego.SyscallN(s.addr, f.args[:n]...)
	frames.Put(f)
	return int32(r)
}

var (
	never bool
	sink  unsafe.Pointer
)

// heap returns the address of what p points to. Seeing it stored, the compiler puts that into the heap.
func heap(p unsafe.Pointer) uintptr {
	if never {
		sink = p
		return uintptr(sink)
	}
	return uintptr(p)
}

// address returns the address of a slice's memory. The caller keeps b alive over the call.
func address(b []byte) uintptr { return heap(unsafe.Pointer(unsafe.SliceData(b))) }

// cstring returns s as C wants it.
func cstring(s string) []byte { return append([]byte(s), 0) }

// goString reads a string that C returned.
func goString(p uintptr) string {
	if p == 0 {
		return ""
	}
	c := *(**byte)(unsafe.Pointer(&p)) // not unsafe.Pointer(p), which vet takes for arithmetic on Go's pointers
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(c), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(c, n))
}

// invokeWide is invoke of a function that returns a pointer or a size.
func (s *symbol) invokeWide(args ...uintptr) uintptr {
	f := frames.Get().(*frame)
	n := copy(f.args[:], args)
	r, _, _ := purego.SyscallN(s.addr, f.args[:n]...)
	frames.Put(f)
	return r
}
