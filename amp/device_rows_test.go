package amp

import (
	"math"
	"os"
	"testing"
)

// compareEnv names a device, such as "cuda:0", that the rows are compared on with the CPU.
const compareEnv = "HALFTONE_COMPARE_DEVICE"

// HostRuns tells how often each op ran on the host in place of its device; the test's link to package cudart sets it.
var HostRuns func() map[string]int

// outcome is what a case gives: the result and the gradients of its inputs.
type outcome struct {
	dt    DType
	lists [][]float64
}

// runOn runs a case, forward and backward, on a device.
func (c opCase) runOn(t *testing.T, device string, dt DType) outcome {
	defer SetDefaultDevice(SetDefaultDevice(device))
	return c.alone(dt)
}

// outcomeOf runs a case on inputs, which lie on the default device, and backward from a loss of its result.
func (c opCase) outcomeOf(root *Scope, in []*Tensor, loss func(y *Tensor) *Tensor) outcome {
	y := c.call(root, in)
	out := outcome{y.dt, [][]float64{y.Float64s()}}
	if !y.needs {
		return out
	}
	loss(y).Backward()
	for _, x := range in {
		if g := x.Grad(); g != nil {
			out.lists = append(out.lists, g.Float64s())
		}
	}
	return out
}

// compared returns the device to compare with the CPU, or skips the test.
func compared(t *testing.T) string {
	device := os.Getenv(compareEnv)
	if device == "" {
		t.Skipf("%s names no device", compareEnv)
	}
	return device
}

// compareOn compares a case, with its gradients, on a device and on the CPU: both are within factor units of the arithmetic, and one
// rounding, of the truth, so within twice that of each other.
func (c opCase) compareOn(t *testing.T, device string, factor float64) {
	t.Helper()
	for dt, eps := range map[DType]float64{Float16: 0x1p-11, BFloat16: 0x1p-8, Float32: 0x1p-24, Float64: 0x1p-53} {
		c.agree(t, c.runOn(t, "cpu", dt), c.runOn(t, device, dt), eps, factor)
	}
}

// agree compares what the CPU gave, in a dtype with that rounding error, with what a device gave.
func (c opCase) agree(t *testing.T, want, got outcome, eps, factor float64) {
	t.Helper()
	dt := want.dt
	if got.dt != want.dt || len(got.lists) != len(want.lists) {
		t.Fatalf("%v: %v and %d lists, on the CPU %v and %d", dt, got.dt, len(got.lists), want.dt, len(want.lists))
	}
	u := min(eps, 0x1p-24) // of the arithmetic
	for k, list := range want.lists {
		if len(list) != len(got.lists[k]) {
			t.Fatalf("%v list %d: %d elements, on the CPU %d", dt, k, len(got.lists[k]), len(list))
		}
		size := 0.1
		for _, w := range list {
			if finite(w) {
				size = max(size, math.Abs(w))
			}
		}
		bound := 2*factor*u*size*math.Sqrt(float64(min(len(list), 1000))+4)*4 + float64(c.terms)*u
		for i, w := range list {
			g := got.lists[k][i]
			if g == w || g != g && w != w {
				continue
			}
			if !(math.Abs(g-w) <= bound+3*eps*math.Abs(w)) {
				t.Errorf("%v list %d element %d: %.9g, on the CPU %.9g", dt, k, i, g, w)
				break
			}
		}
	}
}

// TestEveryOpOnDevice compares every case of every row, with its gradients, on the device of HALFTONE_COMPARE_DEVICE and on the CPU.
func TestEveryOpOnDevice(t *testing.T) {
	device := compared(t)
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		onDeviceAlone(t, func() { c.compareOn(t, device, max(o.Bound, 1)) })
	})
}

// hostRows are the rows that may run on the host of a device, with the reason.
var hostRows = map[string]string{}

// onDeviceAlone fails the test if a row ran on the host while f did, but for hostRows.
func onDeviceAlone(t *testing.T, f func()) {
	t.Helper()
	before := HostRuns()
	f()
	for name, n := range HostRuns() {
		if n > before[name] && hostRows[name] == "" {
			t.Errorf("%s ran on the host, %d times: give it a kernel for these dtypes and strides, or hostRows a reason", name, n-before[name])
		}
	}
}

// onBoth runs f in a scope on the CPU and in one on a device, where no row may run on the host; ok is false if both refuse it, and where one
// does the test fails.
func onBoth(t *testing.T, device string, f func(s *Scope) outcome) (want, got outcome, ok bool) {
	t.Helper()
	run := func(on string) (out outcome, err error) {
		defer SetDefaultDevice(SetDefaultDevice(on))
		s := NewScope(Seed(9))
		defer s.Close()
		err = Maybe(func() { out = f(s) })
		return out, err
	}
	want, refused := run("cpu")
	onDeviceAlone(t, func() {
		var err error
		if got, err = run(device); (err == nil) != (refused == nil) {
			t.Fatalf("error %v, on the CPU %v", err, refused)
		}
	})
	return want, got, refused == nil
}

// TestEveryOpOnDeviceOfIntegers gives every row that takes them int64 and bools.
func TestEveryOpOnDeviceOfIntegers(t *testing.T) {
	device, ran := compared(t), 0
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		for _, dt := range []DType{Int64, Bool} {
			if !o.Ints && !o.Floats && o.Whole == nil {
				continue
			}
			want, got, ok := onBoth(t, device, func(s *Scope) outcome {
				in := c.draws(s, Float64, 5)
				for i, x := range in {
					v := x.Float64s()
					for k := range v {
						v[k] *= 3
					}
					in[i] = fromFloat64s(dt, v, x.shape)
				}
				return c.outcomeOf(s, in, nil)
			})
			if ok { // the row takes some
				ran++
				c.agree(t, want, got, 0x1p-24, max(o.Bound, 1))
			}
		}
	})
	if ran < 290 {
		t.Errorf("only %d cases took integers", ran)
	}
}

// TestEveryOpOnDeviceThroughViews gives every row inputs with gaps and in another order, and a gradient that is one number repeated.
func TestEveryOpOnDeviceThroughViews(t *testing.T) {
	device := compared(t)
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		run := func(on string) outcome {
			before := SetDefaultDevice(on)
			defer SetDefaultDevice(before)
			root := NewScope(Seed(9))
			defer root.Close()
			in := c.draws(root, Float32, 5)
			views := make([]*Tensor, len(in))
			for i, x := range in {
				views[i] = gapped(root, x)
			}
			out := c.outcomeOf(root, views, func(y *Tensor) *Tensor { return Sum(root, y) })
			for _, x := range in {
				if g := x.Grad(); g != nil {
					out.lists = append(out.lists, g.Float64s())
				}
			}
			return out
		}
		onDeviceAlone(t, func() { c.agree(t, run("cpu"), run(device), 0x1p-24, 4*max(o.Bound, 1)) })
	})
}

// gapped returns a view of x's elements that lie in the reverse order of dimensions and two apart.
func gapped(s *Scope, x *Tensor) *Tensor {
	order := make([]int, x.Rank())
	for d := range order {
		order[d] = x.Rank() - 1 - d
	}
	turned := Permute(s, x, order...)
	return Permute(s, Select(s, Stack(s, -1, turned, turned), -1, 0), order...)
}

// settled is f and then a wait for the scope's device, which tells of indices out of range only then.
func settled(s *Scope, f func()) func() {
	return func() {
		f()
		if err := s.root.dev.Sync(); err != nil {
			deviceFault("Sync", err)
		}
	}
}

// TestEveryOpOnDeviceAtOddPlaces gives every row, and the large cases, inputs without gaps that begin one element behind a multiple of 16
// bytes: what reads 16 bytes at once has to see it, since a device, unlike a processor, does not take such an address.
func TestEveryOpOnDeviceAtOddPlaces(t *testing.T) {
	device := compared(t)
	compare := func(t *testing.T, c opCase, factor float64) {
		for dt, eps := range map[DType]float64{Float16: 0x1p-11, Float32: 0x1p-24, Float64: 0x1p-53} {
			run := func(on string) outcome {
				before := SetDefaultDevice(on)
				defer SetDefaultDevice(before)
				root := NewScope(Seed(9))
				defer root.Close()
				in := c.draws(root, dt, 5)
				odd := make([]*Tensor, len(in))
				for i, x := range in {
					odd[i] = oddly(root, x)
				}
				out := c.outcomeOf(root, odd, func(y *Tensor) *Tensor { return project(root, y, 7) })
				for _, x := range in {
					if g := x.Grad(); g != nil {
						out.lists = append(out.lists, g.Float64s())
					}
				}
				return out
			}
			onDeviceAlone(t, func() { c.agree(t, run("cpu"), run(device), eps, factor) })
		}
	}
	eachCase(t, func(t *testing.T, o *Op, c opCase) { compare(t, c, max(o.Bound, 1)) })
	for name, c := range largeCases() {
		c.terms = max(200, c.terms)
		t.Run(name, func(t *testing.T) { compare(t, c, 4) })
	}
}

// oddly returns a view of x's elements, without gaps, that begins one element behind where memory does.
func oddly(s *Scope, x *Tensor) *Tensor {
	flat := Reshape(s, x, x.Len())
	return Reshape(s, Narrow(s, Cat(s, 0, Zeros(s, x.DType(), 1), flat), 0, 1, x.Len()), x.Shape()...)
}
