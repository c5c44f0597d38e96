package cudart

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestStepProfile prints (on a real device where HALFTONE_PROFILE is set; small models on an emulated one) how long each kernel of a training step takes beside what the
// model of TestStepLaunches gives it: where both are far apart a kernel is slow, or the model wrong. Events around each launch keep
// the device from overlapping them, so the sum is more than the step.
func TestStepProfile(t *testing.T) {
	if dev, _, err := amp.OpenDevice("cuda:0"); err != nil {
		t.Skip(err)
	} else if !dev.(*device).Emulated() && os.Getenv("HALFTONE_PROFILE") == "" {
		t.Skip("HALFTONE_PROFILE is not set")
	}
	for _, c := range recordedModels {
		for _, half := range []bool{true, false} {
			w, root := onStopwatch(t)
			build := c.build
			if w.d.Emulated() {
				build = c.small
			}
			m, scaler := build(root), amp.NewGradScaler(amp.ScalerEnabled(half))
			for s := range root.Steps(3) {
				m.step(s, scaler, half)
			}
			w.begin()
			for s := range root.Steps(1) {
				m.step(s, scaler, half)
			}
			if len(w.events) == 0 || len(w.events) != len(w.r.list) {
				t.Errorf("%s: %d times of %d launches", c.name, len(w.events), len(w.r.list))
			}
			t.Logf("%s, float16 %t, measured, modelled:\n%s", c.name, half, w.table(t, half))
			root.Close()
		}
	}
}

// A stopwatch is a driver that records an event before and behind everything it queues, and lists it as the recorder does.
type stopwatch struct {
	driver.Driver
	r      *recorder
	d      *device
	on     bool
	events [][2]driver.Event
}

func (w *stopwatch) begin() { w.r.list, w.events, w.on = nil, nil, true }

// time queues f between two events.
func (w *stopwatch) time(l launched, f func() error) error {
	if !w.on {
		return f()
	}
	var e [2]driver.Event
	for i := range e {
		var err error
		if e[i], err = w.NewEvent(true); err != nil {
			return err
		}
	}
	if err := w.RecordEvent(e[0], w.d.stream); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	w.events = append(w.events, e)
	if err := w.r.add(l); err != nil {
		return err
	}
	return w.RecordEvent(e[1], w.d.stream)
}

func (w *stopwatch) Function(m driver.Module, name string) (driver.Function, error) {
	f, err := w.Driver.Function(m, name)
	w.r.names[f] = name
	return f, err
}

func (w *stopwatch) Launch(f driver.Function, grid, block [3]uint32, shared uint32, s driver.Stream, a *driver.Args) error {
	l := w.r.launch(f, a)
	l.detail = fmt.Sprint(grid, block[0])
	return w.time(l, func() error { return w.Driver.Launch(f, grid, block, shared, s, a) })
}

func (w *stopwatch) Memset8(p driver.DevicePtr, v uint8, n uint64, s driver.Stream) error {
	return w.time(launched{kernel: "memset", bytes: int(n)}, func() error { return w.Driver.Memset8(p, v, n, s) })
}

func (w *stopwatch) CopyDtoD(to, from driver.DevicePtr, n uint64, s driver.Stream) error {
	return w.time(launched{kernel: "copy on the device", bytes: 2 * int(n)}, func() error { return w.Driver.CopyDtoD(to, from, n, s) })
}

// A timedLibrary times calls of a device's libraries, which it lists as the recorder's.
type timedLibrary struct {
	recordedLibrary
	w    *stopwatch
	blas blas
	lt   epilogues
	dnn  dnn
}

func (l timedLibrary) Gemm(g *driver.Gemm) error {
	return l.w.time(multiplied("cublas", g), func() error { return l.blas.Gemm(g) })
}

func (l timedLibrary) Matmul(g *driver.Fused, s driver.Stream) error {
	return l.w.time(fused(g), func() error { return l.lt.Matmul(g, s) })
}

func (l timedLibrary) Path() string { return l.blas.Path() }
func (l timedLibrary) Version() int { return l.blas.Version() }

func (l timedLibrary) Plan(op string, c driver.Convolution) (*driver.ConvolutionPlan, error) {
	p, err := l.dnn.Plan(op, c)
	if err == nil {
		l.plans[p] = c
	}
	return p, err
}

func (l timedLibrary) Plans(f func(driver.Convolution, *driver.ConvolutionPlan, error)) {
	l.dnn.Plans(f)
}

func (l timedLibrary) Convolve(op string, p *driver.ConvolutionPlan, x, w, y, b, work driver.DevicePtr) error {
	return l.w.time(l.convolution(op, p), func() error { return l.dnn.Convolve(op, p, x, w, y, b, work) })
}

// onStopwatch opens the device once more, with a driver that times.
func onStopwatch(t *testing.T) (*stopwatch, *amp.Scope) {
	t.Helper()
	kind := fmt.Sprintf("recorder%d", recorders)
	recorders++
	r := &recorder{fake: newFake(1), names: map[driver.Function]string{}, plans: map[*driver.ConvolutionPlan]driver.Convolution{}}
	w := &stopwatch{r: r}
	amp.RegisterDevice(kind, func(index int) (amp.Device, error) {
		drv, emu, err := openDriver()
		if err != nil {
			return nil, err
		}
		opened, err := newDevice(drv, emu, index)
		if err != nil {
			return nil, err
		}
		d := opened.(*device)
		d.name = kind + ":0"
		lib := timedLibrary{recordedLibrary: recordedLibrary{r}, w: w}
		if err := d.do(func() error {
			d.products.once.Do(func() { d.products.load(d) })
			d.convs.ready(d)
			return nil
		}); err != nil {
			return nil, err
		}
		lib.blas, lib.lt, lib.dnn = d.products.blas, d.products.lt, d.convs.dnn
		if lib.blas != nil {
			d.products.blas = lib
		}
		if lib.lt != nil {
			d.products.lt = lib
		}
		if lib.dnn != nil {
			d.convs.dnn = lib
		}
		w.Driver, w.d, d.drv = drv, d, w
		return &recorded{d, r}, nil
	})
	s := amp.NewScope(amp.On(kind), amp.Seed(1))
	t.Cleanup(s.Close)
	return w, s
}

// table lists kernels in the order of their time, with the model's and what they reach.
func (w *stopwatch) table(t *testing.T, half bool) string {
	t.Helper()
	took := map[string]float64{}
	if err := w.d.do(func() error {
		for i, e := range w.events {
			if err := w.SyncEvent(e[1]); err != nil {
				return err
			}
			d, err := w.Elapsed(e[0], e[1])
			if err != nil {
				return err
			}
			l := w.r.list[i]
			took[l.what()] += d.Seconds() * 1e6
			took["all"] += d.Seconds() * 1e6
			if l.flops > 0 {
				took[fmt.Sprintf("%s %s", l.what(), l.detail)] += d.Seconds() * 1e6
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	sums := summed(w.r.list, half)
	slices.SortStableFunc(sums, func(a, b launchSum) int { return cmp.Compare(took[b.what], took[a.what]) })
	var b strings.Builder
	line := func(s launchSum) {
		us := took[s.what]
		fmt.Fprintf(&b, "%9.1f %9.1f µs %5d %9.1f MB %6.2f TB/s %6.1f TFLOP/s  %s\n", us, s.micro, s.n, float64(s.bytes)/1e6, float64(s.bytes)/us/1e6, s.flops/us/1e6, s.what)
	}
	for _, s := range sums {
		line(s)
	}
	detailed := slices.Clone(w.r.list)
	detailed = slices.DeleteFunc(detailed, func(l launched) bool { return l.flops == 0 })
	for i, l := range detailed {
		detailed[i].kernel += " " + l.detail
	}
	fmt.Fprintln(&b, "products, each kind by itself:")
	for _, s := range summed(detailed, half) {
		if s.what != "all" {
			line(s)
		}
	}
	return b.String()
}
