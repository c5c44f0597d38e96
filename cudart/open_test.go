package cudart

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A faulty driver is a fake some of whose calls fail.
type faulty struct {
	*fake
	devices        int
	context        error
	released, wait int // contexts; SyncEvents that fail
	stream         error
}

func (f *faulty) DeviceCount() (int, error) { return f.devices, nil }
func (f *faulty) RetainContext(d driver.Device) (driver.Context, error) {
	return 1, f.context
}
func (f *faulty) ReleaseContext(driver.Device) error { f.released++; return nil }
func (f *faulty) NewStream() (driver.Stream, error)  { return 7, f.stream }
func (f *faulty) SyncEvent(e driver.Event) error {
	if f.wait > 0 {
		f.wait--
		return &driver.Error{Code: 1, Name: "CUDA_ERROR_INVALID_VALUE", Call: "cuEventSynchronize"}
	}
	return f.fake.SyncEvent(e)
}

// TestDevicesThatDoNotOpen: a driver without devices, and one whose device is full, say so and what to do.
func TestDevicesThatDoNotOpen(t *testing.T) {
	full := &driver.Error{Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Call: "cuDevicePrimaryCtxRetain", Kind: driver.ErrMemory}
	var f *faulty
	amp.RegisterDevice("faulty", func(index int) (amp.Device, error) { return newDevice(f, false, index) })
	open := func() error { return amp.Maybe(func() { amp.NewScope(amp.On("faulty:0")) }) }
	f = &faulty{fake: newFake(1 << 20)}
	if err := open(); !errors.Is(err, amp.ErrDevice) || !strings.Contains(err.Error(), "the driver sees no GPU") || strings.Contains(err.Error(), "cuda:-1") {
		t.Error(err)
	}
	for _, f = range []*faulty{{fake: newFake(1 << 20), devices: 1, context: full}, {fake: newFake(1 << 20), devices: 1, stream: full}} {
		err := open()
		if !errors.Is(err, amp.ErrMemory) || errors.Is(err, amp.ErrDevice) || !strings.Contains(err.Error(), "cuda:0 has no memory left") || !strings.Contains(err.Error(), "nvidia-smi") {
			t.Error(err)
		}
		if want := 1; f.stream != nil && f.released != want {
			t.Errorf("the context was given back %d times, want %d", f.released, want)
		}
	}
}

// TestCopiesBehindAFailedWait: where the wait for page-locked memory fails, which the device may still read, it is not written to before
// another one has succeeded.
func TestCopiesBehindAFailedWait(t *testing.T) {
	f := &faulty{fake: newFake(1 << 30), devices: 1}
	amp.RegisterDevice("waits", func(index int) (amp.Device, error) {
		d, err := newDevice(f, false, index)
		if err == nil {
			d.(*device).name = "waits:0"
		}
		return d, err
	})
	s := amp.NewScope(amp.On("waits:0"))
	defer s.Close()
	const n = segmentBytes / 4
	value := func(i int) []float32 { return slices.Repeat([]float32{float32(i + 1)}, n) }
	var xs []*amp.Tensor
	f.wait = 1
	failed := 0
	for i := range segments + 4 {
		if err := amp.Maybe(func() { xs = append(xs, amp.From(value(i)).To(s)) }); err != nil {
			failed++
			xs = append(xs, amp.From(value(i)).To(s))
		}
	}
	if failed != 1 {
		t.Errorf("%d copies failed", failed)
	}
	for i, x := range xs {
		if !slices.Equal(amp.Values[float32](x), value(i)) {
			t.Errorf("tensor %d holds %v", i, amp.Values[float32](x)[0])
		}
	}
}
