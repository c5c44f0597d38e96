package amp

import (
	"testing"
	"unsafe"
)

// TestLargeBlocks: blocks start at a cache line, hold what was asked for, and large ones that follow each other start at different places in a
// page, all 64 of them in turn.
func TestLargeBlocks(t *testing.T) {
	d := &cpuDevice{name: "blocks"}
	seen := map[uintptr]bool{}
	for i := range 64 {
		for _, n := range []int{1, 4096, largeMemory} {
			b, err := d.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			mem := b.Bytes()
			if len(mem) < n || uintptr(unsafe.Pointer(&mem[0]))%64 != 0 {
				t.Fatalf("block %d of %d bytes: %d at %p", i, n, len(mem), &mem[0])
			}
			mem[0], mem[len(mem)-1] = 1, 2
			if n == largeMemory {
				seen[uintptr(unsafe.Pointer(&mem[0]))%page] = true
			}
		}
	}
	if len(seen) != page/64 {
		t.Errorf("%d places in a page", len(seen))
	}
}
