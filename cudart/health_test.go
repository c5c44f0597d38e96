package cudart_test

import (
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// sameCounts compares counts, and NaN with NaN.
func sameCounts(a, b amp.Exponents) bool {
	x, y := a.Sample, b.Sample
	a.Sample, b.Sample = nil, nil
	return reflect.DeepEqual(a, b) && slices.EqualFunc(x, y, func(v, w float32) bool { return v == w || v != v && w != w })
}

// TestCountsOnDevice: the counts of a tensor's numbers are the CPU's, of every dtype and layout.
func TestCountsOnDevice(t *testing.T) {
	device := gpu(t)
	here := amp.NewScope(amp.On("cpu"), amp.Seed(3))
	defer here.Close()
	there := amp.NewScope(amp.On(device))
	defer there.Close()
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1.5, 0x1p-14, 0x1p-24, 0x1.8p-20, 65504, 0x1p-126, 0x1p-149, 0x1.1p-140, 0x1p-133, 3e38, 0x1p-1074, 0x1.8p-1030, 1e308, -7, 7}
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64, amp.Bool} {
		for _, n := range []int{0, 1, 5, 21, 1000, 70001} {
			values := amp.Values[float64](amp.Randn(here, amp.Float64, 0, 1, n))
			for i := range values {
				values[i] *= math.Ldexp(1, i%41-20)
				if dt == amp.Int64 {
					values[i] = math.Trunc(values[i])
				}
			}
			if dt.IsFloat() {
				copy(values, special)
			}
			x := amp.To(here, amp.From(values), dt)
			want, got := amp.CountExponents(x), amp.CountExponents(x.To(there))
			if !sameCounts(got, want) {
				t.Errorf("%v of %d: %+v, on the CPU %+v", dt, n, got, want)
			}
			if n == 1000 {
				x = amp.Reshape(here, x, 10, 25, 4)
				view := func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
					return amp.Narrow(s, amp.Transpose(s, x, 0, 2), 1, 3, 7)
				}
				want, got := amp.CountExponents(view(here, x)), amp.CountExponents(view(there, x.To(there)))
				if !sameCounts(got, want) {
					t.Errorf("a view of %v: %+v, on the CPU %+v", dt, got, want)
				}
			}
		}
	}
}

// waits is a driver that counts what waits for the device.
type waits struct {
	driver.Driver
	n atomic.Int64
}

func (w *waits) SyncStream(s driver.Stream) error { w.n.Add(1); return w.Driver.SyncStream(s) }
func (w *waits) SyncEvent(e driver.Event) error   { w.n.Add(1); return w.Driver.SyncEvent(e) }
func (w *waits) Sync() error                      { w.n.Add(1); return w.Driver.Sync() }
func (w *waits) CopyDtoH(dst []byte, src driver.DevicePtr) error {
	w.n.Add(1)
	return w.Driver.CopyDtoH(dst, src)
}

// TestHealthWaitsForNothing traces training at level Health: a step waits for the device neither per op nor at its end, and what the trace
// says later is what the tensors held.
func TestHealthWaitsForNothing(t *testing.T) {
	device := gpu(t)
	w := &waits{}
	defer cudart.WrapDriver(device, func(d driver.Driver) driver.Driver { w.Driver = d; return w })()
	m := mlp(device, amp.Record(amp.Health))
	defer m.root.Close()
	m.train(1) // reads the loss
	const steps = 20
	before := w.n.Load()
	for c := range m.root.Steps(steps) {
		m.run(c)
	}
	if n := w.n.Load() - before; n != 0 {
		t.Errorf("%d steps waited for the device %d times", steps, n)
	}
	events, looked := m.root.Trace().Events, 0
	for _, e := range events {
		if e.Health == nil {
			continue
		}
		looked++
		n := 1
		for _, d := range e.Out.Shape {
			n *= d
		}
		sum := e.Health.Zeros + e.Health.Infs + e.Health.NaNs
		for _, k := range e.Health.Counts {
			sum += k
		}
		if e.Health.N != n || sum != n {
			t.Errorf("%s of %v: %+v", e.Op, e.Out.Shape, e.Health)
		}
		if e.Op == "relu" && e.Phase == amp.PhaseForward && (e.Health.Zeros == 0 || e.Health.Amax == 0) {
			t.Errorf("relu: %+v", e.Health)
		}
	}
	if looked < 50*steps/2 || looked < len(events)/2 {
		t.Errorf("%d of %d events were looked at", looked, len(events))
	}
}

// TestCountsKeepTheirOrder counts more tensors than the ring holds before the first is asked.
func TestCountsKeepTheirOrder(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device), amp.Record(amp.Health))
	defer s.Close()
	const n = 2200
	x := amp.Full(s, amp.Float32, 1, 3)
	for i := range n {
		c := s.Child()
		amp.MulScalar(c, x, float64(i))
		c.Close()
	}
	i := 0
	for _, e := range s.Trace().Events {
		if e.Op != "mul_scalar" {
			continue
		}
		if e.Health == nil || e.Health.Amax != float64(i) {
			t.Fatalf("multiplication %d: %+v", i, e.Health)
		}
		i++
	}
	if i != n {
		t.Errorf("%d events", i)
	}
}
