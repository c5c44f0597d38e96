package amp_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/remote"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// pair is a scope on the CPU and one on the remote device.
func pair(t *testing.T, opts ...amp.Option) (here, there *amp.Scope) {
	remote.Open()
	here, there = amp.NewScope(append(opts, amp.On("cpu"), amp.Seed(1))...), amp.NewScope(append(opts, amp.On("remote"))...)
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}

// TestGradientsCrossDevices: a graph whose parts lie on two devices has the gradients of one that lies on the CPU, bit for bit, of second
// order too.
func TestGradientsCrossDevices(t *testing.T) {
	defer amp.SetDefaultDevice(amp.SetDefaultDevice("cpu")) // the other end of the copies
	here, there := pair(t)
	v, w := amp.Randn(here, amp.Float64, 0, 1, 3, 4).RequireGrad(), amp.Randn(here, amp.Float64, 0, 1, 4, 2).RequireGrad()
	far := amp.Detach(here, w).To(there).RequireGrad()
	// One way and back, with a branch that stays, and v used on both sides.
	model := func(first, second *amp.Scope, v, w, far *amp.Tensor) *amp.Tensor {
		x := amp.Tanh(first, amp.Mul(first, v, v))
		y := amp.MatMul(second, x.To(second), far)
		z := amp.Mul(second, y, amp.MatMul(second, v.To(second), far))
		return amp.Sum(first, amp.Add(first, z.To(first), amp.MatMul(first, x, w)))
	}
	want := amp.Grad(here, []*amp.Tensor{model(here, here, v, w, w)}, []*amp.Tensor{v, w}, amp.CreateGraph())
	got := amp.Grad(here, []*amp.Tensor{model(here, there, v, w, far)}, []*amp.Tensor{v, w, far}, amp.CreateGraph())
	if got[0].Device() != "cpu" || got[1].Device() != "cpu" || got[2].Device() != "remote:0" {
		t.Fatalf("gradients on %s, %s and %s", got[0].Device(), got[1].Device(), got[2].Device())
	}
	if !slices.Equal(amp.Values[float64](got[0]), amp.Values[float64](want[0])) {
		t.Errorf("gradient of v: %v, on one device %v", got[0], want[0])
	}
	for i, a := range amp.Values[float64](got[1]) { // w is used on both sides: two sums of what is one here
		if b := amp.Values[float64](want[1])[i]; !(math.Abs(a+amp.Values[float64](got[2])[i]-b) <= 1e-14*math.Abs(b)) {
			t.Errorf("gradient of w, element %d: %v and %v, on one device %v", i, a, amp.Values[float64](got[2])[i], b)
		}
	}
	second := func(g *amp.Tensor) []float64 {
		return amp.Values[float64](amp.Grad(here, []*amp.Tensor{amp.Sum(here, amp.Mul(here, g, g))}, []*amp.Tensor{v})[0])
	}
	if a, b := second(got[0]), second(want[0]); !slices.Equal(a, b) {
		t.Errorf("second order: %v, on one device %v", a, b)
	}
	model(here, there, v, w, far).Backward()
	if g := v.Grad(); g.Device() != "cpu" || !slices.Equal(amp.Values[float64](g), amp.Values[float64](want[0])) {
		t.Errorf("Backward: %v", g)
	}
	if g := far.Grad(); g.Device() != "remote:0" || !slices.Equal(amp.Values[float64](g), amp.Values[float64](got[2])) {
		t.Errorf("Backward: %v", g)
	}
}

// TestScalarsOfTheCPU may stand beside tensors of a device, wherever an op takes them, and get their gradients on the CPU.
func TestScalarsOfTheCPU(t *testing.T) {
	defer amp.SetDefaultDevice(amp.SetDefaultDevice("cpu")) // the other end of the copies
	here, there := pair(t)
	device := remote.Open()
	x := amp.From([]float32{1, 2, 3, 4}, 2, 2).To(there).RequireGrad()
	k := amp.Full(here, amp.Float32, 3).RequireGrad()
	before := device.Syncs.Load()
	half := there.Autocast(amp.Float16)
	y := amp.Sum(half, amp.Where(half, amp.Gt(half, x, amp.Scalar(2.5)), amp.Mul(half, x, k), k))
	amp.AddInPlace(there, amp.Detach(there, y), amp.Scalar(float32(100)))
	y.Backward()
	if n := device.Syncs.Load() - before; n != 2 { // the gradients of k, of two ops
		t.Errorf("the host waited %d times", n)
	}
	if v := y.Item(); v != 3+3+9+12+100 {
		t.Errorf("the sum is %v", v)
	}
	if g := k.Grad(); g.Device() != "cpu" || g.Item() != 1+1+3+4 {
		t.Errorf("gradient of the scalar: %v on %s", g, g.Device())
	}
	if g := x.Grad(); g.Device() != "remote:0" || !slices.Equal(amp.Values[float32](g), []float32{0, 0, 3, 3}) {
		t.Errorf("gradient of the tensor: %v on %s", g, g.Device())
	}
	if v := amp.MSELoss(there, amp.Mean(there, x), amp.Scalar(float32(1))).Item(); v != 2.25 {
		t.Errorf("a loss of a scalar of the device and one of the CPU is %v", v)
	}
}

// TestTraceShowsCopies: a copy from device to device is an event of the forward pass, and one of the backward pass.
func TestTraceShowsCopies(t *testing.T) {
	defer amp.SetDefaultDevice(amp.SetDefaultDevice("cpu")) // the other end of the copies
	here, there := pair(t, amp.Record(amp.Decisions))
	v := amp.Randn(here, amp.Float32, 0, 1, 3).RequireGrad()
	amp.Sum(there, v.To(there.In("far"))).Backward()
	for _, phase := range []string{amp.PhaseForward, amp.PhaseBackward} {
		n := 0
		for _, e := range there.Trace().Events {
			if e.Op == "to_device" && e.Phase == phase {
				n++
				if e.Bytes != 12 || e.Module != "far" || e.Out.DType != amp.Float32 {
					t.Errorf("%+v", e)
				}
			}
		}
		if n != 1 {
			t.Errorf("%d copies in %s", n, phase)
		}
	}
}

// TestTrainsAcrossDevices trains a model whose layers lie on the CPU and on the device in turn as one that lies on the CPU: under autocast
// and a scaler, with an overflow on the way, clipped or not.
func TestTrainsAcrossDevices(t *testing.T) {
	defer amp.SetDefaultDevice(amp.SetDefaultDevice("cpu")) // the other end of the copies
	train := func(second string, lossThere, clip bool, opts ...optim.Option) (losses []float64, reports []string) {
		here := amp.NewScope(amp.On("cpu"), amp.Seed(5))
		defer here.Close()
		there := amp.NewScope(amp.On(second))
		defer there.Close()
		a, b, c := nn.NewLinear(here, 4, 8), nn.NewLinear(here, 8, 8), nn.NewLinear(here, 8, 1)
		b.Weight.SetName("b.weight")
		nn.To(there, b)
		opt := optim.NewAdam(slices.Concat(a.Parameters(), b.Parameters(), c.Parameters()), append(opts, optim.LR(0.02))...)
		scaler := amp.NewGradScaler(amp.GrowthInterval(3))
		x, y := amp.Randn(here, amp.Float32, 0, 1, 16, 4), amp.Randn(here, amp.Float32, 0, 1, 16, 1)
		for step := range 8 {
			h, f := here.Child(), there.Child()
			hh, ff := h.Autocast(amp.Float16), f.Autocast(amp.Float16)
			mid := amp.ReLU(hh, b.Forward(ff, amp.ReLU(hh, a.Forward(hh, x)).To(ff)).To(hh))
			loss := nn.MSELoss(hh, c.Forward(hh, mid), y)
			last := h
			if lossThere {
				loss, last = loss.To(f), f
			}
			opt.ZeroGrad()
			scaler.Scale(last, loss).Backward()
			if step == 4 {
				amp.SetValues(b.Weight.Grad(), slices.Repeat([]float32{float32(math.Inf(1))}, 64))
			}
			if clip {
				scaler.Unscale(opt)
				optim.ClipGradNorm(opt.Parameters(), 1)
			}
			r := scaler.Step(opt)
			scaler.Update()
			losses = append(losses, loss.Item())
			reports = append(reports, fmt.Sprint(r.Applied(), " ", r.Culprit(), " ", r.Scale))
			f.Close()
			h.Close()
		}
		return losses, reports
	}
	remote.Open()
	for _, lossThere := range []bool{false, true} {
		for _, clip := range []bool{false, true} {
			for _, opts := range [][]optim.Option{nil, {optim.Fused()}} {
				want, said := train("cpu", lossThere, clip)
				got, says := train("remote", lossThere, clip, opts...)
				if !slices.Equal(want, got) || want[7] >= want[0] {
					t.Errorf("loss there %v, clipped %v, %d options: losses %v, on the CPU %v", lossThere, clip, len(opts), got, want)
				}
				if !slices.Equal(said, says) {
					t.Errorf("reports %q, on the CPU %q", says, said)
				}
			}
		}
	}
}
