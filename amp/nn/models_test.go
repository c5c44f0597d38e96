package nn_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func smallGPT(s *amp.Scope, tied bool) *nn.GPT {
	return nn.NewGPT(s, nn.GPTConfig{Context: 16, Features: 32, Layers: 2, Heads: 4, Tied: tied})
}

// windows cuts a text into a batch of tokens and of those that follow them.
func windows(text string, n, size int) (x, y *amp.Tensor) {
	var a, b []int64
	for i := range n {
		for k := range size {
			a, b = append(a, int64(text[(i+k)%len(text)])), append(b, int64(text[(i+k+1)%len(text)]))
		}
	}
	return amp.From(a, n, size), amp.From(b, n, size)
}

// TestGPTLearns a repeating text in both lower dtypes, float16 with a scaler, and goes on with it.
func TestGPTLearns(t *testing.T) {
	const text = "mixed precision; "
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		root := amp.NewScope(amp.Seed(1))
		g := smallGPT(root, true)
		opt := optim.NewAdamW(g.Parameters(), optim.LR(1e-2))
		scaler := amp.NewGradScaler(amp.ScalerEnabled(dt == amp.Float16))
		x, y := windows(text, len(text), 16)
		first, last := 0.0, 0.0
		for s := range root.Steps(120) { // after 80 it hangs by the last bits whether one has learned all of it
			loss := g.Loss(s.Autocast(dt), x, y)
			opt.ZeroGrad()
			scaler.Scale(s, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
			last = loss.Item()
			if s.Step() == 0 {
				first = last
			}
		}
		if math.Abs(first-math.Log(256)) > 0.2 || last > 0.1 {
			t.Errorf("%v: loss from %v to %v", dt, first, last)
		}
		prompt := []int64{'m', 'i', 'x', 'e', 'd'}
		var b strings.Builder
		for _, c := range g.Generate(root.Autocast(dt), prompt, 40, 0, 0) {
			b.WriteByte(byte(c))
		}
		if want := strings.Repeat(text, 4)[:45]; b.String() != want {
			t.Errorf("%v: %q, want %q", dt, b.String(), want)
		}
		root.Close()
	}
}

// TestGPTPrecisions lists the dtype every kind of op of the model runs in.
func TestGPTPrecisions(t *testing.T) {
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
		g := smallGPT(root, true)
		x, y := windows("abcdefg", 2, 8)
		g.Loss(root.Autocast(dt), x, y).Backward()
		want := map[string]amp.DType{
			"embedding": amp.Float32, "layer_norm": amp.Float32, "linear": dt, "scaled_dot_product_attention": dt,
			"gelu": dt, "log_softmax": amp.Float32, "nll_loss": amp.Float32, "add": amp.Float32,
		}
		seen := map[string]bool{}
		for _, e := range root.Trace().Events {
			if e.Phase != amp.PhaseForward || e.Cast != nil {
				continue
			}
			seen[e.Op] = true
			if w, ok := want[e.Op]; ok && e.Compute != w {
				t.Errorf("%v: %s in %s ran in %v, want %v", dt, e.Op, e.Module, e.Compute, w)
			}
		}
		for op := range want {
			if !seen[op] {
				t.Errorf("no %s in the trace", op)
			}
		}
		for _, p := range g.Parameters() {
			if gr := p.Grad(); gr == nil || gr.DType() != amp.Float32 {
				t.Errorf("%s: gradient %v", p.Name(), gr)
			}
		}
		root.Close()
	}
}

// TestGPTTying: one parameter, whose gradient is the sum of those of table and output layer.
func TestGPTTying(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	tied, apart := smallGPT(root, true), smallGPT(root, false)
	from := nn.StateDict(tied)
	if len(tied.Parameters()) != len(apart.Parameters())-1 || from["lm_head.weight"] != nil || from["wte.weight"] != tied.Tokens.Weight {
		t.Fatalf("%d parameters, %d untied", len(tied.Parameters()), len(apart.Parameters()))
	}
	from["lm_head.weight"] = from["wte.weight"]
	if err := nn.LoadStateDict(apart, from); err != nil {
		t.Fatal(err)
	}
	x, y := windows("abcdefg", 2, 8)
	a, b := tied.Loss(root, x, y), apart.Loss(root, x, y)
	if a.Item() != b.Item() {
		t.Errorf("loss %v, untied %v", a.Item(), b.Item())
	}
	a.Backward()
	b.Backward()
	sum := amp.Add(root, apart.Tokens.Weight.Grad(), apart.Head.Weight.Grad())
	if !near(tied.Tokens.Weight.Grad().Float64s(), sum.Float64s(), 1e-6) {
		t.Error("the gradient of the shared table is not the sum of both")
	}
	for _, name := range []string{"wpe.weight", "h.1.self_attn.in_proj_weight", "h.0.linear2.bias", "ln_f.bias"} {
		if nn.StateDict(apart)[name] == nil {
			t.Errorf("no %s", name)
		}
	}
}

// TestGPTIsCausal: no logit depends on later tokens.
func TestGPTIsCausal(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	g := smallGPT(root, false)
	a, b := g.Forward(root, amp.From([]int64{1, 2, 3, 4, 5, 6}, 1, 6)), g.Forward(root, amp.From([]int64{1, 2, 3, 9, 9, 9}, 1, 6))
	for i, p := range []bool{true, true, true, false, false, false} {
		if same := slices.Equal(amp.Narrow(root, a, 1, i, 1).Float64s(), amp.Narrow(root, b, 1, i, 1).Float64s()); same != p {
			t.Errorf("position %d: same logits %v", i, same)
		}
	}
}

func TestGPTGenerate(t *testing.T) {
	root := amp.NewScope(amp.Seed(4))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 8, Features: 16, Layers: 1, Heads: 2, Vocabulary: 11, Dropout: 0.5})
	from := func(seed uint64, temperature float64, k int) []int64 {
		s := amp.NewScope(amp.Seed(seed))
		defer s.Close()
		return g.Generate(s, []int64{1, 2, 3}, 20, temperature, k)
	}
	a := from(1, 1, 0)
	if len(a) != 23 || !slices.Equal(a[:3], []int64{1, 2, 3}) || !slices.Equal(a, from(1, 1, 0)) || slices.Equal(a, from(2, 1, 0)) {
		t.Error("not repeatable, or always the same:", a)
	}
	if !slices.Equal(from(1, 0, 0), from(2, 5, 1)) { // the likeliest token, whatever the temperature
		t.Error("top 1 is not greedy")
	}
	counts := make([]int, 11) // with a high temperature every token comes, with top 3 three of them
	for range 40 {
		counts[g.Generate(root, []int64{4}, 1, 100, 3)[1]]++
	}
	kinds := 0
	for _, c := range counts {
		if c > 0 {
			kinds++
		}
	}
	if kinds != 3 {
		t.Errorf("top 3 gave %v", counts)
	}
	for name, f := range map[string]func(){
		"prompt":      func() { g.Generate(root, nil, 1, 1, 0) },
		"temperature": func() { g.Generate(root, []int64{1}, 1, math.NaN(), 0) },
		"token":       func() { g.Generate(root, []int64{11}, 1, 1, 0) },
		"sizes":       func() { nn.NewGPT(root, nn.GPTConfig{Context: 8}) },
		"heads":       func() { nn.NewGPT(root, nn.GPTConfig{Context: 8, Features: 5, Layers: 1, Heads: 2}) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := amp.Maybe(func() { g.Forward(root, amp.From(make([]int64, 9), 1, 9)) }); !errors.Is(err, amp.ErrShape) {
		t.Error(err)
	}
}

// widen makes the float32 parameters of a module float64, in place of its fields.
func widen(fields ...**amp.Tensor) []*amp.Tensor {
	var out []*amp.Tensor
	for _, f := range fields {
		*f = amp.FromFloat64s(amp.Float64, (*f).Float64s(), (*f).Shape()...).SetName((*f).Name()).RequireGrad()
		out = append(out, *f)
	}
	return out
}

func layerFields(l *nn.TransformerEncoderLayer) []**amp.Tensor {
	a := l.SelfAttn
	return []**amp.Tensor{&a.InProjWeight, &a.InProjBias, &a.OutProj.Weight, &a.OutProj.Bias, &l.Linear1.Weight, &l.Linear1.Bias, &l.Linear2.Weight, &l.Linear2.Bias, &l.Norm1.Weight, &l.Norm1.Bias, &l.Norm2.Weight, &l.Norm2.Bias}
}

// checkGradients compares some elements of each parameter's gradient with differences.
func checkGradients(t *testing.T, root *amp.Scope, params []*amp.Tensor, loss func(s *amp.Scope) *amp.Tensor) {
	t.Helper()
	loss(root).Backward()
	for _, p := range params {
		if p.Grad() == nil {
			t.Fatalf("%s has no gradient", p.Name())
		}
		g, values := p.Grad().Float64s(), p.Float64s()
		for k := 0; k < len(values); k += max(1, len(values)/5) {
			at := func(h float64) float64 {
				moved := slices.Clone(values)
				moved[k] += h
				amp.Assign(p, amp.FromFloat64s(amp.Float64, moved, p.Shape()...))
				s := root.Child()
				defer s.Close()
				return loss(s.NoGrad()).Item()
			}
			const h = 1e-5
			want := (at(h) - at(-h)) / (2 * h)
			at(0)
			if !(math.Abs(g[k]-want) <= 2e-6*(1+math.Abs(want))) {
				t.Errorf("%s element %d: %v, differences give %v", p.Name(), k, g[k], want)
			}
		}
	}
}

// TestModelGradients checks whole models in float64.
func TestModelGradients(t *testing.T) {
	root := amp.NewScope(amp.Seed(5))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 6, Features: 8, Layers: 2, Heads: 2, Vocabulary: 7, Tied: true})
	fields := []**amp.Tensor{&g.Tokens.Weight, &g.Positions.Table, &g.Norm.Weight, &g.Norm.Bias}
	for _, b := range g.Blocks {
		fields = append(fields, layerFields(b)...)
	}
	tokens, next := amp.From([]int64{0, 1, 2, 3, 4, 5, 6, 6, 1, 0}, 2, 5), amp.From([]int64{1, 2, 3, 4, 5, 6, 6, 1, 0, 2}, 2, 5)
	checkGradients(t, root, widen(fields...), func(s *amp.Scope) *amp.Tensor { return g.Loss(s, tokens, next) })

	v := nn.NewViT(root, nn.ViTConfig{Image: 4, Patch: 2, Features: 8, Layers: 1, Heads: 2, Classes: 3})
	fields = append([]**amp.Tensor{&v.Patches.Weight, &v.Patches.Bias, &v.Class, &v.Positions.Table, &v.Norm.Weight, &v.Norm.Bias, &v.Head.Weight, &v.Head.Bias}, layerFields(v.Blocks[0])...)
	images := amp.Randn(root, amp.Float64, 0, 1, 2, 3, 4, 4)
	checkGradients(t, root, widen(fields...), func(s *amp.Scope) *amp.Tensor {
		return amp.CrossEntropy(s, v.Forward(s, images), amp.From([]int64{2, 0}))
	})

	l := nn.NewLSTM(root, 3, 4, nn.RecurrentOptions{Layers: 2, Bidirectional: true, DType: amp.Float64})
	x := amp.Randn(root, amp.Float64, 0, 1, 4, 2, 3)
	checkGradients(t, root, l.Parameters(), func(s *amp.Scope) *amp.Tensor {
		y := l.Forward(s, x)
		return amp.Mean(s, amp.Mul(s, y, y))
	})
}

// TestViTSeesPatches: without positions the order of the patches changes nothing, that of the numbers within them does.
func TestViTSeesPatches(t *testing.T) {
	root := amp.NewScope(amp.Seed(6))
	defer root.Close()
	v := nn.NewViT(root, nn.ViTConfig{Image: 4, Patch: 2, Channels: 1, Features: 4, Layers: 1, Heads: 1, Classes: 2})
	x := amp.Randn(root, amp.Float32, 0, 1, 1, 1, 4, 4)
	amp.Assign(v.Positions.Table, amp.Full(root, amp.Float32, 0, 5, 4))
	a := v.Forward(root, x)
	px := x.Float64s()
	swap := func(i, j int) { px[i], px[j] = px[j], px[i] }
	for _, k := range []int{0, 1, 4, 5} {
		swap(k, k+10)
	}
	b := v.Forward(root, amp.FromFloat64s(amp.Float32, px, 1, 1, 4, 4))
	swap(0, 1)
	c := v.Forward(root, amp.FromFloat64s(amp.Float32, px, 1, 1, 4, 4))
	if !near(b.Float64s(), a.Float64s(), 1e-5) || near(c.Float64s(), a.Float64s(), 1e-5) {
		t.Errorf("%v, with patches swapped %v, with numbers swapped %v", a.Float64s(), b.Float64s(), c.Float64s())
	}
}

// TestViTLearns to tell images with a bright left half from those with a bright right one, in float16 autocast.
func TestViTLearns(t *testing.T) {
	root := amp.NewScope(amp.Seed(7), amp.Record(amp.Decisions))
	defer root.Close()
	v := nn.NewViT(root, nn.ViTConfig{Image: 8, Patch: 4, Channels: 1, Features: 16, Layers: 2, Heads: 2, Classes: 2, Dropout: 0.1})
	data, labels := make([]float64, 16*64), make([]int64, 16)
	noise := amp.Randn(root, amp.Float64, 0, 1, len(data)).Float64s()
	for i := range data {
		labels[i/64] = int64(i / 64 % 2)
		data[i] = noise[i]
		if i%8/4 == i/64%2 {
			data[i]++
		}
	}
	x, y := amp.FromFloat64s(amp.Float32, data, 16, 1, 8, 8), amp.From(labels)
	opt := optim.NewAdamW(v.Parameters(), optim.LR(3e-3))
	scaler := amp.NewGradScaler()
	last := 0.0
	for s := range root.Steps(30) {
		half := s.Autocast(amp.Float16)
		loss := nn.CrossEntropyLoss(half, v.Forward(half, x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		last = loss.Item()
	}
	if last > 0.1 {
		t.Errorf("loss %v", last)
	}
	for _, e := range root.Trace().Events {
		if e.Phase == amp.PhaseForward && e.Op == "linear" && e.Compute != amp.Float16 {
			t.Errorf("linear in %s ran in %v", e.Module, e.Compute)
		}
	}
	state := nn.StateDict(v)
	for _, name := range []string{"patch_embed.weight", "cls_token", "pos_embed.weight", "blocks.1.self_attn.in_proj_weight", "norm.bias", "head.weight"} {
		if state[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	for name, c := range map[string]struct {
		call func()
		kind error
	}{
		"image": {func() { v.Forward(root, amp.Full(root, amp.Float32, 0, 1, 1, 4, 4)) }, amp.ErrShape},
		"patch": {func() {
			nn.NewViT(root, nn.ViTConfig{Image: 8, Patch: 3, Features: 4, Layers: 1, Heads: 1, Classes: 2})
		}, amp.ErrArgument},
		"sizes": {func() { nn.NewViT(root, nn.ViTConfig{Image: 8, Patch: 4}) }, amp.ErrArgument},
	} {
		if err := amp.Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
