package nn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

// A moving average of weights under a loss scaler: steps that it skips do not count.
func ExampleAveragedModel() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	build := func() nn.Module { return nn.NewSequential(nn.NewLinear(root, 4, 8), nn.ReLU, nn.NewLinear(root, 8, 1)) }
	net := build()
	ema := nn.NewAveragedModel(build(), net, nn.EMA(0.9))
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler(amp.InitScale(1 << 20))
	x, y := amp.Randn(root, amp.Float32, 0, 1, 16, 4), amp.Randn(root, amp.Float32, 0, 1, 16, 1)
	skipped := 0
	for s := range root.Steps(12) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		if scaler.Step(opt).Applied() {
			ema.Update(s)
		} else {
			skipped++
		}
		scaler.Update()
	}
	loss := nn.MSELoss(root, ema.Forward(root.NoGrad().Eval(), x), y)
	fmt.Println(ema.Averaged()+skipped, skipped > 0, loss.Item() < 2)
	fmt.Println(ema)
	// Output:
	// 12 true true
	// AveragedModel(
	//   (module): Sequential(
	//     (0): Linear(weight=[8 4], bias=[8])
	//     (1): ReLU()
	//     (2): Linear(weight=[1 8], bias=[1])
	//   )
	//   ema, decay=0.9
	// )
}

type torchAverage struct {
	Name         string
	State, After [][2]any
	Y            []float64
}

// averaged returns a model with batch norm and its averages.
func averaged(root *amp.Scope, opts ...nn.AverageOption) (net nn.Module, a *nn.AveragedModel) {
	build := func() nn.Module {
		return nn.NewSequential(nn.NewLinear(root, 3, 4), nn.NewBatchNorm1d(root, 4), nn.NewLinear(root, 4, 2))
	}
	net = build()
	return net, nn.NewAveragedModel(build(), net, opts...)
}

func TestAveragesAsTorch(t *testing.T) {
	for _, c := range readTorch(t).Averages {
		root := amp.NewScope()
		net, a := averaged(root, map[string][]nn.AverageOption{
			"mean": nil, "ema": {nn.EMA(0.9)}, "ema 0.25": {nn.EMA(0.25)}, "buffers": {nn.EMA(0.9), nn.AverageBuffers()},
		}[c.Name]...)
		same := func(when string, want [][2]any) {
			own := nn.StateDict(a)
			for _, entry := range want {
				name := entry[0].(string)
				var values []float64
				for _, v := range entry[1].([]any) {
					values = append(values, v.(float64))
				}
				if c.Name == "buffers" && strings.HasSuffix(name, "num_batches_tracked") {
					continue // torch averages it as an integer
				}
				if own[name] == nil || !near(own[name].Float64s(), values, 1e-5) {
					t.Errorf("%s, %s: %s is %v, torch's %v", c.Name, when, name, own[name], values)
				}
			}
			if len(own) != len(want) {
				t.Errorf("%s: %d tensors, torch has %d", c.Name, len(own), len(want))
			}
		}
		for step := range 5 {
			for k, p := range net.Parameters() {
				amp.Assign(p, filled(10*step+k, p.Shape()...))
			}
			net.Forward(root, filled(step, 6, 3))
			a.Update(root)
		}
		same("updated", c.State)
		nn.UpdateBN(root.Autocast(amp.NoDType, amp.Enabled(false)), a, func(yield func(*amp.Tensor) bool) {
			for i := range 3 {
				yield(filled(20+i, 6, 3))
			}
		})
		same("with new statistics", c.After)
		if y := a.Forward(root.Eval(), filled(7, 2, 3)).Float64s(); !near(y, c.Y, 1e-4) {
			t.Errorf("%s: %v, torch has %v", c.Name, y, c.Y)
		}
		root.Close()
	}
}

// TestAverageOfHalves: the averages are float32 and move by steps that a half would lose; the model is left alone.
func TestAverageOfHalves(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	net := nn.NewLinear(root, 2, 1, nn.NoBias(), nn.DType(amp.Float16))
	a := nn.NewAveragedModel(nn.NewLinear(root, 2, 1, nn.NoBias()), net, nn.EMA(0.999))
	amp.Assign(net.Weight, amp.From([]float32{1, 2}, 1, 2))
	a.Update(root)
	amp.Assign(net.Weight, amp.From([]float32{2, 2}, 1, 2))
	a.Update(root.Autocast(amp.Float16))
	w := a.Parameters()[0]
	if got := w.Float64s(); w.DType() != amp.Float32 || !near(got, []float64{1.001, 2}, 1e-6) || got[1] != 2 {
		t.Errorf("%v %v", w.DType(), got)
	}
	if w.Grad() != nil || !slices.Equal(net.Weight.Float64s(), []float64{2, 2}) {
		t.Error("the average has a gradient, or the model has changed")
	}
	if w.RequiresGrad() || !net.Weight.RequiresGrad() {
		t.Error("the averages are to be trained, or the model is not")
	}
}

// TestAverageMemory: an update takes no memory.
func TestAverageMemory(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	build := func() nn.Module { return nn.NewLinear(root, 300, 300) }
	a := nn.NewAveragedModel(build(), build(), nn.EMA(0.9))
	a.Update(root)
	before := amp.MemStats()
	for range 5 {
		a.Update(root)
	}
	for device, after := range amp.MemStats() {
		if was := before[device]; after.NewBuffers != was.NewBuffers || after.Bytes != was.Bytes || after.Peak != was.Peak {
			t.Errorf("%s: %+v before, %+v after", device, was, after)
		}
	}
}

// TestUpdateBNFreesABatchThatFails: what a batch has made until its Forward panics is freed with the others.
func TestUpdateBNFreesABatchThatFails(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	x := amp.Ones(root, amp.Float32, 4, 2)
	bytes := func() (sum int64) {
		for _, m := range amp.MemStats() {
			sum += m.Bytes
		}
		return sum
	}
	before := bytes()
	failing := nn.Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		amp.Neg(s, x)
		panic("on purpose")
	})
	func() {
		defer func() { _ = recover() }()
		nn.UpdateBN(root, failing, slices.Values([]*amp.Tensor{x}))
	}()
	if now := bytes(); now != before {
		t.Errorf("%d bytes, before %d", now, before)
	}
}

// TestAverageState: averages go on from a saved state, the count of them too.
func TestAverageState(t *testing.T) {
	root := amp.NewScope(amp.Seed(4))
	defer root.Close()
	net, a := averaged(root)
	_, b := averaged(root)
	train := func(step int) {
		for k, p := range net.Parameters() {
			amp.Assign(p, filled(step+k, p.Shape()...))
		}
	}
	for step := range 3 {
		train(step)
		a.Update(root)
	}
	path := filepath.Join(t.TempDir(), "a.safetensors")
	if err := safetensors.Save(path, nn.StateDict(a), nil); err != nil {
		t.Fatal(err)
	}
	state, _, err := safetensors.Load(path)
	if err == nil {
		err = nn.LoadStateDict(b, state)
	}
	if err != nil || b.Averaged() != 3 {
		t.Fatal(err, b.Averaged())
	}
	c := nn.NewAveragedModel(nn.NewSequential(nn.NewLinear(root, 3, 4), nn.NewBatchNorm1d(root, 4), nn.NewLinear(root, 4, 2)), net)
	if err := nn.LoadStateDict(c, state); err != nil {
		t.Fatal(err)
	}
	train(7)
	a.Update(root)
	c.Update(root)
	for name, p := range nn.StateDict(a) {
		if got := nn.StateDict(c)[name]; !slices.Equal(got.Float64s(), p.Float64s()) {
			t.Errorf("%s went on as %v, want %v", name, got.Float64s(), p.Float64s())
		}
	}
}

func TestAveragedModelErrors(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	l := func(in, out int, opts ...nn.LinearOption) nn.Module { return nn.NewLinear(root, in, out, opts...) }
	net := l(2, 2)
	for name, f := range map[string]func(){
		"itself": func() { nn.NewAveragedModel(net, net) },
		"nil":    func() { nn.NewAveragedModel(nil, net) },
		"fewer":  func() { nn.NewAveragedModel(l(2, 2, nn.NoBias()), net) },
		"shape":  func() { nn.NewAveragedModel(l(2, 3), net) },
		"name":   func() { nn.NewAveragedModel(nn.NewSequential(l(2, 2)), net) },
		"half":   func() { nn.NewAveragedModel(l(2, 2, nn.DType(amp.BFloat16)), net) },
		"decay":  func() { nn.NewAveragedModel(l(2, 2), net, nn.EMA(1.5)) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
