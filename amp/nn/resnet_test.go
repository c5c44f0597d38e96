package nn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/remote"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func elementsOf(ts []*amp.Tensor) int {
	n := 0
	for _, t := range ts {
		n += t.Len()
	}
	return n
}

// TestResNet18Parameters holds counts and names to torchvision's models.
func TestResNet18Parameters(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	large := nn.NewResNet18(s, 1000)
	if n := elementsOf(large.Parameters()); n != 11689512 {
		t.Errorf("%d parameters for 224×224", n)
	}
	small := nn.NewResNet18(s, 10, nn.SmallImages())
	if n := elementsOf(small.Parameters()); n != 11173962 {
		t.Errorf("%d parameters for 32×32", n)
	}
	if p, b := len(large.Parameters()), len(large.Buffers()); p != 62 || b != 60 {
		t.Errorf("%d parameters, %d buffers", p, b)
	}
	state := nn.StateDict(large)
	for name, shape := range map[string][]int{
		"conv1.weight": {64, 3, 7, 7}, "bn1.running_var": {64}, "layer1.0.conv1.weight": {64, 64, 3, 3}, "layer1.0.bn1.running_mean": {64}, "layer1.1.bn2.bias": {64},
		"layer2.0.downsample.0.weight": {128, 64, 1, 1}, "layer2.0.downsample.1.num_batches_tracked": {}, "layer2.0.conv1.weight": {128, 64, 3, 3},
		"layer4.1.conv2.weight": {512, 512, 3, 3}, "fc.weight": {1000, 512}, "fc.bias": {1000},
	} {
		if w := state[name]; w == nil || !slices.Equal(w.Shape(), shape) {
			t.Errorf("%s: %v", name, w)
		}
	}
	if state["layer1.0.downsample.0.weight"] != nil {
		t.Error("a shortcut where sizes stay")
	}
	_, rms := spread(state["layer3.0.conv1.weight"])
	if want := 0.02946; rms < 0.99*want || rms > 1.01*want { // √(2/(256·9))
		t.Errorf("deviation %v, want %v", rms, want)
	}
}

func TestResNet18Forward(t *testing.T) {
	s := amp.NewScope(amp.Record(amp.Decisions))
	defer s.Close()
	large := nn.NewResNet18(s, 7, nn.Width(4), nn.InputChannels(1))
	if y := large.Forward(s.Eval().NoGrad(), amp.Randn(s, amp.Float32, 0, 1, 1, 1, 224, 224)); !slices.Equal(y.Shape(), []int{1, 7}) {
		t.Error(y.Shape())
	}
	var last []int
	for _, e := range s.Trace().Events {
		if e.Op == "adaptive_avg_pool2d" {
			last = e.In[0].Shape
		}
	}
	if !slices.Equal(last, []int{1, 32, 7, 7}) {
		t.Errorf("the last stage gives %v", last)
	}
}

// TestResNet18Decisions: under float16 autocast the products run in half, the norms follow with their float32 weights, and nothing is
// cast but weights and the images.
func TestResNet18Decisions(t *testing.T) {
	s := amp.NewScope(amp.Record(amp.Decisions))
	defer s.Close()
	net := nn.NewResNet18(s, 10, nn.SmallImages(), nn.Width(4))
	x, y := amp.Randn(s, amp.Float32, 0, 1, 4, 3, 16, 16), amp.From([]int64{1, 2, 3, 4})
	half := s.Autocast(amp.Float16)
	out := net.Forward(half, x)
	loss := nn.CrossEntropyLoss(half, out, y)
	if out.DType() != amp.Float16 || loss.DType() != amp.Float32 {
		t.Errorf("logits %v, loss %v", out.DType(), loss.DType())
	}
	count := map[string]int{}
	for _, e := range s.Trace().Events {
		switch {
		case e.Cast != nil:
			count["cast "+e.In[0].DType.Short()+" to "+e.Out.DType.Short()]++
		case strings.HasSuffix(e.Op, "_"): // running statistics
		default:
			count[e.Op+" gives "+e.Out.DType.Short()]++
		}
	}
	for what, want := range map[string]int{
		"conv2d gives fp16": 20, "batch_norm gives fp16": 20, "batch_norm_stats gives fp32": 20, "relu gives fp16": 17, "add gives fp16": 8,
		"adaptive_avg_pool2d gives fp16": 1, "linear gives fp16": 1, "cast fp32 to fp16": 23, // 20 weights, those of the last layer, the images
	} {
		if count[what] != want {
			t.Errorf("%s %d times, want %d (%v)", what, count[what], want, count)
		}
	}
	loss.Backward()
	for _, p := range net.Parameters() {
		if p.Grad() == nil || p.Grad().DType() != amp.Float32 {
			t.Errorf("gradient of %s", p.Name())
		}
	}
	for _, b := range net.Buffers() {
		if want := amp.Float32; b.DType() != want && b.DType() != amp.Int64 {
			t.Errorf("%s is %v", b.Name(), b.DType())
		}
	}
}

// TestResNet18Learns: a few steps on one batch lower its loss, in float32 and under autocast with a scaler alike.
func TestResNet18Learns(t *testing.T) {
	for _, dt := range []amp.DType{amp.NoDType, amp.Float16, amp.BFloat16} {
		root := amp.NewScope(amp.Seed(2))
		net := nn.NewResNet18(root, 4, nn.SmallImages(), nn.Width(4))
		opt := optim.NewSGD(net.Parameters(), optim.LR(0.05), optim.Momentum(0.9))
		scaler := amp.NewGradScaler(amp.InitScale(256), amp.ScalerEnabled(dt == amp.Float16))
		x, y := amp.Randn(root, amp.Float32, 0, 1, 8, 3, 8, 8), amp.From([]int64{0, 1, 2, 3, 0, 1, 2, 3})
		var losses []float64
		var taken int64 // memory blocks taken from the system, once all sizes have been seen
		for s := range root.Steps(6) {
			if s.Step() == 3 {
				taken = amp.MemStats()[remote.Home()].NewBuffers
			}
			auto := s
			if dt != amp.NoDType {
				auto = s.Autocast(dt)
			}
			opt.ZeroGrad()
			loss := nn.CrossEntropyLoss(auto, net.Forward(auto, x), y)
			scaler.Scale(s, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
			losses = append(losses, loss.Item())
		}
		if now := amp.MemStats()[remote.Home()].NewBuffers; now != taken {
			t.Errorf("%v: steady steps took %d new blocks", dt, now-taken)
		}
		if first, end := losses[0], losses[len(losses)-1]; !(end < 0.7*first) {
			t.Errorf("%v: %v", dt, losses)
		}
		root.Close()
	}
}

// TestResNet18Levels: O2 casts the convolutions and leaves batch norm in float32, O3 casts both; each can train.
func TestResNet18Levels(t *testing.T) {
	for level, norm := range map[amp.OLevel]amp.DType{amp.O0: amp.Float32, amp.O1: amp.Float32, amp.O2: amp.Float32, amp.O3: amp.Float16} {
		root := amp.NewScope(amp.Seed(4))
		net := nn.NewResNet18(root, 3, nn.SmallImages(), nn.Width(2))
		model, opt := amp.Initialize(net, optim.NewSGD(net.Parameters(), optim.LR(0.01)), level)
		state := nn.StateDict(net)
		for name, want := range map[string]amp.DType{"layer1.0.bn1.weight": norm, "layer1.0.bn1.running_var": norm, "bn1.num_batches_tracked": amp.Int64} {
			if dt := state[name].DType(); dt != want {
				t.Errorf("O%d: %s is %v, want %v", level, name, dt, want)
			}
		}
		x, y := amp.Randn(root, amp.Float32, 0, 1, 4, 3, 8, 8), amp.From([]int64{0, 1, 2, 0})
		loss := nn.CrossEntropyLoss(model.Scope(root), model.Forward(root, x), y)
		opt.ScaleLoss(root, loss, func(scaled *amp.Tensor) { scaled.Backward() })
		opt.Step()
		if v := loss.Item(); !(v > 0.2 && v < 5) {
			t.Errorf("O%d: loss %v", level, v)
		}
		root.Close()
	}
}
