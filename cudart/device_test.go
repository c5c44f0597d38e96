package cudart

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestCopiesInOrder: uploads larger than the ring, fills and copies, read back in one go; the host waits for the last alone, and
// where the ring is full.
func TestCopiesInOrder(t *testing.T) {
	f, d, s := onFake(t, 1<<30)
	var xs []*amp.Tensor
	var want [][]float32
	for i, n := range []int{1, 3, 1000, segmentBytes / 4, segmentBytes/4 + 1, 3 * segmentBytes, 7, 70000} {
		v := make([]float32, n)
		for k := range v {
			v[k] = float32(i*1000 + k%977)
		}
		x := amp.From(v).To(s)
		clear(v[:1]) // the caller's again
		v[0] = float32(i * 1000)
		xs, want = append(xs, x), append(want, v)
	}
	if d.count.syncs.Load() != 0 || f.calls["SyncStream"] != 0 {
		t.Errorf("%d waits for the stream", f.calls["SyncStream"])
	}
	if f.calls["SyncEvent"] == 0 {
		t.Error("16 MB went through a ring of 8 without waiting")
	}
	for i, x := range xs {
		if !slices.Equal(amp.Values[float32](x), want[i]) {
			t.Errorf("tensor %d of %d elements differs", i, len(want[i]))
		}
	}
	for _, c := range []struct {
		dt amp.DType
		v  float64
		n  int
	}{{amp.Float16, 1.5, 5}, {amp.BFloat16, -2, 3}, {amp.Float32, 0.25, 9}, {amp.Float64, 1, 13}, {amp.Float64, 0, 4}, {amp.Int64, -3, 7}, {amp.Bool, 1, 3}, {amp.Float32, 1, 0}} {
		x := amp.Full(s, c.dt, c.v, c.n)
		if got := x.Float64s(); len(got) != c.n || slices.ContainsFunc(got, func(v float64) bool { return v != c.v }) {
			t.Errorf("%v filled with %v: %v", c.dt, c.v, got)
		}
	}
}

// TestOpsFallBack: without kernels every op runs on the host, is counted, and gives the CPU's bits.
func TestOpsFallBack(t *testing.T) {
	hostOnly.Store(true)
	defer hostOnly.Store(false)
	_, _, s := onFake(t, 1<<30)
	here := amp.NewScope(amp.On("cpu"))
	defer here.Close()
	x := amp.Randn(here, amp.Float32, 0, 1, 5, 7)
	before := Fallbacks()["softmax"]
	a, b := amp.Softmax(here, amp.Transpose(here, x, 0, 1), 1), amp.Softmax(s, amp.Transpose(s, x.To(s), 0, 1), 1)
	if !slices.Equal(amp.Values[float32](a), amp.Values[float32](b)) {
		t.Error("other bits on the device")
	}
	if n := Fallbacks()["softmax"] - before; n != 1 {
		t.Errorf("softmax fell back %d times", n)
	}
}

func TestMemoryComesBack(t *testing.T) {
	f, d, s := onFake(t, 64<<20)
	before := amp.MemStats()[d.name]
	for range 3 {
		for step := range s.Steps(5) {
			x := amp.Full(step, amp.Float32, 1, 1<<20)
			amp.Full(step, amp.Float16, 2, 100)
			if step.Step() == 0 && x.Device() != d.name {
				t.Error(x.Device())
			}
		}
	}
	after := amp.MemStats()[d.name]
	if after.Bytes != before.Bytes || after.Peak < 4<<20 || after.NewBuffers != 2 || f.calls["Alloc"] != 2 {
		t.Errorf("%+v after %d allocations", after, f.calls["Alloc"])
	}
	// The cache gives way to an allocation that would not fit beside it.
	big := amp.Full(s, amp.Float32, 1, 15<<20)
	if f.calls["Free"] == 0 {
		t.Error("no segment was returned")
	}
	err := amp.Maybe(func() { amp.Full(s, amp.Float32, 1, 4<<20) })
	if !errors.Is(err, amp.ErrMemory) {
		t.Fatal(err)
	}
	for _, part := range []string{d.name, "no 16.0 MiB for Full", "in use here are 60.0 MiB (Full 60.0 MiB)", "of 64.0 MiB are free", "16777216 bytes for float32", "smaller batch"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	big.Free()
	if err := EmptyCache(); err != nil {
		t.Fatal(err)
	}
	if _, bytes := d.Reserved(); bytes != 0 {
		t.Errorf("%d bytes reserved after EmptyCache", bytes)
	}
}
