package cudart

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

type training struct {
	opt  optim.Optimizer
	loss func(s *amp.Scope) *amp.Tensor
}

func trainGPT(root *amp.Scope) training {
	net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 256, Context: 1024, Features: 768, Layers: 12, Heads: 12})
	x, y := amp.RandInt(root, 0, 256, 8, 1024), amp.RandInt(root, 0, 256, 8, 1024)
	return training{optim.NewAdamW(net.Parameters(), optim.LR(1e-4)), func(s *amp.Scope) *amp.Tensor { return net.Loss(s, x, y) }}
}

func trainResNet(root *amp.Scope) training {
	net := nn.NewResNet18(root, 10, nn.SmallImages())
	x, y := amp.Randn(root, amp.Float32, 0, 1, 128, 3, 32, 32), amp.RandInt(root, 0, 10, 128)
	return training{optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9)), func(s *amp.Scope) *amp.Tensor { return nn.CrossEntropyLoss(s, net.Forward(s, x), y) }}
}

func TestModel(t *testing.T) {
	for name, build := range map[string]func(root *amp.Scope) training{"gpt": trainGPT, "resnet": trainResNet} {
		for _, half := range []bool{true, false} {
			r, _, root := onRecorder(t)
			m := build(root)
			scaler := amp.NewGradScaler(amp.InitScale(1024), amp.ScalerEnabled(half))
			var left int64
			held := func() int64 { return amp.MemStats()[root.Device()].Bytes }
			step := func(s *amp.Scope) {
				m.opt.ZeroGrad()
				before, h := held(), s
				if half {
					h = s.Autocast(amp.Float16)
				}
				loss := m.loss(h)
				left = held() - before
				scaler.Scale(s, loss).Backward()
				scaler.Step(m.opt)
				scaler.Update()
			}
			for s := range root.Steps(2) {
				step(s)
			}
			r.list, r.gathered = nil, map[string]int{}
			waits := r.calls["SyncStream"] + r.calls["SyncEvent"]
			amp.ResetPeakMemory()
			for s := range root.Steps(1) {
				step(s)
			}
			t.Logf("%s half %v: left %.1f MB, peak %.1f MB, waits %d", name, half, float64(left)/1e6, float64(amp.MemStats()[root.Device()].Peak)/1e6, r.calls["SyncStream"]+r.calls["SyncEvent"]-waits)
			report(name, half, r)
		}
	}
}

func report(name string, half bool, r *recorder) {
	type row struct {
		n         int
		bytes     int
		flops, us float64
	}
	rows := map[string]*row{}
	f, _ := os.Create(fmt.Sprintf("/tmp/steps/%s-%v.txt", name, half))
	defer f.Close()
	g := maps.Clone(r.gathered)
	var total row
	for _, l := range r.list {
		if g[l.op] > 0 {
			l.bytes += g[l.op]
			g[l.op] = 0
		}
		us := max(2.5, float64(l.bytes)/4.1e6)
		peak := 650e6
		if !half {
			peak = 50e6
		}
		if l.op == "scaled_dot_product_attention" || l.op == "attention_backward" {
			peak = 300e6
			if !half {
				peak = 30e6
			}
		}
		us = max(us, l.flops/peak+2)
		key := l.op + " | " + l.kernel
		x := rows[key]
		if x == nil {
			x = &row{}
			rows[key] = x
		}
		for _, x := range []*row{x, &total} {
			x.n++
			x.bytes += l.bytes
			x.flops += l.flops
			x.us += us
		}
		fmt.Fprintf(f, "%-30s %-30s %s blocks %d, %.2f MB %.1f GFLOP %.1f us\n", l.op, l.kernel, l.detail, l.blocks, float64(l.bytes)/1e6, l.flops/1e9, us)
	}
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return int(1000 * (rows[b].us - rows[a].us)) })
	fmt.Fprintf(f, "\n")
	for _, k := range append(keys, "total") {
		x := rows[k]
		if k == "total" {
			x = &total
		}
		fmt.Fprintf(f, "%-62s %5d  %9.1f MB %8.1f GFLOP %9.0f us\n", k, x.n, float64(x.bytes)/1e6, x.flops/1e9, x.us)
	}
}
