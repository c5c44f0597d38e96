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
	before := SetDefaultDevice(device)
	defer SetDefaultDevice(before)
	root := NewScope(Seed(9))
	defer root.Close()
	in := c.draws(root, dt, 5)
	y := c.call(root, in)
	out := outcome{y.dt, [][]float64{y.Float64s()}}
	if !y.needs {
		return out
	}
	project(root, y, 7).Backward()
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
		want, got := c.runOn(t, "cpu", dt), c.runOn(t, device, dt)
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
}

// TestEveryOpOnDevice compares every case of every row, with its gradients, on the device of HALFTONE_COMPARE_DEVICE and on the CPU.
func TestEveryOpOnDevice(t *testing.T) {
	device := compared(t)
	eachCase(t, func(t *testing.T, o *Op, c opCase) { c.compareOn(t, device, max(o.Bound, 1)) })
	by := HostRuns()
	t.Logf("%d rows ran on the host: %v", len(by), by)
}
