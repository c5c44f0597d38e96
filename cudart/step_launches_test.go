package cudart

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

var update = flag.Bool("update", false, "write testdata/steps.txt anew")

// A recordedModel is one of those that package gpubench times, at its size there.
type recordedModel struct {
	opt  optim.Optimizer
	loss func(s *amp.Scope) *amp.Tensor
}

// gpt is a GPT that learns a batch of lines as long as its context.
func gpt(c nn.GPTConfig, batch int) func(root *amp.Scope) recordedModel {
	return func(root *amp.Scope) recordedModel {
		net := nn.NewGPT(root, c)
		x, y := amp.RandInt(root, 0, int64(c.Vocabulary), batch, c.Context), amp.RandInt(root, 0, int64(c.Vocabulary), batch, c.Context)
		return recordedModel{optim.NewAdamW(net.Parameters()), func(s *amp.Scope) *amp.Tensor { return net.Loss(s, x, y) }}
	}
}

// resNet is a ResNet-18 that learns a batch of images of so many pixels a side.
func resNet(batch, side int, options ...nn.ResNetOption) func(root *amp.Scope) recordedModel {
	return func(root *amp.Scope) recordedModel {
		net := nn.NewResNet18(root, 10, append(options, nn.SmallImages())...)
		x, y := amp.Full(root, amp.Float32, 0, batch, 3, side, side), amp.RandInt(root, 0, 10, batch)
		return recordedModel{optim.NewSGD(net.Parameters(), optim.Momentum(0.9)), func(s *amp.Scope) *amp.Tensor { return nn.CrossEntropyLoss(s, net.Forward(s, x), y) }}
	}
}

// The models of the bars, with the names that RESULTS.md has them by.
var recordedModels = []struct {
	name         string
	build, small func(root *amp.Scope) recordedModel // small: the same layers, for an emulated device
}{
	{
		"GPT 12×768, 8×1024 tokens",
		gpt(nn.GPTConfig{Vocabulary: 256, Context: 1024, Features: 768, Layers: 12, Heads: 12}, 8),
		gpt(nn.GPTConfig{Vocabulary: 256, Context: 16, Features: 32, Layers: 2, Heads: 2}, 2),
	},
	{"ResNet-18, 128 images of 32×32", resNet(128, 32), resNet(2, 8, nn.Width(4))},
}

// step takes one step, and returns the bytes that its forward pass leaves for the backward pass, casts of weights included.
func (m recordedModel) step(s *amp.Scope, scaler *amp.GradScaler, half bool) (left int64) {
	held := func() int64 { return amp.MemStats()[s.Device()].Bytes }
	m.opt.ZeroGrad()
	before, auto := held(), s
	if half {
		auto = s.Autocast(amp.Float16)
	}
	loss := m.loss(auto)
	left = held() - before
	scaler.Scale(s, loss).Backward()
	scaler.Step(m.opt)
	scaler.Update()
	return left
}

// TestStepLaunches holds what a training step of two models queues on a device with cuBLAS and cuDNN, op by op: launches, and the bytes that
// they read and write. Nobody adds a launch unnoticed; who takes some away runs the test with -update. In passing it holds two bars that
// need no GPU: a step waits for nothing, and activations under autocast take at most 0.6 of those in float32. With -v it prints how
// long the steps would take were every launch as fast as the memory and the tensor cores of an H200: a model, no measurement.
func TestStepLaunches(t *testing.T) {
	var text strings.Builder
	for _, c := range recordedModels {
		r, dev, root := onRecorder(t)
		m := c.build(root)
		var left [2]int64
		for i, half := range []bool{true, false} {
			scaler := amp.NewGradScaler(amp.ScalerEnabled(half))
			for s := range root.Steps(2) { // the second knows all sizes
				m.step(s, scaler, half)
			}
			waits, uploads := dev.count.syncs.Load(), dev.count.uploads.Load()
			r.list = nil
			for s := range root.Steps(1) {
				left[i] = m.step(s, scaler, half)
			}
			if n := dev.count.syncs.Load() - waits; n != 0 {
				t.Errorf("%s, float16 %v: the host waited %d times", c.name, half, n)
			}
			if n := dev.count.uploads.Load() - uploads; n != 0 {
				t.Errorf("%s, float16 %v: %d copies to the device", c.name, half, n)
			}
			kind := map[bool]string{true: "float16 autocast with scaler", false: "float32"}[half]
			fmt.Fprintf(&text, "%s, %s: %.1f MB of activations\n%s\n", c.name, kind, float64(left[i])/1e6, tabled(r.list))
			if testing.Verbose() {
				t.Logf("%s, %s, modelled:\n%s", c.name, kind, modelled(r.list, half))
			}
		}
		if share := float64(left[0]) / float64(left[1]); share > 0.6 {
			t.Errorf("%s: activations under autocast take %.3f of those in float32", c.name, share)
		}
	}
	golden := filepath.Join("testdata", "steps.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := changed(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("the steps queue something else than %s says; if that is better, go test ./cudart -run TestStepLaunches -update\n%s", golden, diff)
	}
}

// TestFusedStepLaunches: a step of an optimizer made with Fused queues what that of the plain one does, which reads the gradients twice and
// writes none.
func TestFusedStepLaunches(t *testing.T) {
	for name, build := range map[string]func(p []*amp.Tensor, opts ...optim.Option) optim.Optimizer{
		"adamw": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdamW(p, o...) },
		"sgd": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer {
			return optim.NewSGD(p, append(o, optim.Momentum(0.9))...)
		},
	} {
		run := func(opts ...optim.Option) string {
			r, _, root := onRecorder(t)
			net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 256, Context: 64, Features: 64, Layers: 4, Heads: 2})
			x, y := amp.RandInt(root, 0, 256, 2, 64), amp.RandInt(root, 0, 256, 2, 64)
			m := recordedModel{build(net.Parameters(), opts...), func(s *amp.Scope) *amp.Tensor { return net.Loss(s, x, y) }}
			scaler := amp.NewGradScaler()
			for s := range root.Steps(3) {
				r.list = nil
				m.step(s, scaler, true)
			}
			return tabled(r.list)
		}
		plain, fused := run(), run(optim.Fused())
		if plain != fused || !strings.Contains(plain, "unscale_f32") {
			t.Errorf("%s: plain\n%sfused\n%s", name, plain, fused)
		}
	}
}

// changed lists the lines that differ, under the step they belong to.
func changed(want, got []string) string {
	var b strings.Builder
	sections := func(lines []string) (out map[string][]string) {
		out = map[string][]string{}
		at := ""
		for _, l := range lines {
			if strings.Contains(l, "activations") {
				at, _, _ = strings.Cut(l, ":")
			}
			out[at] = append(out[at], l)
		}
		return out
	}
	a, c := sections(want), sections(got)
	for _, name := range slices.Sorted(maps.Keys(c)) {
		for sign, lists := range map[string][2][]string{"-": {a[name], c[name]}, "+": {c[name], a[name]}} {
			for _, l := range lists[0] {
				if !slices.Contains(lists[1], l) {
					fmt.Fprintf(&b, "%s %s | %s\n", sign, name, l)
				}
			}
		}
	}
	return b.String()
}

// A launchSum is what was queued of one kind.
type launchSum struct {
	what         string
	n, bytes     int
	flops, micro float64
}

// summed adds up launches by their op and kernel; the last is the sum of all.
func summed(list []launched, half bool) []launchSum {
	by, total := map[string]*launchSum{}, launchSum{what: "all"}
	for _, l := range list {
		what := l.what()
		s := by[what]
		if s == nil {
			s = &launchSum{what: what}
			by[what] = s
		}
		for _, s := range []*launchSum{s, &total} {
			s.n++
			s.bytes += l.bytes
			s.flops += l.flops
			s.micro += l.micro(half)
		}
	}
	var out []launchSum
	for _, what := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[what])
	}
	return append(out, total)
}

// what names a launch's op and kernel.
func (l *launched) what() string {
	if l.op == "" {
		return l.kernel
	}
	return l.op + ", " + l.kernel
}

func tabled(list []launched) string {
	var b strings.Builder
	for _, s := range summed(list, true) {
		fmt.Fprintf(&b, "%5d %9.1f MB  %s\n", s.n, float64(s.bytes)/1e6, s.what)
	}
	return b.String()
}

// modelled is the table in the order of modelled time.
func modelled(list []launched, half bool) string {
	var b strings.Builder
	sums := summed(list, half)
	slices.SortStableFunc(sums, func(a, b launchSum) int { return cmp.Compare(b.micro, a.micro) })
	for _, s := range sums {
		fmt.Fprintf(&b, "%9.0f µs %5d %9.1f MB %8.1f GFLOP  %s\n", s.micro, s.n, float64(s.bytes)/1e6, s.flops/1e9, s.what)
	}
	return b.String()
}

// micro is a launch's time in µs by the limits of an H200, as measured there where RESULTS.md has them: 4.1 TB/s, 2.5 µs at least, and for
// multiplications what good kernels reach.
func (l *launched) micro(half bool) float64 {
	rate := map[bool]float64{true: 650e6, false: 50e6}[half]
	if strings.Contains(l.op, "attention") {
		rate = map[bool]float64{true: 300e6, false: 30e6}[half]
	}
	return max(2.5, float64(l.bytes)/4.1e6, l.flops/rate)
}
