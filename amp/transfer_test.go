package amp_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/remote"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// trained runs steps of a small network under autocast on a device and returns the losses and the weights' bits.
func trained(device string, steps int, each func(step int)) (losses []float64, weights [][]float32) {
	root := amp.NewScope(amp.On(device), amp.Seed(3))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	opt := optim.NewAdam(net.Parameters(), optim.LR(0.01))
	scaler := amp.NewGradScaler(amp.GrowthInterval(3))
	x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
	var kept []*amp.Tensor
	for s := range root.Steps(steps) {
		half := s.Autocast(amp.Float16)
		in := x
		if s.Step() == 4 { // an overflow on the way
			in = amp.MulScalar(s, x, 1e30)
		}
		loss := nn.MSELoss(half, net.Forward(half, in), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Unscale(opt)
		optim.ClipGradNorm(net.Parameters(), 1)
		scaler.Step(opt)
		scaler.Update()
		kept = append(kept, root.Keep(s.Keep(loss)))
		if each != nil {
			each(s.Step())
		}
	}
	for _, l := range kept {
		losses = append(losses, l.Item())
		l.Free()
	}
	for _, p := range net.Parameters() {
		weights = append(weights, amp.Values[float32](p))
	}
	return losses, weights
}

// TestRemoteStepsWithoutWaiting: a training step with scaler and optimizer reads nothing from the device.
func TestRemoteStepsWithoutWaiting(t *testing.T) {
	device := remote.Open()
	for name, opts := range map[string][]optim.Option{"plain": nil, "fused": {optim.Fused()}} {
		root := amp.NewScope(amp.On("remote"), amp.Seed(3))
		net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
		opt := optim.NewAdam(net.Parameters(), opts...)
		scaler := amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(2))
		x, y := amp.Randn(root, amp.Float32, 0, 1, 4, 8), amp.Randn(root, amp.Float32, 0, 1, 4, 1)
		var reports []*amp.StepReport
		var norms []optim.Norm
		before := device.Syncs.Load()
		for s := range root.Steps(6) {
			in := x
			if s.Step() == 3 {
				in = amp.MulScalar(s, x, 1e30)
			}
			half := s.Autocast(amp.Float16)
			opt.ZeroGrad()
			scaler.Scale(s, nn.MSELoss(half, net.Forward(half, in), y)).Backward()
			if opts == nil {
				scaler.Unscale(opt)
			}
			norms = append(norms, optim.ClipGradNorm(net.Parameters(), 1e4))
			reports = append(reports, scaler.Step(opt))
			scaler.Update()
		}
		if n := device.Syncs.Load() - before; n != 0 {
			t.Errorf("%s: the host waited %d times in 6 steps", name, n)
		}
		if reports[3].Applied() || !reports[2].Applied() || reports[3].Culprit() != "0.weight" || opt.Steps() != 5 || scaler.CurrentScale() != 2048 {
			t.Errorf("%s: %v, %v; %d steps, scale %v", name, reports[2], reports[3], opt.Steps(), scaler.CurrentScale())
		}
		if n := device.Syncs.Load() - before; n != 2 { // the log and the counter, each once
			t.Errorf("%s: %d reads", name, n)
		}
		root.Close()
	}
}

// TestRemoteTrainsAsCPU: the same bits come out of a device whose memory the host can't reach.
func TestRemoteTrainsAsCPU(t *testing.T) {
	losses, weights := trained("cpu", 10, nil)
	there, moved := trained("remote", 10, nil)
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	if !slices.EqualFunc(losses, there, same) {
		t.Errorf("losses on the CPU %v, there %v", losses, there)
	}
	if !math.IsInf(losses[4], 0) && losses[4] == losses[4] || losses[9] >= losses[0] {
		t.Errorf("losses %v", losses)
	}
	for i := range weights {
		if !slices.Equal(weights[i], moved[i]) {
			t.Errorf("parameter %d differs", i)
		}
	}
}

// TestColumnIsReadAlone: of a view whose elements lie far apart the host reads the elements, not all that lies between them, and the
// view stays what it is; a view with few gaps is read as it lies.
func TestColumnIsReadAlone(t *testing.T) {
	s := amp.NewScope(amp.On("remote"))
	defer s.Close()
	device := remote.Open()
	const rows, columns = 600, 700
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(i)
	}
	x := amp.From(values, rows, columns).To(s)
	for _, width := range []int{1, 3, columns - 1} {
		part := amp.Narrow(s, x, 1, 5%(columns-width+1), width)
		held, before := amp.MemStats()["remote:0"].Bytes, device.Read.Load()
		for i, got := range amp.Values[float32](part) {
			if want := float32(i/width*columns + 5%(columns-width+1) + i%width); got != want {
				t.Fatalf("%d columns: element %d is %v, want %v", width, i, got, want)
			}
		}
		if n := int(device.Read.Load()-before) / 4; n > rows*columns || width < 4 && n != rows*width {
			t.Errorf("%d columns of %d elements: %d were read", width, rows*width, n)
		}
		if now := amp.MemStats()["remote:0"].Bytes; now != held || part.IsContiguous() {
			t.Errorf("%d columns: %d bytes are held, %d before", width, now, held)
		}
	}
}

func TestTransfers(t *testing.T) {
	there := amp.NewScope(amp.On("remote"))
	defer there.Close()
	here := amp.NewScope(amp.On("cpu"))
	defer here.Close()
	device := remote.Open()
	values := []float32{1, 2, 3, 4, 5, 6}
	x := amp.From(values, 2, 3).To(here)
	far := x.To(there)
	if far.Device() != "remote:0" || x.Device() != "cpu" || far.To(there) != far || x.CPU() != x {
		t.Errorf("on %s and %s", far.Device(), x.Device())
	}
	syncs := device.Syncs.Load()
	turned := amp.Transpose(there, far, 0, 1)
	sum := amp.Sum(there, amp.Mul(there, turned, amp.Full(there, amp.Float32, 2, 3, 2)), 0)
	if n := device.Syncs.Load() - syncs; n != 0 {
		t.Errorf("the host waited %d times before anything was read", n)
	}
	if got := amp.Values[float32](turned); !slices.Equal(got, []float32{1, 4, 2, 5, 3, 6}) {
		t.Errorf("transposed: %v", got)
	}
	if got := amp.Values[float32](sum.CPU()); !slices.Equal(got, []float32{12, 30}) {
		t.Errorf("sum: %v", got)
	}
	if got := turned.CPU(); got.Device() != "cpu" || !slices.Equal(amp.Values[float32](got), []float32{1, 4, 2, 5, 3, 6}) {
		t.Errorf("a view's copy: %v", got)
	}
	amp.SetValues(turned, []float32{6, 5, 4, 3, 2, 1})
	if got := amp.Values[float32](far); !slices.Equal(got, []float32{6, 4, 2, 5, 3, 1}) {
		t.Errorf("set through a view: %v", got)
	}
	amp.Assign(far, x)
	if got := amp.Values[float32](far); !slices.Equal(got, values) {
		t.Errorf("assigned: %v", got)
	}
	if text := far.String(); !strings.Contains(text, "[[1, 2, 3],") {
		t.Error(text)
	}
	if e := amp.CountExponents(far); e.N != 6 || e.Amax != 6 {
		t.Errorf("%+v", e)
	}
}

func TestMoveModule(t *testing.T) {
	here, there := amp.NewScope(amp.On("cpu"), amp.Seed(1)), amp.NewScope(amp.On("remote"))
	defer here.Close()
	defer there.Close()
	net := nn.NewLinear(here, 3, 2)
	x := amp.Randn(here, amp.Float32, 0, 1, 4, 3)
	amp.Sum(here, net.Forward(here, x)).Backward()
	want, grad := amp.Values[float32](net.Forward(here, x)), amp.Values[float32](net.Weight.Grad())
	before := amp.MemStats()["cpu"].Bytes
	nn.To(there, net)
	if net.Weight.Device() != "remote:0" || !net.Weight.RequiresGrad() || net.Weight.Grad().Device() != "remote:0" {
		t.Errorf("weight on %s", net.Weight.Device())
	}
	if now := amp.MemStats()["cpu"].Bytes; now != before-2*(6+2)*4 {
		t.Errorf("%d bytes of the CPU before, %d after", before, now)
	}
	if got := amp.Values[float32](net.Forward(there, x.To(there))); !slices.Equal(got, want) {
		t.Errorf("%v there, %v here", got, want)
	}
	if got := amp.Values[float32](net.Weight.Grad()); !slices.Equal(got, grad) {
		t.Errorf("gradient %v there, %v here", got, grad)
	}
	optim.NewSGD(net.Parameters(), optim.LR(0.1)).Step()
}

func TestMixedDevices(t *testing.T) {
	here, there := amp.NewScope(amp.On("cpu")), amp.NewScope(amp.On("remote"))
	defer here.Close()
	defer there.Close()
	x := amp.Full(here, amp.Float32, 1, 2, 2)
	w := amp.Full(here, amp.Float32, 1, 2, 2).SetName("w").RequireGrad()
	y := amp.Mul(here, w, w)
	for _, c := range []struct {
		name string
		kind error
		want []string
		f    func()
	}{
		{"an op", amp.ErrDevice, []string{"add", "a [2 2] is on cpu, b [2 2] is on cpu", "the scope on remote:0", "t.To(s)", `amp.On("cpu")`}, func() { amp.Add(there, x, x) }},
		{"one of two", amp.ErrDevice, []string{"matmul", "a [2 2] is on remote:0, b \"w\" [2 2] is on cpu, the scope on remote:0", "bring b to remote:0", "nn.To(s, model)"}, func() { amp.MatMul(there, x.To(there), w) }},
		{"a composite", amp.ErrDevice, []string{"dist", "b [2 2] is on cpu", "bring b to remote:0 with t.To(s)"}, func() { amp.Dist(there, x.To(there), x, 2) }},
		{"a scalar of a device", amp.ErrDevice, []string{"mul", "b [] is on remote:0, the scope on cpu"}, func() { amp.Mul(here, x, amp.Sum(there, x.To(there))) }},
		{"a scalar alone", amp.ErrDevice, []string{"exp", "x [] is on cpu, the scope on remote:0"}, func() { amp.Exp(there, amp.Sum(here, x)) }},
		{"a scalar changed", amp.ErrDevice, []string{"add_", "is on cpu"}, func() { amp.AddInPlace(there, amp.Sum(here, x), amp.Sum(there, x.To(there))) }},
		{"a cast", amp.ErrDevice, []string{"cast", "x [2 2] is on cpu"}, func() { amp.To(there, x, amp.Float16) }},
		{"a result", amp.ErrGrad, []string{"result of mul"}, func() { y.Move(there) }},
		{"out of memory", amp.ErrMemory, []string{"remote:0", "smaller batch"}, func() { amp.Full(there, amp.Float32, 0, 1<<34) }},
	} {
		err := amp.Maybe(c.f)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in %v", c.name, part, err)
			}
		}
	}
}
