package cudart_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A step is a model with its data, as the tests and benchmarks train it.
type step struct {
	root    *amp.Scope
	net     nn.Module
	opt     optim.Optimizer
	scaler  *amp.GradScaler
	loss    func(s *amp.Scope) *amp.Tensor
	reports []*amp.StepReport
}

// run takes one training step under autocast in float16 and returns the loss, which belongs to s.
func (m *step) run(s *amp.Scope) *amp.Tensor {
	loss := m.loss(s.Autocast(amp.Float16))
	m.opt.ZeroGrad()
	m.scaler.Scale(s, loss).Backward()
	m.reports = append(m.reports, m.scaler.Step(m.opt))
	m.scaler.Update()
	return loss
}

// train runs steps and returns the losses.
func (m *step) train(n int) []float64 {
	var kept []*amp.Tensor
	for s := range m.root.Steps(n) {
		kept = append(kept, m.root.Keep(s.Keep(m.run(s))))
	}
	var out []float64
	for _, l := range kept {
		out = append(out, l.Item())
		l.Free()
	}
	return out
}

func mlp(device string, opts ...amp.Option) *step {
	root := amp.NewScope(append(opts, amp.On(device), amp.Seed(1))...)
	m := &step{root: root, scaler: amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(4))}
	m.net = nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	m.opt = optim.NewSGD(m.net.Parameters(), optim.LR(0.05), optim.Momentum(0.9))
	x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
	m.loss = func(s *amp.Scope) *amp.Tensor { return nn.MSELoss(s, m.net.Forward(s, x), y) }
	return m
}

func gpt(device string, layers, features, heads, tokens, batch int) *step {
	root := amp.NewScope(amp.On(device), amp.Seed(1))
	m := &step{root: root, scaler: amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(4))}
	net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 64, Context: tokens, Features: features, Layers: layers, Heads: heads})
	m.net, m.opt = net, optim.NewAdamW(net.Parameters(), optim.LR(1e-3))
	x, y := amp.RandInt(root, 0, 64, batch, tokens), amp.RandInt(root, 0, 64, batch, tokens)
	m.loss = func(s *amp.Scope) *amp.Tensor { return net.Loss(s, x, y) }
	return m
}

func resnet(device string, width, batch, size int) *step {
	root := amp.NewScope(amp.On(device), amp.Seed(1))
	m := &step{root: root, scaler: amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(4))}
	net := nn.NewResNet18(root, 10, nn.SmallImages(), nn.Width(width))
	m.net, m.opt = net, optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9), optim.WeightDecay(5e-4))
	x, y := amp.Randn(root, amp.Float32, 0, 1, batch, 3, size, size), amp.RandInt(root, 0, 10, batch)
	m.loss = func(s *amp.Scope) *amp.Tensor { return nn.CrossEntropyLoss(s, net.Forward(s, x), y) }
	return m
}

// gpu returns the device of the tests: the machine's, or the emulated one where there is none or HALFTONE_CUDA says so.
func gpu(t testing.TB) string {
	t.Helper()
	if _, err := driver.Open(""); err != nil && os.Getenv(cudart.ModeEnv) == "" {
		os.Setenv(cudart.ModeEnv, cudart.ModeEmulator) // and for the tests after this one
	}
	if err := amp.Maybe(func() { amp.NewScope(amp.On("cuda:0")).Close() }); err != nil {
		t.Skipf("no CUDA device: %v", err)
	}
	return "cuda:0"
}

// tensorCores returns the device of a test of what tensor cores compute, or skips it on a device that has none for Halftone.
func tensorCores(t testing.TB) string {
	t.Helper()
	device := gpu(t)
	if !cudart.HasTensorCores(device) {
		t.Skip("below capability 8.0 halves are multiplied without tensor cores")
	}
	return device
}

// TestTrainsAsCPU trains small models on both and compares the losses: they agree to what half precision leaves.
func TestTrainsAsCPU(t *testing.T) {
	device := gpu(t)
	width := 32
	if strings.Contains(amp.NewScope(amp.On(device)).Device(), "emulated") {
		width = 8
	}
	for name, c := range map[string]struct {
		make  func(device string) *step
		steps int
		tol   float64
	}{
		"mlp":    {func(d string) *step { return mlp(d) }, 10, 2e-3},
		"gpt":    {func(d string) *step { return gpt(d, 1, 32, 2, 16, 2) }, 3, 2e-3},
		"resnet": {func(d string) *step { return resnet(d, width, 8, 16) }, 2, 2e-2},
	} {
		t.Run(name, func(t *testing.T) {
			before := cudart.Fallbacks()
			here, there := c.make("cpu"), c.make(device)
			defer here.root.Close()
			defer there.root.Close()
			want, got := here.train(c.steps), there.train(c.steps)
			for i, w := range want {
				if math.Abs(got[i]-w) > c.tol*(1+math.Abs(w)) {
					t.Errorf("step %d: loss %v, on the CPU %v", i, got[i], w)
				}
			}
			for i, r := range there.reports {
				if r.Applied() != here.reports[i].Applied() || r.Scale != here.reports[i].Scale {
					t.Errorf("%v, on the CPU %v", r, here.reports[i])
				}
			}
			var host []string
			for op, n := range cudart.Fallbacks() {
				if n > before[op] {
					host = append(host, op)
				}
			}
			slices.Sort(host)
			t.Logf("losses %v; on the host: %v", got, host)
		})
	}
}

// TestStepsWithoutWaiting: once the sizes are known, a training step neither waits for the device, nor copies, nor takes memory.
func TestStepsWithoutWaiting(t *testing.T) {
	device := gpu(t)
	m := mlp(device)
	defer m.root.Close()
	m.train(2)
	before, memory := cudart.CountsOf(device), amp.MemStats()[m.root.Device()]
	fell := cudart.Fallbacks()
	for s := range m.root.Steps(5) {
		m.run(s)
	}
	now, after := cudart.CountsOf(device), amp.MemStats()[m.root.Device()]
	if n := now.Syncs - before.Syncs; n != 0 {
		t.Errorf("the host waited %d times in 5 steps", n)
	}
	if n := now.Uploads - before.Uploads; n != 0 {
		t.Errorf("%d copies to the device in 5 steps", n)
	}
	if after.NewBuffers != memory.NewBuffers || after.Bytes != memory.Bytes {
		t.Errorf("memory %+v before, %+v after", memory, after)
	}
	for op, n := range cudart.Fallbacks() {
		if n > fell[op] {
			t.Errorf("%s ran on the host", op)
		}
	}
	t.Logf("per step: %d ops, %d launches, %d fills, %d copies", (now.Ops-before.Ops)/5, (now.Launches-before.Launches)/5, (now.Fills-before.Fills)/5, (now.Copies-before.Copies)/5)
	for i, r := range m.reports {
		if !r.Applied() {
			t.Errorf("step %d: %v", i, r)
		}
	}
}

// TestMemoryReturns: a closed scope leaves nothing but its parameters, and those go with Free.
func TestMemoryReturns(t *testing.T) {
	device := gpu(t)
	name := amp.NewScope(amp.On(device)).Device()
	before := amp.MemStats()[name].Bytes
	root := amp.NewScope(amp.On(device))
	net := nn.NewLinear(root, 64, 64)
	for s := range root.Steps(2) {
		x := amp.Randn(s, amp.Float32, 0, 1, 8, 64)
		amp.Sum(s, net.Forward(s.Autocast(amp.Float16), x)).Backward()
	}
	for _, p := range net.Parameters() {
		p.ZeroGrad()
		p.Free()
	}
	root.Close()
	if now := amp.MemStats()[name].Bytes; now != before {
		t.Errorf("%d bytes before, %d after", before, now)
	}
}
