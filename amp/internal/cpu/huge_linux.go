package cpu

import (
	"syscall"
	"unsafe"
)

// hugePages asks for pages of 2 MiB for what lies whole in b: a product walks through megabytes of packed panels, and pages of 4 KiB would
// keep the processor busy with translating addresses. Where the system refuses, all works as without.
func hugePages[T any](b []T) {
	const huge = 2 << 20
	size := uintptr(cap(b)) * unsafe.Sizeof(*new(T))
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := -from & (huge - 1)
	if size < skip+huge {
		return
	}
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), size)
	_ = syscall.Madvise(all[skip:size-(size-skip)%huge], 14) // MADV_HUGEPAGE
}
