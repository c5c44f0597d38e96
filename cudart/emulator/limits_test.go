//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// limitsPTX has kernels of the library whose images set limits: no_barrier 64 threads, add_one 40000 bytes of shared memory of the module's,
// read_one 8 of its own, half_barrier none.
const limitsPTX = `.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b8 cells[40000];
.shared .align 8 .b8 others[20000];
.func (.param .b32 result) declared
(
	.param .b32 x
)
;
.visible .entry no_barrier(
	.param .u64 p
)
.maxntid 8, 4, 2
{
	ret;
}
.visible .entry add_one()
{
	st.shared.u8 [cells+1], 0;
	ret;
}
.visible .entry read_one()
{
	.shared .align 4 .u32 own[2];
	ld.shared.u8 %r1, [dynamic];
	ret;
}
.visible .entry half_barrier()
{
	ret;
}
`

// TestImagesLimitLaunches: what an image says of threads and static shared memory holds for its launches, as on a device.
func TestImagesLimitLaunches(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	m, _, err := d.LoadModule([]byte(limitsPTX), driver.JIT{})
	b.check(err)
	for _, c := range []struct {
		kernel               string
		threads, shared      int
		opts                 []int // asked of FuncDynamicShared one after the other
		block, dynamic       uint32
		refusedOpt, refusedL bool
	}{
		{"no_barrier", 64, 0, nil, 64, 0, false, false},
		{"no_barrier", 64, 0, nil, 65, 0, false, true},
		{"add_one", 1024, 40000, nil, 1024, 9152, false, false},
		{"add_one", 1024, 40000, nil, 32, 9153, false, true},
		{"add_one", 1024, 40000, []int{126912}, 32, 126912, false, false}, // 163 KB of capability 8.0
		{"add_one", 1024, 40000, []int{126913}, 32, 0, true, false},
		{"read_one", 1024, 8, nil, 32, 49145, false, true},
		{"half_barrier", 1024, 0, nil, 32, 49152, false, false},
	} {
		name := fmt.Sprintf("%s of %d threads and %d bytes after %v", c.kernel, c.block, c.dynamic, c.opts)
		f, err := d.Function(m, c.kernel)
		b.check(err)
		threads, err := d.FunctionAttribute(f, driver.FuncMaxThreads)
		b.check(err)
		shared, err := d.FunctionAttribute(f, driver.FuncSharedBytes)
		b.check(err)
		if threads != c.threads || shared != c.shared {
			t.Errorf("%s: %d threads, %d bytes of static shared memory, want %d and %d", name, threads, shared, c.threads, c.shared)
		}
		for _, v := range c.opts {
			if err := d.SetFunctionAttribute(f, driver.FuncDynamicShared, v); (err != nil) != c.refusedOpt {
				t.Errorf("%s: asking for the memory gave %v", name, err)
			}
		}
		a := driver.GetArgs("").Ptr(upload(b, iota32(2048))).Ptr(upload(b, iota32(1)))
		err = d.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{c.block, 1, 1}, c.dynamic, b.stream, a)
		if (err != nil) != c.refusedL {
			report, _ := Report(d)
			t.Errorf("%s: %v: %q", name, err, report)
		}
	}
	big := strings.Replace(limitsPTX, "cells[40000]", "cells[49153]", 1)
	if _, _, err := d.LoadModule([]byte(big), driver.JIT{}); !errors.Is(err, driver.ErrImage) || !strings.Contains(err.Error(), "'add_one' uses too much shared data (0xc001 bytes, 0xc000 max)") {
		t.Errorf("a kernel with 49153 bytes of static shared memory: %v", err)
	}
}

// TestSharedMemoryOfCapabilities: what a block may ask for is the device's.
func TestSharedMemoryOfCapabilities(t *testing.T) {
	d := opened(t)
	for capability, most := range map[int]int{70: 98304, 75: 65536, 80: 166912, 86: 101376, 89: 101376, 90: 232448} {
		b := newBench(t, d, fmt.Sprintf("capability=%d", capability))
		f, err := d.Function(b.module, "past_shared")
		b.check(err)
		said, err := d.Attribute(b.dev, driver.SharedPerBlockOptin)
		b.check(err, d.SetFunctionAttribute(f, driver.FuncDynamicShared, most))
		if said != most {
			t.Errorf("capability %d: %d bytes, want %d", capability, said, most)
		}
		if err := d.SetFunctionAttribute(f, driver.FuncDynamicShared, most+1); err == nil {
			t.Errorf("capability %d: %d bytes were granted", capability, most+1)
		}
	}
	if err := Control(d, "capability=80"); err != nil {
		t.Fatal(err)
	}
}

// TestOddAddresses: asynchronous copies and ldmatrix take multiples of 16 bytes, in the plain library too.
func TestOddAddresses(t *testing.T) {
	d := opened(t)
	for kernel, words := range map[string]string{
		"odd_async_global": "cp.async from global memory at an address that is no multiple of 16 bytes",
		"odd_async_shared": "cp.async to shared memory at an address that is no multiple of 16 bytes",
		"odd_rows":         "ldmatrix of a row at an address that is no multiple of 16 bytes",
	} {
		t.Run(kernel, func(t *testing.T) {
			b := newBench(t, d, "")
			b.launch(kernel, 1, 32, 0, driver.GetArgs("").Ptr(upload(b, iota32(64))).Ptr(upload(b, iota32(64))))
			b.fails(kernel, words)
		})
	}
}
