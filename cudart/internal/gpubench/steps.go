package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// Training steps under autocast in float16 with a gradient scaler, eager and captured, as steps.py takes them in PyTorch. A model
// with ops that ran on the host is named and not timed.

// A training is a model with its data.
type training struct {
	net  nn.Module
	opt  optim.Optimizer
	loss func(s *amp.Scope) *amp.Tensor
}

// free gives the memory of a model back, which no scope has: what is measured next is to find the GPU as this one did.
func (t training) free() {
	if st, ok := t.opt.(interface{ LiveState() *optim.State }); ok {
		for _, s := range st.LiveState().Tensors {
			s.Free()
		}
	}
	for _, p := range append(slices.Clone(t.net.Parameters()), nn.Buffers(t.net)...) {
		p.ZeroGrad()
		p.Free()
	}
}

func trainMLP(root *amp.Scope) training {
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
	return training{net, optim.NewSGD(net.Parameters(), optim.LR(0.001)), func(s *amp.Scope) *amp.Tensor { return nn.MSELoss(s, net.Forward(s, x), y) }}
}

func trainResNet(root *amp.Scope) training {
	net := nn.NewResNet18(root, 10, nn.SmallImages(), nn.Width(size(64, 4)))
	batch, edge := size(128, 2), size(32, 8)
	x, y := amp.Randn(root, amp.Float32, 0, 1, batch, 3, edge, edge), amp.RandInt(root, 0, 10, batch)
	return training{net, optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9)), func(s *amp.Scope) *amp.Tensor { return nn.CrossEntropyLoss(s, net.Forward(s, x), y) }}
}

func trainGPT(root *amp.Scope) training {
	c := size(nn.GPTConfig{Vocabulary: 256, Context: 1024, Features: 768, Layers: 12, Heads: 12}, nn.GPTConfig{Vocabulary: 256, Context: 16, Features: 32, Layers: 2, Heads: 2})
	net := nn.NewGPT(root, c)
	x, y := amp.RandInt(root, 0, 256, size(8, 2), c.Context), amp.RandInt(root, 0, 256, size(8, 2), c.Context)
	return training{net, optim.NewAdamW(net.Parameters(), optim.LR(1e-4)), func(s *amp.Scope) *amp.Tensor { return net.Loss(s, x, y) }}
}

// A way is how a model's step is taken. The first two PyTorch's steps.py takes as well.
type way struct {
	kind                           string
	captured, float32, tf32, plain bool // plain: without scaler
}

var ways = []way{{kind: "eager"}, {kind: "captured", captured: true}, {kind: "float32", float32: true, plain: true},
	{kind: "float32 with TF32", float32: true, tf32: true, plain: true}, {kind: "eager, without scaler", plain: true}}

func steps(model string) error {
	out := json.NewEncoder(os.Stdout)
	var untimed []string
	for _, m := range []struct {
		name  string
		make  func(root *amp.Scope) training
		steps int
	}{{"MLP 8-16-16-1 batch 32", trainMLP, 300}, {"ResNet-18 32×32 batch 128", trainResNet, 30}, {"GPT 12×768 8×1024 tokens", trainGPT, 10}} {
		if !strings.Contains(m.name, model) {
			continue
		}
		for _, w := range ways {
			var seconds, bytes float64
			var note string
			if err := attempt(func() { seconds, bytes, note = timeSteps(m.make, size(m.steps, 1), w) }); err != nil {
				fmt.Fprintf(os.Stderr, "%s, %s: %v\n", m.name, w.kind, err)
				untimed = append(untimed, m.name+", "+w.kind)
				continue
			}
			if seconds == 0 {
				fmt.Fprintf(os.Stderr, "%s, %s: not timed: %s\n", m.name, w.kind, note)
				untimed = append(untimed, m.name+", "+w.kind)
				continue
			}
			if err := out.Encode(figure{m.name + " step, " + w.kind, seconds * 1e6, "µs", note}); err != nil {
				return err
			}
			if w.kind != "eager" && w.kind != "float32" {
				continue
			}
			if err := out.Encode(figure{m.name + " activations, " + w.kind, bytes / (1 << 20), "MiB", "what the forward pass leaves for the backward pass, casts of weights included"}); err != nil {
				return err
			}
		}
		for _, c := range scalerCosts {
			var ratio, lo, hi float64
			if err := attempt(func() { ratio, lo, hi = scalerCost(m.make, size(m.steps, 1), c.scale) }); err != nil {
				fmt.Fprintf(os.Stderr, "%s, the scaler's cost: %v\n", m.name, err)
				untimed = append(untimed, m.name+", the scaler's cost")
			} else if err := out.Encode(figure{m.name + c.name, ratio, "×", fmt.Sprintf("rounds in turn, %.4f to %.4f; %s", lo, hi, c.note)}); err != nil {
				return err
			}
		}
	}
	if len(untimed) > 0 {
		return fmt.Errorf("not timed: %s", strings.Join(untimed, "; "))
	}
	return nil
}

// scalerCosts are the scales that the scaler's cost is measured with. At 1 gradients have the same bits with the scaler and without, and all that
// differs is what the scaler has the device do. At another scale products of the backward pass take longer, or less long, by the bits of what they
// multiply, as a device at its limit of power lowers its clock.
var scalerCosts = []struct {
	name  string
	scale float64
	note  string
}{
	{", with the scaler by without", 1, "scale 1: the same gradients"},
	{", with the scaler at 1024 by without", 1024, "gradients of other bits, which take other power"},
}

// scalerCost returns the time of n steps with a scaler by that without, the median of rounds that take turns, and the least and the most:
// apart, what else changes with time is more than the scaler takes.
func scalerCost(build func(root *amp.Scope) training, n int, scale float64) (ratio, lo, hi float64) {
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	defer root.Close()
	m := build(root)
	defer m.free()
	wait := func() { must(must2(amp.OpenDevice("cuda:0")).Sync()) }
	step := func(s *amp.Scope, scaler *amp.GradScaler) {
		m.opt.ZeroGrad()
		scaler.Scale(s, m.loss(s.Autocast(amp.Float16))).Backward()
		scaler.Step(m.opt)
		scaler.Update()
	}
	run := func(scaler *amp.GradScaler) float64 {
		for s := range root.Steps(1) { // what changing scalers takes is not counted
			step(s, scaler)
		}
		wait()
		began := time.Now()
		for s := range root.Steps(n) {
			step(s, scaler)
		}
		wait()
		return time.Since(began).Seconds()
	}
	with, without := amp.NewGradScaler(amp.InitScale(scale)), amp.NewGradScaler(amp.ScalerEnabled(false))
	run(with)
	run(without)
	var ratios []float64
	began := time.Now()
	for r := range size(mostRounds, 1) {
		a, b := inOrder(r%2 == 1, func() float64 { return run(with) }, func() float64 { return run(without) })
		if ratios = append(ratios, a/b); settled(ratios) || time.Since(began) > 20*time.Second {
			break
		}
	}
	return middle(ratios), slices.Min(ratios), slices.Max(ratios)
}

// Rounds of a ratio that is held against a bar of a hundredth: as many as it takes on a host that is busy.
const leastRounds, mostRounds = 11, 101

// settled is whether the median of ratios is known to two thousandths: half the width of its interval of 95 %, between order statistics n/2 ± √n
// (the binomial distribution's 1.96·√n/2), is less. What the median is has no part in it.
func settled(ratios []float64) bool {
	n := len(ratios)
	if n < leastRounds {
		return false
	}
	sorted := slices.Sorted(slices.Values(ratios))
	half := int(math.Ceil(0.98 * math.Sqrt(float64(n))))
	low, high := max(n/2-half, 0), min(n/2+half, n-1)
	return sorted[high]-sorted[low] < 2*0.002
}

// inOrder calls a and b, or, turned, b and a: one that were always the first would have the drift of clocks on its side.
func inOrder(turned bool, a, b func() float64) (of, by float64) {
	if turned {
		by = b()
		return a(), by
	}
	of = a()
	return of, b()
}

// timeSteps returns the median time of a step, in five rounds of n, and the memory that its forward pass leaves.
func timeSteps(build func(root *amp.Scope) training, n int, w way) (seconds, left float64, note string) {
	defer cudart.AllowTF32(cudart.AllowTF32(w.tf32))
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	defer root.Close()
	m, scaler := build(root), amp.NewGradScaler(amp.InitScale(1024), amp.ScalerEnabled(!w.plain))
	defer m.free()
	held := func() int64 { return amp.MemStats()[root.Device()].Bytes }
	step := func(s *amp.Scope) {
		m.opt.ZeroGrad()
		before, half := held(), s
		if !w.float32 {
			half = s.Autocast(amp.Float16)
		}
		loss := m.loss(half)
		left = float64(held() - before)
		scaler.Scale(s, loss).Backward()
		scaler.Step(m.opt)
		scaler.Update()
	}
	eager := func(n int) {
		for s := range root.Steps(n) {
			step(s)
		}
	}
	fell := cudart.Fallbacks()
	eager(1)
	if host := fellBack(fell); host != "" {
		return 0, 0, "on the host: " + host
	}
	amp.ResetPeakMemory()
	run := eager
	if w.captured {
		g := root.Capture(step)
		defer func() { must(g.Close()) }()
		run = func(n int) {
			for range n {
				g.Replay()
			}
		}
	}
	wait := func() { must(must2(amp.OpenDevice("cuda:0")).Sync()) }
	run(size(max(3, n/10), 1))
	wait()
	var rounds []float64
	for range size(5, 1) {
		began := time.Now()
		run(n)
		wait()
		rounds = append(rounds, time.Since(began).Seconds()/float64(n))
	}
	slices.Sort(rounds)
	st, h := amp.MemStats()[root.Device()], scaler.History()
	note = fmt.Sprintf("%.1f to %.1f µs; peak %.1f MiB of tensors", rounds[0]*1e6, rounds[len(rounds)-1]*1e6, float64(st.Peak)/(1<<20))
	if !w.plain {
		note += fmt.Sprintf("; %d of %d steps skipped", h.Skipped, h.Nominal)
	}
	return rounds[len(rounds)/2], left, note
}

func must2(d amp.Device, _ string, err error) amp.Device { must(err); return d }

// fellBack names the ops that ran on the host since before.
func fellBack(before map[string]int) string {
	var names []string
	for _, op := range slices.Sorted(maps.Keys(cudart.Fallbacks())) {
		if cudart.Fallbacks()[op] > before[op] {
			names = append(names, op)
		}
	}
	return strings.Join(names, ", ")
}
