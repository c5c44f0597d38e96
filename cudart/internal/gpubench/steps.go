package main

import (
	"encoding/json"
	"fmt"
	"maps"
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

func trainMLP(root *amp.Scope) training {
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
	return training{net, optim.NewSGD(net.Parameters(), optim.LR(0.001)), func(s *amp.Scope) *amp.Tensor { return nn.MSELoss(s, net.Forward(s, x), y) }}
}

func trainResNet(root *amp.Scope) training {
	net := nn.NewResNet18(root, 10, nn.SmallImages())
	x, y := amp.Randn(root, amp.Float32, 0, 1, 128, 3, 32, 32), amp.RandInt(root, 0, 10, 128)
	return training{net, optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9)), func(s *amp.Scope) *amp.Tensor { return nn.CrossEntropyLoss(s, net.Forward(s, x), y) }}
}

func trainGPT(root *amp.Scope) training {
	net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 256, Context: 1024, Features: 768, Layers: 12, Heads: 12})
	x, y := amp.RandInt(root, 0, 256, 8, 1024), amp.RandInt(root, 0, 256, 8, 1024)
	return training{net, optim.NewAdamW(net.Parameters(), optim.LR(1e-4)), func(s *amp.Scope) *amp.Tensor { return net.Loss(s, x, y) }}
}

func steps(model string) error {
	out := json.NewEncoder(os.Stdout)
	for _, m := range []struct {
		name  string
		make  func(root *amp.Scope) training
		steps int
	}{{"MLP 8-16-16-1 batch 32", trainMLP, 300}, {"ResNet-18 32×32 batch 128", trainResNet, 30}, {"GPT 12×768 8×1024 tokens", trainGPT, 10}} {
		if !strings.Contains(m.name, model) {
			continue
		}
		for _, captured := range []bool{false, true} {
			kind := ", eager"
			if captured {
				kind = ", captured"
			}
			var seconds float64
			var note string
			err := attempt(func() { seconds, note = timeSteps(m.make, m.steps, captured) })
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s%s: %v\n", m.name, kind, err)
				continue
			}
			if seconds == 0 {
				fmt.Fprintf(os.Stderr, "%s%s: not timed: %s\n", m.name, kind, note)
				continue
			}
			if err := out.Encode(figure{m.name + " step" + kind, seconds * 1e6, "µs", note}); err != nil {
				return err
			}
		}
	}
	return nil
}

// timeSteps returns the median time of a step, in five rounds of n.
func timeSteps(build func(root *amp.Scope) training, n int, captured bool) (seconds float64, note string) {
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	defer root.Close()
	m, scaler := build(root), amp.NewGradScaler(amp.InitScale(1024))
	step := func(s *amp.Scope) {
		m.opt.ZeroGrad()
		scaler.Scale(s, m.loss(s.Autocast(amp.Float16))).Backward()
		scaler.Step(m.opt)
		scaler.Update()
	}
	eager := func(n int) {
		for s := range root.Steps(n) {
			step(s)
		}
	}
	before := cudart.Fallbacks()
	eager(1)
	if host := fellBack(before); host != "" {
		return 0, "on the host: " + host
	}
	run := eager
	if captured {
		g := root.Capture(step)
		defer func() { must(g.Close()) }()
		run = func(n int) {
			for range n {
				g.Replay()
			}
		}
	}
	wait := func() { must(must2(amp.OpenDevice("cuda:0")).Sync()) }
	run(max(3, n/10))
	wait()
	var rounds []float64
	for range 5 {
		began := time.Now()
		run(n)
		wait()
		rounds = append(rounds, time.Since(began).Seconds()/float64(n))
	}
	slices.Sort(rounds)
	st := amp.MemStats()[root.Device()]
	return rounds[2], fmt.Sprintf("%.1f to %.1f µs; peak %.1f MiB of tensors; %d of %d steps skipped", rounds[0]*1e6, rounds[4]*1e6, float64(st.Peak)/(1<<20), scaler.History().Skipped, scaler.History().Nominal)
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
