//go:build linux && (amd64 || arm64)

package emulator

import (
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// checked returns the driver on the checked library with the tests' kernels.
func checked(t *testing.T) driver.Driver {
	t.Helper()
	opened(t)
	path, err := Build(t.Context(), Options{Checked: true, Kernels: testKernels()})
	if err != nil {
		t.Fatal(err)
	}
	d, err := driver.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCheckedFindsEachMistake runs kernels that are wrong in one way, forward: the order in which most of them compute what they
// should.
func TestCheckedFindsEachMistake(t *testing.T) {
	d := checked(t)
	for _, c := range []struct {
		kernel        string
		grid, threads uint32
		shared        uint32
		words         []string
	}{
		{"no_barrier", 1, 64, 0, []string{"kernel no_barrier, block (0,0,0), thread", "static shared memory", "which the block has not written"}},
		{"no_syncwarp", 1, 32, 0, []string{"which the block has not written"}},
		{"late_reader", 1, 64, 0, []string{"thread (1,0,0): reads byte", "which thread 0 wrote without a barrier between"}},
		{"early_copy", 1, 32, 0, []string{"static shared memory", "touched without a barrier between"}},
		{"no_wait", 1, 32, 0, []string{"static shared memory", "which the block has not written"}},
		{"unwritten", 1, 32, 0, []string{"thread (16,0,0)", "which the block has not written"}},
		{"past_shared", 1, 32, 128, []string{"thread (31,0,0)", "writes 4 bytes", "is not device memory"}},
		{"chain", 4, 1, 0, []string{"block (1,0,0)", "what block number 0 wrote in the same launch"}},
		{"last_wins", 4, 1, 0, []string{"block (1,0,0)", "overwrites with another value what block number 0 wrote"}},
		{"half_barrier", 1, 64, 0, []string{"different barriers"}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			b := newBench(t, d, "")
			b.launch(c.kernel, c.grid, c.threads, c.shared, driver.GetArgs("").Ptr(upload(b, iota32(256))))
			b.fails(c.words...)
		})
	}
}

func TestCheckedMemory(t *testing.T) {
	d := checked(t)
	b := newBench(t, d, "")
	b.launch("off_by_one", 1, 128, 0, driver.GetArgs("").Ptr(upload(b, iota32(100))).Int32(100))
	b.fails("off_by_one", "thread (100,0,0)", "writes 4 bytes", "is 0 bytes past the end of the 400 bytes", "cuMemAlloc")

	b = newBench(t, d, "")
	p, q := upload(b, iota32(4)), upload(b, iota32(4))
	b.check(d.Free(p))
	b.launch("read_one", 1, 1, 0, driver.GetArgs("").Ptr(p).Ptr(q))
	b.fails("read_one", "memory that has been freed")

	b = newBench(t, d, "")
	b.launch("odd_word", 1, 1, 0, driver.GetArgs("").Ptr(upload(b, iota32(32))))
	b.fails("odd_word", "writes 8 bytes at an address that is no multiple of 8")

	// A list in device memory may hold an address of the host: it is seen where it is used.
	b = newBench(t, d, "")
	b.launch("far_away", 1, 1, 0, driver.GetArgs("").Ptr(upload(b, iota32(1))))
	b.fails("far_away", "writes 4 bytes")
}

// TestCheckedLeavesRightKernelsAlone runs the driver suite's and testdata's good kernels in all orders.
func TestCheckedLeavesRightKernelsAlone(t *testing.T) {
	d := checked(t)
	for _, order := range orders {
		b := newBench(t, d, order)
		p := struct {
			x, y    driver.DevicePtr
			columns int32
			scale   float32
		}{upload(b, halves(waves(4*1000, 0.3))), upload(b, make([]float32, 4)), 1000, 1}
		b.launch("row_sum_f16", 4, 256, 0, structArgs(&p))
		a, bt, c := upload(b, halves(waves(32*32, 0.1))), upload(b, halves(waves(8*32, 0.2))), upload(b, make([]float32, 32*8))
		b.launch("gemm_mma_f16", 1, 32, 0, driver.GetArgs("").Ptr(a).Ptr(bt).Ptr(c).Int32(8).Int32(32))
		flag := upload(b, []int32{0})
		b.launch("unscale_check_f16", 4, 256, 0, driver.GetArgs("").Ptr(a).Float32(2).Int32(1000).Ptr(flag))
		b.launch("same_flag", 4, 64, 0, driver.GetArgs("").Ptr(flag))
		b.launch("warp_words", 1, 32, 0, driver.GetArgs("").Ptr(upload(b, make([]int64, 32))))
		sums := upload(b, make([]float32, 4))
		b.launch("drivertest_block_sum", 4, 128, 512, driver.GetArgs("").Ptr(sums).Ptr(upload(b, make([]float32, 512))))
		if err := d.SyncStream(b.stream); err != nil {
			report, _ := Report(d)
			t.Errorf("%s: %v: %q", order, err, report)
		}
	}
}
